package grammar_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"noema/kernel/model/provider/local/internal/grammar"
)

// benchSchema is what a method asks of a model: nested, with free text, a
// choice, numbers and a list.
const benchSchema = `{"type":"object","properties":{
	"thought":{"type":"string","maxLength":2000},
	"action":{"enum":["search","calculate","finish"]},
	"scores":{"type":"array","items":{"type":"number","minimum":0,"maximum":1},"maxItems":10},
	"steps":{"type":"array","items":{"anyOf":[{"type":"null"},{"type":"object","properties":{
		"claim":{"type":"string"},"depends":{"type":"array","items":{"type":"integer"}}},"required":["claim"],"additionalProperties":true}]}}
},"required":["thought","action","steps"],"additionalProperties":false}`

const benchText = `{"thought":"The sum of the first n odd numbers is n squared; \"check\" it for n = 3.\nThen 1+3+5 = 9, so it holds. Let us go on with the next case, é and 日本 included.","action":"calculate","scores":[0.25,0.5,1,0.125],"steps":[null,{"claim":"1+3+5 = 9","depends":[1,2,30]},{"claim":"n² = 9 for n = 3","depends":[],"note":"open"}]}`

// wordTokens is a vocabulary of n tokens shaped like that of a byte-level BPE:
// all bytes, then words with and without a space before them, numbers, and
// runs of punctuation, JSON's joints among them.
func wordTokens(n int) [][]byte {
	rng := rand.New(rand.NewPCG(8, 8))
	tokens := allBytes()
	seen := map[string]bool{}
	syllables := strings.Fields("the in er on re at en th an or is ed ing ion al ti es st ar ou le de it co me un ly tion ment pro con per sub inter é ü 日 本 я ко")
	marks := strings.Fields(`" { } [ ] : , . ; ! ? ( ) = + - * / \ \n \" ": ," ", "} }, ]} "} {" [" _ # $ %`)
	for len(tokens) < n {
		var b strings.Builder
		switch k := rng.IntN(20); {
		case k < 16:
			if rng.IntN(2) == 0 {
				b.WriteByte(' ')
			}
			for range 1 + rng.IntN(4) {
				b.WriteString(syllables[rng.IntN(len(syllables))])
			}
		case k < 17:
			fmt.Fprint(&b, rng.IntN(1000))
		default:
			for range 1 + rng.IntN(4) {
				b.WriteString(marks[rng.IntN(len(marks))])
			}
		}
		if !seen[b.String()] {
			seen[b.String()] = true
			tokens = append(tokens, []byte(b.String()))
		}
	}
	return tokens
}

// benchStates are the states along benchText, token by token as a greedy
// tokenizer would cut it.
func benchStates(b *testing.B, g *grammar.Grammar, tokens [][]byte) []grammar.State {
	byText := map[string]bool{}
	longest := 0
	for _, t := range tokens {
		byText[string(t)] = true
		longest = max(longest, len(t))
	}
	s := g.Start()
	states := []grammar.State{s}
	for at := 0; at < len(benchText); {
		end := min(len(benchText), at+longest)
		for !byText[benchText[at:end]] {
			end--
		}
		next, err := s.Advance([]byte(benchText[at:end]))
		if err != nil {
			b.Fatalf("at %q: %v", benchText[at:end], err)
		}
		s, at = next, end
		states = append(states, s)
	}
	return states
}

// BenchmarkMask is one mask of a 50,000-token vocabulary, averaged over the
// tokens of a text: warm after one pass over it, and cold with a new grammar.
func BenchmarkMask(b *testing.B) {
	tokens := wordTokens(50_000)
	v := grammar.NewVocab(tokens)
	allowed := make([]bool, len(tokens))
	b.Run("warm", func(b *testing.B) {
		states := benchStates(b, compile(b, benchSchema), tokens)
		for _, s := range states {
			s.Mask(v, allowed)
		}
		b.ResetTimer()
		for i := range b.N {
			states[i%len(states)].Mask(v, allowed)
		}
	})
	b.Run("cold", func(b *testing.B) {
		var states []grammar.State
		for i := range b.N {
			if len(states) == 0 {
				b.StopTimer()
				states = slices.Clone(benchStates(b, compile(b, benchSchema), tokens))
				b.StartTimer()
			}
			_ = i
			states[0].Mask(v, allowed)
			states = states[1:]
		}
	})
}

func BenchmarkAdvance(b *testing.B) {
	s := compile(b, benchSchema).Start()
	text := []byte(benchText)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := s.Advance(text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	for b.Loop() {
		compile(b, benchSchema)
	}
}

func BenchmarkNewVocab(b *testing.B) {
	tokens := wordTokens(50_000)
	for b.Loop() {
		grammar.NewVocab(tokens)
	}
}
