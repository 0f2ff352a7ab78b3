package cafes

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
)

// set is a set of cafes, one bit each.
type set uint64

func (s set) size() int { return bits.OnesCount64(uint64(s)) }

// everyone is the set of all cafes.
const everyone set = 1<<worldSize - 1

// request is a tree that the gold cafe alone satisfies.
type request struct {
	id, group  string
	stream     uint64 // of its random numbers; the same at every number of requests
	tree       Node
	gold       int
	nearMisses set   // cafes that fail exactly one conjunct
	failing    []set // for each conjunct, the cafes that fail it and nothing else
}

// shape draws a tree of a group's form that the drawer's gold cafe satisfies;
// false if there is none with these random numbers.
type shape func(d *drawer) ([]*fact, bool)

// groups are the forms of requests, in order of difficulty.
func groups() []shape {
	return []shape{
		func(d *drawer) ([]*fact, bool) { return d.all(d.wish, d.wish, d.wish) },
		func(d *drawer) ([]*fact, bool) { return d.all(d.wish, d.wish, d.dislike, d.dislike) },
		func(d *drawer) ([]*fact, bool) { return d.all(d.wish, d.wish, d.either) },
		func(d *drawer) ([]*fact, bool) { return d.all(d.wish, d.wish, d.hours) },
		func(d *drawer) ([]*fact, bool) { return d.all(d.wish, d.wish, d.review) },
		func(d *drawer) ([]*fact, bool) { return d.all(d.wish, d.eitherPair) },
		func(d *drawer) ([]*fact, bool) { return d.all(d.wish, d.wish, d.social(1)) },
		func(d *drawer) ([]*fact, bool) { return d.all(d.wish, d.wish, d.social(2)) },
		func(d *drawer) ([]*fact, bool) { return d.all(d.wish, d.dislike, d.hours, d.review) },
		func(d *drawer) ([]*fact, bool) {
			return d.all(d.dislike, d.hours, d.eitherReview, d.social(1+d.rng.IntN(2)))
		},
	}
}

// requests draws the requests. The k-th of a group is the same however many
// there are.
func (w *world) requests(o Options) ([]request, error) {
	facts, shapes := newFacts(w), groups()
	order := rand.New(rand.NewPCG(o.Seed, goldStream)).Perm(worldSize)
	drawn := make([]request, 0, maxRequests)
	used, asked := map[int]int{}, map[string]bool{}
	rounds := (o.Requests + len(shapes) - 1) / len(shapes)
	for k := range rounds {
		for g, s := range shapes {
			r := request{group: fmt.Sprintf("G%02d", g+1), stream: uint64(g)<<16 + uint64(k)}
			d := drawer{facts: facts, rng: rand.New(rand.NewPCG(o.Seed, choiceStream<<32+r.stream))}
			if err := d.request(&r, s, candidates(order, used), asked); err != nil {
				return nil, err
			}
			used[r.gold]++
			asked[r.tree.String()] = true
			drawn = append(drawn, r)
		}
	}
	return numbered(drawn, o.Requests, len(shapes)), nil
}

// numbered takes the wanted number of requests, group by group, and gives
// them ids. The first groups get one more if the number does not divide.
func numbered(drawn []request, wanted, groups int) []request {
	var out []request
	for g := range groups {
		for at := g; at < wanted; at += groups {
			r := drawn[at]
			r.id = fmt.Sprintf("R%02d", len(out))
			out = append(out, r)
		}
	}
	return out
}

// candidates are the cafes that have been the answer least often.
func candidates(order []int, used map[int]int) []int {
	least := used[order[0]]
	for _, c := range order {
		least = min(least, used[c])
	}
	var out []int
	for _, c := range order {
		if used[c] == least {
			out = append(out, c)
		}
	}
	return out
}

// How hard to look for a good request: the best of so many valid ones, in at
// most so many draws for a cafe.
const (
	wantValid = 8
	maxDraws  = 3000
)

// request draws a tree for the first of the candidates that has one.
func (d *drawer) request(r *request, s shape, from []int, asked map[string]bool) error {
	for _, gold := range from {
		d.gold = gold
		best, valid := -1, 0
		for draws := 0; draws < maxDraws && valid < wantValid; draws++ {
			args, ok := s(d)
			if !ok {
				continue
			}
			failing, ok := failing(args, gold)
			if !ok {
				continue
			}
			tree := joined(And, args).tree()
			if asked[tree.String()] {
				continue
			}
			valid++
			if score := quality(failing); score > best {
				best = score
				r.tree, r.gold, r.failing = tree, gold, failing
			}
		}
		if best >= 0 {
			r.nearMisses = union(r.failing)
			return nil
		}
	}
	return fmt.Errorf("no cafe left has a request of group %s with one answer: try another seed", r.group)
}

// quality prefers requests of which every conjunct decides against some cafe,
// and then those with many near misses.
func quality(failing []set) int {
	score := min(union(failing).size(), 9)
	for _, s := range failing {
		if s != 0 {
			score += 10
		}
	}
	return score
}

func union(sets []set) set {
	var all set
	for _, s := range sets {
		all |= s
	}
	return all
}

// failing returns for each conjunct which cafes fail it alone, or false if
// gold is not the only cafe that satisfies all.
func failing(args []*fact, gold int) ([]set, bool) {
	all := everyone
	for _, a := range args {
		all &= a.met
	}
	if all != 1<<gold {
		return nil, false
	}
	out := make([]set, len(args))
	for i := range args {
		others := everyone
		for j := range args {
			if j != i {
				others &= args[j].met
			}
		}
		out[i] = others &^ args[i].met
	}
	return out, true
}

// choose picks the cafes that r's problem shows, the gold one first. The
// choice for a smaller N is the beginning of that for a larger one: near
// misses, of each conjunct in turn, alternate with other cafes.
func (w *world) choose(r request, o Options) []int {
	rng := rand.New(rand.NewPCG(o.Seed, goldStream<<32+r.stream))
	order := rng.Perm(worldSize)
	taken := set(1) << r.gold
	take := func(from set) (int, bool) {
		for _, c := range order {
			if (from&^taken)>>c&1 == 1 {
				taken |= 1 << c
				return c, true
			}
		}
		return 0, false
	}
	shown := []int{r.gold}
	turn := rng.IntN(len(r.failing))
	for len(shown) < o.N {
		from := everyone
		if len(shown)%2 == 1 {
			for range r.failing { // the next conjunct that still has near misses
				turn = (turn + 1) % len(r.failing)
				if from = r.failing[turn] &^ taken; from != 0 {
					break
				}
			}
		}
		c, ok := take(from)
		if !ok {
			c, _ = take(everyone)
		}
		shown = append(shown, c)
	}
	return shown
}
