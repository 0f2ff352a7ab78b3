package compare

import (
	"math"
	"slices"

	"noema/kernel/base/score"
	"noema/methods"
)

// draws are the trials of a method on a sample, of which k are used: every number is the mean
// over all choices of k of them, which is unbiased for k fresh ones.
type draws struct {
	worth  []float64 // of each
	graded []float64 // by the graders; NaN for ungraded
	votes  []int     // for which answer each is, by its first place; -1 for none
}

// drawsOf are the trials that v takes for observations.
func drawsOf(cells []Cell, v view) (out draws) {
	var answers []string
	for _, c := range cells {
		x := v.value(c)
		if !finite(x) {
			continue
		}
		graded, has := c.Values[score.Graded]
		if !has {
			graded = math.NaN()
		}
		vote := -1
		if c.Outcome == methods.Answered {
			text := string(c.Prediction.Answer.Value)
			if vote = slices.Index(answers, text); vote < 0 {
				vote = len(answers)
			}
			answers = append(answers, text)
		} else {
			answers = append(answers, "\x00") // which no answer is
		}
		out.worth, out.graded, out.votes = append(out.worth, x), append(out.graded, graded), append(out.votes, vote)
	}
	return out
}

// can reports whether the trials have what a way of using several draws needs: answers to
// count, or grades beside another measure.
func (s *study) can(w Way) bool {
	if w == AnyOf {
		return true
	}
	found := false
	for _, c := range s.cells {
		for m := range s.methods {
			c.Data.count(m, func(cell Cell) bool {
				_, graded := cell.Values[score.Graded]
				found = found || w == VoteOf && len(cell.Prediction.Answer.Value) > 0 || w == BestOf && graded && c.Data.Metrics[0] != score.Graded
				return true
			})
		}
	}
	return found
}

// used is what k of the draws are worth in a way; NaN if there are fewer.
func (d draws) used(w Way, k int) float64 {
	switch {
	case k < 1 || k > len(d.worth):
		return math.NaN()
	case w == AnyOf:
		return best(d.worth, d.worth, k)
	case w == BestOf:
		return best(d.graded, d.worth, k)
	}
	return d.majority(k)
}

// best is the mean worth of the draw with the highest mark among k of them; equal marks share
// it. By its own worth it is pass@k. NaN if a mark is.
//
// Source: [PassAt]'s, one rank after the other.
func best(marks, worth []float64, k int) float64 {
	n, total := len(marks), 0.0
	for i, mark := range marks {
		above, equal := 0, 0
		for _, other := range marks {
			switch {
			case math.IsNaN(other):
				return math.NaN()
			case other > mark:
				above++
			case other == mark:
				equal++
			}
		}
		total += worth[i] * (none(n, above, k) - none(n, above+equal, k)) / float64(equal)
	}
	return total
}

// majority is the mean worth of the most frequent answer among k of the draws; equally frequent
// ones share it, and draws without an answer do not vote.
func (d draws) majority(k int) float64 {
	size, worth, blank := make([]int, len(d.votes)), make([]float64, len(d.votes)), 0
	for i, v := range d.votes {
		if v < 0 {
			blank++
			continue
		}
		size[v]++
		worth[v] += (d.worth[i] - worth[v]) / float64(size[v]) // the mean; equal answers have equal scores
	}
	total := 0.0
	for top := 1; top <= min(k, slices.Max(append(size, 0))); top++ {
		total += atTop(size, worth, blank, k, top)
	}
	return total / binomial(len(d.votes), k)
}

// atTop adds up, over the choices of k draws in which the most frequent answers have just top
// votes, the mean worth of these answers.
func atTop(size []int, worth []float64, blank, k, top int) float64 {
	ties := k / top
	type sums struct{ ways, worth float64 } // the number of choices, and the sum of what is at the top over them
	at := make([][]sums, k+1)               // by votes, and answers at the top
	for j := range at {
		at[j] = make([]sums, ties+1)
	}
	at[0][0].ways = 1
	for c, n := range size {
		for j := k; j >= 0 && n > 0; j-- { // downwards, so that what is read is of the answers before
			for e := ties; e >= 0; e-- {
				sum := at[j][e]
				for x := 1; x <= min(n, top, j); x++ {
					more := binomial(n, x)
					switch {
					case x < top:
						sum.ways, sum.worth = sum.ways+more*at[j-x][e].ways, sum.worth+more*at[j-x][e].worth
					case e > 0:
						sum.ways += more * at[j-x][e-1].ways
						sum.worth += more * (at[j-x][e-1].worth + worth[c]*at[j-x][e-1].ways)
					}
				}
				at[j][e] = sum
			}
		}
	}
	total := 0.0
	for j := range at {
		for e := 1; e <= ties; e++ {
			total += at[j][e].worth / float64(e) * binomial(blank, k-j)
		}
	}
	return total
}

// binomial is the number of choices of k of n.
func binomial(n, k int) float64 {
	if k < 0 || k > n {
		return 0
	}
	out := 1.0
	for i := 1; i <= min(k, n-k); i++ {
		out = out * float64(n-i+1) / float64(i)
	}
	return out
}
