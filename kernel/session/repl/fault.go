package repl

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"noema/kernel/base/display"
	"noema/kernel/session/cell"
)

const (
	red   = "\x1b[31m"
	faint = "\x1b[2m"
	plain = "\x1b[0m"
)

// Bounds of what is printed of one error.
const (
	maxFaults   = 10
	maxFrames   = 12
	maxMarkLine = 200 // bytes of a line that is shown with a mark
)

// paint colours a text for Options.Err.
func (r *repl) paint(color, text string) string {
	if !r.o.Color || text == "" || redirected(r.o.Err) {
		return text
	}
	return color + text + plain
}

// redirected reports whether w is a file other than a terminal, as after
// "2>errors.txt", which must have no colours.
func redirected(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && !term.IsTerminal(int(f.Fd()))
}

// fault prints an error: each fault with its line and a mark at its position.
func (r *repl) fault(err error) {
	r.screen.endLine()
	var e *cell.Error
	if !errors.As(err, &e) {
		fmt.Fprintln(r.o.Err, r.paint(red, err.Error()))
		return
	}
	kind := e.Kind + ": "
	if e.Kind == "interrupted" {
		kind = ""
	}
	for i, f := range e.Faults {
		if i == maxFaults {
			fmt.Fprintf(r.o.Err, "… and %d more\n", len(e.Faults)-i)
			break
		}
		from := r.origins[f.Source]
		fmt.Fprintln(r.o.Err, r.paint(red, kind)+describe(f, from.line))
		if lines := strings.Split(from.text, "\n"); f.Line > 0 && f.Line <= len(lines) {
			r.mark(strings.TrimRight(lines[f.Line-1], "\r"), f.Column)
		}
		if f.Hint != "" {
			fmt.Fprintln(r.o.Err, r.paint(faint, "hint: "+f.Hint))
		}
	}
	for i, frame := range e.Trace {
		if i > 0 && i < maxFrames { // the innermost is the fault's own place
			fmt.Fprintln(r.o.Err, r.paint(faint, "  at "+frame))
		}
	}
}

// describe is a fault, in a pipe with the line of the input as well, because cells
// have no visible numbers there.
func describe(f cell.Fault, begins int) string {
	if begins == 0 || f.Line == 0 {
		return f.String()
	}
	return fmt.Sprintf("%s, line %d (line %d of the input): %s", f.Source, f.Line, begins+f.Line-1, f.Message)
}

// mark prints a line with a caret below a column, which counts bytes from 1.
func (r *repl) mark(line string, column int) {
	if len(line) > maxMarkLine {
		return
	}
	fmt.Fprintln(r.o.Err, "    "+line)
	if column < 1 || column > len(line)+1 {
		return
	}
	var pad strings.Builder
	for _, c := range line[:column-1] {
		if c == '\t' {
			pad.WriteRune(c)
			continue
		}
		pad.WriteString(strings.Repeat(" ", display.Width(string(c))))
	}
	fmt.Fprintln(r.o.Err, "    "+pad.String()+r.paint(red, "^"))
}
