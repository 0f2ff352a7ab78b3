package cell

import (
	"errors"
	"log"
	"os"
	"sync"
)

// capturing is held by the session that has this process's stdout and stderr.
var capturing sync.Mutex

// capture gives compiled code the streams of a session as os.Stdout and os.Stderr,
// and so what compiled code, slog and child processes print. The descriptors 1 and
// 2 stay as they are: when the Go runtime ends the process, its report must not
// fill a pipe that nobody reads any more, where it would wait for ever.
type capture struct {
	stdout, stderr *os.File // the original ones
}

// newCapture starts to capture. Only one session of a process can do so.
func newCapture(stdout, stderr *stream) (*capture, error) {
	if !capturing.TryLock() {
		return nil, errors.New("capture output: another session of this process already does")
	}
	c := &capture{os.Stdout, os.Stderr}
	os.Stdout, os.Stderr = stdout.w, stderr.w
	log.SetOutput(stderr.w)
	return c, nil
}

// end restores the process's output.
func (c *capture) end() {
	os.Stdout, os.Stderr = c.stdout, c.stderr
	log.SetOutput(c.stderr)
	capturing.Unlock()
}
