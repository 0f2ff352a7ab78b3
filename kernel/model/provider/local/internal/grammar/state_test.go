package grammar_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"noema/kernel/model/provider/local/internal/grammar"
)

// TestShortestIsShortest checks the equation that only the true distances
// satisfy: the shortest end is one byte more than the best after one byte.
func TestShortestIsShortest(t *testing.T) {
	for i, sample := range samples {
		g := compile(t, sample.schema)
		rng := rand.New(rand.NewPCG(3, uint64(i)))
		for _, text := range sample.good {
			s := g.Start()
			for at := range len(text) + 1 {
				if at == 0 || rng.IntN(3) > 0 {
					checkShortest(t, s, text[:at])
				}
				if at < len(text) {
					s, _ = s.Advance([]byte(text[at : at+1]))
				}
			}
		}
	}
}

func checkShortest(t *testing.T, s grammar.State, text string) {
	t.Helper()
	here := s.Shortest()
	if s.CanEnd() {
		if len(here) != 0 {
			t.Fatalf("after %q, a complete text, Shortest is %q", text, here)
		}
		return
	}
	if end, err := s.Advance(here); err != nil || !end.CanEnd() {
		t.Fatalf("after %q, Shortest %q does not end the text: %v", text, here, err)
	}
	best := -1
	for b := range 256 {
		next, err := s.Advance([]byte{byte(b)})
		if err != nil {
			continue
		}
		if n := len(next.Shortest()); best < 0 || n < best {
			best = n
		}
	}
	if best+1 != len(here) {
		t.Fatalf("after %q, Shortest %q has %d bytes; the next byte's best end has %d", text, here, len(here), best)
	}
}

func TestShortest(t *testing.T) {
	tests := []struct{ schema, text, want string }{
		{`true`, ``, `0`},
		{`{"type":"object","required":["a","b"],"properties":{"a":{"type":"array","minItems":2,"items":{"type":"boolean"}},"b":{"type":"string","minLength":3}}}`, ``, `{"a":[true,true],"b":"   "}`},
		{`{"type":"string"}`, `"\ud83d`, `\uDC00"`},
		{`{"type":"string","minLength":3}`, "\"\xe2\x82", "\x80  \""},
		{`{"type":"object","additionalProperties":{"type":"null"}}`, `{"":null,`, `"b":null}`},
		{`{"type":"object","properties":{"longer":{"type":"null"},"x":{"type":"null"},"zz":{"type":"null"}},"additionalProperties":false}`, `{"longer":null,`, `"x":null}`},
		{`{"type":"object","properties":{"abc":{"type":"null"},"ax":{"type":"null"},"a":{"type":"null"}},"required":["a"],"additionalProperties":false}`, `{"a`, `":null}`},
		{`{"type":"object","properties":{"abc":{"type":"null"},"ax":{"type":"null"},"a":{"type":"null"}},"required":["a"],"additionalProperties":false}`, `{"ab`, `c":null,"a":null}`},
		{`{"anyOf":[{"const":"something long"},{"type":"array","minItems":1,"items":{"$ref":"#"}}]}`, `[[[[`, `"something long"]]]]`},
		{`{"type":"number","minimum":0.251,"maximum":0.3}`, ``, `0.3`},
	}
	for _, test := range tests {
		s, err := compile(t, test.schema).Start().Advance([]byte(test.text))
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Shortest(); string(got) != test.want {
			t.Errorf("%s: after %q Shortest is %q, want %q", test.schema, test.text, got, test.want)
		}
	}
}

// TestDepth checks that texts nest up to the limit, no further, and that one
// who is led there is not led into a dead end.
func TestDepth(t *testing.T) {
	g, err := grammar.CompileDepth(json.RawMessage(`true`), 3)
	if err != nil {
		t.Fatal(err)
	}
	for text, at := range map[string]int{
		`[[[]]]`: -1, `[[[[`: 3, `[{"a":[]}]`: -1, `[{"a":{"b":[`: 11, `[[[1,"x",{`: 9, `{"a":{"b":{"c":1}}}`: -1,
	} {
		if got := refusedAt(t, g, text); got != at {
			t.Errorf("%s: refused at %d, want %d", text, got, at)
		}
	}
	// A branch that must nest deeper than what is left is not offered.
	list := `{"type":"array","items":{"anyOf":[{"$ref":"#"},{"type":"object","properties":{"a":{"type":"array"}},"required":["a"]}]}}`
	g, err = grammar.CompileDepth(json.RawMessage(list), 3)
	if err != nil {
		t.Fatal(err)
	}
	for text, at := range map[string]int{`[{"a":[]}]`: -1, `[[{"a":[]}]]`: 2, `[[[]]]`: -1} {
		if got := refusedAt(t, g, text); got != at {
			t.Errorf("%s: refused at %d, want %d", text, got, at)
		}
	}
}

// TestDepthOfMasks walks a recursive grammar under a tight limit, where masks
// depend on the depth.
func TestDepthOfMasks(t *testing.T) {
	g, err := grammar.CompileDepth(json.RawMessage(`{"type":["array","object"],"items":{"$ref":"#"},"additionalProperties":{"$ref":"#"}}`), 4)
	if err != nil {
		t.Fatal(err)
	}
	tokens := append(allBytes(), []byte(`[[`), []byte(`[[[`), []byte(`{"a":`), []byte(`],[`), []byte(`]]`), []byte(`{"a":{"b":[`))
	v := grammar.NewVocab(tokens)
	deepest := 0
	for seed := range uint64(60) {
		text := walk(t, g, v, tokens, rand.New(rand.NewPCG(4, seed)), 80)
		deepest = max(deepest, nesting(t, text))
	}
	if deepest != 4 {
		t.Errorf("the deepest text nests %d deep, want 4", deepest)
	}
}

