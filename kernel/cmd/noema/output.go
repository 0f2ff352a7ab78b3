package main

import (
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/term"
)

// output is standard output that remembers the first error: a full disk is told
// at the end of the command, whoever printed.
type output struct {
	mu  sync.Mutex
	w   io.Writer
	err error
}

// outputTo returns what a command prints to, in which a terminal stays one.
func outputTo(w io.Writer) (stdout io.Writer, lost func() error) {
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return w, func() error { return nil }
	}
	o := &output{w: w}
	return o, o.lost
}

// Write implements [io.Writer].
func (o *output) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	if err != nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.err == nil {
			o.err = fmt.Errorf("write output: %w: part of what was printed is lost", err)
		}
	}
	return n, err
}

// lost is the first error.
func (o *output) lost() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}
