package cafes

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
)

// facts knows for every condition that requests use which cafes meet it.
type facts struct {
	sets     map[Condition]set
	wishes   []*fact // attributes that a cafe can have
	dislikes []*fact // attributes that a cafe can lack
	hours    [worldSize][]*fact
	reviews  []*fact
	social   [3][]*fact // by hops
}

// fact is a tree with the cafes that satisfy it and what its leaves are about.
type fact struct {
	leaf     Node // or the negation of one
	op       Op
	args     []*fact // empty of a leaf
	met      set
	subjects []string
}

// tree is what the fact says. Of the facts that are drawn few are asked for it.
func (f *fact) tree() Node {
	if len(f.args) == 0 {
		return f.leaf
	}
	nodes := make([]Node, len(f.args))
	for i, a := range f.args {
		nodes[i] = a.tree()
	}
	return Node{Op: f.op, Args: nodes}
}

// factOf is the fact of n, a leaf or the negation of one, which has been evaluated.
func (f *facts) factOf(n Node) *fact {
	c := n.Leaves()[0]
	met := f.sets[c]
	if n.Op == Not {
		met = everyone &^ met
	}
	return &fact{leaf: n, met: met, subjects: []string{cmp.Or(c.Path, c.Day, c.Pattern)}}
}

// joined is what facts say together: all of them, or any.
func joined(op Op, args []*fact) *fact {
	out := &fact{op: op, args: args, met: everyone}
	if op == Or {
		out.met = 0
	}
	for _, a := range args {
		out.subjects = append(out.subjects, a.subjects...)
		if op == Or {
			out.met |= a.met
		} else {
			out.met &= a.met
		}
	}
	return out
}

// newFacts evaluates every condition on every cafe.
func newFacts(w *world) *facts {
	f := &facts{sets: map[Condition]set{}}
	add := func(to *[]*fact, n Node) {
		f.evaluate(w, n.Leaves()[0])
		*to = append(*to, f.factOf(n))
	}
	for _, c := range Conditions() {
		if c.Want == false {
			continue
		}
		add(&f.wishes, Is(c))
		if deniable(c) {
			add(&f.dislikes, No(Is(c)).Normal())
		}
	}
	for _, topic := range Topics() {
		add(&f.reviews, Is(Condition{Kind: Review, Pattern: topic}))
		for _, asker := range w.askers {
			for hops := 1; hops <= 2; hops++ {
				add(&f.social[hops], Is(Condition{Kind: Social, Pattern: topic, Friend: asker, Hops: hops}))
			}
		}
	}
	// Windows at the two ends of the opening hours, where other cafes are closed.
	for i, c := range w.cafes {
		for _, day := range days() {
			open, shut, err := Span(c.Hours[day])
			if err != nil { // closed
				continue
			}
			shut = min(shut, 24*60) // requests speak of one day
			for _, window := range [][2]int{{open, open + 120}, {open + 30, open + 120}, {shut - 120, shut}, {shut - 120, shut - 30}} {
				add(&f.hours[i], Is(Condition{Kind: Hours, Day: day, From: window[0], To: window[1]}))
			}
		}
	}
	return f
}

// deniable leaves out values whose denial is a double negation in English.
func deniable(c Condition) bool { return c.Want != "no" && c.Want != "none" }

// evaluate records which cafes meet a condition.
func (f *facts) evaluate(w *world, c Condition) {
	if _, done := f.sets[c]; done {
		return
	}
	among := everyone
	if c.Kind == Social { // a friend's mention is a mention
		among = f.sets[Condition{Kind: Review, Pattern: c.Pattern}]
	}
	var met set
	test := tester(c, w.friends)
	for i, item := range w.items {
		if among>>i&1 == 1 && test(item) {
			met |= 1 << i
		}
	}
	f.sets[c] = met
}

// drawer draws conditions that its gold cafe satisfies.
type drawer struct {
	facts *facts
	rng   *rand.Rand
	gold  int
}

// part draws one conjunct, which may fail for lack of candidates.
type part func() (*fact, bool)

// all draws the conjuncts of a request. No attribute occurs in two places.
func (d *drawer) all(parts ...part) ([]*fact, bool) {
	out := make([]*fact, 0, len(parts))
	seen := make([]string, 0, 8)
	for _, p := range parts {
		n, ok := p()
		if !ok {
			return nil, false
		}
		for _, subject := range n.subjects {
			if slices.Contains(seen, subject) {
				return nil, false
			}
			seen = append(seen, subject)
		}
		out = append(out, n)
	}
	return out, true
}

// draw picks a node of from which the gold cafe satisfies, or with met false
// one that it does not.
func (d *drawer) draw(from []*fact, met bool) (*fact, bool) {
	for range 60 {
		if len(from) == 0 {
			break
		}
		n := pick(d.rng, from)
		if got := n.met>>d.gold&1 == 1; got == met && n.met != 0 && n.met != everyone {
			return n, true
		}
	}
	return nil, false
}

func (d *drawer) wish() (*fact, bool)    { return d.draw(d.facts.wishes, true) }
func (d *drawer) unmet() (*fact, bool)   { return d.draw(d.facts.wishes, false) }
func (d *drawer) dislike() (*fact, bool) { return d.draw(d.facts.dislikes, true) }
func (d *drawer) hours() (*fact, bool)   { return d.draw(d.facts.hours[d.gold], true) }
func (d *drawer) review() (*fact, bool)  { return d.draw(d.facts.reviews, true) }

func (d *drawer) social(hops int) part {
	return func() (*fact, bool) { return d.draw(d.facts.social[hops], true) }
}

// either is "a or b", of which the gold cafe satisfies one.
func (d *drawer) either() (*fact, bool) { return d.alternatives(d.wish, d.unmet) }

// eitherPair is "a and b, or c and d", of which the gold cafe satisfies one;
// of the other it has at most half.
func (d *drawer) eitherPair() (*fact, bool) {
	met := func() (*fact, bool) { return d.pair(d.wish, d.wish) }
	unmet := func() (*fact, bool) { return d.pair(d.wish, d.unmet) }
	return d.alternatives(met, unmet)
}

// eitherReview is "a, or b and a review", of which the gold cafe satisfies one.
func (d *drawer) eitherReview() (*fact, bool) {
	if d.rng.IntN(2) == 0 {
		return d.alternatives(d.wish, func() (*fact, bool) { return d.pair(d.unmet, d.review) })
	}
	return d.alternatives(d.unmet, func() (*fact, bool) { return d.pair(d.wish, d.review) })
}

func (d *drawer) pair(a, b part) (*fact, bool) {
	args, ok := d.all(a, b)
	if !ok {
		return nil, false
	}
	return joined(And, args), true
}

// alternatives joins two parts in random order. Each must admit a cafe that
// the other does not, or there would be no choice.
func (d *drawer) alternatives(a, b part) (*fact, bool) {
	args, ok := d.all(a, b)
	if !ok {
		return nil, false
	}
	x, y := args[0].met, args[1].met
	if x&^y == 0 || y&^x == 0 || sameSubject(args[0], args[1]) {
		return nil, false
	}
	if d.rng.IntN(2) == 0 {
		args[0], args[1] = args[1], args[0]
	}
	return joined(Or, args), true
}

// sameSubject reports whether both test one attribute, as in "loud or quiet".
func sameSubject(a, b *fact) bool {
	return len(a.args)+len(b.args) == 0 && a.leaf.Op == "" && b.leaf.Op == "" && a.leaf.Leaf.Path != "" && strings.EqualFold(a.leaf.Leaf.Path, b.leaf.Leaf.Path)
}
