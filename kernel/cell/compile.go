package cell

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"noema/kernel/cell/internal/source"
)

// prepare checks and compiles a text, makes what it declares known, and returns
// the functions to call, in order. The lock is held.
func (l *life) prepare(j job, number int) ([]*ssa.Function, error) {
	u, stale, err := l.read(j)
	if err != nil {
		return nil, err
	}
	if u.Aliases != nil {
		l.create(u.Aliases)
	}
	for _, p := range u.Package.Imports() {
		l.create(p)
	}
	pkg := l.machine.Program().CreatePackage(u.Package, []*ast.File{u.File}, u.Info, false)
	pkg.Build()
	for _, pair := range u.Earlier {
		l.machine.SameStorage(pair[0], pair[1])
	}
	if j.script {
		return []*ssa.Function{pkg.Func("init"), pkg.Func(u.Run)}, nil
	}
	l.connect(u)
	l.world.add(u, number, stale)
	l.tellStale(stale)
	if u.Run == "" {
		return nil, nil
	}
	return []*ssa.Function{pkg.Func(u.Run)}, nil
}

// create adds a package to the program: its compiled part, and the source of
// its generic functions together with all that this imports.
func (l *life) create(p *types.Package) {
	if l.machine.Program().Package(p) != nil || p == types.Unsafe {
		return
	}
	s := l.importer.Source(p)
	if s == nil {
		l.machine.Program().CreatePackage(p, nil, nil, false)
		return
	}
	l.create(s.Compiled)
	for _, i := range p.Imports() {
		l.create(i)
	}
	l.machine.Program().CreatePackage(p, []*ast.File{s.File}, s.Info, false).Build()
}

// read reads a text together with what must be compiled again because of it:
// first the types that it gives a method to, then whatever uses a name that it
// redefines, until nothing more does. A definition that no longer fits is left
// out and returned as stale.
func (l *life) read(j job) (u *source.Unit, stale []staleDefinition, err error) {
	again := l.world.companions(j.text)
	for {
		o := source.Options{Source: j.source, Script: j.script, Again: parts(again)}
		u, err = source.Read(l.fset, j.text, l.sourceWorld(j.script), l.hooks, o)
		if err != nil {
			d, reason := culprit(err, again, j.source)
			if d == nil {
				return nil, nil, l.typeError(err)
			}
			again = slices.DeleteFunc(again, func(other *definition) bool { return other == d })
			stale = append(stale, staleDefinition{d, reason})
			continue
		}
		if j.script {
			return u, nil, nil
		}
		more := l.world.dependents(u, again, stale)
		if len(more) == 0 {
			return u, stale, nil
		}
		again = append(again, more...)
	}
}

func (l *life) sourceWorld(script bool) source.World {
	w := source.World{Importer: l.importer, Missing: l.importer.Missing}
	if !script {
		w.Scope = l.world.Scope
	}
	return w
}

