package compare

import (
	"cmp"
	"math"
	"slices"

	"noema/kernel/base/score"
)

// exact judges the mean of bounded values by the exact, monotone rule of Gaffke. It exists
// because a rule that estimates the spread takes what was not seen for impossible: where a
// method gains 0.1 on nine samples of ten and loses 0.9 on the tenth, Student's t names a
// winner among equals in 36 % of runs of 10 samples.
//
// One unit at the worst value is added to those that were seen, and all are weighed by
// independent exponentials E:
//
//	p = P( Σ y·E ≤ 0 ),  y = the units' sums of differences, and -bound·largest once
//
// for the one side, with the signs turned for the other; two-sided it is twice the smaller.
// The interval holds the means that this does not refute. A difference that rises lowers p,
// so that a better result never loses a win. Of values at the bound and one other value it is
// Clopper and Pearson's exact binomial test. Neither order nor seed matters, and exchanging
// the methods mirrors it.
//
// Sources: Gaffke 2005, "Three test statistics for a nonparametric one-sided hypothesis on the
// mean of a nonnegative variable"; Learned-Miller and Thomas 2019, "A new confidence interval
// for the mean of a bounded random variable". That it holds its level for every shape is a
// conjecture: METHOD.md has what is proven and what simulation found.
type exact struct {
	d       []float64 // sums of the units, in rising order of their distance from 0
	size    []float64 // samples of each
	mean    float64
	bound   float64 // most that a sample can differ by
	largest float64 // samples of the largest unit that can be drawn
	se, df  float64 // of the mean
}

// exact is the rule of the mean difference of p, which has two units or more.
func (p pairing) exact() exact {
	e := exact{mean: p.bare("").Value, bound: 1, d: p.sums(p.d), size: make([]float64, p.units), largest: float64(max(1, p.largest))}
	for _, u := range p.unit {
		e.size[u]++
		e.largest = max(e.largest, e.size[u])
	}
	order := make([]int, p.units)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(math.Abs(e.d[i]), math.Abs(e.d[j])), cmp.Compare(e.size[i], e.size[j]))
	})
	d, size := make([]float64, p.units), make([]float64, p.units)
	for to, from := range order {
		d[to], size[to] = e.d[from], e.size[from]
	}
	e.d, e.size = d, size
	e.se, e.df = score.CR2(p.d, p.unit, p.units)
	return e
}

// against is the one-sided p-value of a mean of m or less, for sign 1, or of m or more, for -1.
func (e exact) against(m, sign float64) float64 {
	y := make([]float64, 0, len(e.d)+1)
	for i, d := range e.d {
		y = append(y, sign*(d-m*e.size[i]))
	}
	return belowZero(append(y, -(e.bound+sign*m)*e.largest))
}

func (e exact) pValue() float64 { return min(1, 2*min(e.against(0, 1), e.against(0, -1))) }

func (e exact) interval(level float64) (low, high float64) {
	return e.end((1-level)/2, 1), e.end((1-level)/2, -1)
}

// end is the last mean on a side that is not refuted, on the side of 0 on which the p-value has
// it. Where the chance has the logarithm of alpha is found by secants that keep the bracket.
func (e exact) end(alpha, sign float64) float64 {
	above := func(m float64) float64 { return math.Log(e.against(m, sign) / alpha) } // of what is not refuted
	held, beyond := e.mean, -sign*e.bound
	if sign*e.mean > 0 {
		if above(0) > 0 {
			held = 0
		} else {
			beyond = 0
		}
	}
	high, low := above(held), above(beyond)
	if low > 0 {
		return beyond
	}
	for range 60 {
		m := (held + beyond) / 2
		if !math.IsInf(low, 0) {
			m = held + (beyond-held)*high/(high-low)
		}
		switch x := above(m); {
		case math.Abs(x) < 1e-11 || math.Abs(held-beyond) < 1e-12:
			return m
		case x > 0:
			held, high, low = m, x, low/2
		default:
			beyond, low, high = m, x, high/2
		}
	}
	return beyond
}

func (exact) names() (interval, test string) { return exactName, exactName }

// exactName names the rule.
const exactName = "Gaffke's exact bound"

// decides reports whether the best of all outcomes would be significant at alpha.
func (e exact) decides(alpha float64) bool {
	best := e
	best.d = make([]float64, len(e.d))
	for i, size := range e.size {
		best.d[i] = e.bound * size
	}
	return best.pValue() <= alpha
}

