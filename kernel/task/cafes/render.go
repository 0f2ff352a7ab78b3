package cafes

import (
	"math/rand/v2"
	"slices"
	"strings"
)

// Render says in English what n asks for: a tree of conditions that the lexicon has
// phrases for. Wording, order and sentence structure are drawn from rng.
func Render(n Node, rng *rand.Rand) string {
	parts := []Node{n.Normal()}
	if parts[0].Op == And {
		parts = slices.Clone(parts[0].Args)
	}
	w := sayer{rng}
	return w.request(w.ordered(parts))
}

type sayer struct{ rng *rand.Rand }

func (w sayer) chance(percent int) bool { return w.rng.IntN(100) < percent }

// ordered shuffles the parts; mostly, what is unwanted comes last.
func (w sayer) ordered(parts []Node) []Node {
	w.rng.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	if w.chance(70) {
		slices.SortStableFunc(parts, func(a, b Node) int { return rank(a) - rank(b) })
	}
	return parts
}

func rank(n Node) int {
	if negative(n) {
		return 1
	}
	return 0
}

func negative(n Node) bool { return n.Op == Not || n.Op == "" && n.Leaf.Want == false }

// request writes one sentence or two.
func (w sayer) request(parts []Node) string {
	second := []Node(nil)
	if len(parts) > 2 && w.chance(35) {
		cut := 1 + w.rng.IntN(len(parts)-1)
		parts, second = parts[:cut], parts[cut:]
	}
	opener := pick(w.rng, lexicon().Openers)
	end := "."
	if strings.HasPrefix(opener, "Can ") {
		end = "?"
	}
	text := opener + " " + w.nounPhrase(parts) + end
	if second != nil {
		start := pick(w.rng, []string{"It should also be one", "Make sure it is one", "And it has to be somewhere"})
		text += " " + start + " " + w.body(second) + "."
	}
	if w.chance(10) {
		text += " Thanks!"
	}
	return text
}

// nounPhrase is "a quiet cafe with …".
func (w sayer) nounPhrase(parts []Node) string {
	var before []string
	var rest []Node
	for _, n := range parts {
		adj := w.adjectives(n)
		if len(before) < 2 && len(adj) > 0 && w.chance(50) {
			before = append(before, pick(w.rng, adj))
		} else {
			rest = append(rest, n)
		}
	}
	text := strings.Join(append([]string{strings.Join(before, ", ")}, pick(w.rng, lexicon().Places)), " ")
	text = strings.TrimSpace(text)
	article := "a "
	if strings.ContainsRune("aeiou", rune(text[0])) {
		article = "an "
	}
	if len(rest) == 0 {
		return article + text
	}
	return article + text + " " + w.body(rest)
}

// adjectives lists the words for n that can stand before the noun.
func (w sayer) adjectives(n Node) []string {
	var out []string
	if n.Op != "" {
		return nil
	}
	for _, p := range ways(n.Leaf, false) {
		if p.form == adjective && !p.deny {
			out = append(out, p.text)
		}
	}
	return out
}

// body is what follows the noun.
func (w sayer) body(parts []Node) string {
	s, that := afterThat, "that "
	if w.chance(50) {
		s, that = afterPlace, ""
	}
	texts := make([]string, 0, len(parts))
	for _, n := range w.denials(parts) {
		texts = append(texts, w.unit(n, s, 0))
	}
	last := negative(parts[len(parts)-1])
	return that + w.join(texts, last)
}

// denials puts two neighbouring negatives into one "neither … nor".
func (w sayer) denials(parts []Node) []Node {
	var out []Node
	for _, n := range parts {
		if len(out) > 0 && negative(n) && negative(out[len(out)-1]) && w.chance(60) {
			both := No(AnyOf(No(out[len(out)-1]), No(n)))
			if w.shared(both.Args[0].Args) != nil {
				out[len(out)-1] = both
				continue
			}
		}
		out = append(out, n)
	}
	return out
}

