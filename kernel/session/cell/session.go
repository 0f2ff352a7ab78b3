package cell

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/traefik/yaegi/interp"

	"noema/kernel/base/display"
)

// Session runs cells, one after the other. All other methods may be called while
// a cell runs.
type Session struct {
	o       Options
	console *console
	turn    chan struct{} // holds a token while a cell runs
	over    chan struct{} // closed with the session

	mu        sync.Mutex // guards what follows
	workspace *workspace
	values    map[string]any // predeclared, see Declare
	count     int
	closed    bool
}

// Options are what a session starts with.
type Options struct {
	// Imports are the packages imported from the start, written as in an import
	// declaration but without quotes: "fmt", ". noema/kernel/lab", "str strings".
	Imports []string
	// Symbols are functions of further packages that cells can import, in the form
	// that yaegi extract writes: the key is "path/name".
	Symbols interp.Exports
	// Args is os.Args, the program's name first.
	Args []string
	// Engine executes the cells: "ssa", the default, or "yaegi"; see SUBSET.md.
	Engine string
	// Dir is the folder whose Go module the cells can import; empty for the
	// working directory. For a script it is the script's.
	Dir string
	// Capture sets the process's os.Stdout and os.Stderr, and with them what
	// compiled code, slog and child processes print, to the cell's output while the
	// session is open. Only one session of a process can do so; see
	// [Session.Terminal].
	Capture bool
	// Memory is the limit in bytes on the memory of the whole process. A cell that
	// exceeds it ends with an error. 0 means no limit.
	Memory int64
}

// Face is what the terminal and notebooks use of a [Session].
type Face interface {
	Run(ctx context.Context, text string, out Output) (*Result, error)
	RunFile(ctx context.Context, path string, out Output) error
	Complete(text string, cursor int) Completions
	Inspect(text string, cursor int) (Doc, bool)
	IsComplete(text string) Completeness
	Variables() []Variable
	Stale() []StaleCell
	Count() int
	Reset() error
	Fallback(out Output)
}

var _ Face = (*Session)(nil)

// New returns a session. The caller closes it.
func New(o Options) (*Session, error) {
	c, err := newConsole()
	if err != nil {
		return nil, err
	}
	s := &Session{o: o, console: c, turn: make(chan struct{}, 1), over: make(chan struct{}), values: map[string]any{}}
	if s.workspace, err = newWorkspace(o, c); err != nil {
		c.close()
		return nil, err
	}
	if o.Capture {
		if c.capture, err = newCapture(c.stdout, c.stderr); err != nil {
			c.close()
			return nil, err
		}
	}
	if o.Memory > 0 {
		go s.watch()
	}
	return s, nil
}

// Declare makes a variable, such as "lab", that cells find from the start, also after
// a reset. Its type is a predeclared one or that of a package that cells can import.
func (s *Session) Declare(name string, value any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.workspace.mu.Lock()
	defer s.workspace.mu.Unlock()
	err := s.workspace.declareValues(map[string]any{name: value})
	if err == nil {
		s.values[name] = value
	}
	return err
}

// present is the current workspace.
func (s *Session) present() *workspace {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.workspace
}

// Screen shows in the cell that runs, or on the fallback when none does.
func (s *Session) Screen() display.Screen { return s.console }

// Context is the context of the running cell, which an interrupt cancels. While
// no cell runs it is the background context.
func (s *Session) Context() context.Context { return s.present().context() }

// Count is the number of cells and scripts run so far.
func (s *Session) Count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count
}

// Writers are the streams that cells print to.
func (s *Session) Writers() (stdout, stderr io.Writer) { return s.console.stdout, s.console.stderr }

// Terminal returns the process's stdout and stderr from before Options.Capture:
// what a front end prints there is not captured.
func (s *Session) Terminal() (stdout, stderr io.Writer) { return s.console.terminal() }

// Reset ends all goroutines of cells and forgets all declarations. A goroutine
// blocked in compiled code ends when that code returns. Reset waits for a
// running cell: interrupt it first.
func (s *Session) Reset() error {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosed
	}
	fresh, err := newWorkspace(s.o, s.console)
	if err == nil {
		err = fresh.declareValues(s.values)
	}
	if err != nil {
		return err
	}
	s.workspace.end()
	s.workspace = fresh
	return nil
}

// Close ends all goroutines of cells, including a running cell's, and restores
// the process's output. It may be called again.
func (s *Session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	close(s.over)
	s.workspace.end()
	s.console.close()
	return nil
}

var errClosed = errors.New("the session is closed")
