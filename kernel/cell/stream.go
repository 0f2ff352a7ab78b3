package cell

import (
	"bytes"
	"fmt"
	"os"
	"sync"
	"time"
)

// syncPatience is how long sync waits for a reader that does not take output.
const syncPatience = 2 * time.Second

// syncMark goes through a stream behind what was written before it. It is
// nothing that a program prints.
var syncMark = []byte("\x00\x1b\x00noema:sync\x00\x1b\x00")

// stream is an output stream of a cell as a file: a pipe, so that whatever
// writes there, interpreted, compiled or another process, keeps one order.
type stream struct {
	name  string // "stdout" or "stderr"
	w     *os.File
	sink  func(name string, text []byte)
	marks chan struct{} // one for every mark that came through
	ended chan struct{}
	mu    sync.Mutex // held by sync
}

func newStream(name string, sink func(name string, text []byte)) (*stream, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make %s: %w", name, err)
	}
	s := &stream{name: name, w: w, sink: sink, marks: make(chan struct{}, 1), ended: make(chan struct{})}
	go s.read(r)
	return s, nil
}

// Write implements [io.Writer].
func (s *stream) Write(p []byte) (int, error) { return s.w.Write(p) }

// read hands on what comes, until the last writer is closed.
func (s *stream) read(r *os.File) {
	defer close(s.ended)
	defer r.Close()
	buffer, held := make([]byte, 64<<10), 0
	for {
		n, err := r.Read(buffer[held:])
		held = s.pass(buffer[:held+n])
		if err != nil {
			s.emit(buffer[:held])
			return
		}
	}
}

// pass hands on text without marks. It returns how many bytes it moved to the
// beginning of text because a mark may begin with them.
func (s *stream) pass(text []byte) int {
	rest := text
	for {
		before, after, found := bytes.Cut(rest, syncMark)
		if !found {
			break
		}
		s.emit(before)
		select {
		case s.marks <- struct{}{}:
		default: // nobody waits any more
		}
		rest = after
	}
	held := markPrefix(rest)
	s.emit(rest[:len(rest)-held])
	return copy(text, rest[len(rest)-held:])
}

// markPrefix is the length of the longest end of text that begins a mark.
func markPrefix(text []byte) int {
	for n := min(len(text), len(syncMark)-1); n > 0; n-- {
		if bytes.HasPrefix(syncMark, text[len(text)-n:]) {
			return n
		}
	}
	return 0
}

func (s *stream) emit(text []byte) {
	if len(text) > 0 {
		s.sink(s.name, bytes.Clone(text))
	}
}

// sync returns when all that was written before has been handed on.
func (s *stream) sync() {
	s.mu.Lock()
	defer s.mu.Unlock()
	select { // of one that gave up
	case <-s.marks:
	default:
	}
	timeout := time.NewTimer(syncPatience)
	defer timeout.Stop()
	written := make(chan struct{})
	go func() { // the pipe may be full, and its reader stuck
		defer close(written)
		_, _ = s.w.Write(syncMark) // a closed stream has nothing to wait for: ended says so
	}()
	select {
	case <-written:
	case <-timeout.C:
		return
	}
	select {
	case <-s.marks:
	case <-s.ended:
	case <-timeout.C:
	}
}

// close ends the stream, after what was written has been handed on.
func (s *stream) close() {
	s.sync()
	_ = s.w.Close() // the cell may have done so
}

// again opens the stream's file a second time, for a cell that may close it.
func (s *stream) again() (*os.File, error) {
	var other *os.File
	err := control(s.w, "dup", func(fd int) (err error) {
		other, err = duplicate(fd, s.name)
		return err
	})
	return other, err
}

// variable writes to the file that a variable holds, such as os.Stdout, to
// which a program may assign another one.
type variable struct{ file **os.File }

// Write implements [io.Writer].
func (v variable) Write(p []byte) (int, error) { return (*v.file).Write(p) }
