package cafes

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// facts knows for every condition that requests use which cafes meet it.
type facts struct {
	sets     map[Condition]set
	wishes   []Node // attributes that a cafe can have
	dislikes []Node // attributes that a cafe can lack
	hours    [worldSize][]Node
	reviews  []Node
	social   [3][]Node // by hops
}

// newFacts evaluates every condition on every cafe.
func newFacts(w *world) (*facts, error) {
	f := &facts{sets: map[Condition]set{}}
	add := func(to *[]Node, c Condition) error {
		n := Is(c)
		*to = append(*to, n)
		return f.evaluate(w, n)
	}
	for _, c := range Conditions() {
		if c.Want == false {
			continue
		}
		if err := add(&f.wishes, c); err != nil {
			return nil, err
		}
		if no := No(Is(c)).Normal(); deniable(c) {
			f.dislikes = append(f.dislikes, no)
			if err := f.evaluate(w, no); err != nil {
				return nil, err
			}
		}
	}
	for _, topic := range Topics() {
		if err := add(&f.reviews, Condition{Kind: Review, Pattern: topic}); err != nil {
			return nil, err
		}
		for _, asker := range w.askers {
			for hops := 1; hops <= 2; hops++ {
				c := Condition{Kind: Social, Pattern: topic, Friend: asker, Hops: hops}
				if err := add(&f.social[hops], c); err != nil {
					return nil, err
				}
			}
		}
	}
	return f, f.addHours(w)
}

// addHours adds, for each cafe and day, windows at the two ends of its
// opening hours, where other cafes are closed.
func (f *facts) addHours(w *world) error {
	for i, c := range w.cafes {
		for _, day := range days() {
			if c.Hours[day] == "" {
				continue
			}
			open, shut, err := Span(c.Hours[day])
			if err != nil {
				return fmt.Errorf("hours of %q: %w", c.Name, err)
			}
			shut = min(shut, 24*60) // requests speak of one day
			for _, window := range [][2]int{{open, open + 120}, {open + 30, open + 120}, {shut - 120, shut}, {shut - 120, shut - 30}} {
				n := Is(Condition{Kind: Hours, Day: day, From: window[0], To: window[1]})
				f.hours[i] = append(f.hours[i], n)
				if err := f.evaluate(w, n); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// deniable leaves out values whose denial is a double negation in English.
func deniable(c Condition) bool { return c.Want != "no" && c.Want != "none" }

// evaluate records which cafes meet the condition of n, a leaf or the
// negation of one.
func (f *facts) evaluate(w *world, n Node) error {
	c := n.Leaves()[0]
	if _, done := f.sets[c]; done {
		return nil
	}
	among := everyone
	if c.Kind == Social { // a friend's mention is a mention
		among = f.sets[Condition{Kind: Review, Pattern: c.Pattern}]
	}
	var met set
	for i, item := range w.items {
		if among>>i&1 == 0 {
			continue
		}
		ok, err := holds(Is(c), item, w.friends)
		if err != nil {
			return err
		}
		if ok {
			met |= 1 << i
		}
	}
	f.sets[c] = met
	return nil
}

// set is which cafes satisfy n.
func (f *facts) set(n Node) set {
	switch n.Op {
	case Not:
		return everyone &^ f.set(n.Args[0])
	case Or:
		var any set
		for _, a := range n.Args {
			any |= f.set(a)
		}
		return any
	case And:
		all := everyone
		for _, a := range n.Args {
			all &= f.set(a)
		}
		return all
	}
	return f.sets[n.Leaf]
}

// drawer draws conditions that its gold cafe satisfies.
type drawer struct {
	facts *facts
	rng   *rand.Rand
	gold  int
}

// part draws one conjunct, which may fail for lack of candidates.
type part func() (Node, bool)

// all draws the conjuncts of a request. No attribute occurs in two places.
func (d *drawer) all(parts ...part) ([]Node, bool) {
	var out []Node
	seen := map[string]bool{}
	for _, p := range parts {
		n, ok := p()
		if !ok {
			return nil, false
		}
		for _, c := range n.Leaves() {
			subject := c.Path + c.Day + c.Pattern
			if seen[subject] {
				return nil, false
			}
			seen[subject] = true
		}
		out = append(out, n)
	}
	return out, true
}

// draw picks a node of from which the gold cafe satisfies, or with met false
// one that it does not.
func (d *drawer) draw(from []Node, met bool) (Node, bool) {
	for range 60 {
		if len(from) == 0 {
			break
		}
		n := pick(d.rng, from)
		s := d.facts.set(n)
		if got := s>>d.gold&1 == 1; got == met && s != 0 && s != everyone {
			return n, true
		}
	}
	return Node{}, false
}

func (d *drawer) wish() (Node, bool)    { return d.draw(d.facts.wishes, true) }
func (d *drawer) unmet() (Node, bool)   { return d.draw(d.facts.wishes, false) }
func (d *drawer) dislike() (Node, bool) { return d.draw(d.facts.dislikes, true) }
func (d *drawer) hours() (Node, bool)   { return d.draw(d.facts.hours[d.gold], true) }
func (d *drawer) review() (Node, bool)  { return d.draw(d.facts.reviews, true) }

func (d *drawer) social(hops int) part {
	return func() (Node, bool) { return d.draw(d.facts.social[hops], true) }
}

// either is "a or b", of which the gold cafe satisfies one.
func (d *drawer) either() (Node, bool) { return d.alternatives(d.wish, d.unmet) }

// eitherPair is "a and b, or c and d", of which the gold cafe satisfies one;
// of the other it has at most half.
func (d *drawer) eitherPair() (Node, bool) {
	met := func() (Node, bool) { return d.pair(d.wish, d.wish) }
	unmet := func() (Node, bool) { return d.pair(d.wish, d.unmet) }
	return d.alternatives(met, unmet)
}

// eitherReview is "a, or b and a review", of which the gold cafe satisfies one.
func (d *drawer) eitherReview() (Node, bool) {
	if d.rng.IntN(2) == 0 {
		return d.alternatives(d.wish, func() (Node, bool) { return d.pair(d.unmet, d.review) })
	}
	return d.alternatives(d.unmet, func() (Node, bool) { return d.pair(d.wish, d.review) })
}

func (d *drawer) pair(a, b part) (Node, bool) {
	args, ok := d.all(a, b)
	return AllOf(args...), ok
}

// alternatives joins two parts in random order. Each must admit a cafe that
// the other does not, or there would be no choice.
func (d *drawer) alternatives(a, b part) (Node, bool) {
	args, ok := d.all(a, b)
	if !ok {
		return Node{}, false
	}
	x, y := d.facts.set(args[0]), d.facts.set(args[1])
	if x&^y == 0 || y&^x == 0 || sameSubject(args[0], args[1]) {
		return Node{}, false
	}
	if d.rng.IntN(2) == 0 {
		args[0], args[1] = args[1], args[0]
	}
	return AnyOf(args...), true
}

// sameSubject reports whether both test one attribute, as in "loud or quiet".
func sameSubject(a, b Node) bool {
	return a.Op == "" && b.Op == "" && a.Leaf.Path != "" && strings.EqualFold(a.Leaf.Path, b.Leaf.Path)
}
