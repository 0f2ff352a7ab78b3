package compare

import (
	"math"

	"gonum.org/v1/gonum/stat"

	"noema/kernel/base/score"
)

// Ratio is how much of a resource one method uses for each unit that another
// does: the ratio of the means over the samples that both have. Below 1 the
// first is thriftier.
//
// What is used has no bound, so that no test of its means holds: one dear sample to come
// could outweigh all that were seen. With lognormal costs every interval of such a ratio
// was found to be wrong too often. So nobody is called cheaper by the ratio alone: see
// [Ratio.Less].
type Ratio struct {
	Ratio score.Metric `json:"ratio"` // with the interval of Fieller's method
	// Constant says that the ratio is the same on every sample, as for the
	// calls of methods with fixed steps. There is no interval then, and the ratio
	// is certain.
	Constant bool `json:"constant,omitempty"`
	// Narrow says that the samples are few for use as skewed as theirs: the
	// interval tends to be too narrow.
	Narrow bool `json:"narrow,omitempty"`
	// Less and More count the samples, or clusters, on which the first method used less,
	// and more. P is the p-value of both being as likely, by [SuissaShuster], which holds
	// for costs of any shape.
	Less int    `json:"less"`
	More int    `json:"more"`
	P    Number `json:"p"`
}

// below and above say on which side of 1 the use is: on average, and at an error rate of
// alpha on most samples.
func (r Ratio) below(alpha float64) bool {
	return r.Ratio.Defined && r.Ratio.Value < 1 && (r.Constant || r.Less > r.More && float64(r.P) <= alpha)
}

func (r Ratio) above(alpha float64) bool {
	return r.Ratio.Defined && r.Ratio.Value > 1 && (r.Constant || r.More > r.Less && float64(r.P) <= alpha)
}

// fewUnits is the number of independent units under which an interval
// deserves a warning for each unit of the squared skewness of what they
// contribute: Cochran's rule (Cochran 1977, "Sampling Techniques", §2.15). The
// skewness is taken for 1 at least, since a few units do not show it.
const fewUnits = 20

// ratio compares the use of a resource. Samples are compared in pairs, and
// clusters as a whole.
func (p pairing) ratio(name string, level float64) Ratio {
	r := Ratio{Ratio: score.Metric{Name: name, Value: math.NaN(), Low: math.NaN(), High: math.NaN(), N: len(p.d)}, P: undefined}
	m := &r.Ratio
	if p.left > 0 {
		warn(m, "unknown for %d of %d samples, which are left out", p.left, p.left+len(p.d))
	}
	a, b := p.sums(p.a), p.sums(p.b)
	value := sum(a) / sum(b)
	if !finite(value) {
		if len(p.d) > 0 {
			warn(m, "the second method used none: no ratio")
		}
		return r
	}
	m.Value, m.Defined = value, true
	for u, d := range p.sums(p.d) {
		if apart(a[u], b[u]) == 0 {
			continue
		}
		if d < 0 {
			r.Less++
		} else {
			r.More++
		}
	}
	r.P = Number(SuissaShuster(r.Less, r.More, p.units))
	switch {
	case p.units < 2:
		warn(m, "one %s: no interval", p.unitName())
	case p.proportional(value):
		r.Constant = true
	default:
		if m.Low, m.High = p.fieller(value, level); !m.HasInterval() {
			warn(m, "%d %ss are too few for use as uneven as this: no interval", p.units, p.unitName())
		} else if skew := skewness(a, b); float64(p.units) < fewUnits*max(1, skew*skew) {
			r.Narrow = true
			warn(m, "%d %ss are few for use as skewed as this (skewness %.1f): the interval tends to be too narrow", p.units, p.unitName(), skew)
		}
	}
	return r
}

// skewness is that of what each unit contributes to the logarithm of the ratio.
func skewness(a, b []float64) float64 {
	meanA, meanB := sum(a), sum(b)
	parts := make([]float64, len(a))
	for u := range a {
		parts[u] = a[u]/meanA - b[u]/meanB
	}
	return stat.Skew(parts, nil)
}

func (p pairing) proportional(ratio float64) bool {
	for i := range p.a {
		if math.Abs(p.a[i]-ratio*p.b[i]) > 1e-12*math.Abs(p.a[i]) {
			return false
		}
	}
	return true
}

// fieller is the interval of the ratio of the means: all ratios R with which the mean of
// a - R·b is not refuted by the rule of [bounded], whose bound is the unit farthest from it. An end
// beyond a factor of 1,000 is not given.
//
// Source: Fieller 1954, "Some problems in interval estimation", with this package's
// allowance for what no sample has shown.
func (p pairing) fieller(value, level float64) (low, high float64) {
	_, df := score.CR2(p.d, p.unit, p.units) // it depends on the units alone
	quantile := student(df).Quantile((1 - level) / 2)
	q := p
	q.d = make([]float64, len(p.d))
	refutes := func(ratio float64) bool {
		for i := range q.d {
			q.d[i] = p.a[i] - ratio*p.b[i]
		}
		e, farthest := bounded{mean: stat.Mean(q.d, nil), weight: 1}, 0.0
		e.se, _ = score.CR2(q.d, q.unit, q.units)
		for i, x := range q.d {
			q.d[i] = x - e.mean
		}
		for _, x := range q.sums(q.d) {
			farthest = max(farthest, math.Abs(x))
		}
		e.bound = farthest / float64(len(q.d))
		return math.Abs(e.mean) > e.halfAt(quantile, 1-level)
	}
	edge := func(far float64) float64 {
		if !refutes(value * far) {
			return math.NaN()
		}
		_, log := bisect(0, math.Log(far), 24, func(log float64) bool { return refutes(value * math.Exp(log)) })
		return value * math.Exp(log)
	}
	return edge(1e-3), edge(1e3)
}

func sum(xs []float64) (total float64) {
	for _, x := range xs {
		total += x
	}
	return total
}
