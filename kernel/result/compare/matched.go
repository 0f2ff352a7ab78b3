package compare

import (
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/stat/distuv"
)

// SuissaShuster is the unconditional exact two-sided p-value of no difference between
// two methods on n matched samples, of which wins were got right by the first alone and
// losses by the second alone. The statistic is (wins-losses)²/(wins+losses), and p is its
// tail probability where the share of samples that tell the methods apart is the least
// favourable one. n must be at least wins + losses.
//
// Source: Suissa and Shuster 1991, "The 2 × 2 matched-pairs trial: exact unconditional
// design and analysis". Differs: two-sided, by the square of their statistic. McNemar's
// exact test conditions on wins + losses and is needlessly weak for it: where this test
// finds 54, 80 and 80 % of differences with 10, 20 and 50 samples it finds 36, 70 and 74 %.
func SuissaShuster(wins, losses, n int) float64 {
	return worst(tails(n, chi(wins, losses)))
}

// chi is the statistic: McNemar's, the square of which is chi-squared.
func chi(wins, losses int) float64 {
	if wins == losses {
		return 0
	}
	return math.Abs(float64(wins-losses)) / math.Sqrt(float64(wins+losses))
}

// tails are, for each number of samples that tell the methods apart, from 0 to n, the
// chances that the statistic is z or more if each of them is a fair coin.
func tails(n int, z float64) []float64 {
	out := make([]float64, n+1)
	at, fewest := 1.0, 0 // the chance of just so many heads
	for k := range out {
		if k > 0 {
			at *= float64(k) / float64(2*(k-fewest))
		}
		most := rarer(k, z)
		for ; fewest < most; fewest++ {
			at *= float64(k-fewest) / float64(fewest+1)
		}
		switch {
		case z == 0:
			out[k] = 1
		case most >= 0:
			total, term := at, at
			for j := most; j > 0 && term > 1e-17*total; j-- {
				term *= float64(j) / float64(k-j+1)
				total += term
			}
			out[k] = min(1, 2*total)
		}
	}
	return out
}

// rarer is the most wins among k, of which the others are losses, that have a statistic of
// z > 0 or more; -1 if not even 0 has.
func rarer(k int, z float64) int {
	most := (float64(k) - z*math.Sqrt(float64(k))) / 2
	if k == 0 || most < -1e-9 {
		return -1
	}
	return int(most + 1e-9)
}

// worst is the largest mean of the tails over all binomial distributions of their index.
// The mean is smooth on the scale of the distribution's spread, which is constant in the
// arcsine of the root, so that a grid of an eighth of it and a search around its best
// place find the top.
func worst(tails []float64) float64 {
	n := float64(len(tails) - 1)
	step := math.Pi / 2 / math.Ceil(4*math.Pi*math.Sqrt(n))
	best, at := 0.0, 0.0
	for angle := step; angle < math.Pi/2+step/2; angle += step {
		if p := meanOf(tails, angle); p > best {
			best, at = p, angle
		}
	}
	const golden = 0.6180339887498949
	from, to := max(0, at-step), min(math.Pi/2, at+step)
	for range 25 {
		left, right := to-golden*(to-from), from+golden*(to-from)
		l, r := meanOf(tails, left), meanOf(tails, right)
		best = max(best, l, r)
		if l > r {
			to = right
		} else {
			from = left
		}
	}
	return min(1, best)
}

// meanOf is the mean of the values at a binomial index whose chance is the squared sine of
// the angle.
func meanOf(values []float64, angle float64) float64 {
	n := len(values) - 1
	chance := math.Sin(angle) * math.Sin(angle)
	if chance >= 1-1e-15 {
		return values[n]
	}
	mode := min(n, int(float64(n+1)*chance))
	odds := chance / (1 - chance)
	top := distuv.Binomial{N: float64(n), P: chance}.Prob(float64(mode))
	total, p := 0.0, top
	for k := mode; k <= n && p > 1e-18; k++ {
		total += p * values[k]
		p *= odds * float64(n-k) / float64(k+1)
	}
	p = top
	for k := mode - 1; k >= 0; k-- {
		p *= float64(k+1) / float64(n-k) / odds
		if p <= 1e-18 {
			break
		}
		total += p * values[k]
	}
	return total
}

// insignificant is the largest statistic of n matched samples whose p-value is above
// alpha; infinite if no outcome's is below. Of many samples it is the normal quantile, up to
// half a per cent.
func insignificant(n int, alpha float64) float64 {
	most, normal := math.Sqrt(float64(n)), -distuv.UnitNormal.Quantile(alpha/2)
	if n > manySamples {
		return normal
	}
	if worst(tails(n, most)) > alpha {
		return math.Inf(1)
	}
	low, high := 0.0, most
	if 1.2*normal < most && worst(tails(n, 1.2*normal)) <= alpha {
		high = 1.2 * normal // nearly always
	}
	if worst(tails(n, 0.9*normal)) > alpha {
		low = 0.9 * normal // likewise
	}
	all := statistics(n, low, high)
	at, _ := slices.BinarySearchFunc(all, alpha, func(z, alpha float64) int {
		if worst(tails(n, z)) > alpha {
			return -1
		}
		return 1
	})
	if at == 0 {
		return low
	}
	return all[at-1] * (1 + 1e-12) // rounding
}

