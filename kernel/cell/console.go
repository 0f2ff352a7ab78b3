package cell

import (
	"errors"
	"os"
	"sync"

	"noema/kernel/display"
)

// console leads what is printed and shown to the cell that runs, or to the
// fallback when none does. It outlives a reset.
type console struct {
	stdout, stderr *stream
	fallback       Output
	capture        *capture // nil: the process's own output stays what it is

	mu    sync.RWMutex // held while an Output is used: no cell ends in the midst
	out   Output       // of the cell that runs
	muted bool         // it has exited: nothing shows any more
}

func newConsole(fallback Output) (*console, error) {
	c := &console{fallback: fallback}
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

// lead makes out the place where output goes; nil is the fallback.
func (c *console) lead(out Output) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out, c.muted = out, false
}

// mute drops what comes until lead is called.
func (c *console) mute() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.muted = true
}

// with calls f with the present output. It reports false if there is none.
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
	_, _ = stdout.Write(text) // where nobody listens there is nobody to tell
}

// terminal is the process's output as it was before it was captured.
func (c *console) terminal() (stdout, stderr *os.File) {
	if c.capture == nil {
		return os.Stdout, os.Stderr
	}
	return c.capture.stdout, c.capture.stderr
}

// flush hands on what was printed so far.
func (c *console) flush() {
	c.stdout.sync()
	c.stderr.sync()
}

// Show implements [display.Screen]. What was printed before is shown before.
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

var errNobody = errors.New("read input: no cell runs whose face could ask")

// asker is the output that can ask a person now.
func (c *console) asker() (Output, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.out == nil {
		return nil, errNobody
	}
	return c.out, nil
}
