package cell

import (
	"cmp"
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"maps"
	"regexp"
	"slices"
	"strings"

	"noema/kernel/cell/internal/source"
)

// world is what a session's cells have declared so far.
type world struct {
	source.Scope
	definitions map[string]*definition // methods as "T.M"
	stale       map[string]string      // definitions that a redefinition broke, and why
}

// definition is something that a cell declared.
type definition struct {
	source.Definition
	number int // of the cell; 0 for what was there from the start
}

// cellName is how faults call the cell.
func (d *definition) cellName() string { return fmt.Sprintf("cell %d", d.number) }

func newWorld() *world {
	return &world{
		Scope:       source.Scope{Objects: map[string]types.Object{}, Imports: map[string]string{}},
		definitions: map[string]*definition{}, stale: map[string]string{},
	}
}

// declaresMethod and declaresType find what a text declares for or as a type
// at the beginning of a line. It is a guess ahead of the parser: where it is
// wrong a type is compiled again for nothing, or an error says what is missing.
var (
	declaresMethod = regexp.MustCompile(`(?m)^func\s*\(\s*(?:[\pL_][\pL\pN_]*\s+)?\*?\s*([\pL_][\pL\pN_]*)[^)]*\)\s*([\pL_][\pL\pN_]*)\s*\(`)
	declaresType   = regexp.MustCompile(`(?m)^type\s+([\pL_][\pL\pN_]*)`)
)

// companions are the definitions that must be compiled together with a text,
// because Go wants a type and its methods in one package: for a method of an
// earlier cell's type the type and its other methods, for a type defined again
// the methods that it has.
func (w *world) companions(text string) []*definition {
	named, here := map[string]bool{}, map[string]bool{}
	for _, m := range declaresType.FindAllStringSubmatch(text, -1) {
		named[m[1]], here[m[1]] = true, true
	}
	for _, m := range declaresMethod.FindAllStringSubmatch(text, -1) {
		named[m[1]], here[m[1]+"."+m[2]] = true, true
	}
	var again []*definition
	for _, d := range w.definitions {
		if !here[d.Name] && (named[d.Name] || named[typeOfMethod(d.Name)]) && !isVariable(d.Object) {
			again = append(again, d)
		}
	}
	sortDefinitions(again)
	return again
}

// sameMeaning says whether users of an old object can go on with the new one in
// its place.
func sameMeaning(fresh, old types.Object) bool {
	switch f := fresh.(type) {
	case *types.Var:
		o, ok := old.(*types.Var)
		return ok && types.Identical(f.Type(), o.Type())
	case *types.Func:
		o, ok := old.(*types.Func)
		return ok && f.Signature().TypeParams().Len() == 0 && o.Signature().TypeParams().Len() == 0 &&
			f.Signature().Recv() == nil && types.Identical(f.Type(), o.Type())
	case *types.Const:
		o, ok := old.(*types.Const)
		return ok && types.Identical(f.Type(), o.Type()) && constant.Compare(f.Val(), token.EQL, o.Val())
	}
	return false
}

// sameMake says whether a type defined again is made of the same.
func (w *world) sameMake(fresh, old *types.TypeName, u *source.Unit) bool {
	f, ok := fresh.Type().(*types.Named)
	o, ok2 := old.Type().(*types.Named)
	if !ok || !ok2 || f.TypeParams().Len() > 0 || o.TypeParams().Len() > 0 {
		return false
	}
	return w.sameText(f, o, u, map[string]bool{})
}

