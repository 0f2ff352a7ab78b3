package compare

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// obrienFleming gives the two-sided level of each look at growing parts of the data,
// the last of which is 1, so that the chance that any look is significant under no
// difference is alpha: each side spends 2-2Φ(z/√t) of its half, which leaves nearly all
// to the last look.
//
// Source: Lan and DeMets 1983, "Discrete sequential boundaries for clinical trials",
// in the form of O'Brien and Fleming 1979; the integration is that of Armitage,
// McPherson and Rowe 1969. For five equal looks at 0.05 the bounds are 4.877, 3.357,
// 2.680, 2.290 and 2.031 standard errors.
func obrienFleming(parts []float64, alpha float64) []float64 {
	levels := make([]float64, len(parts))
	z, spent, before := distuv.UnitNormal.Quantile(1-alpha/4), 0.0, 0.0
	var going walk
	for k, t := range parts {
		spend := 4*distuv.UnitNormal.Survival(z/math.Sqrt(t)) - spent
		bound := going.bound(t-before, spend)
		levels[k] = 2 * distuv.UnitNormal.Survival(bound/math.Sqrt(t))
		going = going.on(t-before, bound)
		spent, before = spent+spend, t
	}
	return levels
}

// walk is the density of a Brownian motion that has stayed within all bounds, at
// places from -edge to edge. The zero walk is at 0 for sure.
type walk struct {
	edge    float64
	density []float64
}

// places is how many of them; odd, for Simpson's rule.
const places = 121

// place is the i-th, with its weight in an integral.
func (w walk) place(i int) (at, weight float64) {
	step := 2 * w.edge / (places - 1)
	switch {
	case i == 0 || i == places-1:
		weight = step / 3
	case i%2 == 1:
		weight = 4 * step / 3
	default:
		weight = 2 * step / 3
	}
	return -w.edge + float64(i)*step, weight
}

// over integrates f over the places.
func (w walk) over(f func(at float64) float64) float64 {
	if w.density == nil {
		return f(0)
	}
	total := 0.0
	for i, d := range w.density {
		at, weight := w.place(i)
		total += weight * d * f(at)
	}
	return total
}

// bound is where the walk is after some time, on either side, with a chance of spend.
func (w walk) bound(time, spend float64) float64 {
	sd := math.Sqrt(time)
	_, bound := bisect(0, 40, 50, func(bound float64) bool {
		out := w.over(func(at float64) float64 {
			return distuv.UnitNormal.Survival((bound-at)/sd) + distuv.UnitNormal.Survival((bound+at)/sd)
		})
		return !(out > spend)
	})
	return bound
}

// on goes on for some time to within a bound.
func (w walk) on(time, bound float64) walk {
	sd := math.Sqrt(time)
	next := walk{edge: bound, density: make([]float64, places)}
	for i := range next.density {
		to, _ := next.place(i)
		next.density[i] = w.over(func(at float64) float64 { return distuv.UnitNormal.Prob((to-at)/sd) / sd })
	}
	return next
}

// repeated is the p-value that holds however many looks were taken: the smallest
// error rate whose bound this look would have reached with the p-value of a fixed
// number of samples.
//
// Source: Jennison and Turnbull 1989, "Interim analyses: the repeated confidence
// interval approach".
func repeated(parts []float64, look int, p float64) float64 {
	if !finite(p) || p >= 1 || p <= 0 {
		return p
	}
	_, log := bisect(math.Log(1e-6), 0, 20, func(log float64) bool {
		return obrienFleming(slices.Clone(parts[:look]), math.Exp(log))[look-1] >= p
	})
	return math.Exp(log)
}
