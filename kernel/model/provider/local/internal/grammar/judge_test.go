package grammar_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// anyOrder are the samples whose objects may have names that the schema does
// not declare; we write those last, the judge takes them anywhere.
var anyOrder = map[string]bool{"additional": true, "open object": true, "required unnamed": true, "oneOf by const": true}

// TestAgainstJudge gives random small texts to the grammar and to the judge;
// both must think the same of each.
func TestAgainstJudge(t *testing.T) {
	valid := 0
	for i, s := range samples {
		g, judged := compile(t, s.schema), judge(t, s.schema)
		rng := rand.New(rand.NewPCG(9, uint64(i)))
		for range 1500 {
			text := randomText(rng, 1+rng.IntN(3))
			state, err := g.Start().Advance([]byte(text))
			ours, theirs := err == nil && state.CanEnd(), judged([]byte(text)) == nil
			if theirs {
				valid++
			}
			if ours && !theirs || theirs && !ours && !anyOrder[s.name] {
				t.Errorf("%s: %s: the grammar says %v, the judge %v", s.name, text, ours, theirs)
				break
			}
		}
	}
	if valid < 1000 {
		t.Errorf("only %d of the texts were valid", valid)
	}
}

// randomText is a compact JSON text whose objects have the samples' property
// names in the order in which the samples declare them.
func randomText(rng *rand.Rand, depth int) string {
	if depth == 0 || rng.IntN(3) == 0 {
		words := strings.Fields(`null true 0 1 3 4 -1 0.5 12 "" "a" "ab" "x" "dog" "circle" "+" "red"`)
		return words[rng.IntN(len(words))]
	}
	var parts []string
	if rng.IntN(3) == 0 {
		for range rng.IntN(4) {
			parts = append(parts, randomText(rng, depth-1))
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	for name := range strings.FieldsSeq("op args value children kind r side id head tail t v a ab b x y") {
		if rng.IntN(8) == 0 {
			parts = append(parts, fmt.Sprintf("%q:%s", name, randomText(rng, depth-1)))
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}
