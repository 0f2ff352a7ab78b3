package compare

import (
	"fmt"
	"math"

	"noema/kernel/base/score"
)

// Repeat is what a method achieves in k tries at a sample, by the headline
// metric.
type Repeat struct {
	K      int          `json:"k"`
	PassAt score.Metric `json:"pass_at"` // pass@k: at least one of k tries is right
	Pass   score.Metric `json:"pass"`    // pass^k: all of k tries are right
}

// PassAt is pass@k, the chance that of k tries drawn from n without return at
// least one is among the c right ones: 1 - C(n-c,k)/C(n,k). It is unbiased for
// the chance of k fresh tries, unlike 1-(1-c/n)^k. NaN if k is not within 1..n
// or c not within 0..n.
//
// Source: Chen et al. 2021, "Evaluating Large Language Models Trained on Code",
// in the product form of its figure 3.
func PassAt(n, c, k int) float64 {
	if k < 1 || k > n || c < 0 || c > n {
		return math.NaN()
	}
	return 1 - none(n, c, k)
}

// PassHat is pass^k, the chance that k tries drawn from n without return are
// all among the c right ones: C(c,k)/C(n,k). NaN as for [PassAt].
//
// Source: Yao et al. 2024, "tau-bench: A Benchmark for Tool-Agent-User
// Interaction in Real-World Domains".
func PassHat(n, c, k int) float64 {
	if k < 1 || k > n || c < 0 || c > n {
		return math.NaN()
	}
	return none(n, n-c, k)
}

// none is the chance that none of k tries drawn from n is among c of them.
func none(n, c, k int) float64 {
	if c > n-k {
		return 0
	}
	p := 1.0
	for i := range k {
		p *= float64(n-c-i) / float64(n-i)
	}
	return p
}

// repeats lists pass@k and pass^k of method m for every k up to the epochs. It
// is nil with fewer than two epochs or a graded headline.
func (d Data) repeats(m int, o plan) []Repeat {
	v := view{metric: d.Metrics[0], envelope: envelopeOf(o.Budget)}
	tries, right := make([]int, len(d.Samples)), make([]int, len(d.Samples))
	most := 0
	for i, s := range d.Samples {
		for _, c := range s.Cells[m] {
			switch x := v.value(c); x {
			case 1:
				right[i]++
				tries[i]++
			case 0:
				tries[i]++
			default:
				if finite(x) {
					return nil
				}
			}
		}
		most = max(most, tries[i])
	}
	if most < 2 {
		return nil
	}
	var out []Repeat
	for k := 1; k <= most; k++ {
		at, all := make([]float64, len(tries)), make([]float64, len(tries))
		for i := range tries {
			at[i], all[i] = PassAt(tries[i], right[i], k), PassHat(tries[i], right[i], k)
		}
		level := score.Options{Level: o.Level}
		one := Repeat{
			K: k, PassAt: metricOf(fmt.Sprintf("pass@%d", k), at, d.clusters(), level),
			Pass: metricOf(fmt.Sprintf("pass^%d", k), all, d.clusters(), level),
		}
		if o.sequel != nil {
			o.sequel.hold(&one.PassAt, at, d.clusters(), o.Level)
			o.sequel.hold(&one.Pass, all, d.clusters(), o.Level)
		}
		out = append(out, one)
	}
	return out
}
