package cell

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"noema/kernel/session/cell/internal/machine"
	"noema/kernel/session/cell/internal/source"
)

// prepare checks and compiles a text, records its declarations, and returns what
// to run, in order. The lock is held.
func (ws *workspace) prepare(j job, number int) ([]func(*machine.Thread), error) {
	u, stale, err := ws.read(j)
	if err != nil {
		return nil, err
	}
	functions := maps.Clone(ws.names.trail.functions)
	effects := u.Effects(functions) // now, since the engine may rewrite the unit
	run, err := ws.engine.load(u, j.script)
	if err != nil {
		return nil, ws.typeError(err)
	}
	if j.script {
		return run, nil
	}
	ws.names.trail.functions = functions
	ws.names.trail.add(u, step{number, strings.TrimSpace(j.text), effects}, ws.names.definitions)
	ws.names.add(u, number, stale)
	ws.reportStale(stale)
	ws.reportImports(u)
	u.Trim()
	return run, nil
}

// create adds a package to the program: its compiled part, and the source of
// its generic functions with the packages that it imports.
func (ws *workspace) create(p *types.Package) {
	if ws.machine.Program().Package(p) != nil || p == types.Unsafe {
		return
	}
	s := ws.importer.Source(p)
	if s == nil {
		ws.machine.Program().CreatePackage(p, nil, nil, false)
		return
	}
	if s.Compiled != nil {
		ws.create(s.Compiled)
	}
	for _, i := range p.Imports() {
		ws.create(i)
	}
	pkg := ws.machine.Program().CreatePackage(p, s.Files, s.Info, false)
	pkg.Build()
	if s.Compiled == nil {
		ws.pending = append(ws.pending, pkg.Func("init"))
	}
}

// read reads a text together with the earlier definitions that must be compiled
// again: first the types for which it declares methods, then the users of names
// that it redefines, until there are no more. A definition that no longer
// compiles is left out and returned as stale.
func (ws *workspace) read(j job) (u *source.Unit, stale []staleDefinition, err error) {
	again := ws.names.companions(j.text)
	for {
		o := source.Options{Source: j.source, Script: j.script, Again: parts(again)}
		u, err = source.Read(ws.fset, j.text, ws.environment(j.script), ws.hooks, o)
		if err != nil {
			d, reason := culprit(err, again, j.source)
			if d == nil {
				return nil, nil, ws.typeError(err)
			}
			again = slices.DeleteFunc(again, func(other *definition) bool { return other == d })
			stale = append(stale, staleDefinition{d, reason})
			continue
		}
		if j.script {
			return u, nil, nil
		}
		more := ws.names.dependents(u, again, stale, ws.engine.relinks())
		if len(more) == 0 {
			return u, stale, nil
		}
		again = append(again, more...)
	}
}

func (ws *workspace) environment(script bool) source.Environment {
	w := source.Environment{Importer: ws.importer, Missing: ws.importer.Missing, Named: ws.importer.Named}
	if !script {
		w.Scope = ws.names.Scope
	}
	return w
}

// parts are the sources of definitions; those of a group share one text.
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

// staleDefinition is a definition that no longer compiles after a redefinition.
type staleDefinition struct {
	*definition
	reason string
}

// culprit is the definition of an earlier cell that contains a compile error. It
// is nil if the cell itself has an error.
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

// typeError converts the errors of package source to the session's.
func (ws *workspace) typeError(err error) error {
	var faults *source.Errors
	if !errors.As(err, &faults) {
		return err
	}
	for i, f := range faults.Faults {
		faults.Faults[i].Hint = cmp.Or(f.Hint, ws.names.hint(f.Message))
	}
	return &Error{Kind: faults.Kind, Faults: faults.Faults}
}

// connect links the declarations of a cell to earlier ones of the same names: a
// variable of the same type keeps its memory, callers of a function call the new
// one of the same signature, values of a type with the same definition belong to
// the new type.
func (ws *workspace) connect(u *source.Unit) {
	renewed := map[*types.TypeName]types.Type{}
	for _, d := range u.Defines {
		old := ws.names.definitions[d.Name]
		if old == nil || old.Object == d.Object {
			continue
		}
		switch o := d.Object.(type) {
		case *types.Var:
			if sameMeaning(d.Object, old.Object) {
				ws.machine.SameStorage(o, old.Object)
			}
		case *types.Func:
			if was, ok := old.Object.(*types.Func); ok && o.Signature().Recv() == nil && sameMeaning(o, was) {
				ws.machine.Replace(o, was)
			}
		case *types.TypeName:
			if was, ok := old.Object.(*types.TypeName); ok && ws.names.sameMake(o, was, u) {
				ws.machine.SameType(o.Type(), was.Type())
				renewed[was] = o.Type()
			}
		}
	}
	for _, d := range u.Defines {
		if v, ok := d.Object.(*types.Var); ok && !assigned(u, v) {
			ws.machine.Reset(v)
		}
	}
	if pkg := ws.retype(renewed, ws.machine.SameStorage); pkg != nil {
		ws.create(pkg)
	}
}

// assigned reports whether the declaration of a variable has a value, which the
// cell assigns.
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

// retype gives variables of redefined types the new types, as variables of a package of
// their own, nil for none, that have the memory of the old ones.
func (ws *workspace) retype(renewed map[*types.TypeName]types.Type, same func(fresh, old types.Object)) *types.Package {
	if len(renewed) == 0 {
		return nil
	}
	pkg := types.NewPackage("main", "main")
	for _, name := range slices.Sorted(maps.Keys(ws.names.Objects)) {
		old, ok := ws.names.Objects[name].(*types.Var)
		if !ok {
			continue
		}
		t := substitute(old.Type(), renewed)
		if t == old.Type() {
			continue
		}
		v := types.NewVar(token.NoPos, pkg, name, t)
		pkg.Scope().Insert(v)
		same(v, old)
		ws.names.Objects[name] = v
		ws.names.definitions[name].Object = v
	}
	return pkg
}

// substitute replaces named types within a type.
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

// reportImports prints the imports that were added to the cell, and those of
// packages that have changed since the session read them.
func (ws *workspace) reportImports(u *source.Unit) {
	for _, i := range u.Added {
		fmt.Fprintf(ws.stderr, "import %q\n", i.Path)
	}
	for _, i := range u.Imports {
		if ws.importer.Changed(i.Path) {
			fmt.Fprintf(ws.stderr, "package %q has changed on disk since this session read it: reset the session to read it anew\n", i.Path)
		}
	}
}

// reportStale prints which definitions of earlier cells are gone.
func (ws *workspace) reportStale(stale []staleDefinition) {
	for _, d := range stale {
		fmt.Fprintf(ws.stderr, "%s (%s, line %d) no longer compiles with this cell's declarations and was removed: %s; define it again\n", d.Name, d.cellName(), d.Line, d.reason)
	}
}
