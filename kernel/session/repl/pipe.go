package repl

import (
	"bufio"
	"context"
	"io"
	"strings"

	"noema/kernel/session/cell"
)

// pipe splits the input of a pipe into cells.
type pipe struct {
	in       *bufio.Reader
	complete func(string) cell.Completeness
	turn     chan struct{} // holds a token during a read
	coming   chan incoming // the read in progress; nil if there is none
	number   int           // of the last line that was read, from 1
}

// incoming is a line or the error of reading it.
type incoming struct {
	line string
	err  error
}

func newPipe(in io.Reader, complete func(string) cell.Completeness) *pipe {
	return &pipe{in: bufio.NewReader(in), complete: complete, turn: make(chan struct{}, 1)}
}

// next reads a line with its end. A read cannot be cancelled: a line that arrives
// after ctx has ended goes to the next caller.
func (p *pipe) next(ctx context.Context) (string, error) {
	select {
	case p.turn <- struct{}{}:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	defer func() { <-p.turn }()
	if p.coming == nil {
		coming := make(chan incoming, 1)
		p.coming = coming
		go func() {
			line, err := p.in.ReadString('\n')
			coming <- incoming{line, err}
		}()
	}
	select {
	case got := <-p.coming:
		p.coming = nil
		if got.line != "" {
			p.number++
		}
		return got.line, got.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// cell reads lines until they are a complete cell. At the end of the input an
// incomplete cell is returned as well: running it reports what is missing.
func (p *pipe) cell(ctx context.Context) (string, int, error) {
	var text strings.Builder
	var open brackets
	begins, single := 0, false
	for {
		line, err := p.next(ctx)
		if begins == 0 {
			if strings.TrimSpace(line) == "" && err == nil {
				continue
			}
			begins, single = p.number, isCommand(line)
		}
		text.WriteString(line)
		open.line(line)
		if err == io.EOF || err == nil && (single || p.closed(open, text.String())) {
			return text.String(), begins, err
		}
		if err != nil {
			return "", 0, err
		}
	}
}

// closed asks the session, which reads the whole text, only if no bracket is open.
func (p *pipe) closed(open brackets, text string) bool {
	return open.closed() && p.complete(text).Status != "incomplete"
}

// ask reads the next line, for a cell that asks.
func (p *pipe) ask(ctx context.Context, _ string, _ bool) (string, error) {
	line, err := p.next(ctx)
	if line != "" {
		err = nil
	}
	return strings.TrimRight(line, "\r\n"), err
}

// isCommand reports whether a text is a command of the REPL or of the shell.
func isCommand(text string) bool {
	trimmed := strings.TrimSpace(text)
	return strings.HasPrefix(trimmed, ":") || strings.HasPrefix(trimmed, "!")
}