// statistics are those that outcomes of n samples can have between two bounds, in rising order.
func statistics(n int, low, high float64) (all []float64) {
	for k := 1; k <= n; k++ {
		for losses := max(0, rarer(k, high)); 2*losses < k; losses++ {
			z := chi(k-losses, losses)
			if z < low {
				break
			}
			if z <= high {
				all = append(all, z)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// manySamples is from how many on the normal quantile is taken.
const manySamples = 2000

// table counts the outcomes of two methods on n matched samples, 0 or 1 each: how often
// the first alone was right, and the second.
type table struct {
	wins, losses, n int
	edges           *edges // nil where nothing is kept
}

func (p pairing) table(known *edges) table {
	wins, losses, _ := p.sides()
	return table{wins, losses, len(p.d), known}
}

// edges keeps what [insignificant] found for the pairs of one comparison, most of which ask
// the same of it: it takes long.
type edges struct{ known sync.Map }

func (e *edges) of(n int, alpha float64) float64 {
	if e == nil {
		return insignificant(n, alpha)
	}
	type question struct {
		n     int
		alpha float64
	}
	asked := question{n, math.Round(alpha*1e12) / 1e12} // 1 - 0.95 and 0.05 are one
	if edge, ok := e.known.Load(asked); ok {
		return edge.(float64)
	}
	edge := insignificant(n, asked.alpha)
	e.known.Store(asked, edge)
	return edge
}

func (t table) pValue() float64 { return SuissaShuster(t.wins, t.losses, t.n) }

// interval is [Tango]'s, as wide as it takes for it to leave out 0 just where
// [SuissaShuster] is at most 1-level. At a difference of 0 both have one statistic, so all
// that the interval needs is the test's largest insignificant one, where that is above the
// normal quantile.
func (t table) interval(level float64) (low, high float64) {
	alpha := 1 - level
	edge := t.edges.of(t.n, alpha)
	z := max(-distuv.UnitNormal.Quantile(alpha/2), edge)
	switch seen, found := chi(t.wins, t.losses), t.pValue() <= alpha; {
	case found && seen <= z:
		z = min(edge, seen*(1-1e-9))
	case !found && seen > z:
		z = seen * (1 + 1e-9)
	}
	return tango(t.wins, t.losses, t.n, z)
}

func (t table) decides(alpha float64) bool { return SuissaShuster(t.n, 0, t.n) <= alpha }

func (t table) detectable(alpha float64) float64 { return newMatchedPower(t, alpha).detectable() }

func (table) names() (interval, test string) { return "Tango's score interval", suissaShuster }

// suissaShuster names the test of matched 0/1 outcomes.
const suissaShuster = "unconditional exact test"

// Tango is the score interval of the difference of two proportions that are
// measured on the same n samples, at a level such as 0.95. wins counts the
// samples that only the first gets right, losses those that only the second
// does. It has width even if there are none of either; n must be at least 1.
//
// Source: Tango 1998, "Equivalence test and confidence interval for the
// difference in proportions for the paired-sample design". Student's interval
// is not a substitute: with 20 samples of which one in ten is a win or a loss it
// covers 86 % where 95 % is asked, Tango's 99 %.
func Tango(wins, losses, n int, level float64) (low, high float64) {
	return tango(wins, losses, n, distuv.UnitNormal.Quantile((1+level)/2))
}

// tango is the interval of that many standard errors, which may be infinite.
func tango(wins, losses, n int, z float64) (low, high float64) {
	at := float64(wins-losses) / float64(n)
	return -tangoUpper(losses, wins, n, -at, z), tangoUpper(wins, losses, n, at, z)
}

// tangoUpper finds the difference above at whose score is -z, by bisection:
// the score falls as the difference grows.
func tangoUpper(wins, losses, n int, at, z float64) float64 {
	low, high := bisect(at, 1, 60, func(delta float64) bool {
		return !(tangoScore(float64(wins), float64(losses), float64(n), delta) > -z)
	})
	return (low + high) / 2
}

// tangoScore is the distance of the observed difference from delta in standard
// errors, with the other parameter at its likeliest given delta.
func tangoScore(wins, losses, n, delta float64) float64 {
	b := -wins - losses + (2*n-wins+losses)*delta
	c := -losses * delta * (1 - delta)
	q := (math.Sqrt(max(0, b*b-8*n*c)) - b) / (4 * n)
	variance := n * (2*q + delta*(1-delta))
	distance := wins - losses - n*delta
	if variance <= 0 {
		return math.Copysign(math.Inf(1), distance)
	}
	return distance / math.Sqrt(variance)
}
