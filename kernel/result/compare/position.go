package compare

import (
	"encoding/json"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"noema/kernel/base/score"
	"noema/methods"
)

// Position says how often a method, where it is wrong, ranks the item first that
// was shown first. Right answers say nothing: a method without any bias ranks the
// right item first wherever it stands. With items shuffled for every trial
// anything but chance is a bias; without, it may also be what the item was.
type Position struct {
	Rate   score.Metric `json:"rate"`   // of all answers that rank it first, right ones too: mean over samples
	First  int          `json:"first"`  // wrong answers that rank it first
	Trials int          `json:"trials"` // wrong answers where the item shown first is a wrong one
	Chance Number       `json:"chance"` // of such an item among the wrong ones, averaged over those trials
	Orders int          `json:"orders"` // of those trials, with an order of their own: of several on one sample with the right item in the same place, the first
	P      Number       `json:"p"`      // exact and two-sided, of that chance, over the orders
	Holm   Number       `json:"p_holm"` // corrected for the number of methods
}

// Biased reports whether there are more than chance explains, corrected for all methods.
func (p *Position) Biased() bool { return p != nil && p.Holm.Defined() && p.Holm < 0.05 }

// position tests method m; nil if there are no rankings. Trials with an order of their own
// count singly: without a bias the shuffles make them independent, whatever the sample. Where
// nothing is shuffled, one wrong item may draw all epochs of its sample: they are one.
func (d Data) position(m int, o plan) *Position {
	v := view{metric: score.First}
	p, any := Position{Chance: undefined, P: undefined, Holm: undefined}, false
	var chances, tested []float64
	first := 0
	for _, s := range d.Samples {
		known := map[string]bool{}
		for _, c := range s.Cells[m] {
			x := v.value(c)
			any = any || finite(x)
			wrong, ok := wrongItems(c)
			if !finite(x) || !ok {
				continue
			}
			p.Trials++
			chances = append(chances, 1/float64(wrong))
			if x == 1 {
				p.First++
			}
			if order := string(c.Prediction.Target); !known[order] {
				known[order] = true
				tested = append(tested, 1/float64(wrong))
				first += int(x)
			}
		}
	}
	if !any {
		return nil
	}
	p.Rate = d.metric(m, v, o)
	if p.Orders = len(tested); p.Trials > 0 {
		p.Chance, p.P = Number(sum(chances)/float64(len(chances))), Number(exactRate(first, tested))
	}
	return &p
}

// wrongItems counts the wrong items of a trial that ranks one of them first and was
// shown one of them first.
func wrongItems(c Cell) (count int, ok bool) {
	var gold []int
	spec := c.Prediction.Spec
	if spec.Kind != methods.Ranking || json.Unmarshal(c.Prediction.Target, &gold) != nil {
		return 0, false
	}
	slices.Sort(gold)
	gold = slices.Compact(gold)
	order, err := c.Prediction.Answer.Ranking()
	if err != nil || len(order) == 0 || slices.Contains(gold, order[0]) || slices.Contains(gold, 1) {
		return 0, false
	}
	return spec.N - len(gold), spec.N > len(gold)
}

// correctPositions corrects the tests of all methods.
func correctPositions(stats []MethodStats) {
	ps := make([]float64, len(stats))
	for i, s := range stats {
		if ps[i] = math.NaN(); s.First != nil {
			ps[i] = float64(s.First.P)
		}
	}
	for i, p := range Holm(ps) {
		if stats[i].First != nil {
			stats[i].First.Holm = Number(p)
		}
	}
}

// exactRate is the two-sided p-value of k successes in independent trials with
// these chances: the probability of all counts that are not likelier than k.
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
