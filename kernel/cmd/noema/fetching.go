package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"noema/kernel/show/report"
)

// fetching shows how far a fetch is: one line that changes on a terminal, a
// line a file elsewhere, and one every ten seconds of a long file.
type fetching struct {
	w        io.Writer
	terminal bool
	file     string
	begun    time.Time // of the file
	from     int64     // what there was of it at that time
	shown    time.Time // of the last line about it
}

func newFetching(w io.Writer) *fetching {
	f, ok := w.(*os.File)
	return &fetching{w: w, terminal: ok && term.IsTerminal(int(f.Fd()))}
}

func (f *fetching) show(file string, have, size int64) {
	now := time.Now()
	if file != f.file {
		f.file, f.begun, f.from, f.shown = file, now, have, now
	}
	every := 10 * time.Second
	if f.terminal {
		every = 100 * time.Millisecond
	}
	line := ""
	switch {
	case have == size:
		line = fmt.Sprintf("%s  %s", report.Plain(file), report.Size(size))
		f.file = ""
	case now.Sub(f.shown) < every:
		return
	default:
		rate := float64(have-f.from) / max(now.Sub(f.begun).Seconds(), 1e-3)
		line = fmt.Sprintf("%s  %.0f %% of %s, %s/s", report.Plain(file), 100*float64(have)/float64(size), report.Size(size), report.Size(int64(rate)))
		f.shown = now
	}
	if f.terminal {
		line = "\r\x1b[K" + line
	}
	if !f.terminal || f.file == "" {
		line += "\n"
	}
	fmt.Fprint(f.w, line)
}

// end leaves the line of a fetch that failed.
func (f *fetching) end() {
	if f.terminal && f.file != "" {
		fmt.Fprintln(f.w)
	}
}
