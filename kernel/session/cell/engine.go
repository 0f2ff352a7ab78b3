package cell

import (
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"reflect"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"noema/kernel/session/cell/internal/machine"
	"noema/kernel/session/cell/internal/source"
	"noema/kernel/session/cell/internal/yaegi"
	"noema/methods"
)

// Engines are the names of the engines that execute cells, the default first.
func Engines() []string { return []string{"ssa", "yaegi"} }

// CheckEngine returns an error if there is no engine of the name.
func CheckEngine(name string) error {
	if slices.Contains(Engines(), name) {
		return nil
	}
	return fmt.Errorf("engine %q does not exist%s: the engines are %s", name, methods.DidYouMean(name, Engines()), strings.Join(Engines(), " and "))
}

// engine executes cells that the session has split and checked. Completion,
// display and interrupts are the same for all.
type engine interface {
	// load takes in a checked unit and returns what runs its statements, in order.
	// When it fails, nothing that was there has changed.
	load(u *source.Unit, script bool) ([]func(*machine.Thread), error)
	// declare makes a predeclared variable.
	declare(o *types.Var, v reflect.Value) error
	// relinks reports whether callers of a function call the one that a later cell
	// defines in its place with the same parameters. Else they are compiled again.
	relinks() bool
	// lines reports whether a frame of a panic is where its function was, not only
	// where the function is.
	lines() bool
}

// newEngine makes the engine of a name; "" is the default.
func newEngine(name string, ws *workspace, tables machine.Tables) (engine, error) {
	switch name {
	case "", "ssa":
		return ssaEngine{ws}, nil
	case "yaegi":
		e, err := yaegi.New(ws.machine, ws.fset, ws.importer, tables, func(text string) {
			ws.flush() // what was printed elsewhere comes first
			fmt.Fprint(variable{&ws.errs}, text)
			ws.flush()
		})
		return yaegiEngine{ws, e}, err
	}
	return nil, CheckEngine(name)
}

// ssaEngine compiles cells by go/ssa, for the machine.
type ssaEngine struct{ *workspace }

func (ssaEngine) relinks() bool { return true }

func (ssaEngine) lines() bool { return true }

func (ws ssaEngine) declare(o *types.Var, v reflect.Value) error {
	ws.machine.Declare(o, v)
	return nil
}

func (ws ssaEngine) load(u *source.Unit, script bool) ([]func(*machine.Thread), error) {
	if u.Aliases != nil {
		ws.create(u.Aliases)
	}
	for _, p := range u.Package.Imports() {
		ws.create(p)
	}
	pkg := ws.machine.Program().CreatePackage(u.Package, []*ast.File{u.File}, u.Info, false)
	pkg.Build()
	for _, pair := range u.Earlier {
		ws.machine.SameStorage(pair[0], pair[1])
	}
	steps := ws.initialise()
	if script {
		return append(steps, ws.caller(pkg.Func("init"), false), ws.caller(pkg.Func(u.Run), false)), nil
	}
	ws.connect(u)
	ws.machine.Drop(pkg.Func("init"))
	if u.Run != "" {
		steps = append(steps, ws.caller(pkg.Func(u.Run), true))
	}
	return steps, nil
}

// initialise runs the initialisation of packages of the module that the cell is
// the first to import, once, in the order of their imports.
func (ws ssaEngine) initialise() (steps []func(*machine.Thread)) {
	for _, init := range ws.pending {
		steps = append(steps, ws.caller(init, true))
	}
	ws.pending = nil
	return steps
}

// caller calls a function, once if it is dropped then.
func (ws ssaEngine) caller(fn *ssa.Function, once bool) func(*machine.Thread) {
	return func(th *machine.Thread) {
		if once {
			defer ws.machine.Drop(fn)
		}
		ws.machine.Call(th, fn)
	}
}

// yaegiEngine gives cells to the interpreter.
type yaegiEngine struct {
	*workspace
	*yaegi.Engine
}

func (yaegiEngine) relinks() bool { return false }

func (yaegiEngine) lines() bool { return false }

func (y yaegiEngine) declare(o *types.Var, v reflect.Value) error { return y.Declare(o, v) }

func (y yaegiEngine) load(u *source.Unit, script bool) ([]func(*machine.Thread), error) {
	for _, p := range u.Package.Imports() {
		if y.importer.FromModule(p) != nil {
			return nil, &source.Errors{Kind: kindUnsupported, Faults: []source.Fault{{Message: fmt.Sprintf("package %q of the module comes from source, which yaegi does not import here", p.Path()), Hint: yaegi.Cure}}}
		}
	}
	earlier := map[types.Object]types.Object{}
	for _, pair := range u.Earlier {
		earlier[pair[0]] = pair[1]
	}
	only := y.adds(u)
	renewed := map[*types.TypeName]types.Type{}
	for _, d := range u.Defines {
		old := y.names.definitions[d.Name]
		if old == nil || script {
			continue
		}
		was, isType := old.Object.(*types.TypeName)
		switch {
		case isVariable(d.Object) && sameMeaning(d.Object, old.Object), only && typeOfMethod(d.Name) != "":
			earlier[d.Object] = old.Object
		case only && isType:
			earlier[d.Object], renewed[was] = was, d.Object.Type()
		case only:
		default:
			if reason := y.outlives(d, old); reason != "" {
				return nil, &source.Errors{Kind: kindUnsupported, Faults: []source.Fault{{Message: reason, Hint: yaegi.Cure}}}
			}
		}
	}
	run, err := y.Load(u, earlier)
	if err != nil {
		return nil, err
	}
	y.retype(renewed, y.Same)
	if run == nil {
		return nil, nil
	}
	return []func(*machine.Thread){func(*machine.Thread) { y.Guard(run) }}, nil
}

// adds reports whether a unit leaves all earlier definitions as they are, such as one
// with another method of an earlier type: those that it needs mean what they meant.
func (y yaegiEngine) adds(u *source.Unit) bool {
	return !slices.ContainsFunc(u.Defines, func(d source.Definition) bool {
		old := y.names.definitions[d.Name]
		if old == nil || isVariable(d.Object) && sameMeaning(d.Object, old.Object) {
			return false
		}
		fresh, isType := d.Object.(*types.TypeName)
		was, wasType := old.Object.(*types.TypeName)
		return !d.Part || isType != wasType || isType && (!y.names.sameMake(fresh, was, u) || y.Embeds(fresh))
	})
}

// outlives is why a definition cannot take an earlier one's place: a variable may
// hold a function that calls the earlier one, or a value of the earlier type, and
// should see the new one.
func (y yaegiEngine) outlives(d source.Definition, old *definition) string {
	for _, name := range slices.Sorted(maps.Keys(y.names.Objects)) {
		v, ok := y.names.Objects[name].(*types.Var)
		if !ok || name == d.Name {
			continue
		}
		if y.Holds(v.Type(), old.Object) {
			return fmt.Sprintf("%s is defined again while the variable %s may hold what uses the earlier one", d.Name, name)
		}
	}
	return ""
}
