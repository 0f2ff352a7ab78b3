package cell

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"sync"
)

// capturing says that a session of this process has its stdout and stderr.
var capturing sync.Mutex

// capture sends file descriptors 1 and 2 of the process into the streams of a
// session, which catches what compiled code, slog and child processes print.
type capture struct {
	stdout, stderr *os.File // where they led before
}

// newCapture begins to capture. Only one session of a process can.
func newCapture(stdout, stderr *stream) (*capture, error) {
	if !capturing.TryLock() {
		return nil, errors.New("capture output: another session of this process does so")
	}
	c := &capture{}
	if err := c.begin(stdout, stderr); err != nil {
		c.end()
		return nil, fmt.Errorf("capture output: %w", err)
	}
	return c, nil
}

func (c *capture) begin(stdout, stderr *stream) (err error) {
	if c.stdout, err = duplicate(1, "stdout"); err != nil {
		return err
	}
	if c.stderr, err = duplicate(2, "stderr"); err != nil {
		return err
	}
	// What the runtime says when the process dies must not end in our own pipe.
	if err := debug.SetCrashOutput(c.stderr, debug.CrashOptions{}); err != nil {
		return err
	}
	for fd, s := range map[int]*stream{1: stdout, 2: stderr} {
		if err := errors.Join(blocking(s.w), redirect(s.w, fd)); err != nil {
			return err
		}
	}
	return nil
}

// end gives the process its descriptors back.
func (c *capture) end() {
	if c.stdout != nil {
		_ = redirect(c.stdout, 1) // it was there before
		_ = c.stdout.Close()
	}
	if c.stderr != nil {
		_ = redirect(c.stderr, 2)
		_ = debug.SetCrashOutput(nil, debug.CrashOptions{})
		_ = c.stderr.Close()
	}
	capturing.Unlock()
}
