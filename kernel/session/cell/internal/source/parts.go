package source

import "go/types"

// AnyPart reports whether found holds for a type or one of its parts: elements, keys,
// fields, parameters and results. The parts of one that is done are not looked at.
func AnyPart(t types.Type, is func(types.Type) (found, done bool)) bool {
	seen := map[types.Type]bool{}
	var walk func(types.Type) bool
	walk = func(t types.Type) bool {
		t = types.Unalias(t)
		if t == nil || seen[t] {
			return false
		}
		seen[t] = true
		if found, done := is(t); found || done {
			return found
		}
		switch u := t.Underlying().(type) {
		case *types.Map:
			return walk(u.Key()) || walk(u.Elem())
		case *types.Signature:
			return walk(u.Params()) || walk(u.Results())
		case *types.Tuple:
			for v := range u.Variables() {
				if walk(v.Type()) {
					return true
				}
			}
		case *types.Struct:
			for f := range u.Fields() {
				if walk(f.Type()) {
					return true
				}
			}
		case interface{ Elem() types.Type }:
			return walk(u.Elem())
		}
		return false
	}
	return walk(t)
}
