package compare

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"
)

// evidence is the e-process against a hypothesis about a mean: what bettors who
// begin with 1 have won against it after some units, which are told one by one in
// an order that was fixed before. Each bettor puts a share of the wealth on every
// unit; the e-value is their mean. If the hypothesis is true it is a fair game, so
// that the e-value reaches 1/alpha with a chance of alpha at most, whenever and
// however often one looks (Ville's inequality), for every shape of the values.
//
// With values within -1 and 1 and the hypothesis 0 it is the mixture
// ∫ ∏(1+λdᵢ) dπ(λ), where (1+λ)/2 has the distribution Beta(2, 2). On values of -1,
// 0 and 1, with w of 1 and l of -1, this is 2^(w+l)·B(2+w, 2+l)/B(2, 2). Other
// values are integrated by Gauss and Legendre, which agrees with the closed form to
// 1e-9 up to 20,000 units, so that there is one way for both.
//
// Sources: Waudby-Smith and Ramdas 2024, "Estimating means of bounded random
// variables by betting" (arXiv 2010.09686), §3 and appendix on mixtures; Ramdas,
// Grünwald, Vovk and Shafer 2023, "Game-theoretic statistics and safe
// anytime-valid inference"; Robbins 1970, "Statistical methods related to the law of
// the iterated logarithm", for mixtures. Differs: for a mean other than 0 the shares
// are scaled to what the bounds of the values allow, as in their §3.
type evidence struct {
	mean, low, high float64      // the hypothesis, and the bounds of values
	grid            grid         // of shares
	more, less      [nodes]money // of bettors on a larger and on a smaller mean
}

// nodes is the number of shares within 0 and 1.
const nodes = 128

// grid holds the shares of the wealth and what part of the bettors has each.
type grid struct{ share, part *[nodes]float64 }

// newGrid is the prior of the shares.
func newGrid() grid {
	g := grid{new([nodes]float64), new([nodes]float64)}
	quad.Legendre{}.FixedLocations(g.share[:], g.part[:], 0, 1)
	for i, u := range g.share {
		g.part[i] *= 1.5 * (1 - u*u) // Beta(2, 2), folded at the middle
	}
	return g
}

// money is a factor times a power of two, exactly.
type money struct {
	factor float64
	power  int
}

// rescale keeps the factor within what a float64 holds.
func (m *money) rescale() {
	const far, most = 400, 0x1p400
	switch {
	case m.factor > most:
		m.factor, m.power = m.factor/most, m.power+far
	case m.factor < 1/most:
		m.factor, m.power = m.factor*most, m.power-far
	}
}

// at is the factor of another power of two.
func (m *money) at(power int) float64 {
	if m.power == power {
		return m.factor
	}
	return math.Ldexp(m.factor, m.power-power)
}

// newEvidence has seen nothing. mean is within low and high.
func newEvidence(g grid, mean, low, high float64) *evidence {
	e := &evidence{mean: mean, low: low, high: high, grid: g}
	for i := range nodes {
		e.more[i].factor, e.less[i].factor = 1, 1
	}
	return e
}

// bet takes a [unit].
func (e *evidence) bet(sum, size float64) {
	gain := sum - e.mean*size
	if gain == 0 {
		return
	}
	up, down := gain/(e.mean-e.low), gain/(e.high-e.mean)
	for i, u := range e.grid.share {
		e.more[i].factor *= 1 + float64(u*up) // no fused operation: machines must agree
		e.less[i].factor *= 1 - float64(u*down)
		e.more[i].rescale()
		e.less[i].rescale()
	}
}

// log is the logarithm of the e-value.
func (e *evidence) log() float64 {
	power := e.more[0].power
	for i := range nodes {
		power = max(power, e.more[i].power, e.less[i].power)
	}
	total := 0.0
	for i, part := range e.grid.part {
		total += float64(part * (e.more[i].at(power) + e.less[i].at(power)) / 2)
	}
	return math.Log(total) + float64(power)*math.Ln2
}

// logOn is log with the bettors on one side of the mean alone: on larger ones for sign 1. It is
// no more than log, and a larger value never lowers that of larger ones.
func (e *evidence) logOn(sign float64) float64 {
	side := &e.more
	if sign < 0 {
		side = &e.less
	}
	power, total := side[0].power, 0.0
	for i := range nodes {
		power = max(power, side[i].power)
	}
	for i, part := range e.grid.part {
		total += float64(part * side[i].at(power) / 2)
	}
	return math.Log(total) + float64(power)*math.Ln2
}

// eValue is the e-value against no difference of so many samples that the first and
// the second of two methods alone solved, at most what a float64 holds.
func eValue(wins, losses int) float64 {
	e := newEvidence(newGrid(), 0, -1, 1)
	for range wins {
		e.bet(1, 1)
	}
	for range losses {
		e.bet(-1, 1)
	}
	return e.value()
}

// value is the e-value, at most what a float64 holds.
func (e *evidence) value() float64 { return min(math.Exp(e.log()), math.MaxFloat64) }

// reaches reports whether an e-value is what is needed, up to rounding.
func reaches(log, needed float64) bool { return log >= math.Log(needed)-1e-9 }

// unit is an independent observation, a sample or a cluster of samples: the sum of
// its values and how many there are, both in parts of the largest unit's number.
type unit struct{ sum, size float64 }

// anytime is the confidence interval of the mean of values within bounds that holds
// at every time at once: the means against which the e-value has not reached what
// is needed. The e-value is convex in the mean and at most 1 at the observed one, so
// that these are one interval around it.
func anytime(units []unit, low, high, needed float64) (from, to float64) {
	g, sums, sizes := newGrid(), 0.0, 0.0
	for _, u := range units {
		sums, sizes = sums+u.sum, sizes+u.size
	}
	mean := min(high, max(low, sums/sizes))
	refuted := func(mean float64) bool {
		e := newEvidence(g, mean, low, high)
		for _, u := range units {
			e.bet(u.sum, u.size)
		}
		return reaches(e.log(), needed)
	}
	_, from = bisect(mean, low, 20, refuted)
	_, to = bisect(mean, high, 20, refuted)
	return from, to
}