// parts are the definitions as source; those of a group share one text.
func parts(again []*definition) []source.Part {
	var out []source.Part
	for _, d := range again {
		p := source.Part{Source: d.cellName(), Line: d.Line, Text: d.Source}
		if !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// staleDefinition is one of an earlier cell that a redefinition broke.
type staleDefinition struct {
	*definition
	reason string
}

// culprit is the definition of an earlier cell that a compile error lies in.
// Where the cell itself has a fault too, that one counts.
func culprit(err error, again []*definition, here string) (d *definition, reason string) {
	var faults *source.Errors
	if !errors.As(err, &faults) {
		return nil, ""
	}
	for _, f := range faults.Faults {
		if f.Line == 0 || f.Source == here {
			return nil, ""
		}
		for _, candidate := range again {
			lines := strings.Count(candidate.Source, "\n")
			if d == nil && candidate.cellName() == f.Source && candidate.Line <= f.Line && f.Line <= candidate.Line+lines {
				d, reason = candidate, f.Message
			}
		}
	}
	return d, reason
}

// typeError makes a session's error of what was found in a text.
func (l *life) typeError(err error) error {
	var faults *source.Errors
	if !errors.As(err, &faults) {
		return err
	}
	e := &Error{Kind: faults.Kind}
	for _, f := range faults.Faults {
		fault := Fault{Source: f.Source, Line: f.Line, Column: f.Column, Message: f.Message, Hint: f.Hint}
		if fault.Hint == "" {
			fault.Hint = l.world.hint(f.Message)
		}
		e.Faults = append(e.Faults, fault)
	}
	return e
}

// connect ties what a cell declares to what earlier cells declared under the
// same name: a variable of the same type keeps its place, a function of the same
// signature is called by those who called the old one, a type of the same make
// has the old one's values.
func (l *life) connect(u *source.Unit) {
	renewed := map[*types.TypeName]types.Type{}
	for _, d := range u.Defines {
		old := l.world.definitions[d.Name]
		if old == nil || old.Object == d.Object {
			continue
		}
		switch o := d.Object.(type) {
		case *types.Var:
			if sameMeaning(d.Object, old.Object) {
				l.machine.SameStorage(o, old.Object)
			}
		case *types.Func:
			if was, ok := old.Object.(*types.Func); ok && o.Signature().Recv() == nil && sameMeaning(o, was) {
				l.machine.Replace(o, was)
			}
		case *types.TypeName:
			if was, ok := old.Object.(*types.TypeName); ok && l.world.sameMake(o, was, u) {
				l.machine.SameType(o.Type(), was.Type())
				renewed[was] = o.Type()
			}
		}
	}
	for _, d := range u.Defines {
		if v, ok := d.Object.(*types.Var); ok && !assigned(u, v) {
			l.machine.Reset(v)
		}
	}
	l.retype(renewed)
}

// assigned says whether the declaration of a variable has a value, so that the
// cell assigns to it.
func assigned(u *source.Unit, v *types.Var) bool {
	for _, d := range u.File.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR {
			continue
		}
		for _, s := range g.Specs {
			spec := s.(*ast.ValueSpec)
			for _, n := range spec.Names {
				if u.Info.Defs[n] == types.Object(v) {
					return len(spec.Values) > 0
				}
			}
		}
	}
	return true
}

// retype gives the variables of types that a cell declared again the new types.
func (l *life) retype(renewed map[*types.TypeName]types.Type) {
	if len(renewed) == 0 {
		return
	}
	pkg := types.NewPackage("main", "main")
	for _, name := range slices.Sorted(maps.Keys(l.world.Objects)) {
		old, ok := l.world.Objects[name].(*types.Var)
		if !ok {
			continue
		}
		t := substitute(old.Type(), renewed)
		if t == old.Type() {
			continue
		}
		v := types.NewVar(token.NoPos, pkg, name, t)
		pkg.Scope().Insert(v)
		l.machine.SameStorage(v, old)
		l.world.Objects[name] = v
		l.world.definitions[name].Object = v
	}
	l.create(pkg)
}

// substitute replaces named types in a type.
func substitute(t types.Type, with map[*types.TypeName]types.Type) types.Type {
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		if to, ok := with[t.Obj()]; ok {
			return to
		}
	case *types.Pointer:
		if e := substitute(t.Elem(), with); e != t.Elem() {
			return types.NewPointer(e)
		}
	case *types.Slice:
		if e := substitute(t.Elem(), with); e != t.Elem() {
			return types.NewSlice(e)
		}
	case *types.Array:
		if e := substitute(t.Elem(), with); e != t.Elem() {
			return types.NewArray(e, t.Len())
		}
	case *types.Chan:
		if e := substitute(t.Elem(), with); e != t.Elem() {
			return types.NewChan(t.Dir(), e)
		}
	case *types.Map:
		k, e := substitute(t.Key(), with), substitute(t.Elem(), with)
		if k != t.Key() || e != t.Elem() {
			return types.NewMap(k, e)
		}
	}
	return t
}

// tellStale says which definitions of earlier cells are gone.
func (l *life) tellStale(stale []staleDefinition) {
	for _, d := range stale {
		fmt.Fprintf(l.stderr, "%s (%s, line %d) no longer fits what this cell declares: %s; define it again\n", d.Name, d.cellName(), d.Line, d.reason)
	}
}
