package repl

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"golang.org/x/term"

	"noema/kernel/base/display"
	"noema/kernel/session/cell"
)

// screen is the output of cells. A display with an id may change while the cell
// runs: a terminal redraws it in place as long as nothing was printed after it.
// Otherwise, and in a pipe, its last state is printed when the cell has ended.
type screen struct {
	o    Options
	asks func(ctx context.Context, prompt string, hidden bool) (string, error)
	size func() (columns, rows int) // of the terminal; 0 if not known
	// above prints above an open prompt. It is false if there is none, and nil in a
	// pipe.
	above func(text string) bool

	mu      sync.Mutex
	tail    string            // printed since the last line end
	live    string            // the id of the last display on the terminal
	rows    int               // its height
	drawn   map[string]bool   // ids that this cell has shown on the terminal
	waiting []string          // ids whose last state is not shown yet
	states  map[string]string // by id, of those
}

var _ cell.Output = (*screen)(nil)

// maxTail bounds how much of an unfinished line is kept.
const maxTail = 4 << 10

func newScreen(o Options, asks func(context.Context, string, bool) (string, error)) *screen {
	return &screen{o: o, asks: asks, size: sizeOf(o.Out), drawn: map[string]bool{}, states: map[string]string{}}
}

// sizeOf returns a function that asks a terminal for its size, which may change.
func sizeOf(w io.Writer) func() (int, int) {
	f, ok := w.(*os.File)
	return func() (int, int) {
		if !ok {
			return 0, 0
		}
		columns, rows, err := term.GetSize(int(f.Fd()))
		if err != nil {
			return 0, 0
		}
		return columns, rows
	}
}

// Stream implements [cell.Output].
func (s *screen) Stream(name string, text []byte) {
	if (name != "stderr" || !redirected(s.o.Err)) && s.printedAbove(string(text)) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(text) == 0 {
		return
	}
	s.live = ""
	if name == "stderr" {
		_, _ = s.o.Err.Write(text)
		if !s.o.Terminal {
			return // stdout does not share its lines
		}
	} else {
		_, _ = s.o.Out.Write(text) // if the reader is gone, SIGPIPE ends the program
	}
	s.follow(string(text))
}

func (s *screen) printedAbove(text string) bool { return s.above != nil && s.above(text) }

// follow records the text of the last line.
func (s *screen) follow(text string) {
	if i := strings.LastIndexAny(text, "\n\r"); i >= 0 {
		s.tail, text = "", text[i+1:]
	}
	s.tail += text
	if extra := len(s.tail) - maxTail; extra > 0 {
		s.tail = s.tail[extra:]
	}
}

// endLine ends an unfinished line, which the prompt would overwrite.
func (s *screen) endLine() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.o.Terminal {
		s.fresh()
	}
}

// fresh starts a new line.
func (s *screen) fresh() {
	if s.tail != "" {
		fmt.Fprintln(s.o.Out)
		s.tail = ""
	}
}

// say prints a message on a line of its own.
func (s *screen) say(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fresh()
	s.live = ""
	fmt.Fprintln(s.o.Out, text)
}

// Show implements [display.Screen].
func (s *screen) Show(id string, b display.Bundle) {
	text := textOf(b)
	if id == "" && s.printedAbove(text+"\n") {
		return
	}
	open := s.printedAbove("") // what changes waits for the next cell
	s.mu.Lock()
	defer s.mu.Unlock()
	columns, rows := s.size()
	switch again := s.live == id && s.rows < rows; {
	case id == "":
		s.draw("", text, columns)
	case !s.o.Terminal, open, s.drawn[id] && !again:
		if _, ok := s.states[id]; !ok {
			s.waiting = append(s.waiting, id)
		}
		s.states[id] = text
	case s.drawn[id]:
		fmt.Fprintf(s.o.Out, "\x1b[%dA\x1b[J", s.rows)
		s.draw(id, text, columns)
	default:
		s.draw(id, text, columns)
	}
}

// draw prints a text starting on a new line.
func (s *screen) draw(id, text string, columns int) {
	s.fresh()
	fmt.Fprintln(s.o.Out, text)
	s.live, s.rows = id, rowsOf(text, columns)
	if id != "" {
		s.drawn[id] = true
	}
}

// finish prints pending displays when a cell has ended.
func (s *screen) finish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range s.waiting {
		s.draw("", s.states[id], 0)
	}
	s.waiting, s.live = nil, ""
	clear(s.states)
	clear(s.drawn)
}

// Clear implements [display.Screen]. A terminal keeps its lines.
func (s *screen) Clear(bool) {}

// Input implements [cell.Output]. What the cell printed on the present line
// becomes the editor's prompt, which would overwrite it otherwise.
func (s *screen) Input(ctx context.Context, prompt string, hidden bool) (string, error) {
	s.mu.Lock()
	s.live = ""
	if s.o.Terminal {
		columns, _ := s.size()
		if rowsOf(s.tail+prompt, columns) > 1 {
			s.fresh()
		}
		prompt, s.tail = s.tail+prompt, ""
		fmt.Fprint(s.o.Out, "\r\x1b[K")
	}
	s.mu.Unlock()
	return s.asks(ctx, prompt, hidden)
}

// textOf is the form of a bundle for a terminal.
func textOf(b display.Bundle) string {
	if text := strings.TrimRight(string(b[display.PlainText]), "\n"); text != "" {
		return text
	}
	if forms := slices.Sorted(maps.Keys(b)); len(forms) > 0 && forms[0] != display.PlainText {
		return "(" + strings.Join(forms, ", ") + ": shown in a notebook)"
	}
	return ""
}

// rowsOf is how many rows of a terminal a text takes.
func rowsOf(text string, columns int) int {
	rows := 0
	for line := range strings.SplitSeq(text, "\n") {
		rows++
		if wide := display.Width(line); columns > 0 && wide > columns {
			rows += (wide - 1) / columns
		}
	}
	return rows
}
