package cafes

import (
	"strings"
	"sync"
)

// A pattern is a phrase prepared for reading: its tokens, some of which are
// slots such as "{topic}", and the condition that it states.
type pattern struct {
	tokens []string
	like   Condition
	negate bool
}

// patterns indexes all phrases by their first token, the longest first. Those
// that begin with a slot are under "{".
var patterns = sync.OnceValue(func() map[string][]pattern {
	index := map[string][]pattern{}
	add := func(p pattern) {
		first := p.tokens[0]
		if first[0] == '{' {
			first = "{"
		}
		index[first] = append(index[first], p)
	}
	for _, e := range lexicon().entries {
		for _, f := range allForms {
			addTexts(add, f, e.Say.of(f), e.like(), false)
			addTexts(add, f, e.Against.of(f), e.like(), true)
		}
	}
	return index
})

// addTexts adds the patterns of texts. A verb is also read in its base form,
// as after "doesn't".
func addTexts(add func(pattern), f form, texts []string, like Condition, negate bool) {
	for _, text := range texts {
		words := patternTokens(bare(text))
		add(pattern{words, like, negate})
		if f == verb {
			base := append([]string{baseForm(words[0])}, words[1:]...)
			add(pattern{base, like, negate})
		}
	}
}

// patternTokens splits a phrase as tokenize splits a request, but keeps slots.
func patternTokens(text string) []string {
	var out []string
	for text != "" {
		before, rest, found := strings.Cut(text, "{")
		for _, t := range tokenize(before) {
			out = append(out, t.text)
		}
		if !found {
			break
		}
		slot, after, _ := strings.Cut(rest, "}")
		out = append(out, "{"+slot+"}")
		// The possessive after a slot has no word to be cut from.
		if tail, ok := strings.CutPrefix(after, "'s"); ok {
			out, after = append(out, "'s"), tail
		}
		text = after
	}
	return out
}

// bare is a noun phrase without its article.
func bare(text string) string {
	for _, article := range []string{"a ", "an "} {
		if rest, ok := strings.CutPrefix(text, article); ok {
			return rest
		}
	}
	return text
}

// baseForm turns "allows" into "allow".
func baseForm(verb string) string {
	switch {
	case verb == "has":
		return "have"
	case verb == "mixes":
		return "mix"
	case strings.HasSuffix(verb, "s"):
		return strings.TrimSuffix(verb, "s")
	}
	return verb
}
