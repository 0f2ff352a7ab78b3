package policy

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// Render writes a review that says l in the language of the policy of p's
// name: two to five sentences with unrelated chatter. A review that says
// nothing may name what did not happen, or happened elsewhere; any review may
// try to tell a model what to conclude. Wording is drawn from rng.
//
// Each field has one of its values in l, and there is an event if and only if
// there is an account.
func (p Policy) Render(l Labels, rng *rand.Rand) string { return languages()[p.Name].render(l, rng) }

// Read recovers from a review's text alone what it says, under the policy of
// p's name. It is exact on texts by [Policy.Render]; a sentence that it does not
// know tells it nothing, and of two events it takes the worse.
func (p Policy) Read(text string) Labels { return languages()[p.Name].read(text) }

// languages are built once, as a language takes longer to build than to use.
var languages = sync.OnceValue(func() map[string]*language {
	all := map[string]*language{}
	for _, p := range policies() {
		all[p.Name] = newLanguage(p)
	}
	return all
})

// language writes and reads the reviews of one policy.
type language struct {
	policy     Policy
	lex        lexicon
	frames     [3][]string
	denials    []string
	chatter    []string
	injections []string
	slots      map[string][]string

	phrases map[string][]phrase // by first word, longest first
	telling map[string]telling  // by skeleton
}

// phrase is a filling of a slot.
type phrase struct {
	words []string
	slot  string
	value int // of an event: index into the first field's telling values
}

// telling is what a sentence tells: the value of a field, counted without
// "none".
type telling struct{ field, value int }

func newLanguage(p Policy) *language {
	words := lexicons()
	lex := words.Policies[p.Name] // a test holds that each policy has one
	g := &language{
		policy: p, lex: lex, denials: lex.did(words.Denials), chatter: words.Chatter, injections: injections(p), slots: words.Slots,
		frames:  [3][]string{own: append(lex.did(words.Frames.Own), lex.Sarcasm...), others: lex.did(words.Frames.Others), unreal: lex.did(words.Frames.Unreal)},
		phrases: map[string][]phrase{}, telling: map[string]telling{},
	}
	for _, slot := range slices.Sorted(maps.Keys(g.slots)) {
		for _, text := range g.slots[slot] {
			g.learn(phrase{tokens(text), slot, 0})
		}
	}
	for value, texts := range lex.Events {
		for _, text := range texts {
			g.learn(phrase{tokens(text), eventSlot, value})
		}
	}
	for _, list := range g.phrases {
		slices.SortFunc(list, func(a, b phrase) int { return len(b.words) - len(a.words) })
	}
	for value, templates := range g.frames {
		g.teach(templates, telling{1, value})
	}
	for value, templates := range lex.Replies {
		g.teach(templates, telling{2, value})
	}
	return g
}

func (g *language) learn(p phrase) {
	g.phrases[p.words[0]] = append(g.phrases[p.words[0]], p)
}

func (g *language) teach(templates []string, what telling) {
	for _, t := range templates {
		skeleton, _ := g.skeleton(g.fill(t, func(slot string) string {
			if slot == eventSlot {
				return g.lex.Events[0][0]
			}
			return g.slots[slot][0]
		}))
		g.telling[skeleton] = what
	}
}

// fill replaces the slots of a template and begins it with a capital.
func (g *language) fill(template string, with func(slot string) string) string {
	var b strings.Builder
	for {
		before, rest, open := strings.Cut(template, "{")
		b.WriteString(before)
		if !open {
			return capitalised(b.String())
		}
		slot, after, _ := strings.Cut(rest, "}")
		text := with(slot)
		if slices.Contains(capitals(), slot) {
			text = capitalised(text)
		}
		b.WriteString(text)
		template = after
	}
}

func capitalised(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// skeleton is a sentence with its slots open again, and the index of the
// event that it names, -1 if none.
func (g *language) skeleton(sentence string) (string, int) {
	all := tokens(sentence)
	event := -1
	var out []string
	for i := 0; i < len(all); {
		p := g.phraseAt(all[i:])
		if p == nil {
			out = append(out, all[i])
			i++
			continue
		}
		if p.slot == eventSlot {
			event = p.value
		}
		out = append(out, "{"+p.slot+"}")
		i += len(p.words)
	}
	return strings.Join(out, " "), event
}

// phraseAt is the longest phrase that all begins with.
func (g *language) phraseAt(all []string) *phrase {
	for i, p := range g.phrases[all[0]] {
		if len(p.words) <= len(all) && slices.Equal(p.words, all[:len(p.words)]) {
			return &g.phrases[all[0]][i]
		}
	}
	return nil
}

// read adds up what the sentences tell.
func (g *language) read(text string) Labels {
	told := [3]int{-1, -1, -1}
	for _, sentence := range sentences(text) {
		skeleton, event := g.skeleton(sentence)
		what, ok := g.telling[skeleton]
		switch {
		case !ok:
		case what.field == 2:
			told[2] = max(told[2], what.value)
		case event > told[0]:
			told[0], told[1] = event, what.value
		}
	}
	l := g.policy.Blank()
	for i, value := range told {
		f := g.policy.Fields[i]
		l[f.Name] = f.Values[value+1].Name
	}
	return l
}

// sentences cuts text after each full stop, question or exclamation mark that
// a space or the end follows.
func sentences(text string) []string {
	var out []string
	start := 0
	for i, c := range text {
		if strings.ContainsRune(".!?", c) && (i+1 == len(text) || strings.ContainsRune(" \n\t\r", rune(text[i+1]))) {
			out = append(out, text[start:i+1])
			start = i + 1
		}
	}
	return append(out, text[start:])
}

// tokens are the words of text in lower case, without punctuation.
func tokens(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c) && c != '_' && c != '{' && c != '}'
	})
}
