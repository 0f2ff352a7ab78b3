package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"noema/kernel/base/score"
)

// Way is how a budget is spent.
type Way string

// The ways. But for the first, a setting costs what its trials use on average, and the dearest
// one that a budget pays for is taken.
const (
	OneTrial Way = "one trial, wrong if it used more"
	Dialled  Way = "the largest setting of an option or effort"
	AnyOf    Way = "any of k draws (pass@k)"
	VoteOf   Way = "majority of k draws"
	BestOf   Way = "best of k draws by the graders"
)

// way is how budgets are spent, with the lines that can, which are of a study.
type way struct {
	Way
	of    *study
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
	one, epochs := way{Way: OneTrial, of: s}, 0
	for _, c := range s.cells {
		epochs = max(epochs, c.Data.epochs())
	}
	var drawn []spender
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
	}
	all := []way{one}
	if dials := cmp.Or(s.byEffort(), s).dialled(r); slices.ContainsFunc(dials.lines, func(l spender) bool { return len(l.settings) > 1 }) {
		all = append(all, dials)
	}
	if epochs > 1 && len(drawn) > 0 {
		for _, w := range []Way{AnyOf, VoteOf, BestOf} {
			if s.can(w) {
				all = append(all, way{w, s, drawn})
			}
		}
	}
	return all
}

// dialled has a line for the methods that differ in options alone.
func (s *study) dialled(r Resource) way {
	w := way{Way: Dialled, of: s}
	for m, name := range s.methods {
		use, base := s.use(m, r), dialOf(name)
		if !use.Defined || use.Value <= 0 {
			continue
		}
		i := slices.IndexFunc(w.lines, func(l spender) bool { return l.name == base })
		if i < 0 {
			i, w.lines = len(w.lines), append(w.lines, spender{name: base})
		}
		w.lines[i].settings = append(w.lines[i].settings, setting{name, m, 1, use.Value})
	}
	for _, l := range w.lines {
		slices.SortStableFunc(l.settings, func(a, b setting) int { return cmp.Compare(a.use, b.use) })
	}
	return w
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
			if worth, fills := v.fill(); fills && d.Samples[i].lost(m, v) > 0 {
				out[i] = worth // whatever the others of its draws were
			}
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
