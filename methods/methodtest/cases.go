package methodtest

import (
	"context"
	"encoding/json"
	"reflect"
	"testing"

	"noema/methods"
)

// Cases is one small problem for each answer kind that d supports, with a
// model that replies to any prompt with a bare answer of that kind. It is a
// start: a method whose prompts ask for more than an answer needs cases of its
// own, with a model that follows them.
func Cases(d methods.Description) []Case {
	items := json.RawMessage(`{"items":[{"name":"Alba","price":2},{"name":"Brio","price":1},{"name":"Cora","price":3},{"name":"Dune","price":3}]}`)
	var cases []Case
	for _, c := range []struct {
		query, reply string
		context      json.RawMessage
		spec         methods.AnswerSpec
	}{
		{"a cheap place", "[2, 1]", items, methods.AnswerSpec{Kind: methods.Ranking, N: 4, K: 2}},
		{"Is Brio cheap?", "yes", items, methods.AnswerSpec{Kind: methods.Choice, Labels: []string{"yes", "no"}}},
		{"How many items are there?", "4", items, methods.AnswerSpec{Kind: methods.Number}},
		{"Which is the cheapest?", "Brio", items, methods.AnswerSpec{Kind: methods.Text}},
		{"Which cost 3?", `["Cora", "Dune"]`, items, methods.AnswerSpec{Kind: methods.Set}},
		{"Describe the cheapest.", `{"name": "Brio", "price": 1}`, items, methods.AnswerSpec{Kind: methods.Fields, Names: []string{"name", "price"}}},
	} {
		if d.Supports(c.spec.Kind) {
			p := methods.Problem{ID: "case-" + string(c.spec.Kind), Query: c.query, Context: c.context, Answer: c.spec, Seed: 20260401}
			cases = append(cases, Case{Name: string(c.spec.Kind), Problem: p, Model: Reply(c.reply)})
		}
	}
	return cases
}

// Same demands that a and b do the same; see [Differences].
func Same(t testing.TB, a, b methods.Method, cases ...Case) {
	t.Helper()
	if len(cases) == 0 {
		t.Error("methodtest: no cases: nothing would be compared")
	}
	for _, f := range Differences(t.Context(), a, b, cases...) {
		t.Error(f)
	}
}

// Differences lists how b does not do what a does: for each case the same
// transcript and answer when all goes well, and the same error or outcome when
// calls fail. If both describe themselves, the descriptions must be equal too.
func Differences(ctx context.Context, a, b methods.Method, cases ...Case) []Fault {
	if d := diffDescriptions(a, b); d != "" {
		return []Fault{{"all cases", "describe", d}}
	}
	return Rule{Name: "same", check: func(s *suite) { s.same(b) }}.Check(ctx, a, cases...)
}

func diffDescriptions(a, b methods.Method) string {
	x, ok := a.(methods.Describer)
	y, also := b.(methods.Describer)
	if !ok || !also {
		return ""
	}
	d, e := tidyDescription(x.Describe()), tidyDescription(y.Describe())
	if reflect.DeepEqual(d, e) {
		return ""
	}
	return differ(render("description", d), render("description", e))
}

func tidyDescription(d methods.Description) methods.Description {
	d.Answers, d.Options = tidyList(d.Answers), tidyList(d.Options)
	for i := range d.Options {
		d.Options[i].Choices = tidyList(d.Options[i].Choices)
	}
	return d
}

// same runs the suite's method and b side by side, well and with faults.
func (s *suite) same(b methods.Method) {
	if d := difference(s.solve(nil), s.solveWith(b, s.c.Problem, s.c.Model, nil)); d != "" {
		s.fault("the methods differ: %s", d)
		return
	}
	points := s.points()
	for _, cause := range []error{methods.ErrBudget, methods.ErrProvider, methods.ErrMiss} {
		for _, n := range points {
			h := failing(cause, func(step Step) bool { return step.N >= n })
			x, y := s.solve(h), s.solveWith(b, s.c.Problem, s.c.Model, h)
			if ends(x) != ends(y) {
				s.fault("after %q at call %d: %s against %s", cause, n, x.result(), y.result())
				return
			}
		}
	}
}

// ends is how a Solve ended: its error's class or its outcome.
func ends(o outcome) string {
	if b := o.broken(); b != "" {
		return b
	}
	if o.err != nil {
		return class(o.err)
	}
	return string(o.answer.Outcome)
}
