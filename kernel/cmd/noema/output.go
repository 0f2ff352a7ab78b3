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
	any bool // something was written
	err error
}

// outputTo returns what a command prints to, in which a terminal stays one, and what tells
// whether some of it was lost, and whether anything was printed: of a terminal, always.
func outputTo(w io.Writer) (stdout io.Writer, lost func() error, printed func() bool) {
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return w, func() error { return nil }, func() bool { return true }
	}
	o := &output{w: w}
	return o, o.lost, o.printed
}

// replaceFile writes a file at once, so that a kill leaves the old content or the new one.
func replaceFile(file string, content []byte) error {
	if err := os.WriteFile(file+".new", content, 0o644); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

// Write implements [io.Writer].
func (o *output) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.any = o.any || n > 0
	if err != nil {
		if o.err == nil {
			o.err = fmt.Errorf("write output: %w: part of what was printed is lost", err)
		}
	}
	return n, err
}

// printed reports whether something was written.
func (o *output) printed() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.any
}

// lost is the first error.
func (o *output) lost() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}
