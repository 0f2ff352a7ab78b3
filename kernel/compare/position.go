package compare

import (
	"gonum.org/v1/gonum/stat/distuv"

	"noema/kernel/score"
)

// Position says how often a method ranks the item first that was shown first.
// With items shuffled for every trial anything but chance is a bias; without,
// it also tells where the right items stood.
type Position struct {
	Rate   score.Metric `json:"rate"`   // mean over samples
	First  int          `json:"first"`  // trials that ranked the first item first
	Trials int          `json:"trials"` // trials with an answer
	Chance Number       `json:"chance"` // of such an item, averaged over those trials
	P      Number       `json:"p"`      // exact and two-sided, of that chance
}

// position tests method m; nil if there are no rankings. Trials count singly:
// without a bias the shuffles make them independent, whatever the sample.
func (d Data) position(m int, o Options) *Position {
	v := view{metric: score.First}
	var chances []float64
	p := Position{Chance: undefined, P: undefined}
	for _, s := range d.Samples {
		chance, known := s.Chance[score.First]
		for _, c := range s.Cells[m] {
			x := v.value(c)
			if !known || !finite(x) {
				continue
			}
			p.Trials++
			chances = append(chances, chance)
			if x == 1 {
				p.First++
			}
		}
	}
	if p.Trials == 0 {
		return nil
	}
	p.Rate = d.metric(m, v, o)
	p.Chance, p.P = Number(sum(chances)/float64(len(chances))), Number(exactRate(p.First, chances))
	return &p
}

// exactRate is the two-sided p-value of k successes in independent trials with
// these chances: the probability of all counts that are no likelier than k.
// With equal chances it is the exact binomial test, as R and scipy do it;
// otherwise the counts are Poisson binomial (Hong 2013, "On computing the
// distribution function for the Poisson binomial distribution", its direct
// convolution).
func exactRate(k int, chances []float64) float64 {
	likelihood := countsOf(chances)
	p := 0.0
	for _, l := range likelihood {
		if l <= likelihood[k]*(1+1e-7) {
			p += l
		}
	}
	return min(1, p)
}

func countsOf(chances []float64) []float64 {
	n := len(chances)
	counts := make([]float64, n+1)
	if p := chances[0]; same(chances) && 0 < p && p < 1 {
		binomial := distuv.Binomial{N: float64(n), P: p}
		for k := range counts {
			counts[k] = binomial.Prob(float64(k))
		}
		return counts
	}
	counts[0] = 1
	for i, p := range chances {
		for k := i + 1; k > 0; k-- {
			counts[k] = counts[k]*(1-p) + counts[k-1]*p
		}
		counts[0] *= 1 - p
	}
	return counts
}
