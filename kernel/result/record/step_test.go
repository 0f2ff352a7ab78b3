package record

import (
	"fmt"
	"strings"
	"testing"

	"noema/methods"
)

// TestStepsOfMethodsMeet: the same condition has one key however methods number and spell
// it, and other conditions have others.
func TestStepsOfMethodsMeet(t *testing.T) {
	seen := map[string]string{}
	for i, field := range []string{"Ambience.romantic", "Ambience.upscale", "GoodForMeal.dessert"} {
		var get string
		for part := range strings.SplitSeq("attributes."+field, ".") {
			get += fmt.Sprintf(".get('%s')", part)
		}
		for _, value := range []string{"True", "False"} {
			texts := []string{
				fmt.Sprintf("Check condition %d: [AMBIENCE] attributes.%s = %s\n1: x\n2: y", i+1, field, value),
				fmt.Sprintf("%d: filter_items(op=\"=\", path=\"attributes.%s\", value=%s)", 7-i, field, value),
				fmt.Sprintf("(item%s or {}) == %s", get, value),
			}
			key := StepOf(methods.Node{ID: "c", Text: texts[0]}).Key
			for _, text := range texts {
				if got := StepOf(methods.Node{ID: "d", Text: text}).Key; got != key {
					t.Errorf("%q has the key %q, not %q", text, got, key)
				}
			}
			if other, twice := seen[key]; twice {
				t.Errorf("%q and %q share the key %q", other, texts[0], key)
			}
			seen[key] = texts[0]
		}
	}
	if a, b := StepOf(methods.Node{Text: "stars < 4"}).Key, StepOf(methods.Node{Text: "stars > 4"}).Key; a == b {
		t.Errorf("opposite conditions share %q", a)
	}
}
