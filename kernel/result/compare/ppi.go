package compare

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"noema/kernel/base/score"
)

// graded is what models and people say of some samples, one value each.
type graded struct {
	f    []float64 // the graders' verdict
	y    []float64 // that of people; NaN where nobody labelled
	free []bool    // no verdict is needed: both are 0, because there is no answer
	unit []int     // the cluster of each, numbered from 0
}

// estimate is a mean of people's verdicts as [graded.estimate] infers it.
type estimate struct {
	mean, se, df float64
	labelled     int     // units that people labelled
	weight       float64 // how much the graders count, 0 to 1
	raw          float64 // the graders' own mean

	n                int     // all samples
	open             float64 // of them: with an answer to judge
	residual, spread float64 // variances, of what graders miss and of people's verdicts
}

// missedOnce is the sum of squares of one more labelled sample on which the graders
// are off by one. It is added to what the labels show: among few labels, graders who
// are often wrong may be right on all, and an interval without it would be far too
// narrow (with 10 labels of 200 samples and graders who are wrong in 15 to 30 % it
// covers 72 %, with it 98 %).
const missedOnce = 1

// trust is the sum of squares of the samples, added to the labelled ones, on which
// graders and people agree. It keeps the weight of few labels near 1.
const trust = 2

// estimate is the mean of people's verdicts over all samples by prediction-powered
// inference: the weighted mean of the graders, corrected by what they miss on the
// labelled samples, which must be drawn at random. It is unbiased however wrong the
// graders are; their errors only widen the interval.
//
// Source: Angelopoulos, Duchi and Zrnic 2023, "PPI++: Efficient prediction-powered
// inference". Differs: the labelled samples are part of all, as in double sampling
// (Cochran 1977, ch. 12); the weight stays within 0 and 1 and is drawn to 1; the
// interval is Student's with the degrees of freedom of Welch and Satterthwaite, with
// [missedOnce]; clusters are units.
func (g graded) estimate() estimate {
	e := estimate{n: len(g.f), raw: sum(g.f) / float64(len(g.f)), mean: math.NaN(), se: math.NaN()}
	var f, y []float64 // of those with an answer
	var unit []int
	for i := range g.f {
		if !g.free[i] {
			f, y, unit = append(f, g.f[i]), append(y, g.y[i]), append(unit, g.unit[i])
		}
	}
	e.open = float64(len(f))
	e.fit(f, y, unit)
	return e
}

// fit computes the estimate from the samples with an answer and scales it to all.
func (e *estimate) fit(f, y []float64, unit []int) {
	var known []int
	units := map[int]bool{}
	for i, v := range y {
		if finite(v) {
			known = append(known, i)
			units[unit[i]] = true
		}
	}
	e.labelled = len(units)
	if e.labelled < 2 {
		return
	}
	n, all := float64(len(known)), float64(len(f))
	var meanY, meanF float64
	for _, i := range known {
		meanY, meanF = meanY+y[i]/n, meanF+f[i]/n
	}
	both, squares := float64(trust), float64(trust)
	for _, i := range known {
		both += (f[i] - meanF) * (y[i] - meanY)
		squares += (f[i] - meanF) * (f[i] - meanF)
	}
	e.weight = min(1, max(0, both/squares))
	missed, meanAll := meanY-e.weight*meanF, sum(f)/all
	mean := e.weight*meanAll + missed

	// The influence of each unit on the mean, from its labels and from all.
	labels, rest := map[int]float64{}, map[int]float64{}
	small := math.Sqrt(float64(e.labelled) / float64(e.labelled-1))
	for i := range f {
		rest[unit[i]] += e.weight * (f[i] - meanAll) / all
		if finite(y[i]) {
			labels[unit[i]] += small * (y[i] - e.weight*f[i] - missed) / n
		}
	}
	first, total := missedOnce/(n*float64(e.labelled-1)), missedOnce/(n*float64(e.labelled-1))
	for _, u := range orderOf(unit) {
		first += labels[u] * labels[u]
		total += (labels[u] + rest[u]) * (labels[u] + rest[u])
	}
	total = max(total, first/2) // a chance correlation must not make it small
	open, share := e.open, e.open/float64(e.n)
	e.mean = share * mean
	e.se = math.Sqrt(share*share*total + share*(1-share)*mean*mean/float64(e.n))
	e.df = total * total / (first*first/float64(e.labelled-1) + (total-first)*(total-first)/max(1, open-1))
	e.residual, e.spread = first*n, max(0, total-first)*open+first*n
}

// orderOf are the distinct units in the order of their first sample, so that sums do
// not depend on the order of a map.
func orderOf(unit []int) (order []int) {
	seen := map[int]bool{}
	for _, u := range unit {
		if !seen[u] {
			seen[u] = true
			order = append(order, u)
		}
	}
	return order
}

// fewestLabels is how many labelled samples an interval takes.
const fewestLabels = 10

// enough reports whether the labels carry an interval.
func (e estimate) enough() bool { return e.labelled >= fewestLabels && e.se > 0 && e.open >= 2 }

// interval is the mean with its interval, within least and 1; without enough labels
// it is the graders' mean alone.
func (e estimate) interval(name string, level, least float64) score.Metric {
	m := score.Metric{Name: name, Value: e.raw, Low: math.NaN(), High: math.NaN(), N: e.n, Defined: e.n > 0}
	if !e.enough() {
		return m
	}
	half := student(e.df).Quantile((1+level)/2) * e.se
	m.Value = min(1, max(least, e.mean))
	m.Low, m.High = max(least, e.mean-half), min(1, e.mean+half)
	return m
}

// pValue is two-sided, of a mean of 0.
func (e estimate) pValue() float64 {
	if !e.enough() {
		return math.NaN()
	}
	return 2 * student(e.df).CDF(-math.Abs(e.mean)/e.se)
}

// guessedResidual is the variance of what graders miss of a difference before anybody
// has labelled: that of graders who are wrong on 15 % of each method's answers.
const guessedResidual = 2 * 0.15

// needed is about how many labelled samples find the difference that shows now with a
// chance of [Power]; 0 if labels alone would hardly do, because there are too few
// samples.
func (e estimate) needed(level float64) int {
	if e.n == 0 || e.open == 0 {
		return 0
	}
	at, residual, spread := e.raw, guessedResidual, max(0.1, math.Abs(e.raw))
	if e.enough() {
		at, residual, spread = e.mean, e.residual, e.spread
	}
	share := e.open / float64(e.n)
	reach := distuv.UnitNormal.Quantile((1+level)/2) + distuv.UnitNormal.Quantile(Power)
	allowed := at/reach*at/reach - share*share*max(0, spread-residual)/e.open
	if allowed <= 0 {
		return 0
	}
	labels := math.Ceil(share * share * residual / allowed)
	if labels > e.open {
		return 0
	}
	return max(fewestLabels, int(labels))
}