// sameText compares two definitions by what they are written as, where all
// types of cells that they name are the same, too.
func (w *world) sameText(f, o *types.Named, u *source.Unit, seen map[string]bool) bool {
	name := f.Obj().Name()
	if seen[name] {
		return true
	}
	seen[name] = true
	if types.TypeString(f.Underlying(), nil) != types.TypeString(o.Underlying(), nil) {
		return false
	}
	for _, d := range u.Defines {
		if d.Name != name {
			continue
		}
		for _, used := range d.Uses {
			now, was := u.Package.Scope().Lookup(used), w.Objects[used]
			if now == nil || now == was || was == nil {
				continue
			}
			nf, ok := now.Type().(*types.Named)
			no, ok2 := was.Type().(*types.Named)
			if ok && ok2 && now.Pkg() == u.Package && !w.sameText(nf, no, u, seen) {
				return false
			}
		}
	}
	return true
}

// dependents are the definitions, other than variables, that mention a name
// which the cell gives a new meaning, and are not compiled with it. With a type
// come its methods.
func (w *world) dependents(u *source.Unit, again []*definition, stale []staleDefinition) []*definition {
	changed, present := map[string]bool{}, map[string]bool{}
	for _, d := range u.Defines {
		present[d.Name] = true
		if old := w.definitions[d.Name]; old != nil && !sameMeaning(d.Object, old.Object) {
			changed[d.Name] = true
			changed[typeOfMethod(d.Name)] = true
		}
	}
	delete(changed, "")
	for _, d := range stale {
		present[d.Name] = true
	}
	var more []*definition
	for _, d := range w.definitions {
		if present[d.Name] || slices.Contains(again, d) || isVariable(d.Object) {
			continue
		}
		if slices.ContainsFunc(d.Uses, func(name string) bool { return changed[name] }) || changed[d.Name] || changed[typeOfMethod(d.Name)] {
			more = append(more, d)
		}
	}
	sortDefinitions(more)
	return more
}

// sortDefinitions puts definitions in the order in which they were typed.
func sortDefinitions(all []*definition) {
	slices.SortFunc(all, func(a, b *definition) int {
		return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Name, b.Name))
	})
}

func isVariable(o types.Object) bool {
	_, ok := o.(*types.Var)
	return ok
}

// typeOfMethod is "T" for "T.M", and nothing for a name without a dot.
func typeOfMethod(name string) string {
	base, _, found := strings.Cut(name, ".")
	if !found {
		return ""
	}
	return base
}

// add takes over what a cell declares.
func (w *world) add(u *source.Unit, number int, stale []staleDefinition) {
	for _, d := range stale {
		w.remove(d.Name)
		w.stale[d.Name] = d.reason
	}
	numbers := map[string]int{}
	for _, d := range u.Defines {
		if old := w.definitions[d.Name]; old != nil && d.Part {
			numbers[d.Name] = old.number
		}
	}
	for _, d := range u.Defines {
		w.remove(d.Name)
	}
	for _, d := range u.Defines {
		n := number
		if d.Part {
			n = numbers[d.Name]
		}
		w.definitions[d.Name] = &definition{d, n}
		if typeOfMethod(d.Name) == "" {
			w.Objects[d.Name] = d.Object
		}
	}
	for _, i := range u.Imports {
		w.addImport(i)
	}
}

func (w *world) addImport(i source.Import) {
	switch i.Name {
	case ".":
		if !slices.Contains(w.Dot, i.Path) {
			w.Dot = append(w.Dot, i.Path)
		}
	case "_":
	default:
		w.Imports[i.Name] = i.Path
	}
}

// remove forgets a name. Methods go with their type.
func (w *world) remove(name string) {
	if d := w.definitions[name]; d != nil {
		if _, isType := d.Object.(*types.TypeName); isType {
			maps.DeleteFunc(w.definitions, func(other string, _ *definition) bool { return typeOfMethod(other) == name })
		}
	}
	delete(w.definitions, name)
	delete(w.Objects, name)
	delete(w.stale, name)
}

// hint says more of a message where a broken definition is behind it.
func (w *world) hint(message string) string {
	if name, ok := strings.CutPrefix(message, "undefined: "); ok {
		if reason, ok := w.stale[name]; ok {
			return "a later cell redefined what " + name + " uses, and it no longer fits (" + reason + "): define it again"
		}
	}
	return ""
}
