package compare

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"noema/kernel/score"
)

// Power is the chance with which a difference of the detectable size is found.
const Power = 0.8

// detectable is the smallest true difference that a comparison of these
// samples would find with a chance of [Power], tested at alpha, where half is
// half the width of its interval. It is NaN if no difference would be: with
// fewer than six independent samples no test at 0.05 can be significant.
//
// For matched 0/1 outcomes it is worked out from the exact power of McNemar's
// test, where the share of samples that tell the methods apart is the observed
// one, and at least the difference itself. Otherwise it is half the interval and
// t_{power} standard errors, as in Bloom 1995, "Minimum detectable effects", and
// Miller 2024, "Adding Error Bars to Evals".
func (p pairing) detectable(half, alpha float64) float64 {
	switch {
	case len(p.d) == 0 || p.units < 2 || !p.within():
		return math.NaN()
	case p.matched():
		wins, losses, _ := p.sides()
		return newMatchedPower(wins, losses, len(p.d), alpha).detectable()
	}
	return reaching(score.CR2(p.d, p.unit, p.units))(half)
}

// reaching adds to half an interval what leads to [Power], for a standard error
// and its degrees of freedom.
func reaching(se, df float64) func(half float64) float64 {
	return func(half float64) float64 {
		if d := half + student(df).Quantile(Power)*se; d <= 1 {
			return d
		}
		return math.NaN()
	}
}

// matchedPower is the power of McNemar's exact test on n samples.
//
// Source: the unconditional exact power of Duffy 1984, "Asymptotic and exact
// power for the McNemar test and its analogue with R controls per case".
type matchedPower struct {
	n        int
	discord  float64 // share of samples on which the methods differ
	alpha    float64
	critical map[int]int // by the number of such samples: the most losses that are significant
}

// newMatchedPower smooths the observed share, so that no difference seen is
// not taken for none possible.
func newMatchedPower(wins, losses, n int, alpha float64) matchedPower {
	return matchedPower{
		n: n, discord: float64(wins+losses+1) / float64(n+2), alpha: alpha, critical: map[int]int{},
	}
}

func (m matchedPower) detectable() float64 {
	if m.power(1) < Power {
		return math.NaN()
	}
	low, high := 0.0, 1.0
	for range 20 { // to 1e-6
		mid := (low + high) / 2
		if m.power(mid) < Power {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}

// power is the chance that the test finds a true difference of delta > 0.
func (m matchedPower) power(delta float64) float64 {
	discord := min(1, max(m.discord, delta))
	win := min(1, (1+delta/discord)/2) // given that the methods differ
	spread := distuv.Binomial{N: float64(m.n), P: discord}
	mean, reach := spread.Mean(), 6*spread.StdDev()+1
	from, to := max(0, int(mean-reach)), min(m.n, int(mean+reach)+1)
	total := 0.0
	for k := from; k <= to; k++ {
		if c := m.criticalOf(k); c >= 0 {
			total += spread.Prob(float64(k)) * m.found(k, c, win)
		}
	}
	return total
}

// found is the chance of at most c losses, or at most c wins, among k.
func (m matchedPower) found(k, c int, win float64) float64 {
	if win >= 1 {
		return 1
	}
	losses, wins := distuv.Binomial{N: float64(k), P: 1 - win}, distuv.Binomial{N: float64(k), P: win}
	return losses.CDF(float64(c)) + wins.CDF(float64(c))
}

// criticalOf is the largest count of the rarer side among k that is
// significant, -1 if not even 0 is.
func (m matchedPower) criticalOf(k int) int {
	if c, known := m.critical[k]; known {
		return c
	}
	low, high := -1, k/2 // significant, or none; half of k never is
	for high-low > 1 {
		if mid := (low + high) / 2; McNemar(mid, k-mid) <= m.alpha {
			low = mid
		} else {
			high = mid
		}
	}
	m.critical[k] = low
	return low
}