func nesting(t *testing.T, text []byte) int {
	t.Helper()
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	var depth func(v any) int
	depth = func(v any) int {
		d := 0
		switch v := v.(type) {
		case []any:
			for _, w := range v {
				d = max(d, depth(w))
			}
			return d + 1
		case map[string]any:
			for _, w := range v {
				d = max(d, depth(w))
			}
			return d + 1
		}
		return 0
	}
	return depth(v)
}

func TestClosed(t *testing.T) {
	for _, test := range []struct {
		schema, text string
		at           int
	}{
		{`{"type":"object","properties":{"a":{"type":"null"}}}`, `{"b":null}`, 2},
		{`{"type":"object"}`, `{"b":null}`, -1},
		{`{"type":"object","properties":{"a":{}},"additionalProperties":true}`, `{"b":null}`, -1},
		{`{"type":"object","properties":{}}`, `{"b":null}`, -1},
	} {
		if at := refusedAt(t, compile(t, test.schema), test.text); at != test.at {
			t.Errorf("%s: %s is refused at %d, want %d", test.schema, test.text, at, test.at)
		}
	}
}

// TestForks advances one state in many ways at once, with a shared grammar and
// vocabulary, and wants each way to be what it is alone.
func TestForks(t *testing.T) {
	schema := samples[slices.IndexFunc(samples, func(s sample) bool { return s.name == "tree" })]
	rng := rand.New(rand.NewPCG(5, 5))
	tokens := randomTokens(rng, 600, schema.good...)
	v := grammar.NewVocab(tokens)
	alone := make([]string, 16)
	for i := range alone {
		alone[i] = string(walk(t, compile(t, schema.schema), v, tokens, rand.New(rand.NewPCG(6, uint64(i))), 50))
	}
	g := compile(t, schema.schema)
	var wg sync.WaitGroup
	for i, want := range alone {
		wg.Go(func() {
			if got := string(walk(t, g, v, tokens, rand.New(rand.NewPCG(6, uint64(i))), 50)); got != want {
				t.Errorf("walk %d: %s, alone %s", i, got, want)
			}
		})
	}
	wg.Wait()
}

// TestSplitCharacter has tokens that end within a character.
func TestSplitCharacter(t *testing.T) {
	g := compile(t, `{"enum":["é😀","éé","é"]}`)
	tokens := [][]byte{[]byte("\"\xc3"), []byte("\xa9\xf0\x9f"), []byte("\x98\x80"), []byte("\x98"), []byte("\x80\""), []byte("\xa9\""), {}, []byte("\xf0\x9f")}
	v := grammar.NewVocab(tokens)
	allowed := make([]bool, len(tokens))
	s := g.Start()
	for _, step := range []struct {
		take int
		want []int
	}{{0, []int{0}}, {1, []int{1, 5}}, {3, []int{2, 3}}, {4, []int{4}}} {
		s.Mask(v, allowed)
		var got []int
		for i, ok := range allowed {
			if ok {
				got = append(got, i)
			}
		}
		if !slices.Equal(got, step.want) {
			t.Fatalf("allowed %v, want %v", got, step.want)
		}
		var err error
		if s, err = s.Advance(tokens[step.take]); err != nil {
			t.Fatal(err)
		}
	}
	if !s.Mask(v, allowed) || slices.Contains(allowed, true) {
		t.Error("the string is complete, but the mask says otherwise")
	}
}

// TestAdvanceKeepsState checks that a refused token leaves the state as it was.
func TestAdvanceKeepsState(t *testing.T) {
	s := compile(t, `{"type":"array","items":{"type":"integer"}}`).Start()
	same, err := s.Advance([]byte(`[1,x`))
	if err == nil || !strings.Contains(err.Error(), `byte 3 of the token, "x"`) {
		t.Fatalf("error %v", err)
	}
	if next, err := same.Advance([]byte(`[1,2]`)); err != nil || !next.CanEnd() {
		t.Fatalf("the state after a refusal is not the one before: %v", err)
	}
}

// TestAmbiguousText reads a text whose number of readings doubles with every
// level; sharing keeps that linear.
func TestAmbiguousText(t *testing.T) {
	i := slices.IndexFunc(samples, func(s sample) bool { return s.name == "ambiguous recursion" })
	g, err := grammar.CompileDepth(json.RawMessage(samples[i].schema), 4000)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat(`{"x":`, 3999) + `{}` + strings.Repeat(`}`, 3000)
	s, err := g.Start().Advance([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.Repeat(`}`, 999); string(s.Shortest()) != want {
		t.Errorf("Shortest is %.80q, want 999 braces", s.Shortest())
	}
}

func ExampleGrammar() {
	g, err := grammar.Compile(json.RawMessage(`{
		"type": "object",
		"properties": {
			"answer": {"enum": ["yes", "no"]},
			"confidence": {"type": "number", "minimum": 0, "maximum": 1}
		},
		"required": ["answer"],
		"additionalProperties": false
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	tokens := [][]byte{[]byte(`{"answer":`), []byte(`"yes"`), []byte(`"maybe"`), []byte(`"no"`), []byte(`}`), []byte(` `)}
	vocab := grammar.NewVocab(tokens)
	allowed := make([]bool, len(tokens))
	s := g.Start()
	for _, take := range []int{0, 1} {
		s.Mask(vocab, allowed)
		for i, ok := range allowed {
			if ok {
				fmt.Printf("%s may follow\n", tokens[i])
			}
		}
		s, _ = s.Advance(tokens[take])
	}
	fmt.Printf("to end: %s\n", s.Shortest())
	// Output:
	// {"answer": may follow
	// "yes" may follow
	// "no" may follow
	//   may follow
	// to end: }
}
