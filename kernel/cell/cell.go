// Package cell is the one interactive session behind the terminal, Jupyter and
// script files. A cell is a piece of Go as one types it in a notebook: imports,
// declarations and statements in any order, with a last expression whose value
// is shown. The session runs it with yaegi, but never hands it over raw: the
// cell is split, type-checked against what the session has, lowered where yaegi
// is silently wrong, and refused with a clear message where it cannot be
// lowered (package lower).
package cell

import (
	"context"
	"fmt"
	"strings"

	"noema/kernel/display"
)

// Output is where a running cell's output goes. Its methods are called from
// several goroutines and must not block for long.
type Output interface {
	display.Screen
	// Stream gets what was printed, name is "stdout" or "stderr".
	Stream(name string, text []byte)
	// Input asks the person for a line, which comes without its line end. Where
	// nobody can be asked the error says so.
	Input(ctx context.Context, prompt string, password bool) (string, error)
}

// Result is what a cell came to.
type Result struct {
	Value display.Bundle // of the last expression; nil if there is none or it is nil
}

// Error is what went wrong with a cell. The session lives on.
type Error struct {
	Kind   string   // "syntax error", "type error", "unsupported", "panic", "interrupted", "exit"
	Faults []Fault  // at least one
	Code   int      // for an exit: the status
	Trace  []string // for a panic: the frames of interpreted code, innermost first, as "cell 3, line 2, in f"
}

// Fault is one fault in a cell's text.
type Fault struct {
	Source  string // "cell 3" or a file's name; empty if the place is not known
	Line    int    // from 1, in the cell's text as it was typed; 0 if not known
	Column  int    // from 1, in bytes; 0 if not known
	Message string // as the Go compiler would put it
	Hint    string // the cure, where there is one
}

// String gives the fault as "cell 3, line 2: message".
func (f Fault) String() string {
	switch {
	case f.Source == "":
		return f.Message
	case f.Line == 0:
		return fmt.Sprintf("%s: %s", f.Source, f.Message)
	}
	return fmt.Sprintf("%s, line %d: %s", f.Source, f.Line, f.Message)
}

// Error lists the faults, one a line.
func (e *Error) Error() string {
	lines := make([]string, len(e.Faults))
	for i, f := range e.Faults {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}

// Completeness says whether a text can be run as a cell.
type Completeness struct {
	Status string // "complete", "incomplete", "invalid"
	Indent string // for incomplete: what the next line should begin with
}

// Completions are the texts that could take the place of text[Start:End].
type Completions struct {
	Start, End int // byte offsets
	Items      []Completion
}

// Completion is one of them.
type Completion struct {
	Text   string // what to insert
	Kind   string // "func", "var", "const", "type", "field", "method", "package", "keyword"
	Detail string // one line: a type or a signature
}

// Doc is what is known of the name at a place.
type Doc struct {
	Name      string // as in "strings.Cut"
	Kind      string // as of Completion
	Signature string // the declaration, as go doc prints it
	Comment   string // the doc comment, or empty
	Source    string // the source text, for what a cell declared
}

// Variable is a name that the session holds, for listings.
type Variable struct {
	Name, Kind, Type string
	Cell             int // which cell declared it; 0 for what was there from the start
}
