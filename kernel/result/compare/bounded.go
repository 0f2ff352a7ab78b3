package compare

import (
	"math"

	"noema/kernel/base/score"
)

// bounded is a mean of bounded values with all that its interval and its test are made of:
// Student's t with an allowance for what no unit has shown. It judges what [exact] cannot: means
// over tasks, contrasts of tasks and models, and measures of all samples together.
//
// The half-width at an error rate of a is
//
//	h(a) = sqrt( (t(1-a/2, df)·se)² + (bound·weight·ln(2/a))² )
//
// with the p-value the a at which h(a) is the mean's distance from 0. Why ln(2/a): an
// outcome with the chance q stays unseen in n samples with a chance of exp(-qn), which is
// a/2 at q = ln(2/a)/n; such an outcome could move the mean by the bound times q. That is a
// heuristic and not a theorem: testdata/studies.txt has what simulation found.
type bounded struct {
	mean, se, df float64
	weight       float64 // largest share of an independent unit in the mean
	bound        float64 // largest distance of a unit from it
}

// bounded is that of the mean difference. There must be two units, and values within 0
// and 1. A cluster weighs as much as it has samples.
func (p pairing) bounded() bounded {
	e := bounded{mean: p.bare("").Value, weight: p.weight(), bound: 1}
	e.se, e.df = score.CR2(p.d, p.unit, p.units)
	return e
}

// weight is the largest share that a unit can have among the samples.
func (p pairing) weight() float64 {
	sizes, most := make([]int, p.units), 0
	for _, u := range p.unit {
		sizes[u]++
		most = max(most, sizes[u])
	}
	return float64(max(most, p.largest)) / float64(len(p.d))
}

func (e bounded) interval(level float64) (low, high float64) {
	half := e.half(1 - level)
	return max(-e.bound, e.mean-half), min(e.bound, e.mean+half)
}

func (bounded) names() (interval, test string) { return allowed, allowed }

// allowed names the rule.
const allowed = "t with an allowance for unseen samples"

// half is half the interval's width at an error rate above 0.
func (e bounded) half(alpha float64) float64 {
	return e.halfAt(student(e.df).Quantile(alpha/2), alpha)
}

// halfAt is half where Student's quantile is known.
func (e bounded) halfAt(quantile, alpha float64) float64 {
	return math.Hypot(quantile*e.se, e.unseen(alpha))
}

// unseen is the allowance for what no unit has shown.
func (e bounded) unseen(alpha float64) float64 { return e.bound * e.weight * math.Log(2/alpha) }

// pValue is the two-sided one of a mean of 0, at least smallestP.
func (e bounded) pValue() float64 {
	if e.half(1) >= math.Abs(e.mean) {
		return 1
	}
	_, log := bisect(math.Log(smallestP), 0, 40, func(log float64) bool { return e.half(math.Exp(log)) < math.Abs(e.mean) })
	return math.Exp(log)
}

// smallestP is where p-values end.
const smallestP = 1e-12

// decides reports whether any mean within the bound would be significant at alpha.
func (e bounded) decides(alpha float64) bool { return e.unseen(alpha) < e.bound }

// detectable is the true mean that is found with a chance of [Power], if the units vary as
// they did; NaN beyond the bound.
func (e bounded) detectable(alpha float64) float64 {
	if d := e.half(alpha) + student(e.df).Quantile(Power)*e.se; d <= e.bound {
		return d
	}
	return math.NaN()
}

// unbounded is Student's interval of values that nothing bounds, for which no test holds: one
// sample to come could outweigh all that were seen.
type unbounded struct{ mean, se, df float64 }

func (p pairing) unbounded() unbounded {
	u := unbounded{mean: p.bare("").Value}
	u.se, u.df = score.CR2(p.d, p.unit, p.units)
	return u
}

func (u unbounded) interval(level float64) (low, high float64) {
	if u.se <= 1e-12*math.Abs(u.mean) { // rounding alone
		return math.NaN(), math.NaN()
	}
	half := student(u.df).Quantile((1+level)/2) * u.se
	return u.mean - half, u.mean + half
}

func (unbounded) pValue() float64                { return math.NaN() }
func (unbounded) detectable(float64) float64     { return math.NaN() }
func (unbounded) decides(float64) bool           { return false }
func (unbounded) names() (interval, test string) { return "Student's t", "" }
