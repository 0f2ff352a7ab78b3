// Package repl is a session of cells at a terminal, or in a pipe. At a terminal
// one types cells of as many lines as they need, with history, completion and
// colour; in a pipe the input is cut into cells where they are complete, and
// nothing but their output is printed.
package repl

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"time"

	"noema/kernel/cell"
	"noema/kernel/display"
)

// Options are what a REPL works with.
type Options struct {
	In       io.Reader // read in a pipe; a terminal is the process's own
	Out, Err io.Writer
	History  string // a file that keeps the history across sessions; "" keeps none
	Terminal bool   // people type
	Color    bool
	Greeting string
	Commands []Command // beside the REPL's own
}

// Command is a line that begins with a colon.
type Command struct {
	Name string // without the colon
	Args string // what may follow, for :help
	Help string
	Run  func(ctx context.Context, args string, out cell.Output) error
}

// repl is one run of it.
type repl struct {
	o       Options
	session *cell.Session
	editor  editor
	screen  *screen
	cells   []string // that ran, for :save
	failed  bool
	done    bool
}

// editor reads what is typed: whole cells, and lines that a cell asks for.
type editor interface {
	// cell reads a cell. At the end of the input the error is [io.EOF].
	cell() (string, error)
	line(ctx context.Context, prompt string) (string, error)
}

// Run reads and runs cells until the input ends or :quit. The exit code is 1 if
// a cell failed in a pipe.
func Run(ctx context.Context, s *cell.Session, o Options) (exit int, err error) {
	r := &repl{o: o, session: s}
	if o.Terminal {
		r.editor = newShell(s, o)
	} else {
		r.editor = &pipe{in: bufio.NewReader(o.In), complete: s.IsComplete}
	}
	r.screen = &screen{o: o, ask: r.editor.line}
	if o.Terminal && o.Greeting != "" {
		fmt.Fprintln(o.Out, o.Greeting)
	}
	for !r.done && ctx.Err() == nil {
		text, err := r.editor.cell()
		switch {
		case errors.Is(err, errAgain):
			continue
		case errors.Is(err, io.EOF):
			r.done = true
		case err != nil:
			return 1, fmt.Errorf("read a cell: %w", err)
		}
		if strings.TrimSpace(text) != "" {
			r.run(ctx, text)
		}
	}
	if o.Terminal {
		fmt.Fprintln(o.Out)
	}
	if r.failed && !o.Terminal {
		return 1, nil
	}
	return 0, nil
}

// run runs what was typed; Ctrl-C ends it and keeps the session.
func (r *repl) run(ctx context.Context, text string) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	over := make(chan struct{})
	defer close(over)
	go func() {
		select {
		case <-interrupts:
			cancel()
		case <-over:
		}
	}()
	r.screen.begin()
	var err error
	trimmed := strings.TrimSpace(text)
	switch {
	case strings.HasPrefix(trimmed, ":"):
		err = r.command(ctx, trimmed[1:])
	case strings.HasPrefix(trimmed, "!"):
		err = r.shellCommand(ctx, trimmed[1:])
	default:
		err = r.cell(ctx, text)
	}
	if err != nil {
		r.failed = true
		r.fault(err, text)
	}
}

// cell runs a cell and shows its value.
func (r *repl) cell(ctx context.Context, text string) error {
	result, err := r.session.Run(ctx, text, r.screen)
	if err != nil {
		var e *cell.Error
		if errors.As(err, &e) && e.Kind == "exit" {
			r.done = true
			r.failed = e.Code != 0
			return nil
		}
		return err
	}
	r.cells = append(r.cells, text)
	if len(result.Value) > 0 {
		r.screen.Show("", result.Value)
	}
	return nil
}

const (
	red   = "\x1b[31m"
	faint = "\x1b[2m"
	plain = "\x1b[0m"
)

// paint colours a text where that is wanted.
func (r *repl) paint(color, text string) string {
	if !r.o.Color {
		return text
	}
	return color + text + plain
}

// fault prints what went wrong, each fault with its line and a mark below the
// place.
func (r *repl) fault(err error, text string) {
	var e *cell.Error
	if !errors.As(err, &e) {
		fmt.Fprintln(r.o.Err, r.paint(red, err.Error()))
		return
	}
	lines := strings.Split(text, "\n")
	for i, f := range e.Faults {
		if i == 10 {
			fmt.Fprintf(r.o.Err, "… and %d more\n", len(e.Faults)-i)
			break
		}
		kind := e.Kind + ": "
		if e.Kind == "interrupted" {
			kind = ""
		}
		fmt.Fprintln(r.o.Err, r.paint(red, kind)+f.String())
		if f.Line > 0 && f.Line <= len(lines) && strings.HasPrefix(f.Source, "cell ") {
			r.mark(lines[f.Line-1], f.Column)
		}
		if f.Hint != "" {
			fmt.Fprintln(r.o.Err, r.paint(faint, "hint: "+f.Hint))
		}
	}
	for i, frame := range e.Trace {
		if i > 0 && i < 12 {
			fmt.Fprintln(r.o.Err, r.paint(faint, "  at "+frame))
		}
	}
}

// mark prints a line with a caret below a column, which counts bytes.
func (r *repl) mark(line string, column int) {
	if len(line) > 200 {
		return
	}
	fmt.Fprintln(r.o.Err, "    "+line)
	if column < 1 || column > len(line)+1 {
		return
	}
	var pad strings.Builder
	for _, c := range line[:column-1] {
		if c != '\t' {
			c = ' '
		}
		pad.WriteRune(c)
	}
	fmt.Fprintln(r.o.Err, "    "+pad.String()+r.paint(red, "^"))
}

// screen is the output of cells.
type screen struct {
	o   Options
	ask func(ctx context.Context, prompt string) (string, error)

	mu     sync.Mutex
	live   string // the id of what stands last on the terminal
	height int    // its lines
}

var _ cell.Output = (*screen)(nil)

func (s *screen) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.live = ""
}

// Stream implements [cell.Output].
func (s *screen) Stream(name string, text []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.live = ""
	w := s.o.Out
	if name == "stderr" {
		w = s.o.Err
	}
	_, _ = w.Write(text) // a reader that is gone ends the program
}

// Show implements [display.Screen]. What stands last on a terminal is replaced
// by what is shown with the same id; a pipe gets only what has no id.
func (s *screen) Show(id string, b display.Bundle) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := strings.TrimRight(string(b[display.PlainText]), "\n")
	if id != "" {
		if !s.o.Terminal {
			return
		}
		if s.live == id && s.height > 0 {
			fmt.Fprintf(s.o.Out, "\x1b[%dA\x1b[J", s.height)
		}
	}
	if text == "" {
		text = pictureNote(b)
	}
	fmt.Fprintln(s.o.Out, text)
	s.live, s.height = id, strings.Count(text, "\n")+1
}

// pictureNote says what a terminal cannot show.
func pictureNote(b display.Bundle) string {
	for mime := range b {
		return "(" + mime + ": shown in a notebook)"
	}
	return ""
}

// Clear implements [display.Screen]: what scrolled by stays.
func (s *screen) Clear(bool) {}

// Input implements [cell.Output].
func (s *screen) Input(ctx context.Context, prompt string, _ bool) (string, error) {
	return s.ask(ctx, prompt)
}

// since is how long something took, for people.
func since(begun time.Time) time.Duration { return time.Since(begun).Round(10 * time.Microsecond) }
