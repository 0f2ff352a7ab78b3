package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"noema/kernel/base/score"
)

// Way is how a budget is spent.
type Way string

// The ways. But for the first, a setting costs what its trials use on average, and the dearest
// one that a budget pays for is taken.
const (
	OneTrial Way = "one trial, wrong if it used more"
	Dialled  Way = "the largest setting of a method's option"
	AnyOf    Way = "any of k draws (pass@k)"
	VoteOf   Way = "majority of k draws"
	BestOf   Way = "best of k draws by the graders"
)

// way is how budgets are spent, with the lines that can.
type way struct {
	Way
	lines []spender
}

// spender is a line: settings by rising use.
type spender struct {
	name     string
	settings []setting
}

// setting is one way to try a sample.
type setting struct {
	name          string
	method, draws int
	use           float64 // mean, of a resource
}

// ways are those that the study has what it takes for.
func (s *study) ways(r Resource) []way {
	one, dialled, drawn := way{Way: OneTrial}, way{Way: Dialled}, []spender(nil)
	epochs := 0
	for _, c := range s.cells {
		epochs = max(epochs, c.Data.epochs())
	}
	for m, name := range s.methods {
		use := s.use(m, r)
		one.lines = append(one.lines, spender{name, []setting{{name, m, 1, use.Value}}})
		if !use.Defined || use.Value <= 0 {
			continue
		}
		draws := spender{name: name}
		for k := range epochs {
			draws.settings = append(draws.settings, setting{fmt.Sprint(k + 1), m, k + 1, use.Value * float64(k+1)})
		}
		drawn = append(drawn, draws)
		base, _, _ := strings.Cut(name, "?")
		i := slices.IndexFunc(dialled.lines, func(l spender) bool { return l.name == base })
		if i < 0 {
			i, dialled.lines = len(dialled.lines), append(dialled.lines, spender{name: base})
		}
		dialled.lines[i].settings = append(dialled.lines[i].settings, setting{name, m, 1, use.Value})
	}
	all := []way{one}
	if slices.ContainsFunc(dialled.lines, func(l spender) bool { return len(l.settings) > 1 }) {
		for _, l := range dialled.lines {
			slices.SortStableFunc(l.settings, func(a, b setting) int { return cmp.Compare(a.use, b.use) })
		}
		all = append(all, dialled)
	}
	if epochs > 1 && len(drawn) > 0 {
		for _, w := range []Way{AnyOf, VoteOf, BestOf} {
			if s.can(w) {
				all = append(all, way{w, drawn})
			}
		}
	}
	return all
}

// has reports whether a line is of a method.
func (l spender) has(s *study, method string) bool {
	return slices.ContainsFunc(l.settings, func(x setting) bool { return s.methods[x.method] == method })
}

// affords is the dearest setting within a budget; false if there is none.
func (l spender) affords(budget float64) (at setting, ok bool) {
	for _, x := range l.settings {
		if x.use <= budget {
			at, ok = x, true
		}
	}
	return at, ok
}

// beyond reports whether a budget pays for more draws than were recorded.
func (l spender) beyond(w Way, budget float64) bool {
	return w != Dialled && w != OneTrial && budget >= l.settings[0].use*float64(len(l.settings)+1)
}

// spent are a line's values on samples within a budget. Who cannot pay for one setting
// answers nothing, which is wrong.
func (s *study) spent(d Data, w Way, l spender, v view, r Resource, budget float64) []float64 {
	v.own = nil
	if w == OneTrial {
		v.envelope = append(slices.Clip(v.envelope), limit{r, budget})
		return d.values(l.settings[0].method, v)
	}
	at, ok := l.affords(budget)
	m, beyond := l.settings[0].method, l.beyond(w, budget)
	if ok {
		m = at.method
	}
	out := d.values(m, v)
	for i, x := range out {
		switch {
		case beyond || !finite(x):
			out[i] = math.NaN()
		case !ok:
			out[i] = 0
		case w != Dialled:
			out[i] = drawsOf(d.Samples[i].Cells[m], v).used(w, at.draws)
		}
	}
	return out
}

// use is the mean use of a trial over tasks by their weights, and of the models.
func (s *study) use(m int, r Resource) score.Metric {
	sum := score.Metric{Name: string(r), Defined: true}
	for _, t := range s.strata {
		for _, d := range t.data {
			one := score.Mean(string(r), d.used(m, r), score.Options{Student: true})
			sum.Value += t.Weight * one.Value / float64(len(t.data))
			sum.N, sum.Defined = sum.N+one.N, sum.Defined && one.Defined
		}
	}
	sum.Low, sum.High = sum.Value, sum.Value
	return sum
}
