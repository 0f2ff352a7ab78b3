package cafes

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// A slot is a place in a sentence that a condition can stand in.
type slot uint8

const (
	afterThat  slot = iota // "a cafe that …": has WiFi
	afterPlace             // "a cafe …": with WiFi
)

// A phrase is one way to say a condition or its opposite. If deny is set, the
// text says the contrary of what is meant and must be denied.
type phrase struct {
	form form
	text string
	deny bool
}

// ways lists how the lexicon can say c, or with negate its opposite, in a
// fixed order. Slots are not yet filled.
func ways(c Condition, negate bool) []phrase {
	want, isBool := c.Want.(bool)
	var out []phrase
	for _, e := range lexicon().entries {
		like := e.like()
		switch {
		case sameEntry(like, c):
			out = appendWays(out, e, negate)
		case isBool && like.Kind == Attr && like.Path == c.Path && like.Want == !want:
			if want == negate { // who wants TVs does not ask for a place that isn't TV-free
				out = appendWays(out, e, !negate)
			}
		}
	}
	return out
}

func sameEntry(like, c Condition) bool {
	return like.Kind == c.Kind && like.Path == c.Path && like.Want == c.Want && (c.Kind != Social || like.Hops == c.Hops)
}

func appendWays(out []phrase, e entry, negate bool) []phrase {
	direct := e.Say
	if negate {
		direct = e.Against
		for _, f := range []form{adjective, predicate, noun, verb} {
			for _, text := range e.Say.of(f) {
				if !strings.HasPrefix(text, "no ") && (f != verb || e.Kind == Attr) {
					out = append(out, phrase{f, text, true})
				}
			}
		}
	}
	for _, f := range allForms {
		for _, text := range direct.of(f) {
			out = append(out, phrase{f, text, false})
		}
	}
	return out
}

// place puts p, with its slots filled, into s; false if its form cannot stand
// there.
func (p phrase) place(s slot, rng *rand.Rand) (string, bool) {
	if p.deny {
		return p.placeDenied(s, rng)
	}
	switch {
	case s == afterThat && p.form == clause:
		return "", false
	case s == afterThat && p.form == verb:
		return p.text, true
	case s == afterThat && p.form == noun:
		return "has " + p.text, true
	case s == afterThat:
		return "is " + p.text, true
	case p.form == noun:
		return "with " + p.text, true
	case p.form == clause:
		return "where " + p.text, true
	case p.form == verb:
		return "that " + p.text, true
	}
	return "that is " + p.text, true
}

func (p phrase) placeDenied(s slot, rng *rand.Rand) (string, bool) {
	var options []string
	that := ""
	if s == afterPlace {
		that = "that "
	}
	switch {
	case p.form == noun && s == afterPlace:
		options = []string{"without " + p.text, "with no " + bare(p.text), "that doesn't have " + p.text}
	case p.form == noun:
		options = []string{"has no " + bare(p.text), "doesn't have " + p.text}
	case p.form == verb:
		head, tail, _ := strings.Cut(p.text, " ")
		options = []string{that + strings.TrimSpace("doesn't "+baseForm(head)+" "+tail)}
	case p.form == adjective, p.form == predicate:
		options = []string{that + "is not " + p.text, that + "isn't " + p.text}
	default:
		return "", false
	}
	return pick(rng, options), true
}

// details fills the slots of text with what c says.
func (c Condition) details(text string, rng *rand.Rand) string {
	if !strings.Contains(text, "{") {
		return text
	}
	style := rng.IntN(3)
	topic := c.Pattern
	switch known := slices.Contains(Topics(), topic); {
	case !known || style == 0:
		topic = `"` + topic + `"`
	case style == 1:
		topic = "“" + topic + "”"
	}
	return strings.NewReplacer(
		"{days}", c.Day+"s", "{day}", c.Day, "{name}", c.Friend, "{topic}", topic,
		"{from}", sayTime(c.From, style), "{to}", sayTime(c.To, style),
	).Replace(text)
}

// sayTime writes a time of day in one of three styles.
func sayTime(minutes, style int) string {
	if style == 0 {
		return clock(minutes)
	}
	switch minutes {
	case 12 * 60:
		return "noon"
	case 24 * 60:
		return "midnight"
	}
	hour, half := minutes/60, "am"
	if hour >= 12 {
		hour, half = hour-12, "pm"
	}
	hour = cmp.Or(hour, 12)
	text := fmt.Sprint(hour)
	if m := minutes % 60; m != 0 {
		text += fmt.Sprintf(":%02d", m)
	}
	if style == 2 {
		text += " "
	}
	return text + half
}