// detectable is the true mean that is found with a chance of [Power], if the units scatter as
// they did; NaN where none is. Of up to mostScattered units it is looked for among draws of
// these, of more by the interval and the standard error.
func (e exact) detectable(alpha float64) float64 {
	if !e.decides(alpha) {
		return math.NaN()
	}
	if len(e.d) > mostScattered {
		low, high := e.interval(1 - alpha)
		if d := max(e.mean-low, high-e.mean) + student(e.df).Quantile(Power)*e.se; d <= e.bound {
			return d
		}
		return math.NaN()
	}
	worst := 0.0
	for _, sign := range []float64{1, -1} {
		finds := e.power(alpha, sign)
		if finds(e.bound) < Power {
			return math.NaN()
		}
		_, found := bisect(0, e.bound, 8, func(mean float64) bool { return finds(mean) >= Power })
		worst = max(worst, found)
	}
	return worst
}

const (
	mostScattered = 100
	scattered     = 60 // draws
)

// power is the chance with which a mean is found on the side of sign, over fixed draws of the
// units' departures from their mean. A unit keeps within the bound.
func (e exact) power(alpha, sign float64) func(mean float64) float64 {
	random, n := stream(0, "detectable"), len(e.d)
	var draws [scattered][]int
	for i := range draws {
		for range n {
			draws[i] = append(draws[i], random.IntN(n))
		}
	}
	return func(mean float64) float64 {
		found := 0
		for _, draw := range draws {
			one := exact{bound: e.bound, largest: e.largest}
			for _, i := range draw {
				most := e.bound * e.size[i]
				one.d = append(one.d, max(-most, min(most, sign*(e.d[i]-e.mean*e.size[i])+mean*e.size[i])))
				one.size = append(one.size, e.size[i])
			}
			if one.against(0, 1) <= alpha/2 {
				found++
			}
		}
		return float64(found) / scattered
	}
}

// fewestUnits is how many units of one size it takes for any outcome to be significant.
func fewestUnits(alpha float64) int { return 1 + int(math.Ceil(-math.Log2(alpha)-1e-9)) }

// Seen is the interval that Student's t gives of a mean difference. It holds if no unit can
// differ by more than those that were seen, and names no winner.
type Seen struct {
	Most float64 `json:"most"` // mean difference of a unit
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// seen is nil where a unit differs by all that is possible, or all by the same.
func (e exact) seen(level float64) *Seen {
	most := 0.0
	for i, d := range e.d {
		most = max(most, math.Abs(d)/e.size[i])
	}
	half := student(e.df).Quantile((1+level)/2) * e.se
	if most >= e.bound || !(half > 1e-12) {
		return nil
	}
	return &Seen{most, e.mean - half, e.mean + half}
}

// belowZero is the chance that the sum of the y, each times an exponential of its own, is 0 or
// less. Its transform is inverted along the line through the saddle point, or right of 0,
// where the integrand has neither pole nor wave, so that some forty places are exact.
//
// Source: Lugannani and Rice 1980, "Saddle point approximation for the distribution of the sum
// of independent random variables", for the line; the trapezoid rule is exact on it
// (Trefethen and Weideman 2014, "The exponentially convergent trapezoidal rule").
func belowZero(y []float64) float64 {
	low, high, norm := slices.Min(y), slices.Max(y), 0.0
	switch {
	case high <= 0:
		return 1
	case low >= 0:
		return 0
	}
	for _, x := range y {
		norm += x * x
	}
	norm = math.Sqrt(norm)
	c := saddle(y, 0.5/norm, -1/low)
	// Along c+it the transform is that at c times Π 1/(1+it·z).
	log, spread := 0.0, 1/(c*c)
	z := make([]float64, len(y))
	for i, x := range y {
		z[i] = x / (1 + c*x)
		log -= math.Log1p(c * x)
		spread += z[i] * z[i]
	}
	const step = 0.08
	scale, total := 1/math.Sqrt(spread), 0.0
	for k := range 200 {
		t := scale * math.Sinh(step*float64(k))
		re, im, size := 1.0, t/c, 1.0 // of 1+it/c, for the pole at 0
		for _, x := range z {
			re, im = re-t*x*im, im+t*x*re
			if size = re*re + im*im; size > 1e200 {
				break
			}
		}
		term := re / size * math.Cosh(step*float64(k))
		if k == 0 {
			term /= 2
		}
		total += term
		if size > 1e40 || k > 0 && math.Abs(math.Cosh(step*float64(k))) < 1e-17*math.Abs(total)*math.Sqrt(size) {
			break
		}
	}
	return min(1, max(0, math.Exp(log)/c*total*scale*step/math.Pi))
}

// saddle is where Σ log(1+c·y) is largest, from a place above 0 on.
func saddle(y []float64, least, most float64) float64 {
	rising := func(c float64) bool {
		sum := 0.0
		for _, x := range y {
			sum += x / (1 + c*x)
		}
		return sum > 0
	}
	if !rising(least) {
		return least
	}
	_, at := bisect(least, most, 20, func(c float64) bool { return !rising(c) })
	return min(at, most*(1-1e-9))
}
