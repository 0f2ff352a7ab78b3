package grammar_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"noema/kernel/model/provider/local/internal/grammar"
)

// FuzzCompile gives arbitrary schemas and texts: nothing panics, what is
// allowed can be completed, and what is complete is JSON.
func FuzzCompile(f *testing.F) {
	for _, s := range samples {
		for _, text := range s.good {
			f.Add(s.schema, text)
		}
		for _, r := range s.bad {
			f.Add(s.schema, r.text)
		}
	}
	f.Add(`{"$ref":"#/a/b"}`, ``)
	f.Add(`{"enum":[1e999999999,-0]}`, `-0`)
	f.Fuzz(func(t *testing.T, schema, text string) {
		g, err := grammar.Compile(json.RawMessage(schema))
		if err != nil {
			return
		}
		s := g.Start()
		var done []byte
		for i := range min(len(text), 200) {
			next, err := s.Advance([]byte{text[i]})
			if err != nil {
				break
			}
			s, done = next, append(done, text[i])
		}
		rest := s.Shortest()
		end, err := s.Advance(rest)
		if err != nil || !end.CanEnd() {
			t.Fatalf("%s: after %q, Shortest %q does not end the text: %v", schema, done, rest, err)
		}
		if whole := append(done, rest...); !json.Valid(whole) {
			t.Fatalf("%s: %q is not valid JSON", schema, whole)
		}
		tokens := randomTokens(rand.New(rand.NewPCG(7, 7)), 300)
		if v := grammar.NewVocab(tokens); !s.Mask(v, make([]bool, len(tokens))) && s.CanEnd() {
			t.Fatalf("%s: after %q Mask and CanEnd disagree", schema, done)
		}
	})
}
