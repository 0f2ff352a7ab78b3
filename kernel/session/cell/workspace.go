package cell

import (
	"context"
	"flag"
	"fmt"
	"go/token"
	"go/types"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"

	"golang.org/x/tools/go/ssa"

	"noema/kernel/session/cell/internal/machine"
	"noema/kernel/session/cell/internal/source"
	"noema/kernel/session/cell/internal/symbols"
)

// workspace is the state of a session, which a reset replaces: a machine, the
// declarations of cells, and the goroutines that they started.
type workspace struct {
	*console
	args    []string
	input   *input
	out     *os.File // os.Stdout of cells, which may close it or assign to it
	errs    *os.File
	flags   *flag.FlagSet
	machine *machine.Machine // begins and stops what runs, whatever the engine
	engine  engine
	hooks   *types.Package
	shown   sync.Map // *machine.Execution -> display.Bundle

	mu       sync.Mutex // guards what follows, and all use of the checker's types
	fset     *token.FileSet
	importer *symbols.Importer
	names    *namespace
	pending  []*ssa.Function // initialisations of packages of the module that have not begun
}

// newWorkspace makes a machine with the imports of the options.
func newWorkspace(o Options, c *console) (*workspace, error) {
	ws := &workspace{
		console: c, args: append([]string{}, o.Args...), hooks: source.Hooks(),
		importer: symbols.NewImporter(), names: newNamespace(),
	}
	ws.importer.Stand(o.Dir)
	ws.fset = ws.importer.FileSet()
	ws.input, ws.flags = &input{ask: ws.ask}, &flag.FlagSet{}
	if err := ws.openFiles(); err != nil {
		return nil, fmt.Errorf("open the output of cells: %w", err)
	}
	tables := symbols.Exports()
	maps.Copy(tables, o.Symbols)
	for key, table := range ws.overrides(tables) {
		if tables[key] == nil {
			tables[key] = map[string]reflect.Value{}
		}
		maps.Copy(tables[key], table)
	}
	ws.machine = machine.New(ws.fset, machine.Options{
		Tables: tables, Died: ws.died, Grow: growth(o.Memory), StandIns: map[any]any{os.Stdin: Stdin{ws.input}},
		Print: func(text string) { fmt.Fprint(variable{&ws.errs}, text) },
	})
	ws.create(ws.hooks)
	ws.importer.Add(o.Symbols)
	var err error
	if ws.engine, err = newEngine(o.Engine, ws, tables); err != nil {
		return nil, err
	}
	return ws, ws.importFirst(o.Imports)
}

// openFiles gives cells their own os.Stdout and os.Stderr.
func (ws *workspace) openFiles() (err error) {
	if ws.out, err = ws.stdout.again(); err != nil {
		return err
	}
	ws.errs, err = ws.stderr.again()
	return err
}

// end stops the goroutines of cells.
func (ws *workspace) end() {
	ws.machine.StopAll(errClosed)
	_, _ = ws.out.Close(), ws.errs.Close() // a cell may have closed them
}

// declareValues declares the predeclared variables.
func (ws *workspace) declareValues(values map[string]any) error {
	pkg := types.NewPackage("main", "main")
	for _, name := range slices.Sorted(maps.Keys(values)) {
		v := reflect.ValueOf(values[name])
		switch {
		case !token.IsIdentifier(name) || name == "_":
			return fmt.Errorf("predeclare %q: not a valid Go name", name)
		case !v.IsValid():
			return fmt.Errorf("predeclare %q: the value is nil", name)
		}
		t, err := ws.importer.TypeOf(v.Type())
		if err != nil {
			return fmt.Errorf("predeclare %q: %w", name, err)
		}
		object := types.NewVar(token.NoPos, pkg, name, t)
		pkg.Scope().Insert(object)
		if err := ws.engine.declare(object, v); err != nil {
			return fmt.Errorf("predeclare %q: %w", name, err)
		}
		ws.names.Objects[name] = object
		ws.names.definitions[name] = &definition{Definition: source.Definition{Name: name, Object: object}}
	}
	ws.create(pkg)
	return nil
}

// importFirst makes the imports that a session starts with, as in
// [Options.Imports].
func (ws *workspace) importFirst(specs []string) error {
	for _, spec := range specs {
		name, path, named := strings.Cut(spec, " ")
		if !named {
			name, path = "", spec
		}
		pkg, err := ws.importer.Import(path)
		if err != nil {
			return fmt.Errorf("predeclared import: %w", err)
		}
		if name == "" {
			name = pkg.Name()
		}
		ws.names.addImport(source.Import{Name: name, Path: path})
	}
	return nil
}

// ask asks the person who runs the cell for a line of input.
func (ws *workspace) ask() (string, error) {
	ws.flush()
	out, err := ws.asker()
	if err != nil {
		return "", err
	}
	return out.Input(ws.context(), "", false)
}

// context is the context of the running cell.
func (ws *workspace) context() context.Context {
	if e := ws.machine.Current(); e != nil {
		return e.Context()
	}
	return context.Background()
}
