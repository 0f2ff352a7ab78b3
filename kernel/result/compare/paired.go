package compare

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"noema/kernel/base/score"
)

// pairing holds two methods' values on the samples that both have.
type pairing struct {
	a, b, d []float64 // one per sample; d = a - b
	unit    []int     // the cluster of each, numbered from 0
	units   int       // how many clusters; len(d) if every sample is independent
	left    int       // samples left out because one of the two is undefined
	largest int       // samples of the largest unit that can be drawn; 0 for that of these
}

// pair keeps the samples where both values are finite. clusters may be nil.
func pair(a, b []float64, clusters []string) pairing {
	var p pairing
	var names []string
	for i := range a {
		if !finite(a[i]) || !finite(b[i]) {
			p.left++
			continue
		}
		p.a, p.b, p.d = append(p.a, a[i]), append(p.b, b[i]), append(p.d, apart(a[i], b[i]))
		if clusters != nil {
			names = append(names, clusters[i])
		} else {
			names = append(names, "")
		}
	}
	p.unit, p.units = score.Units(names)
	return p
}

// apart is a-b, and 0 for what rounding alone keeps apart: means over epochs
// in another order.
func apart(a, b float64) float64 {
	if math.Abs(a-b) <= 1e-12*max(math.Abs(a), math.Abs(b)) {
		return 0
	}
	return a - b
}

func (p pairing) clustered() bool { return p.units < len(p.d) }

// matched reports whether p is a table of matched 0/1 outcomes: independent
// samples, every value 0 or 1.
func (p pairing) matched() bool {
	return !p.clustered() && p.all(func(x float64) bool { return x == 0 || x == 1 })
}

// within reports whether every value is within 0 and 1.
func (p pairing) within() bool { return p.all(func(x float64) bool { return 0 <= x && x <= 1 }) }

func (p pairing) all(is func(float64) bool) bool {
	not := func(x float64) bool { return !is(x) }
	return !slices.ContainsFunc(p.a, not) && !slices.ContainsFunc(p.b, not)
}

// sides counts the samples that a wins, that it loses, and the ties.
func (p pairing) sides() (wins, losses, ties int) {
	for _, d := range p.d {
		switch {
		case d > 0:
			wins++
		case d < 0:
			losses++
		default:
			ties++
		}
	}
	return wins, losses, ties
}

// sums adds up xs per unit.
func (p pairing) sums(xs []float64) []float64 {
	s := make([]float64, p.units)
	for i, x := range xs {
		s[p.unit[i]] += x
	}
	return s
}

// rule is how a mean difference is judged. Where there is a test it leaves out 0 at a level
// just if the p-value is at most 1 minus the level.
type rule interface {
	// interval is that of the mean; NaN where there is none.
	interval(level float64) (low, high float64)
	// pValue is two-sided, of no difference; NaN where there is no test.
	pValue() float64
	names() (interval, test string)
	finder
}

// finder says what a test can find.
type finder interface {
	// detectable is the smallest true difference that the test finds at alpha with a chance
	// of [Power]; NaN if it finds none.
	detectable(alpha float64) float64
	// decides reports whether any outcome would be significant at alpha.
	decides(alpha float64) bool
}

// rule is the one for p, which has two units or more.
func (p pairing) rule(test string, known *edges) rule {
	switch {
	case p.matched():
		return p.table(known)
	case !p.within():
		return p.unbounded()
	case test == Exchange:
		return p.exchanged()
	}
	return p.exact()
}

// interval is the mean difference with its interval by a rule, and how that was made.
func (p pairing) interval(name string, level float64, r rule) (m score.Metric, how string) {
	m = p.bare(name)
	if !m.Defined {
		return m, ""
	}
	if r == nil {
		warn(&m, "one %s: no interval", p.unitName())
		return m, ""
	}
	if !p.within() {
		warn(&m, "%s is not within 0 and 1, so no test bounds it and no winner is named: scale it to that range", name)
	}
	if m.Low, m.High = r.interval(level); !m.HasInterval() {
		warn(&m, "the difference is the same on all %d samples: no interval", m.N)
		return m, ""
	}
	how, _ = r.names()
	return m, how + p.unitsText()
}

// test is the two-sided p-value of no difference by a rule, NaN where there is none, and its
// name.
func (p pairing) test(r rule) (pValue float64, name string) {
	if r == nil {
		return math.NaN(), ""
	}
	if _, name = r.names(); name == "" {
		return math.NaN(), ""
	}
	return r.pValue(), name + p.unitsText()
}

// bare is the mean difference without an interval.
func (p pairing) bare(name string) score.Metric {
	m := score.Metric{Name: name, Value: math.NaN(), Low: math.NaN(), High: math.NaN(), N: len(p.d)}
	if p.left > 0 {
		warn(&m, "one of the two methods has no value on %d of %d samples, which are left out", p.left, p.left+len(p.d))
	}
	if len(p.d) > 0 {
		m.Value, m.Defined = stat.Mean(p.d, nil), true
	}
	return m
}

func (p pairing) unitName() string {
	if p.clustered() {
		return "cluster"
	}
	return "sample"
}

// unitsText tells of clusters, if there are any.
func (p pairing) unitsText() string {
	if p.clustered() {
		return fmt.Sprintf(" (%d clusters)", p.units)
	}
	return ""
}

func student(df float64) distuv.StudentsT { return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: df} }

// correlation is that of the two methods' values, NaN without variance.
func (p pairing) correlation() Number {
	if len(p.d) < 2 || same(p.a) || same(p.b) {
		return undefined
	}
	return Number(stat.Correlation(p.a, p.b, nil))
}

// skewness is that of what units differ by, NaN where it cannot be told.
func (p pairing) skewness() Number {
	if p.units < 3 {
		return undefined
	}
	return Number(stat.Skew(p.sums(p.d), nil)) // NaN without variance
}

func same(xs []float64) bool {
	return !slices.ContainsFunc(xs, func(x float64) bool { return x != xs[0] })
}

func warn(m *score.Metric, format string, args ...any) {
	m.Warnings = append(m.Warnings, fmt.Sprintf(format, args...))
}
