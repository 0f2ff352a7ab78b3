// Package cell is the one interactive session behind the terminal, Jupyter and
// script files. A cell is a piece of Go as one types it in a notebook: imports,
// declarations and statements in any order, with a last expression whose value
// is shown.
//
// Package source splits a cell and go/types checks it against what the session has
// declared; then an engine executes it. Engine "ssa" compiles it by go/ssa to a few
// simple instructions, in which the finer points of the language are explicit, and
// package machine executes these on ordinary Go memory. Engine "yaegi" gives it to
// the interpreter of that name, lowered by package yaegi. Package symbols gives
// compiled packages to all of them, in yaegi's tables of symbols and interface
// wrappers. SUBSET.md lists what each engine runs and refuses.
package cell

import (
	"context"
	"strings"

	"noema/kernel/base/display"
	"noema/kernel/session/cell/internal/source"
	"noema/kernel/session/cell/internal/symbols"
)

// Output receives what a running cell prints and shows. Its methods are called
// from several goroutines and must not block for long.
type Output interface {
	display.Screen
	// Stream receives printed text; name is "stdout" or "stderr".
	Stream(name string, text []byte)
	// Input asks the person for a line, which is returned without its line end. It
	// is an error if nobody can be asked.
	Input(ctx context.Context, prompt string, password bool) (string, error)
}

// Result is the result of a cell that did not fail.
type Result struct {
	Value display.Bundle // of the last expression; nil if it is nil or missing
}

// Error says why a cell failed. The session goes on.
type Error struct {
	Kind   string   // "syntax error", "type error", "unsupported", "panic", "interrupted", "exit", "out of memory"
	Faults []Fault  // at least one
	Code   int      // for an exit: the status
	Trace  []string // for a panic: the calls of cells, innermost first, as "cell 3, line 2, in f"
}

// Fault is one error in a cell's text.
type Fault = source.Fault

// Error lists the faults, one per line.
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

// Completions are the candidates to replace text[Start:End].
type Completions struct {
	Start, End int // byte offsets
	Items      []Completion
}

// Completion is one of them.
type Completion = symbols.Item

// Doc describes the name at a position.
type Doc = symbols.Info

// Variable is a name that the session holds, for listings.
type Variable struct {
	Name, Kind, Type string
	Cell             int // the cell that declared it; 0 for predeclared names
}
