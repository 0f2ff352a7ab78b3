package cafes

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
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

// match finds the longest phrase that tokens begin with, and returns what it
// states and how many tokens it has; 0 if there is none.
func match(tokens []token) (Node, int) {
	var best Node
	length := 0
	try := func(list []pattern) {
		for _, p := range list {
			if c, n := p.match(tokens); n > length {
				best, length = Is(c), n
				if p.negate {
					best = No(best)
				}
			}
		}
	}
	if !tokens[0].quoted {
		try(patterns()[tokens[0].text])
	}
	try(patterns()["{"])
	return best, length
}

func (p pattern) match(tokens []token) (Condition, int) {
	c, at := p.like, 0
	for _, want := range p.tokens {
		if at >= len(tokens) {
			return c, 0
		}
		n := 1
		switch {
		case want[0] == '{':
			n = fill(&c, want, tokens[at:])
		case tokens[at].quoted || tokens[at].text != want:
			n = 0
		}
		if n == 0 {
			return c, 0
		}
		at += n
	}
	if c.Kind == Hours && c.From >= c.To {
		return c, 0
	}
	return c, at
}

// fill reads a slot into c and returns how many tokens it took.
func fill(c *Condition, slot string, tokens []token) int {
	n := 0
	switch slot {
	case "{topic}":
		c.Pattern, n = readTopic(tokens)
	case "{name}":
		c.Friend, n = readName(tokens)
	case "{day}", "{days}":
		c.Day, n = readDay(tokens)
	case "{from}":
		c.From, n = readTime(tokens)
	case "{to}":
		c.To, n = readTime(tokens)
	}
	return n
}

// topicIndex holds the known topics by first word.
var topicIndex = sync.OnceValue(func() map[string][][]string {
	index := map[string][][]string{}
	for _, topic := range Topics() {
		words := strings.Fields(topic)
		index[words[0]] = append(index[words[0]], words)
	}
	return index
})

// readTopic reads a quotation or a known topic, with or without "the".
func readTopic(tokens []token) (string, int) {
	skip := 0
	if len(tokens) > 1 && slices.Contains([]string{"the", "their", "its", "some"}, tokens[0].text) {
		skip = 1
	}
	rest := tokens[skip:]
	if rest[0].quoted {
		return rest[0].text, skip + 1
	}
	for _, words := range topicIndex()[rest[0].text] {
		if len(rest) >= len(words) && slices.EqualFunc(rest[:len(words)], words, isPlain) {
			return strings.Join(words, " "), skip + len(words)
		}
	}
	return "", 0
}

func isPlain(t token, word string) bool { return !t.quoted && t.text == word }

// readName reads a capitalised word.
func readName(tokens []token) (string, int) {
	if t := tokens[0]; !t.quoted && t.orig != t.text && isWord([]rune(t.orig)[0]) {
		return t.orig, 1
	}
	return "", 0
}

// readDay reads a weekday in singular or plural.
func readDay(tokens []token) (string, int) {
	for d := time.Sunday; d <= time.Saturday; d++ {
		if name := d.String(); strings.TrimSuffix(tokens[0].text, "s") == strings.ToLower(name) {
			return name, 1
		}
	}
	return "", 0
}

// readTime reads "7:30", "7 am", "7:30pm", "noon" or "midnight" (the end of
// the day) as minutes after midnight.
func readTime(tokens []token) (minutes, n int) {
	text := tokens[0].text
	switch text {
	case "noon":
		return 12 * 60, 1
	case "midnight":
		return 24 * 60, 1
	}
	n = 1
	half := ""
	for _, suffix := range []string{"am", "pm"} {
		if rest, ok := strings.CutSuffix(text, suffix); ok {
			text, half = rest, suffix
		} else if len(tokens) > 1 && tokens[1].text == suffix {
			half, n = suffix, 2
		}
	}
	h, m, hasMinutes := strings.Cut(text, ":")
	hour, err := strconv.ParseUint(h, 10, 8)
	minute := uint64(0)
	if err == nil && hasMinutes {
		minute, err = strconv.ParseUint(m, 10, 8)
	}
	switch {
	case err != nil || minute > 59 || hour > 24:
		return 0, 0
	case half != "" && (hour < 1 || hour > 12):
		return 0, 0
	case half != "":
		hour %= 12
		if half == "pm" {
			hour += 12
		}
	}
	if total := int(hour*60 + minute); total <= 24*60 {
		return total, n
	}
	return 0, 0
}
