package grammar_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"noema/kernel/model/provider/local/internal/grammar"
)

// TestFewest holds the fewest tokens to those that trying all ways finds.
func TestFewest(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	word := func(most int) []byte {
		text := make([]byte, rng.IntN(most+1))
		for i := range text {
			text[i] = 'a' + byte(rng.IntN(2))
		}
		return text
	}
	spelled, missing := 0, 0
	for range 3000 {
		tokens := [][]byte{nil}
		for range rng.IntN(8) {
			tokens = append(tokens, word(4))
		}
		text := word(9)
		want := fewest(tokens, text)
		got, ok := grammar.NewVocab(tokens).Fewest(text)
		var joined []byte
		for _, id := range got {
			joined = append(joined, tokens[id]...)
		}
		if ok != (want >= 0) || ok && (len(got) != want || !bytes.Equal(joined, text)) {
			t.Fatalf("%q of %q: tokens %v, %v, want %d", text, tokens, got, ok, want)
		}
		if ok {
			spelled++
		} else {
			missing++
		}
	}
	if spelled < 500 || missing < 500 {
		t.Errorf("%d texts were spelled and %d could not be: the cases are too one-sided", spelled, missing)
	}
}

// fewest tries all ways; -1 says that there is none.
func fewest(tokens [][]byte, text []byte) int {
	if len(text) == 0 {
		return 0
	}
	best := -1
	for _, token := range tokens {
		if len(token) == 0 || !bytes.HasPrefix(text, token) {
			continue
		}
		if n := fewest(tokens, text[len(token):]); n >= 0 && (best < 0 || n+1 < best) {
			best = n + 1
		}
	}
	return best
}
