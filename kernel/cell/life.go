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
	"unicode"

	"noema/kernel/cell/internal/machine"
	"noema/kernel/cell/internal/source"
	"noema/kernel/cell/internal/symbols"
)

// life is what a session has between two resets: a machine, what cells declared
// in it, and the goroutines that they started.
type life struct {
	*console
	args    []string
	input   *input
	out     *os.File // os.Stdout of cells, which may close it, or assign to it
	errs    *os.File
	flags   *flag.FlagSet
	machine *machine.Machine
	hooks   *types.Package
	shown   sync.Map // *machine.Execution -> display.Bundle

	mu       sync.Mutex // guards what follows, and all use of the checker's types
	fset     *token.FileSet
	importer *symbols.Importer
	world    *world
}

// newLife makes a fresh machine with what a session starts with.
func newLife(o Options, c *console) (*life, error) {
	l := &life{
		console: c, args: append([]string{}, o.Args...), hooks: source.Hooks(),
		importer: symbols.NewImporter(), world: newWorld(),
	}
	l.fset = l.importer.FileSet()
	l.input, l.flags = &input{ask: l.ask}, &flag.FlagSet{}
	if err := l.openFiles(); err != nil {
		return nil, fmt.Errorf("open the output of cells: %w", err)
	}
	tables := machine.Tables(symbols.Exports())
	maps.Copy(tables, o.Symbols)
	for key, table := range l.overrides(tables) {
		if tables[key] == nil {
			tables[key] = map[string]reflect.Value{}
		}
		maps.Copy(tables[key], table)
	}
	l.machine = machine.New(l.fset, machine.Options{
		Tables: tables, Died: l.died, StandIns: map[any]any{os.Stdin: Stdin{l.input}},
		Print: func(text string) { fmt.Fprint(variable{&l.errs}, text) },
	})
	l.create(l.hooks)
	l.importer.Add(o.Symbols)
	if err := l.declareValues(o.Values); err != nil {
		return nil, err
	}
	return l, l.importFirst(o.Imports)
}

// openFiles gives cells their own os.Stdout and os.Stderr.
func (l *life) openFiles() (err error) {
	if l.out, err = l.stdout.again(); err != nil {
		return err
	}
	l.errs, err = l.stderr.again()
	return err
}

// end stops all goroutines of cells.
func (l *life) end() {
	l.machine.StopAll(errClosed)
	_, _ = l.out.Close(), l.errs.Close() // a cell may have done so
}

func isName(name string) bool {
	for i, r := range name {
		if r != '_' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r)) {
			return false
		}
	}
	return name != "" && name != "_" && !token.IsKeyword(name)
}

// declareValues makes variables of them.
func (l *life) declareValues(values map[string]any) error {
	pkg := types.NewPackage("main", "main")
	for _, name := range slices.Sorted(maps.Keys(values)) {
		v := reflect.ValueOf(values[name])
		switch {
		case !isName(name):
			return fmt.Errorf("predeclare %q: that is not a name in Go", name)
		case !v.IsValid():
			return fmt.Errorf("predeclare %q: its value is nil", name)
		}
		object := types.NewVar(token.NoPos, pkg, name, l.importer.TypeOf(v.Type()))
		pkg.Scope().Insert(object)
		l.machine.Declare(object, v)
		l.world.Objects[name] = object
		l.world.definitions[name] = &definition{Definition: source.Definition{Name: name, Object: object}}
	}
	l.create(pkg)
	return nil
}

// importFirst imports what a session starts with; a spec is as in an import
// declaration, without the quotes.
func (l *life) importFirst(specs []string) error {
	for _, spec := range specs {
		name, path, named := strings.Cut(spec, " ")
		if !named {
			name, path = "", spec
		}
		pkg, err := l.importer.Import(path)
		if err != nil {
			return fmt.Errorf("import at the start: %w", err)
		}
		if name == "" {
			name = pkg.Name()
		}
		l.world.addImport(source.Import{Name: name, Path: path})
	}
	return nil
}

// ask asks the person at the cell that runs for a line of input.
func (l *life) ask() (string, error) {
	l.flush()
	out, err := l.asker()
	if err != nil {
		return "", err
	}
	return out.Input(l.context(), "", false)
}

// context is the running cell's.
func (l *life) context() context.Context {
	if e := l.machine.Current(); e != nil {
		return e.Context()
	}
	return context.Background()
}
