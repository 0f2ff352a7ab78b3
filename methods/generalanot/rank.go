package generalanot

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"

	"noema/methods"
	"noema/methods/generalanot/pyexpr"
)

// Tied is the kind of the events about items whose order was drawn, because the
// formulas say the same of them.
const Tied methods.EventKind = "tie"

// placed is an item of a ranking with what was computed for it.
type placed struct {
	item   int
	result Result
	found  []Extraction
	lost   error    // why it has no score
	score  float64  // if lost is nil
	tie    *float64 // the value of tie_break; nil without one
	draw   int      // its place among the drawn order
}

// before orders by score and tie_break, the higher first, and what has none
// last. It is 0 for items that only the draw tells apart.
func (a placed) before(b placed) int {
	switch {
	case a.lost != nil || b.lost != nil:
		return boolOrder(a.lost != nil, b.lost != nil)
	case a.score != b.score:
		return boolOrder(a.score < b.score, a.score > b.score)
	case a.tie == nil || b.tie == nil:
		return boolOrder(a.tie == nil, b.tie == nil)
	}
	return boolOrder(*a.tie < *b.tie, *a.tie > *b.tie)
}

// boolOrder puts what is true last.
func boolOrder(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// tieStream separates the draw of ties from the shuffle of the items, which
// starts from the same seed.
const tieStream = 0x746965

// drawn is an order of the items in which each is first equally often.
func (t *trial) drawn() []int {
	order := rand.New(rand.NewPCG(t.Seed, tieStream)).Perm(t.Answer.N)
	for i := range order {
		order[i]++
	}
	return order
}

// named is how many items the answer names.
func (t *trial) named() int {
	if k := t.Answer.K; k > 0 && k < t.Answer.N {
		return k
	}
	return t.Answer.N
}

// What the formulas of a ranking may cost, all items together: the limits of one
// formula are its share. No share is below minMemory.
const (
	maxWork   = 100_000_000 // steps
	maxMemory = 1 << 30     // bytes
	minMemory = 1 << 20
)

// share are the limits of one formula.
func share(formulas int) pyexpr.Limits {
	return pyexpr.Limits{
		Steps:  min(pyexpr.DefaultSteps, maxWork/formulas),
		Memory: max(minMemory, min(pyexpr.DefaultMemory, maxMemory/formulas)),
	}
}

// rank computes the scores of all items and orders them.
func (t *trial) rank(ctx context.Context, p *Program, relevant []Review, found extracted) (methods.Answer, error) {
	t.emit(phaseCompute, methods.PhaseStart, 1, nil, "compute %d steps for each of %d items", len(p.steps), len(t.contexts))
	if len(t.contexts) != t.Answer.N {
		t.emit(phaseCompute, methods.Dropped, 1, nil, "the problem wants %d items ranked, its context has %d", t.Answer.N, len(t.contexts))
	}
	asked, byItem := map[int]int{}, map[int][]Extraction{}
	for _, r := range relevant {
		asked[r.item]++
	}
	for _, e := range found.list {
		byItem[e.item] = append(byItem[e.item], e)
	}
	limits := share(len(t.contexts) * len(p.steps))
	items := make([]placed, t.Answer.N)
	for at, item := range t.drawn() {
		one := placed{item: item, draw: at, found: byItem[item]}
		switch {
		case item > len(t.contexts):
			one.lost = errors.New("the context has no such item")
		case asked[item] > 0 && len(one.found) == 0:
			one.lost = fmt.Errorf("all its %d extractions failed", asked[item])
		default:
			var err error
			if one.result, err = p.compute(ctx, t.contexts[item-1], one.found, limits, false); err != nil {
				return methods.Answer{}, err
			}
			one.values()
		}
		items[item-1] = one
	}
	for _, one := range items {
		t.told(one)
	}
	slices.SortFunc(items, func(a, b placed) int {
		if order := a.before(b); order != 0 {
			return order
		}
		return a.draw - b.draw
	})
	t.Host.Emit(methods.GraphEvent(phaseCompute, p.graph(items[0].result, len(items[0].found), items[0].item)))
	return t.ranked(p, items, found, len(relevant)), nil
}

// values reads the score and the tie_break of an item.
func (one *placed) values() {
	for _, name := range []string{scoreField, tieField} {
		c, ok := one.result.Step(name)
		x, err := 0.0, c.Err
		if ok && err == nil {
			x, err = finite(c.value)
		}
		switch {
		case !ok:
		case name == scoreField && err != nil:
			one.lost = err
		case name == scoreField:
			one.score = x
		case err == nil:
			one.tie = &x
		}
	}
}

// finite is a number or a truth as a float64.
func finite(v pyexpr.Value) (float64, error) {
	x, err := pyexpr.ToGo(v)
	if err != nil {
		return 0, err
	}
	f := math.NaN()
	switch x := x.(type) {
	case bool:
		f = 0
		if x {
			f = 1
		}
	case int64:
		f = float64(x)
	case *big.Int:
		f, _ = new(big.Float).SetInt(x).Float64()
	case float64:
		f = x
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		text, _ := pyexpr.Repr(v)
		return 0, fmt.Errorf("its value %.60s is not a finite number", text)
	}
	return f, nil
}
