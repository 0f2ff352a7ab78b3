package battery

import "testing"

// traps are what the interpreter below the cells was found to get wrong, miss
// or trip over when it is given Go as it stands, each with how the page calls
// it. What is measured by other tests than this one (memory, the time that an
// interrupt takes, captured output) is not among them.
var traps = []struct{ id, text string }{
	{"modern-loops", "range over an integer or a function; packages newer than Go 1.22"},
	{"loop-variables", "loop variables of their own for every turn"},
	{"min-max-clear", "`min`, `max`, `clear`"},
	{"generics-inference", "type parameters inferred from function and other arguments"},
	{"generics-variadic", "generic variadic functions"},
	{"generics-tilde", "constraints with `~`"},
	{"generics-nested", "generic functions that call generic functions"},
	{"generics-values", "generic functions as values"},
	{"generics-constants", "untyped constants as arguments of generic functions"},
	{"generic-packages", "generic functions and types of the standard library"},
	{"errors-as", "`errors.As` and `errors.Is` with types of the cell"},
	{"type-switches", "type switches and assertions: `case error`, types of the cell"},
	{"recover-type", "the type and text of what `recover` returns"},
	{"value-printing", "`Error` and `String` methods of the cell's types when `fmt` prints"},
	{"type-names", "the names of the cell's types: `%T`, `%#v`, `reflect`"},
	{"json-embedded", "embedded structs in JSON"},
	{"compiled-methods", "methods that compiled packages find by reflection: `MarshalJSON`, templates"},
	{"compiled-fields", "values of the cell in interface fields and slices of compiled packages"},
	{"interface-embedded", "interfaces embedded in structs"},
	{"select-break", "`break` and `continue` to a label out of `select`"},
	{"compiler-errors", "unused variables, missing returns, undefined names"},
	{"comma-ok", "`v, ok :=` at the top of a cell"},
	{"mixed-cell", "imports, declarations and statements mixed"},
	{"import-twice", "a package imported again"},
	{"forward-references", "names used before their declaration"},
	{"literal-first", "a cell that starts with a function literal"},
	{"redefinition", "names defined again in a later cell"},
	{"cancellation", "interrupts, and closures made before one"},
	{"goroutine-panic", "panics in goroutines, endless recursion"},
	{"excluded-packages", "packages that cells do not have"},
}

// TestTrapsAreShown demands that every known trap has a snippet, and that every
// snippet's trap is known.
func TestTrapsAreShown(t *testing.T) {
	shown := map[string]int{}
	for _, s := range all(loadThemes(t)) {
		shown[s.Trap]++
	}
	delete(shown, "")
	for _, trap := range traps {
		if shown[trap.id] == 0 {
			t.Errorf("no snippet shows the trap %q", trap.id)
		}
		delete(shown, trap.id)
	}
	for id := range shown {
		t.Errorf("trap %q is not in the list", id)
	}
}
