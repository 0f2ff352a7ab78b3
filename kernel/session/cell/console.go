package cell

import (
	"errors"
	"os"
	"sync"

	"noema/kernel/base/display"
)

// console passes what is printed and shown to the running cell's output, or to
// the fallback if no cell is running. It survives a reset.
type console struct {
	stdout, stderr *stream
	fallback       Output
	capture        *capture // nil if the process's own output is not captured

	mu    sync.RWMutex // held while an Output is used, so that no cell ends meanwhile
	out   Output       // of the running cell
	muted bool         // the cell has exited: discard its output
}

func newConsole() (*console, error) {
	c := &console{}
	var err error
	if c.stdout, err = newStream("stdout", c.print); err != nil {
		return nil, err
	}
	if c.stderr, err = newStream("stderr", c.print); err != nil {
		c.stdout.close()
		return nil, err
	}
	return c, nil
}

func (c *console) close() {
	if c.capture != nil {
		c.capture.end()
	}
	c.stdout.close()
	c.stderr.close()
}

// direct sends output to out; nil stands for the fallback.
func (c *console) direct(out Output) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out, c.muted = out, false
}

// Fallback directs to out what goroutines print while no cell runs; nil stands for
// the process's own stdout and stderr, as in a new session.
func (s *Session) Fallback(out Output) {
	s.console.mu.Lock()
	defer s.console.mu.Unlock()
	s.console.fallback = out
}

// mute discards output until direct is called.
func (c *console) mute() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.muted = true
}

// with calls f with the current output. It reports false if there is none.
func (c *console) with(f func(Output)) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	out := c.out
	if out == nil {
		out = c.fallback
	}
	if out != nil && !c.muted {
		f(out)
	}
	return out != nil
}

func (c *console) print(name string, text []byte) {
	if c.with(func(out Output) { out.Stream(name, text) }) {
		return
	}
	stdout, stderr := c.terminal()
	if name == "stderr" {
		stdout = stderr
	}
	_, _ = stdout.Write(text) // there is nobody to report the error to
}

// terminal is the process's output from before it was captured.
func (c *console) terminal() (stdout, stderr *os.File) {
	if c.capture == nil {
		return os.Stdout, os.Stderr
	}
	return c.capture.stdout, c.capture.stderr
}

// flush passes on what was printed so far.
func (c *console) flush() {
	c.stdout.sync()
	c.stderr.sync()
}

// Show implements [display.Screen]. Earlier prints come first.
func (c *console) Show(id string, b display.Bundle) {
	c.flush()
	if !c.with(func(out Output) { out.Show(id, b) }) {
		c.print("stdout", append(b[display.PlainText], '\n'))
	}
}

// Clear implements [display.Screen].
func (c *console) Clear(wait bool) {
	c.flush()
	c.with(func(out Output) { out.Clear(wait) })
}

var errNobody = errors.New("read input: no cell is running")

// asker is the output that can ask a person for input.
func (c *console) asker() (Output, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.out == nil {
		return nil, errNobody
	}
	return c.out, nil
}
