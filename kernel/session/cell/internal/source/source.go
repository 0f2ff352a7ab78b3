// Package source reads a cell: it makes a type-checked Go package of its text. A
// cell may mix imports, declarations and statements, use the declarations of
// earlier cells, redeclare names, and end with an expression whose value is shown.
// In the package, functions and variables are at the top level and the statements
// in one function. Errors have the words of the compiler and the lines of the
// cell.
package source

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// Scope holds the names that a session declares.
type Scope struct {
	Objects map[string]types.Object // of earlier cells, by the names in the source
	Imports map[string]string       // name -> path, of imports made by earlier cells
	Dot     []string                // paths that earlier cells imported with a dot
}

// Environment holds all names that a cell can use.
type Environment struct {
	Scope
	Importer types.Importer                                      // compiled packages
	Missing  func(path, name string) (hint string, missing bool) // compiled symbols that cells lack; may be nil
	Named    func(name string) (paths []string)                  // the standard library's packages of a name; may be nil
}

// Part is a declaration of an earlier cell that is compiled again because the new
// cell redefines a name in it.
type Part struct {
	Source string // the cell's name, as in "cell 3"
	Line   int    // where the text begins there
	Text   string
}

// Options are the options of [Read].
type Options struct {
	Source string // the name of the text in faults: "cell 3", or a file name
	Again  []Part
	Script bool // a Go file with package clause and func main
}

// Unit is a cell or script after reading.
type Unit struct {
	Package *types.Package
	File    *ast.File
	Info    *types.Info
	Run     string // the function with the statements, or main; "" if there is none
	Imports []Import
	Added   []Import // those of Imports that the text lacks
	Defines []Definition
	// Earlier are variables for names that this cell redeclares, as they were
	// before: [0] is the object in the Unit and [1] that of the earlier cell.
	Earlier [][2]types.Object
	// Aliases is the package of the first of each pair in Earlier; nil if none.
	Aliases *types.Package
}

// Import is an import declaration; Name is "." for a dot import.
type Import struct{ Name, Path string }

// Definition is a name that a cell declares at its top, or a method, as "T.M".
type Definition struct {
	Name   string
	Object types.Object
	Source string   // its whole declaration, as typed; of a group, the group
	Line   int      // where that begins
	Uses   []string // names that the declaration mentions
	Part   bool     // it comes from Options.Again
}

// Fault is one error in a text.
type Fault struct {
	Source  string // "cell 3" or a file name; empty if unknown
	Line    int    // from 1, in the text as typed; 0 if unknown
	Column  int    // from 1, in bytes; 0 if unknown
	Message string // as the Go compiler would put it
	Hint    string // how to fix it, if known
}

// String formats the fault as "cell 3, line 2: message".
func (f Fault) String() string {
	switch {
	case f.Source == "":
		return f.Message
	case f.Line == 0:
		return fmt.Sprintf("%s: %s", f.Source, f.Message)
	}
	return fmt.Sprintf("%s, line %d: %s", f.Source, f.Line, f.Message)
}

// At is where the fault is, as compilers begin a line: "file:line:column: ". What is
// unknown is left out.
func (f Fault) At() string {
	at := ""
	for _, n := range []int{f.Line, f.Column} {
		if n > 0 {
			at += fmt.Sprint(":", n)
		}
	}
	if f.Source == "" {
		return ""
	}
	return f.Source + at + ": "
}

// Errors are all faults of a text.
type Errors struct {
	Kind   string // "syntax error", "type error", "unsupported"
	Faults []Fault

	unkeyed  map[token.Position][]string // see adjustments
	selected map[string][]string         // by the name that they are selected from
}

// Error lists the faults, one a line.
func (e *Errors) Error() string {
	lines := make([]string, len(e.Faults))
	for i, f := range e.Faults {
		lines[i] = f.At() + f.Message
	}
	return strings.Join(lines, "\n")
}

// Generated names, which nobody types.
const (
	runName   = "statements__"
	ShowName  = "show__" // the function that takes the last expression's values
	oldSuffix = "__earlier"
	newSuffix = "__again"
)

// Hooks is the package with the function that shows a value, which the machine
// implements.
func Hooks() *types.Package {
	p := types.NewPackage("noema/cell/hooks", "hooks")
	values := types.NewVar(token.NoPos, p, "values", types.NewSlice(types.Universe.Lookup("any").Type()))
	sig := types.NewSignatureType(nil, nil, nil, types.NewTuple(values), nil, true)
	p.Scope().Insert(types.NewFunc(token.NoPos, p, ShowName, sig))
	p.MarkComplete()
	return p
}

// NewInfo has a map for everything that go/ssa asks of a checked package.
func NewInfo() *types.Info {
	return &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{},
		Uses: map[*ast.Ident]types.Object{}, Implicits: map[ast.Node]types.Object{},
		Instances: map[*ast.Ident]types.Instance{}, Scopes: map[ast.Node]*types.Scope{},
		Selections: map[*ast.SelectorExpr]*types.Selection{}, FileVersions: map[*ast.File]string{},
	}
}
