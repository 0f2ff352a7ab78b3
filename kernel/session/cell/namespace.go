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
	"sync"

	"noema/kernel/session/cell/internal/source"
)

// namespace holds the declarations of all cells.
type namespace struct {
	source.Scope
	definitions map[string]*definition // methods as "T.M"
	stale       map[string]string      // definitions that no longer compile after a redefinition, and why
	trail       trail
}

// definition is a declaration of a cell.
type definition struct {
	source.Definition
	number int // of the cell; 0 for a predeclared value
}

// cellName is the name of the cell in faults.
func (d *definition) cellName() string { return fmt.Sprintf("cell %d", d.number) }

func newNamespace() *namespace {
	return &namespace{
		Scope:       source.Scope{Objects: map[string]types.Object{}, Imports: map[string]string{}},
		definitions: map[string]*definition{}, stale: map[string]string{}, trail: newTrail(),
	}
}

// declaresMethod and declaresType find declarations of methods and types at the
// beginning of a line. They guess before the parser runs: a wrong guess compiles
// a type again for nothing, or an error names what is missing.
var (
	declaresMethod = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^func\s*\(\s*(?:[\pL_][\pL\pN_]*\s+)?\*?\s*([\pL_][\pL\pN_]*)[^)]*\)\s*([\pL_][\pL\pN_]*)\s*\(`)
	})
	declaresType = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^type\s+([\pL_][\pL\pN_]*)`)
	})
)

// companions are the definitions to compile together with a text, because Go
// requires a type and its methods in one package: with a new method of an
// earlier cell's type, the type and its other methods; with a redefined type,
// its methods.
func (n *namespace) companions(text string) []*definition {
	named, here := map[string]bool{}, map[string]bool{}
	for _, m := range declaresType().FindAllStringSubmatch(text, -1) {
		named[m[1]], here[m[1]] = true, true
	}
	for _, m := range declaresMethod().FindAllStringSubmatch(text, -1) {
		named[m[1]], here[m[1]+"."+m[2]] = true, true
	}
	var again []*definition
	for _, d := range n.definitions {
		if !here[d.Name] && (named[d.Name] || named[typeOfMethod(d.Name)]) && !isVariable(d.Object) {
			again = append(again, d)
		}
	}
	sortDefinitions(again)
	return again
}

// sameMeaning reports whether code that uses the old object can use the new one
// unchanged.
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

// sameMake reports whether a redefined type has the same definition as before.
func (n *namespace) sameMake(fresh, old *types.TypeName, u *source.Unit) bool {
	f, ok := fresh.Type().(*types.Named)
	o, ok2 := old.Type().(*types.Named)
	if !ok || !ok2 || f.TypeParams().Len() > 0 || o.TypeParams().Len() > 0 {
		return false
	}
	return n.sameText(f, o, u, map[string]bool{})
}

// sameText compares two definitions as written; the cells' types that they name
// must also be the same.
func (n *namespace) sameText(f, o *types.Named, u *source.Unit, seen map[string]bool) bool {
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
			now, was := u.Package.Scope().Lookup(used), n.Objects[used]
			if now == nil || now == was || was == nil {
				continue
			}
			nf, ok := now.Type().(*types.Named)
			no, ok2 := was.Type().(*types.Named)
			if ok && ok2 && now.Pkg() == u.Package && !n.sameText(nf, no, u, seen) {
				return false
			}
		}
	}
	return true
}

// dependents are the definitions, other than variables, that use a name which
// the cell redefines and that are not compiled with it yet. A type brings its
// methods. Callers of a function that stays the same but for its body are among
// them unless the engine relinks.
func (n *namespace) dependents(u *source.Unit, again []*definition, stale []staleDefinition, relinks bool) []*definition {
	changed, present := map[string]bool{}, map[string]bool{}
	for _, d := range u.Defines {
		present[d.Name] = true
		_, function := d.Object.(*types.Func)
		if old := n.definitions[d.Name]; old != nil && (function && !relinks || !sameMeaning(d.Object, old.Object)) {
			changed[d.Name] = true
			changed[typeOfMethod(d.Name)] = true
		}
	}
	delete(changed, "")
	for _, d := range stale {
		present[d.Name] = true
	}
	uses := func(d *definition) bool {
		return slices.ContainsFunc(d.Uses, func(name string) bool { return changed[name] })
	}
	for _, d := range n.definitions {
		if base := typeOfMethod(d.Name); base != "" && uses(d) {
			changed[base] = true
		}
	}
	var more []*definition
	for _, d := range n.definitions {
		if present[d.Name] || slices.Contains(again, d) || isVariable(d.Object) {
			continue
		}
		if uses(d) || changed[d.Name] || changed[typeOfMethod(d.Name)] {
			more = append(more, d)
		}
	}
	sortDefinitions(more)
	return more
}

// sortDefinitions sorts definitions in the order in which they were typed.
func sortDefinitions(all []*definition) {
	slices.SortFunc(all, func(a, b *definition) int {
		return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Name, b.Name))
	})
}

func isVariable(o types.Object) bool {
	_, ok := o.(*types.Var)
	return ok
}

// typeOfMethod is "T" for "T.M", and "" for a name without a dot.
func typeOfMethod(name string) string {
	base, _, found := strings.Cut(name, ".")
	if !found {
		return ""
	}
	return base
}

// add records the declarations of a cell.
func (n *namespace) add(u *source.Unit, number int, stale []staleDefinition) {
	for _, d := range stale {
		n.remove(d.Name)
		n.stale[d.Name] = d.reason
	}
	numbers := map[string]int{}
	for _, d := range u.Defines {
		if old := n.definitions[d.Name]; old != nil && d.Part {
			numbers[d.Name] = old.number
		}
	}
	for _, d := range u.Defines {
		n.remove(d.Name)
	}
	for _, d := range u.Defines {
		at := number
		if d.Part {
			at = numbers[d.Name]
		}
		n.definitions[d.Name] = &definition{d, at}
		if typeOfMethod(d.Name) == "" {
			n.Objects[d.Name] = d.Object
		}
	}
	for _, i := range u.Imports {
		n.addImport(i)
	}
}

func (n *namespace) addImport(i source.Import) {
	switch i.Name {
	case ".":
		if !slices.Contains(n.Dot, i.Path) {
			n.Dot = append(n.Dot, i.Path)
		}
	case "_":
	default:
		n.Imports[i.Name] = i.Path
	}
}

// remove forgets a name; with a type, its methods.
func (n *namespace) remove(name string) {
	if d := n.definitions[name]; d != nil {
		if _, isType := d.Object.(*types.TypeName); isType {
			maps.DeleteFunc(n.definitions, func(other string, _ *definition) bool { return typeOfMethod(other) == name })
		}
	}
	delete(n.definitions, name)
	delete(n.Objects, name)
	delete(n.stale, name)
}

// hint explains an undefined name that a redefinition removed.
func (n *namespace) hint(message string) string {
	if name, ok := strings.CutPrefix(message, "undefined: "); ok {
		if reason, ok := n.stale[name]; ok {
			return name + " was removed when a later cell redefined something it uses (" + reason + "): define it again"
		}
	}
	return ""
}
