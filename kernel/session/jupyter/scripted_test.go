package jupyter

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"

	"noema/kernel/base/display"
	"noema/kernel/session/cell"
)

// scripted is a session whose cells are words: the first line that begins with
// one says what happens.
type scripted struct {
	mu     sync.Mutex
	count  int
	asked  []string // the texts that came to Complete and IsComplete
	resets int
	later  cell.Output // what Fallback got
}

func (s *scripted) Run(ctx context.Context, text string, out cell.Output) (*cell.Result, error) {
	s.mu.Lock()
	s.count++
	number := s.count
	s.mu.Unlock()
	for i, line := range strings.Split(text, "\n") {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case "value":
			return &cell.Result{Value: display.Text(rest)}, nil
		case "form":
			mime, content, _ := strings.Cut(rest, " ")
			return &cell.Result{Value: display.Bundle{mime: []byte(content), display.PlainText: []byte("form")}}, nil
		case "print", "warn":
			out.Stream(map[string]string{"print": "stdout", "warn": "stderr"}[word], []byte(rest))
		case "flood":
			n, err := strconv.Atoi(rest)
			if err != nil {
				return nil, err
			}
			for range n {
				out.Stream("stdout", bytes.Repeat([]byte("x"), 1<<20))
			}
		case "lines":
			for i := range 20000 {
				out.Stream("stdout", fmt.Appendln(nil, i))
			}
		case "shows":
			for range 3000 {
				out.Show("", display.Text("shown"))
			}
		case "show":
			out.Show(rest, display.Text("shown"))
		case "clear":
			out.Clear(rest == "wait")
		case "ask":
			answer, err := out.Input(ctx, rest, false)
			out.Stream("stdout", fmt.Appendf(nil, "%s|%v", answer, err))
		case "wait":
			<-ctx.Done()
			return nil, &cell.Error{Kind: "interrupted", Faults: []cell.Fault{{Message: "interrupted"}}}
		case "fail":
			name := fmt.Sprintf("cell %d", number)
			return nil, &cell.Error{Kind: "panic", Trace: []string{name + ", line 1, in f", "cell 1, line 9, in g"},
				Faults: []cell.Fault{{Source: name, Line: i + 1, Column: 1, Message: "it failed", Hint: "do not"}}}
		}
	}
	return &cell.Result{}, nil
}

func (s *scripted) RunFile(ctx context.Context, path string, out cell.Output) error {
	text, err := os.ReadFile(path)
	if err == nil {
		_, err = s.Run(ctx, string(text), out)
	}
	return err
}

func (s *scripted) Complete(text string, cursor int) cell.Completions {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, text[:cursor])
	return cell.Completions{Start: strings.LastIndexByte(text[:cursor], '.') + 1, End: cursor,
		Items: []cell.Completion{{Text: "Print", Kind: "func", Detail: "func()"}}}
}

func (s *scripted) Inspect(text string, cursor int) (cell.Doc, bool) {
	if !strings.HasSuffix(strings.TrimSpace(text[:cursor]), "known") {
		return cell.Doc{}, false
	}
	return cell.Doc{Name: "known", Signature: "func known()", Comment: "It is known.\n", Source: "func known() {}"}, true
}

func (s *scripted) IsComplete(text string) cell.Completeness {
	if strings.HasSuffix(text, "{") {
		return cell.Completeness{Status: "incomplete", Indent: "\t"}
	}
	return cell.Completeness{Status: "complete"}
}

func (s *scripted) Variables() []cell.Variable {
	return []cell.Variable{{Name: "lab", Kind: "var", Type: "*Lab"}, {Name: "x", Kind: "var", Type: "int", Cell: s.Count()}}
}

func (s *scripted) Count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count
}

func (s *scripted) Stale() []cell.StaleCell { return nil }

func (s *scripted) Forget(int) {}

func (s *scripted) Fallback(out cell.Output) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.later = out
}

func (s *scripted) Reset() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.resets++
	return nil
}
