// Package repl runs a session of cells at a terminal or in a pipe. A terminal has
// multi-line editing, history, completion and colour. In a pipe, the input is split
// where a cell is complete, and only the output of cells is printed.
package repl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"noema/kernel/session/cell"
)

// Session is what a REPL needs of a [cell.Session].
type Session interface {
	cell.Face
	TypeOf(text string) (string, error)
}

var _ Session = (*cell.Session)(nil)

// Options configure a REPL.
type Options struct {
	In       io.Reader // the input of a pipe; a terminal is the process's own
	Out, Err io.Writer
	History  string // the file of the history; "" for none
	Terminal bool   // a person types
	Color    bool
	Greeting string
	Commands []Command     // beside the REPL's own
	Journal  *cell.Journal // see [Supervise]; may be nil
}

// Command is a line that begins with a colon.
type Command struct {
	Name string // without the colon
	Args string // the arguments, for :help
	Help string
	Run  func(ctx context.Context, args string, out cell.Output) error
}

// Exit codes after a signal, as in shells.
const (
	exitInterrupted = 130
	exitTerminated  = 143
)

// doublePress is the time within which a second Ctrl-C shows how to leave.
const doublePress = time.Second

// repl is one run of it.
type repl struct {
	o       Options
	session Session
	editor  editor
	screen  *screen
	cells   []string          // that ran, for :save
	origins map[string]origin // texts by their names in faults
	line    int               // of the input, where the running cell begins
	failed  bool
	done    bool

	mu      sync.Mutex
	cancel  context.CancelFunc // of the running cell; nil at the prompt
	pressed time.Time          // the last Ctrl-C
}

// origin is a text that faults may point into.
type origin struct {
	text string
	line int // of the input, where the text begins; 0 if it was not typed there
}

// editor reads cells, and lines that a cell asks for.
type editor interface {
	// cell reads a cell. line is where it begins in the input, from 1, or 0 at a
	// terminal. At the end of the input the error is [io.EOF].
	cell(ctx context.Context) (text string, line int, err error)
	// ask reads a line; a hidden one is not echoed.
	ask(ctx context.Context, prompt string, hidden bool) (string, error)
}

// Run reads and runs cells until the end of the input or :quit. The exit code is 1
// if a cell failed in a pipe. Ctrl-C ends the running cell and keeps the session;
// in a pipe, if no cell is running, it ends the REPL with code 130. SIGTERM ends
// the REPL with code 143.
func Run(ctx context.Context, s Session, o Options) (exit int, err error) {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM)
	defer stop()
	ctx, leave := context.WithCancelCause(ctx)
	defer leave(nil)
	r := &repl{o: o, session: s, origins: map[string]origin{}}
	if o.Terminal {
		sh := newShell(s, o, r.commands())
		r.editor = sh
		r.screen = newScreen(o, r.ask)
		r.screen.above, sh.screen = sh.above.print, r.screen
		s.Fallback(r.screen)
	} else {
		r.editor = newPipe(o.In, s.IsComplete)
		r.screen = newScreen(o, r.ask)
	}
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	go r.watch(ctx, interrupts, leave)
	if notice := o.Journal.Notice(":rerun lost"); notice != "" {
		r.screen.say(strings.TrimSuffix(notice, "\n"))
	} else if o.Terminal && o.Greeting != "" {
		fmt.Fprintln(o.Out, o.Greeting)
	}
	if err := r.loop(ctx); err != nil {
		return 1, fmt.Errorf("read a cell: %w", err)
	}
	if o.Terminal {
		fmt.Fprintln(o.Out)
	}
	return r.exit(ctx), nil
}

// loop reads and runs cells until there is a reason to end.
func (r *repl) loop(ctx context.Context) error {
	for !r.done && ctx.Err() == nil {
		text, line, err := r.editor.cell(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, errAgain):
			r.press(strings.TrimSpace(text) == "")
			continue
		case errors.Is(err, io.EOF):
			r.done = true
		case err != nil:
			return err
		}
		if strings.TrimSpace(text) != "" {
			r.line = line
			r.run(ctx, text)
		}
	}
	return nil
}

// exit is the exit code.
func (r *repl) exit(ctx context.Context) int {
	switch {
	case !r.done && errors.Is(context.Cause(ctx), errInterrupted):
		return exitInterrupted
	case !r.done && ctx.Err() != nil:
		return exitTerminated
	case r.failed && !r.o.Terminal:
		return 1
	}
	return 0
}

var errInterrupted = errors.New("interrupted")

// watch handles Ctrl-C. At a terminal the editor reads Ctrl-C as a key, so the
// signal only comes while a cell is running.
func (r *repl) watch(ctx context.Context, interrupts <-chan os.Signal, leave context.CancelCauseFunc) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-interrupts:
			if !r.interrupt() && !r.o.Terminal {
				leave(errInterrupted)
			}
		}
	}
}

// interrupt ends the running cell and reports whether there was one.
func (r *repl) interrupt() bool {
	r.mu.Lock()
	cancel := r.cancel
	r.mu.Unlock()
	if cancel == nil {
		return false
	}
	cancel()
	r.press(true)
	return true
}

// press records a Ctrl-C. A second one with nothing to clear shows how to leave.
func (r *repl) press(idle bool) {
	r.mu.Lock()
	again := idle && time.Since(r.pressed) < doublePress
	r.pressed = time.Now()
	r.mu.Unlock()
	if again && r.o.Terminal {
		r.screen.say("To leave, press Ctrl-D at an empty prompt or type :quit")
	}
}

// ask reads a line for a cell, which Ctrl-C interrupts.
func (r *repl) ask(ctx context.Context, prompt string, hidden bool) (string, error) {
	line, err := r.editor.ask(ctx, prompt, hidden)
	if errors.Is(err, errAgain) {
		r.interrupt()
		return "", errInterrupted
	}
	return line, err
}

// run runs a cell or command. Ctrl-C ends it and keeps the session.
func (r *repl) run(ctx context.Context, text string) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r.mu.Lock()
	r.cancel, r.pressed = cancel, time.Time{}
	r.mu.Unlock()
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
	r.mu.Lock()
	r.cancel = nil
	r.mu.Unlock()
	r.screen.finish()
	if err != nil {
		r.failed = true
		r.fault(err)
	}
	r.screen.endLine()
}

// cell runs a cell and shows its value.
func (r *repl) cell(ctx context.Context, text string) error {
	number := r.session.Count() + 1
	r.origins[fmt.Sprintf("cell %d", number)] = origin{text, r.line}
	var result *cell.Result
	err := r.o.Journal.Run(number, text, func() (err error) {
		result, err = r.session.Run(ctx, text, r.screen)
		return err
	})
	r.screen.finish()
	if err != nil {
		if e, ok := errors.AsType[*cell.Error](err); ok && e.Kind == "exit" {
			if r.o.Terminal {
				return fmt.Errorf("exit status %d: os.Exit ends the cell, not the session; to leave, press Ctrl-D or type :quit", e.Code)
			}
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
