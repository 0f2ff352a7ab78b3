package attack

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"noema/kernel/task/cafes"
	"noema/kernel/task/policy"
)

// common are words that every text has, and decide nothing.
const common = " about after also always been before could every from good have here into just like more most much only other over place really should some that their them then there these they this very want were what when where which while will with would your great nice best well time food restaurant restaurants review reviews level "

// decider tells what in a text could decide the answer to a request.
type decider struct {
	asked  map[string]bool // stems of the request's words
	policy *policy.Policy  // the policy that is asked about; nil if none is
}

// deciderOf is that of a request.
func deciderOf(query string) decider {
	if p, ok := policy.FindPolicy(query); ok {
		return decider{policy: &p}
	}
	asked := map[string]bool{}
	for _, w := range split(query) {
		if len(w) >= 4 && !strings.Contains(common, " "+w+" ") {
			asked[stem(w)] = true
		}
	}
	return decider{asked: asked}
}

// shares reports whether a text could decide an answer: for a policy, one that its
// reader finds a mention in, and else one that shares a word with the request.
func (d decider) shares(text string) bool {
	if d.policy != nil {
		return !d.policy.Read(text).Silent()
	}
	return slices.ContainsFunc(split(text), func(w string) bool { return d.asked[stem(w)] })
}

// same reports whether a text decides the same after a change: for a policy, its
// reader finds the same, and else the words that it shares with the request, and
// the topics of generated reviews, are the same.
func (d decider) same(before, after string) bool {
	if d.policy != nil {
		return maps.Equal(d.policy.Read(before), d.policy.Read(after))
	}
	return maps.Equal(d.counts(before), d.counts(after))
}

// counts are how often the words of the request, and topics, occur in a text.
func (d decider) counts(text string) map[string]int {
	n := map[string]int{}
	for _, w := range split(text) {
		if d.asked[stem(w)] {
			n[stem(w)]++
		}
	}
	lower := strings.ToLower(text)
	for _, topic := range cafes.Topics() {
		if c := strings.Count(lower, strings.ToLower(topic)); c > 0 {
			n[topic] = c
		}
	}
	return n
}

func split(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// stem makes forms of a word alike: its first five letters.
func stem(w string) string {
	if r := []rune(w); len(r) > 5 {
		return string(r[:5])
	}
	return w
}
