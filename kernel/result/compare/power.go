package compare

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Power is the chance with which a difference of the detectable size is found.
const Power = 0.8

// reaching is half an interval, with a standard error and its degrees of freedom.
type reaching struct{ half, se, df float64 }

func (r reaching) detectable(float64) float64 {
	if d := r.half + student(r.df).Quantile(Power)*r.se; d <= 1 {
		return d
	}
	return math.NaN()
}

func (reaching) decides(float64) bool { return true }

// matchedPower is the power of [SuissaShuster] on n samples.
//
// Source: the unconditional exact power of Duffy 1984, "Asymptotic and exact
// power for the McNemar test and its analogue with R controls per case".
type matchedPower struct {
	n       int
	discord float64 // share of samples on which the methods differ
	edge    float64 // largest insignificant statistic
}

// newMatchedPower smooths the observed share, so that no difference seen is
// not taken for none possible.
func newMatchedPower(t table, alpha float64) matchedPower {
	return matchedPower{t.n, float64(t.wins+t.losses+1) / float64(t.n+2), t.edges.of(t.n, alpha)}
}

func (m matchedPower) detectable() float64 {
	if m.power(1) < Power {
		return math.NaN()
	}
	_, found := bisect(0, 1, 20, func(delta float64) bool { return !(m.power(delta) < Power) }) // to 1e-6
	return found
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
		if c := rarer(k, m.edge*(1+1e-9)); c >= 0 {
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
