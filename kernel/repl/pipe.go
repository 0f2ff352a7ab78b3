package repl

import (
	"bufio"
	"context"
	"io"
	"strings"

	"noema/kernel/cell"
)

// pipe cuts what comes through a pipe into cells.
type pipe struct {
	in       *bufio.Reader
	complete func(string) cell.Completeness
}

// cell reads lines until they are a complete cell. What is incomplete at the
// end of the input is a cell, too: running it says what is missing.
func (p *pipe) cell() (string, error) {
	var text strings.Builder
	for {
		line, err := p.in.ReadString('\n')
		text.WriteString(line)
		so := text.String()
		if err != nil {
			return so, io.EOF
		}
		trimmed := strings.TrimSpace(so)
		switch {
		case trimmed == "":
			return "", nil
		case strings.HasPrefix(trimmed, ":"), strings.HasPrefix(trimmed, "!"):
			return so, nil
		case p.complete(so).Status != "incomplete":
			return so, nil
		}
	}
}

// line reads the next line, for a cell that asks.
func (p *pipe) line(_ context.Context, _ string) (string, error) {
	line, err := p.in.ReadString('\n')
	if line != "" {
		err = nil
	}
	return strings.TrimRight(line, "\r\n"), err
}