// join lists texts; a last one that is unwanted may be set off by "but".
func (w sayer) join(texts []string, but bool) string {
	n := len(texts)
	if n == 1 {
		return texts[0]
	}
	head := strings.Join(texts[:n-1], ", ")
	switch {
	case but && w.chance(60):
		return head + ", but " + texts[n-1]
	case n == 2 && w.chance(50):
		return head + " and " + texts[n-1]
	}
	return head + ", and " + texts[n-1]
}

// unit says n in a slot. Groups within groups of groups are put into
// parentheses, because English has no other way to keep them apart.
func (w sayer) unit(n Node, s slot, depth int) string {
	switch n.Op {
	case "":
		return w.literal(n.Leaf, false, s)
	case Not:
		if n.Args[0].Op == "" {
			return w.literal(n.Args[0].Leaf, true, s)
		}
		return w.choice(n.Args[0].Args, s, "neither ", "nor")
	}
	if depth >= 2 {
		return "(" + w.group(n, s, 0) + ")"
	}
	return w.group(n, s, depth)
}

func (w sayer) group(n Node, s slot, depth int) string {
	if n.Op == Or && (w.shared(n.Args) == nil || w.chance(40)) {
		return "either " + w.list(n.Args, s, depth, "or")
	}
	if n.Op == Or {
		return w.choice(n.Args, s, "either ", "or")
	}
	if len(n.Args) == 2 {
		if texts := w.shared(n.Args); texts != nil && texts[0].form == noun && w.chance(60) {
			return lead(texts[0].form, s) + texts[0].text + " together with " + texts[1].text
		}
		return "both " + w.list(n.Args, s, depth, "and")
	}
	return "all of this: " + w.list(n.Args, s, depth, "and")
}

// list is "A, B or C".
func (w sayer) list(args []Node, s slot, depth int, last string) string {
	texts := make([]string, len(args))
	for i, a := range args {
		texts[i] = w.unit(a, s, depth+1)
	}
	head := strings.Join(texts[:len(texts)-1], ", ")
	return head + " " + last + " " + texts[len(texts)-1]
}

// choice shares the verb or preposition: "has either A or B". The arguments
// must have a shared form.
func (w sayer) choice(args []Node, s slot, first, last string) string {
	said := w.shared(args)
	texts := make([]string, len(said))
	for i, p := range said {
		texts[i] = p.text
	}
	joint := ", "
	if last == "nor" {
		joint = " nor "
	}
	head := strings.Join(texts[:len(texts)-1], joint)
	return lead(said[0].form, s) + first + head + " " + last + " " + texts[len(texts)-1]
}

// lead is what stands before a phrase of form f in s.
func lead(f form, s slot) string {
	switch {
	case s == afterThat && f == noun:
		return "has "
	case s == afterThat:
		return "is "
	case f == noun:
		return "with "
	}
	return "that is "
}

// shared says every argument in the same form, noun or adjective, if all of
// them are wishes that can be said so; nil otherwise.
func (w sayer) shared(args []Node) []phrase {
	for _, f := range []form{noun, adjective} {
		var out []phrase
		for _, n := range args {
			n = n.Normal()
			var fit []phrase
			if n.Op == "" {
				for _, p := range ways(n.Leaf, false) {
					if p.form == f && !p.deny && !strings.HasPrefix(p.text, "no ") {
						fit = append(fit, p)
					}
				}
			}
			if len(fit) == 0 {
				break
			}
			p := pick(w.rng, fit)
			p.text = n.Leaf.details(p.text, w.rng)
			out = append(out, p)
		}
		if len(out) == len(args) {
			return out
		}
	}
	return nil
}

// literal says one condition or its opposite in s.
func (w sayer) literal(c Condition, negate bool, s slot) string {
	var texts []string
	for _, p := range ways(c, negate) {
		p.text = c.details(p.text, w.rng)
		if text, ok := p.place(s, w.rng); ok {
			texts = append(texts, text)
		}
	}
	return pick(w.rng, texts) // every entry has a way for each slot, which a test holds
}
