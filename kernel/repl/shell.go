package repl

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/formatters"
	"github.com/alecthomas/chroma/v2/lexers"
	"github.com/alecthomas/chroma/v2/styles"
	"github.com/reeflective/readline"

	"noema/kernel/cell"
)

// errAgain says that what was typed was thrown away.
var errAgain = errors.New("cleared")

// shell is the line editor of a terminal.
type shell struct {
	*readline.Shell
	session *cell.Session
	asking  bool // a cell reads a line
}

func newShell(s *cell.Session, o Options) *shell {
	sh := &shell{Shell: readline.NewShell(), session: s}
	sh.Prompt.Primary(func() string {
		if sh.asking {
			return ""
		}
		return fmt.Sprintf("[%d] ", s.Count()+1)
	})
	sh.Prompt.Secondary(func() string { return "... " })
	sh.AcceptMultiline = func(line []rune) bool { return sh.accepts(string(line)) }
	if o.Color {
		sh.SyntaxHighlighter = highlighter()
	}
	sh.Completer = sh.completions
	if o.History != "" {
		sh.History.Delete()
		sh.History.Add("cells", openHistory(o.History))
	}
	return sh
}

// accepts says whether Enter runs what is typed. An empty line at the end of
// something incomplete does not: it may be meant.
func (sh *shell) accepts(text string) bool {
	trimmed := strings.TrimSpace(text)
	if sh.asking || trimmed == "" || trimmed[0] == ':' || trimmed[0] == '!' {
		return true
	}
	return sh.session.IsComplete(text).Status != "incomplete"
}

func (sh *shell) cell() (string, error) {
	text, err := sh.Readline()
	if errors.Is(err, readline.ErrInterrupt) {
		return "", errAgain
	}
	return text, err
}

// line reads a line for a cell.
func (sh *shell) line(_ context.Context, prompt string) (string, error) {
	fmt.Print(prompt)
	sh.asking = true
	defer func() { sh.asking = false }()
	return sh.Readline()
}

// completions are what could stand at the cursor.
func (sh *shell) completions(line []rune, cursor int) readline.Completions {
	text := string(line)
	at := len(string(line[:cursor]))
	found := sh.session.Complete(text, at)
	if len(found.Items) == 0 || found.Start > at {
		return readline.Completions{}
	}
	// The editor completes what stands between blanks.
	head := text[strings.LastIndexAny(text[:found.Start], " \t\n")+1 : found.Start]
	var values []readline.Completion
	for _, i := range found.Items {
		values = append(values, readline.Completion{Value: head + i.Text, Display: i.Text, Description: i.Detail})
	}
	return readline.CompleteRaw(values).NoSpace('*')
}

// highlighter colours Go.
func highlighter() func([]rune) string {
	lexer, style, formatter := lexers.Get("go"), styles.Get("native"), formatters.Get("terminal256")
	if lexer == nil || style == nil || formatter == nil {
		return nil
	}
	lexer = chroma.Coalesce(lexer)
	return func(line []rune) string {
		text := string(line)
		tokens, err := lexer.Tokenise(nil, text)
		if err != nil {
			return text
		}
		var b bytes.Buffer
		if formatter.Format(&b, style, tokens) != nil {
			return text
		}
		out := b.String()
		if !strings.HasSuffix(text, "\n") {
			out = strings.TrimSuffix(out, "\n")
		}
		return out
	}
}

// history is the cells of this and earlier sessions, each once.
type history struct {
	mu    sync.Mutex
	file  string
	cells []string
}

var _ readline.History = (*history)(nil)

// maxHistory bounds what is kept.
const maxHistory = 5_000

// openHistory reads a history; a damaged line is as good as none.
func openHistory(file string) *history {
	h := &history{file: file}
	raw, err := os.ReadFile(file)
	if err != nil {
		return h
	}
	lines := bufio.NewScanner(bytes.NewReader(raw))
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		var text string
		if json.Unmarshal(lines.Bytes(), &text) == nil {
			h.keep(text)
		}
	}
	return h
}

// keep adds a cell and forgets an earlier one of the same text.
func (h *history) keep(text string) {
	for i, c := range h.cells {
		if c == text {
			h.cells = append(h.cells[:i], h.cells[i+1:]...)
			break
		}
	}
	h.cells = append(h.cells, text)
	if len(h.cells) > maxHistory {
		h.cells = h.cells[len(h.cells)-maxHistory:]
	}
}

// Write implements [readline.History].
func (h *history) Write(text string) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if strings.TrimSpace(text) == "" {
		return len(h.cells), nil
	}
	h.keep(text)
	raw, err := json.Marshal(text)
	if err != nil {
		return len(h.cells), err
	}
	f, err := os.OpenFile(h.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return len(h.cells), err
	}
	_, err = f.Write(append(raw, '\n'))
	return len(h.cells), errors.Join(err, f.Close())
}

// GetLine implements [readline.History].
func (h *history) GetLine(i int) (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if i < 0 || i >= len(h.cells) {
		return "", fmt.Errorf("history has no entry %d", i)
	}
	return h.cells[i], nil
}

// Len implements [readline.History].
func (h *history) Len() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.cells)
}

// Dump implements [readline.History].
func (h *history) Dump() any {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string{}, h.cells...)
}
