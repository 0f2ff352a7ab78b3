package cell

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"sync"
)

// capturing is held by the session that has this process's stdout and stderr.
var capturing sync.Mutex

// capture redirects file descriptors 1 and 2 of the process to the streams of a
// session, to catch what compiled code, slog and child processes print.
type capture struct {
	stdout, stderr *os.File // the original ones
}

// newCapture starts to capture. Only one session of a process can do so.
func newCapture(stdout, stderr *stream) (*capture, error) {
	if !capturing.TryLock() {
		return nil, errors.New("capture output: another session of this process already does")
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
	// A crash message of the runtime must not end in our own pipe.
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

// end restores the descriptors.
func (c *capture) end() {
	if c.stdout != nil {
		_ = redirect(c.stdout, 1) // the original, which works
		_ = c.stdout.Close()
	}
	if c.stderr != nil {
		_ = redirect(c.stderr, 2)
		_ = debug.SetCrashOutput(nil, debug.CrashOptions{})
		_ = c.stderr.Close()
	}
	capturing.Unlock()
}
