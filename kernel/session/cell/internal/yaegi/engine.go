// Package yaegi executes cells with the unmodified interpreter of
// github.com/traefik/yaegi. A cell that go/types has checked is lowered to the
// part of Go that the interpreter executes rightly (see lower.go); what it is
// known to do wrong, or not at all, is refused before it runs (see refuse.go).
package yaegi

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"io"
	"maps"
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/traefik/yaegi/interp"

	"noema/kernel/session/cell/internal/machine"
	"noema/kernel/session/cell/internal/source"
)

// Engine holds one interpreter with the declarations of a session's cells. Its
// callers see to it that Load and Declare are not called at the same time.
type Engine struct {
	machine  *machine.Machine // begins and stops executions; it holds nothing of the cells
	fset     *token.FileSet
	interp   *interp.Interpreter
	names    map[types.Object]string // of variables and functions of cells, in the interpreter
	packages map[*types.Package]int  // of cells, numbered: part of the names of types
	imported map[string]string       // path -> the name under which the interpreter has the package
	pending  []string                // paths that have got a name but are not imported yet
	ticks    atomic.Uint64
	traces   sync.Map // *machine.Thread -> *[]machine.Frame, of those that run a cell's function
	classes  sync.Map // name -> *class
	sources  Sources
	generics map[*types.Func]generic
	copies   map[string]string // instances of generic functions -> their names
	types    []instance
}

// New returns an engine without cells. Tables are the compiled packages; a
// function in them whose first parameter is a *machine.Thread gets the caller's.
// Print receives the output of the builtin functions print and println.
func New(m *machine.Machine, fset *token.FileSet, sources Sources, tables machine.Tables, print func(string)) (*Engine, error) {
	e := &Engine{
		machine: m, fset: fset, names: map[types.Object]string{},
		packages: map[*types.Package]int{}, imported: map[string]string{},
		sources: sources, generics: map[*types.Func]generic{}, copies: map[string]string{},
	}
	e.interp = interp.New(interp.Options{Stdout: io.Discard, Stderr: unwinding{e}})
	for _, table := range tables {
		for name, v := range table {
			table[name] = e.unthreaded(v)
		}
	}
	// Under its plain key, package fmt would replace the session's os, log and flag.
	tables["fmt/./fmt"] = tables["fmt/fmt"]
	delete(tables, "fmt/fmt")
	if err := e.interp.Use(tables); err != nil {
		return nil, fmt.Errorf("give yaegi the compiled packages: %w", err)
	}
	if err := e.interp.Use(e.host(print)); err != nil {
		return nil, fmt.Errorf("give yaegi the host's functions: %w", err)
	}
	e.imported[hostPath], e.pending = hostName, []string{hostPath}
	return e, e.use()
}

// use imports the packages that have got an alias. An import that is repeated fails.
func (e *Engine) use() error {
	for len(e.pending) > 0 {
		path := e.pending[0]
		e.pending = e.pending[1:]
		if _, err := e.interp.Eval(fmt.Sprintf("import %s %q", e.imported[path], path)); err != nil {
			delete(e.imported, path)
			return fmt.Errorf("import %q: %w", path, err)
		}
	}
	return nil
}

// Declare makes a predeclared variable with a value.
func (e *Engine) Declare(o *types.Var, v reflect.Value) error {
	path := fmt.Sprintf("noema/cell/value%d", len(e.names))
	p := reflect.New(v.Type())
	p.Elem().Set(v)
	if err := e.interp.Use(interp.Exports{path + "/value": {"V": p.Elem()}}); err != nil {
		return err
	}
	e.names[o] = e.alias(path) + ".V"
	return e.use()
}

// Load takes in a checked unit and returns what runs its statements; nil if there
// are none. Earlier maps the unit's variables to those of earlier cells whose
// memory they have, and its types and methods to those that they are. Nothing of the unit has run, and no earlier declaration has
// changed, when Load fails. An *source.Errors says what is refused.
func (e *Engine) Load(u *source.Unit, earlier map[types.Object]types.Object) (run func(), err error) {
	l := &lowering{Engine: e, unit: u, info: u.Info, inits: map[*types.Initializer]string{}, hoisted: map[ast.Stmt]string{}, comm: map[ast.Stmt]bool{}, direct: map[*ast.SelectorExpr]types.Type{}, boxes: map[ast.Expr]box{}, instances: map[*ast.Ident]string{}, hosted: map[*ast.CallExpr]string{}}
	e.packages[u.Package] = len(e.packages) + 1
	l.known = earlier
	l.name(earlier)
	copies, instances := maps.Clone(e.copies), e.types
	defer func() {
		if err != nil { // the instances that it needs are not there
			e.copies, e.types = copies, instances
		}
	}()
	text, entry, err := l.lowerAll()
	if err != nil {
		return nil, err
	}
	if err := e.use(); err != nil {
		return nil, refusal(err)
	}
	if err := e.declare(text); err != nil {
		return nil, refusal(err)
	}
	if entry == "" {
		return nil, nil
	}
	v, err := e.interp.Eval(entry)
	if err != nil {
		return nil, refusal(err)
	}
	f, ok := v.Interface().(func())
	if !ok {
		return nil, refusal(fmt.Errorf("the statements became a %s", v.Type()))
	}
	return f, nil
}

// lowerAll looks at the unit and lowers it. A panic in it is a case that nobody thought of.
func (l *lowering) lowerAll() (text, entry string, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = refusal(fmt.Errorf("it cannot be lowered: %v", r))
		}
	}()
	if err := cmp.Or(l.refuse(), l.fits()); err != nil {
		return "", "", err
	}
	text, entry = l.lower()
	return text, entry, nil
}

// declare evaluates declarations, which run nothing.
func (e *Engine) declare(text string) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the interpreter gave up: %v", r)
		}
	}()
	_, err = e.interp.Eval(text)
	if p, ok := errors.AsType[interp.Panic](err); ok {
		return fmt.Errorf("the interpreter gave up: %v", p.Value)
	}
	return err
}

// Cure is the hint of every refusal.
const Cure = "--engine ssa runs it"

// refusal is the error for what the interpreter itself does not compile.
func refusal(err error) error {
	return &source.Errors{Kind: "unsupported", Faults: []source.Fault{{Message: "yaegi does not compile this cell: " + unmarked(err.Error()), Hint: Cure}}}
}
