package main

import (
	"bufio"
	"context"
	"io"
	"strings"
	"sync"
)

// lineReader reads lines for cells that ask for input. A read that nobody waits
// for any more is kept for the next who asks.
type lineReader struct {
	from  io.Reader
	once  sync.Once
	asks  chan struct{}
	lines chan readLine
}

type readLine struct {
	text string
	err  error
}

func newLineReader(from io.Reader) *lineReader {
	return &lineReader{from: from, asks: make(chan struct{}, 1), lines: make(chan readLine)}
}

// line is the next line, without its end.
func (r *lineReader) line(ctx context.Context) (string, error) {
	r.once.Do(func() { go r.read() })
	select {
	case r.asks <- struct{}{}:
	default: // one is being read already
	}
	select {
	case l := <-r.lines:
		return l.text, l.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// read reads a line whenever one is asked for. It lives as long as the program,
// since a read of a terminal cannot be ended.
func (r *lineReader) read() {
	in := bufio.NewReader(r.from)
	for range r.asks {
		text, err := in.ReadString('\n')
		if text != "" {
			err = nil
		}
		r.lines <- readLine{strings.TrimRight(text, "\r\n"), err}
	}
}
