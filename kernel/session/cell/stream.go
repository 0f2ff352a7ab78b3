package cell

import (
	"bytes"
	"fmt"
	"os"
	"sync"
	"time"
)

// syncTimeout is how long sync waits for a sink that blocks.
const syncTimeout = 2 * time.Second

// syncMark is written to a stream to find out when all before it has been read.
// No program prints it.
var syncMark = []byte("\x00\x1b\x00noema:sync\x00\x1b\x00")

// stream is an output stream of a cell as a pipe, so that writes of cells, of
// compiled code and of other processes keep their order.
type stream struct {
	name  string // "stdout" or "stderr"
	w     *os.File
	sink  func(name string, text []byte)
	marks chan struct{} // one for every mark that was read
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

// read passes on the output until the last writer is closed.
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

// pass passes on text without marks. It returns how many bytes it moved to the
// beginning of text because they may begin a mark.
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
		default: // nobody waits for it
		}
		rest = after
	}
	held := markPrefix(rest)
	s.emit(rest[:len(rest)-held])
	return copy(text, rest[len(rest)-held:])
}

// markPrefix is the length of the longest suffix of text that begins a mark.
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

// sync returns when all earlier writes have been passed on.
func (s *stream) sync() {
	s.mu.Lock()
	defer s.mu.Unlock()
	select { // of a sync that timed out
	case <-s.marks:
	default:
	}
	timeout := time.NewTimer(syncTimeout)
	defer timeout.Stop()
	written := make(chan struct{})
	go func() { // the pipe may be full, and its reader stuck
		defer close(written)
		_, _ = s.w.Write(syncMark) // if the stream is closed, ended is, too
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

// close ends the stream after all writes have been passed on.
func (s *stream) close() {
	s.sync()
	_ = s.w.Close() // the cell may have closed it
}

// again opens the stream's file a second time, for a cell, which may close it.
func (s *stream) again() (*os.File, error) { return duplicate(s.w, s.name) }

// variable writes to the file that a variable holds, such as os.Stdout, to which
// a program may assign.
type variable struct{ file **os.File }

// Write implements [io.Writer].
func (v variable) Write(p []byte) (int, error) { return (*v.file).Write(p) }
