package cell

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/traefik/yaegi/interp"

	"noema/kernel/display"
)

// Session runs cells, one after the other. Its other methods may be called at
// any time, also while a cell runs.
type Session struct {
	o       Options
	console *console
	turn    chan struct{} // holds a token while a cell runs

	mu     sync.Mutex // guards what follows
	life   *life
	count  int
	closed bool
}

// Options are what a session starts with.
type Options struct {
	// Values are variables that cells find, such as "lab". Their types are those
	// of packages that cells can import, or plain ones.
	Values map[string]any
	// Imports are imported from the start, as in an import declaration but
	// without quotes: "fmt", ". noema/kernel", "str strings".
	Imports []string
	// Symbols are packages beside those of package symbols, as yaegi extract
	// writes them: the key is "path/name".
	Symbols interp.Exports
	// Args are what os.Args holds, the program's name first.
	Args []string
	// Output takes what is printed while no cell runs, by goroutines that
	// outlive their cell. Default: the process's own stdout and stderr.
	Output Output
	// Capture catches what the process itself prints on descriptors 1 and 2
	// (compiled code, slog, child processes) while the session is open. One
	// session of a process can have it; see [Session.Terminal].
	Capture bool
}

// New returns a session, to be closed in the end.
func New(o Options) (*Session, error) {
	c, err := newConsole(o.Output)
	if err != nil {
		return nil, err
	}
	s := &Session{o: o, console: c, turn: make(chan struct{}, 1)}
	if s.life, err = newLife(o, c); err != nil {
		c.close()
		return nil, err
	}
	if o.Capture {
		if c.capture, err = newCapture(c.stdout, c.stderr); err != nil {
			c.close()
			return nil, err
		}
	}
	return s, nil
}

// present is the life of the session that cells see now.
func (s *Session) present() *life {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.life
}

// Screen shows in the cell that runs, or on Options.Output when none does.
func (s *Session) Screen() display.Screen { return s.console }

// Context is the running cell's: it ends when that is interrupted. While no
// cell runs it is the background.
func (s *Session) Context() context.Context { return s.present().context() }

// Count is how many cells and scripts were run.
func (s *Session) Count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count
}

// Writers lead to where cells print.
func (s *Session) Writers() (stdout, stderr io.Writer) { return s.console.stdout, s.console.stderr }

// Terminal returns the process's stdout and stderr as they were before
// Options.Capture: what a face prints there does not come back as output.
func (s *Session) Terminal() (stdout, stderr io.Writer) { return s.console.terminal() }

// Reset ends all goroutines of cells and forgets all that they declared. A
// goroutine that waits in compiled code ends when that returns. Reset waits for
// a cell that runs; interrupt it before.
func (s *Session) Reset() error {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosed
	}
	fresh, err := newLife(s.o, s.console)
	if err != nil {
		return err
	}
	s.life.end()
	s.life = fresh
	return nil
}

// Close ends all goroutines of cells, a running cell's too, and gives the
// process its output back. It may be called again.
func (s *Session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	s.life.end()
	s.console.close()
	return nil
}

var errClosed = errors.New("the session was closed")
