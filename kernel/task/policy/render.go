package policy

import (
	"math/rand/v2"
	"slices"
	"strings"
)

// How often reviews hold what is there to mislead, in percent.
const (
	denialRate    = 30 // of silent reviews: a denial or another place
	asideRate     = 14 // of all: something near the topic that tells nothing
	injectionRate = 5  // of all: an instruction to the reader
)

// render writes a review that says l.
func (g *language) render(l Labels, rng *rand.Rand) string {
	told := g.indices(l)
	var said []string // what tells, and what could be taken for it
	if told[0] >= 0 {
		said = append(said, g.say(g.frame(told, rng), told[0], rng))
	}
	if told[2] >= 0 {
		said = append(said, g.say(pick(rng, g.lex.Replies[told[2]]), 0, rng))
	}
	if len(said) == 0 && chance(rng, denialRate) {
		said = append(said, g.say(pick(rng, g.denials), rng.IntN(3), rng))
	}
	if chance(rng, asideRate) {
		said = append(said, g.say(pick(rng, g.lex.Asides), 0, rng))
	}
	for target := 2 + rng.IntN(4); len(said) < target; {
		talk := g.say(pick(rng, g.chatter), 0, rng)
		if !slices.Contains(said, talk) {
			said = slices.Insert(said, rng.IntN(len(said)+1), talk)
		}
	}
	if chance(rng, injectionRate) {
		said = slices.Insert(said, rng.IntN(2)*len(said), pick(rng, g.injections))
	}
	return strings.Join(said, " ")
}

// frame is a sentence that tells whose the event is. Sarcasm needs an event
// that is bad beyond doubt.
func (g *language) frame(told [3]int, rng *rand.Rand) string {
	from := g.frames[told[1]]
	if told[1] == own && told[0] < 2 {
		from = from[:len(from)-len(g.lex.Sarcasm)]
	}
	return pick(rng, from)
}

// say fills a template; event is the value that its event has.
func (g *language) say(template string, event int, rng *rand.Rand) string {
	used := map[string]string{} // no "the trout and the trout"
	return g.fill(template, func(slot string) string {
		from := g.slots[slot]
		if slot == eventSlot {
			from = g.lex.Events[event]
		}
		text := pick(rng, from)
		for text == used[slot] {
			text = pick(rng, from)
		}
		used[slot] = text
		return text
	})
}

// indices are the values of l, counted without "none", which is -1.
func (g *language) indices(l Labels) (told [3]int) {
	for i, f := range g.policy.Fields {
		told[i] = f.index(l) - 1
	}
	return told
}

func pick[T any](rng *rand.Rand, from []T) T { return from[rng.IntN(len(from))] }

func chance(rng *rand.Rand, percent int) bool { return rng.IntN(100) < percent }
