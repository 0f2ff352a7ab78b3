package compare

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// bets are differences within -1 and 1, summed up for each independent unit, in
// the order in which they are bet on. The order comes from a seed and not from
// the data set, in which one subject may follow another.
//
// A bettor starts with a stake of alpha and puts a part of it on each unit in
// turn. If the true mean is m or less, no bet on more than m gains anything in
// expectation, whatever the shape of the differences, so that the stake becomes
// 1 with a chance of alpha at most (Ville's inequality): the test holds its level
// for any bounded differences and any number of units, also skewed ones.
//
// Sources: Waudby-Smith and Ramdas 2024, "Estimating means of bounded random
// variables by betting" (arXiv 2010.09686), for the test and its inversion;
// Ramdas et al. 2023, "Game-theoretic statistics and safe anytime-valid
// inference"; Vovk and Wang 2021, "E-values: Calibration, combination and
// applications". Differs: their bets aim at growth without end, and give up
// power where n is fixed. Ours are the hedge of an option that pays 1 or nothing
// after the last unit (see stake), which the audit found to have more power at
// every n than their hedged capital and than a mixture over all bets.
type bets struct{ sum, size []float64 }

// bets puts the units of p in the order of the seed.
func (p pairing) bets(seed uint64) bets {
	sums, sizes := p.sums(p.d), make([]float64, p.units)
	for _, u := range p.unit {
		sizes[u] += float64(p.units) / float64(len(p.d)) // 1 on average
	}
	b := bets{make([]float64, p.units), make([]float64, p.units)}
	for to, u := range stream(seed, "order of bets").Perm(p.units) {
		b.sum[to], b.size[to] = sums[u]*float64(p.units)/float64(len(p.d)), sizes[u]
	}
	return b
}

// mirrored are the bets on B.
func (b bets) mirrored() bets {
	sum := slices.Clone(b.sum)
	for i := range sum {
		sum[i] = -sum[i]
	}
	return bets{sum, b.size}
}

// above reports whether bets on a mean above m turn a stake of alpha into 1.
func (b bets) above(m, alpha float64) bool {
	var left float64 // the squares of the sizes to come
	for _, s := range b.size {
		left += s * s
	}
	wealth, squares, weight := alpha, firstVariance, 1.0
	for i, s := range b.size {
		gain := b.sum[i] - m*s // at least -s(1+m)
		wealth *= 1 + min(stake(wealth, math.Sqrt(squares/weight*left)), 1/(s*(1+m)))*gain
		if wealth >= 1 {
			return true
		}
		if !(wealth > 1e-300) {
			return false
		}
		squares += gain * gain
		weight += s * s
		left -= s * s
	}
	return false
}

// firstVariance is what a difference's variance is taken for before one is seen.
const firstVariance = 0.25

// stake is the share of the wealth to put on the next unit, for each unit of its
// gain, where the gains to come have the standard deviation sd together: what
// hedges an option that pays 1 if their sum is large enough for a price of the
// wealth. For small wealth it is the bet of Voracek and Orabona 2025, "STaR-Bets:
// Sequential target-recalculating bets for tighter confidence intervals".
func stake(wealth, sd float64) float64 {
	z := distuv.UnitNormal.Quantile(wealth)
	return math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) / (wealth * sd)
}

// pValue is two-sided: twice the smallest stake from which on every larger one
// becomes 1, on the side of the mean.
func (b bets) pValue() float64 {
	if sum(b.sum) < 0 {
		b = b.mirrored()
	}
	won := 0.5
	for lost := won; won > smallestStake; won = lost {
		if lost = won * 0.9; b.above(0, lost) {
			continue
		}
		for range 10 { // the edge, to a thousandth
			if mid := (won + lost) / 2; b.above(0, mid) {
				won = mid
			} else {
				lost = mid
			}
		}
		break
	}
	return 2 * won
}

// smallestStake is where p-values end.
const smallestStake = 1e-7

// interval holds the means that bets of half of 1-level on either side do not
// refute.
func (b bets) interval(mean, level float64) (low, high float64) {
	alpha := (1 - level) / 2
	return b.lowest(mean, alpha), -b.mirrored().lowest(-mean, alpha)
}

// lowest is the lower end, by bisection.
func (b bets) lowest(mean, alpha float64) float64 {
	low, high := -1.0, mean
	for range 24 {
		if mid := (low + high) / 2; b.above(mid, alpha) {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}
