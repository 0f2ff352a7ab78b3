package generalanot

import (
	"context"
	"maps"
	"slices"

	"noema/methods/generalanot/pyexpr"
)

// tracer finds the extractions that a value rests on. An extraction counts if
// the formula over it alone gives something else than over none: that singles
// out what a sum, a count, a maximum or any() picked, whatever the formula
// looks like. Where no extraction does so alone, although the value is not the
// one over none, all of them count.
type tracer struct {
	*environment
	none    pyexpr.Value   // the empty list
	singles []pyexpr.Value // lists of one extraction
	known   map[int][]int  // sources by the place of a step
}

func newTracer(e *environment) *tracer {
	t := &tracer{environment: e, none: list(nil), known: map[int][]int{}}
	for _, row := range e.rows {
		t.singles = append(t.singles, list([]pyexpr.Value{row}))
	}
	return t
}

// traceLimits keep a costly formula from being paid for once a review.
func traceLimits() pyexpr.Limits { return pyexpr.Limits{Steps: 20_000} }

// sources are the reviews that the value of s rests on: those that it reads
// itself, and those of the steps that it uses.
func (t *tracer) sources(ctx context.Context, s step, out Computed) []int {
	found := map[int]bool{}
	for _, u := range s.uses {
		for _, n := range t.known[u] {
			found[n] = true
		}
	}
	if s.reads {
		for _, n := range t.direct(ctx, s, out) {
			found[n] = true
		}
	}
	list := slices.Sorted(maps.Keys(found))
	t.known[s.at] = list
	return list
}

func (t *tracer) direct(ctx context.Context, s step, out Computed) []int {
	env := maps.Clone(t.values)
	over := func(list pyexpr.Value) string {
		env[extractionsInput] = list
		v, err := s.expr.Eval(ctx, env, traceLimits())
		if err != nil {
			return "" // the empty text stands for a failure: what Python writes has at least one character
		}
		text, _ := pyexpr.Repr(v)
		return text
	}
	none := over(t.none)
	var picked []int
	for i, single := range t.singles {
		if over(single) != none {
			picked = append(picked, t.numbers[i])
		}
	}
	if len(picked) == 0 && out.Text != none {
		return t.numbers
	}
	return picked
}
