package grammar_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"noema/kernel/model/provider/local/internal/grammar"
)

// judge validates texts with an implementation that is not ours.
func judge(t testing.TB, schema string) func(text []byte) error {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(schema)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("mem:///s.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("mem:///s.json")
	if err != nil {
		t.Fatal(err)
	}
	return func(text []byte) error {
		if !json.Valid(text) {
			return errors.New("not valid JSON")
		}
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			return err
		}
		return s.Validate(v)
	}
}

func compile(t testing.TB, schema string) *grammar.Grammar {
	t.Helper()
	g, err := grammar.Compile(json.RawMessage(schema))
	if err != nil {
		t.Fatalf("Compile(%s): %v", schema, err)
	}
	return g
}

// allBytes are the tokens of one byte each.
func allBytes() [][]byte {
	tokens := make([][]byte, 256)
	for i := range tokens {
		tokens[i] = []byte{byte(i)}
	}
	return tokens
}

// randomTokens are all bytes, pieces of the texts, and random runs of what
// JSON is made of.
func randomTokens(rng *rand.Rand, n int, texts ...string) [][]byte {
	tokens := append(allBytes(), nil)
	const parts = `{}[]:,"\0123456789.eE+-abtrufnl é😀x`
	for len(tokens) < n {
		from := parts
		if len(texts) > 0 && rng.IntN(2) == 0 {
			from = texts[rng.IntN(len(texts))]
		}
		i := rng.IntN(len(from))
		j := min(len(from), i+2+rng.IntN(5))
		token := []byte(from[i:j])
		if rng.IntN(3) == 0 {
			rng.Shuffle(len(token), func(a, b int) { token[a], token[b] = token[b], token[a] })
		}
		tokens = append(tokens, token)
	}
	return tokens
}

func TestSamples(t *testing.T) {
	for _, s := range samples {
		t.Run(s.name, func(t *testing.T) {
			g, valid := compile(t, s.schema), judge(t, s.schema)
			for _, text := range s.good {
				if err := valid([]byte(text)); err != nil {
					t.Fatalf("the judge refuses the good sample %s: %v", text, err)
				}
				if at := refusedAt(t, g, text); at >= 0 {
					t.Errorf("%s is refused at byte %d", text, at)
				}
			}
			for _, r := range s.bad {
				if at := refusedAt(t, g, r.text); at != r.at {
					t.Errorf("%s: refused at byte %d, want %d", r.text, at, r.at)
				}
			}
		})
	}
}

// refusedAt returns the first byte that cannot follow, the text's length when
// it is no complete value, or -1. It also checks the mask of single bytes at
// every step.
func refusedAt(t *testing.T, g *grammar.Grammar, text string) int {
	t.Helper()
	v := grammar.NewVocab(allBytes())
	allowed := make([]bool, 256)
	s := g.Start()
	for i := range len(text) {
		s.Mask(v, allowed)
		next, err := s.Advance([]byte(text[i : i+1]))
		if allowed[text[i]] != (err == nil) {
			t.Fatalf("%q: mask says %v for byte %d, Advance says %v", text, allowed[text[i]], i, err)
		}
		if err != nil {
			return i
		}
		s = next
	}
	if !s.CanEnd() {
		return len(text)
	}
	return -1
}

// TestWalks generates texts at random and has the judge look at each.
func TestWalks(t *testing.T) {
	const each = 32
	walks := 0
	for i, sample := range samples {
		g, valid := compile(t, sample.schema), judge(t, sample.schema)
		rng := rand.New(rand.NewPCG(1, uint64(i)))
		tokens := randomTokens(rng, 700, sample.good...)
		v := grammar.NewVocab(tokens)
		for range each {
			limit := []int{0, 5, 20, 60, 200}[rng.IntN(5)]
			text := walk(t, g, v, tokens, rng, limit)
			if err := valid(text); err != nil {
				t.Fatalf("%s: %s: %v", sample.name, text, err)
			}
			walks++
		}
	}
	if walks < 1000 {
		t.Fatalf("%d walks, want at least 1000", walks)
	}
}

// walk takes uniformly chosen tokens up to the limit and then the shortest end.
func walk(t *testing.T, g *grammar.Grammar, v *grammar.Vocab, tokens [][]byte, rng *rand.Rand, limit int) []byte {
	t.Helper()
	allowed := make([]bool, len(tokens))
	var text []byte
	s := g.Start()
	for range limit {
		canEnd := s.Mask(v, allowed)
		var choices []int
		for i, ok := range allowed {
			if ok {
				choices = append(choices, i)
			}
		}
		if len(choices) == 0 || canEnd && rng.IntN(4) == 0 {
			if !canEnd {
				t.Fatalf("dead end after %q", text)
			}
			return text
		}
		token := tokens[choices[rng.IntN(len(choices))]]
		next, err := s.Advance(token)
		if err != nil {
			t.Fatalf("after %q the mask allows %q: %v", text, token, err)
		}
		s, text = next, append(text, token...)
	}
	rest := s.Shortest()
	end, err := s.Advance(rest)
	if err != nil || !end.CanEnd() {
		t.Fatalf("after %q, Shortest is %q: %v, CanEnd %v", text, rest, err, end.CanEnd())
	}
	return append(text, rest...)
}

// TestMaskIsAdvance compares the masks of whole tokens with trying each.
func TestMaskIsAdvance(t *testing.T) {
	for i, sample := range samples {
		g := compile(t, sample.schema)
		rng := rand.New(rand.NewPCG(2, uint64(i)))
		tokens := randomTokens(rng, 500, sample.good...)
		v := grammar.NewVocab(tokens)
		allowed := make([]bool, len(tokens))
		for _, text := range sample.good {
			s := g.Start()
			for at := 0; at <= len(text); at++ {
				if canEnd := s.Mask(v, allowed); canEnd != s.CanEnd() {
					t.Fatalf("%s: after %q Mask says canEnd %v, CanEnd %v", sample.name, text[:at], canEnd, s.CanEnd())
				}
				for j, token := range tokens {
					_, err := s.Advance(token)
					if want := err == nil && len(token) > 0; allowed[j] != want {
						t.Fatalf("%s: after %q the mask says %v for %q, Advance %v", sample.name, text[:at], allowed[j], token, err)
					}
				}
				if at < len(text) {
					s, _ = s.Advance([]byte(text[at : at+1]))
				}
			}
		}
	}
}
