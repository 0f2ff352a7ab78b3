// Package source reads a cell: from its text it makes a type-checked package of
// Go. A cell may mix imports, declarations and statements, name what earlier
// cells declared, declare a name anew, and end with an expression whose value is
// shown; the package has functions and variables at its top and the statements
// in one function. What the compiler would say of the text is said with its
// words and the cell's own lines.
package source

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// Scope is what a session has that a cell's text can name.
type Scope struct {
	Objects map[string]types.Object // of earlier cells, by the names in the source
	Imports map[string]string       // name -> path, of imports made by earlier cells
	Dot     []string                // paths that earlier cells imported with a dot
}

// Environment is all that a cell can name.
type Environment struct {
	Scope
	Importer types.Importer                                      // compiled packages
	Missing  func(path, name string) (hint string, missing bool) // compiled symbols that cells lack; may be nil
}

// Part is a declaration of an earlier cell that is compiled again, because the
// new cell gives another meaning to a name in it.
type Part struct {
	Source string // the cell's name, as in "cell 3"
	Line   int    // where the text begins there
	Text   string
}

// Options say what to read.
type Options struct {
	Source string // how faults call the text: "cell 3", or a file's name
	Again  []Part
	Script bool // a Go file with package clause and func main
}

// Unit is a cell read.
type Unit struct {
	Package *types.Package
	File    *ast.File
	Info    *types.Info
	Run     string // the function to call: of the statements, or main; "" if there is none
	Imports []Import
	Defines []Definition
	// Earlier are variables that stand for what a name meant before this cell: of
	// name x, [0] is the object in the Unit and [1] that of an earlier cell.
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

// Fault is a fault in a text.
type Fault struct {
	Source       string
	Line, Column int // from 1; 0 if not known
	Message      string
	Hint         string
}

// Errors are the faults of a text.
type Errors struct {
	Kind   string // "syntax error", "type error", "unsupported"
	Faults []Fault

	unkeyed map[token.Position][]string // see manner
}

// Error lists the faults, one a line.
func (e *Errors) Error() string {
	lines := make([]string, len(e.Faults))
	for i, f := range e.Faults {
		lines[i] = fmt.Sprintf("%s:%d:%d: %s", f.Source, f.Line, f.Column, f.Message)
	}
	return strings.Join(lines, "\n")
}

// Names that texts get for what has none of its own. No one types them.
const (
	runName   = "statements__"
	ShowName  = "show__" // the function that takes the last expression's values
	oldSuffix = "__earlier"
	newSuffix = "__again"
)

// Hooks is the package of the function that shows. Its functions are the
// machine's natives.
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
