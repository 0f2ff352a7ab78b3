package score

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"noema/methods"
)

// Names of a ranking's values; those of [Hits] and [NDCG] carry their cutoff.
const (
	MRR   = "mrr"
	First = "first" // 1 if the item presented first is ranked first; a bias, not a merit
)

// Hits is the name of the share of samples with a gold item in the first k.
func Hits(k int) string { return hitsAt + strconv.Itoa(k) }

// NDCG is the name of the normalised discounted cumulative gain at k.
func NDCG(k int) string { return ndcgAt + strconv.Itoa(k) }

const hitsAt, ndcgAt = "hits@", "ndcg@"

// ranking scores rankings of n items against one or more gold items, all of
// the same worth. Only the first k ranked items count. With ranks from 1:
//
//   - hits@c is 1 if a gold item is among the first c. The cutoffs are those
//     of 1, 3 and 5 that are below k, and k.
//   - mrr is 1 over the rank of the first gold item, 0 if none is within k.
//     Source: Voorhees 1999, "The TREC-8 Question Answering Track Report".
//   - ndcg@k is DCG over the best possible DCG, where DCG sums 1/log2(1+rank)
//     over the ranks of gold items and the best ranking holds min(gold, k) of
//     them first. Source: Järvelin and Kekäläinen 2002, "Cumulated gain-based
//     evaluation of IR techniques". Differs: they leave ranks below the
//     logarithm's base undiscounted; log2(1+rank) is the form of Burges et al.
//     2005 and of trec_eval and scikit-learn.
//   - first is 1 if the ranking begins with item 1 as presented. It is
//     undefined unless the method answered with at least one item: a fallback
//     to 1..k says nothing about the model's bias.
type ranking struct {
	n, k int
	gold map[int]bool
}

func newRanking(spec methods.AnswerSpec, target json.RawMessage) (grader, error) {
	if spec.N < 1 {
		return nil, fmt.Errorf("score: cannot score a ranking of %d items", spec.N)
	}
	items, err := parseTarget[[]int](methods.Ranking, target)
	if err != nil {
		return nil, err
	}
	gold := make(map[int]bool, len(items))
	for _, i := range items {
		if i < 1 || i > spec.N {
			return nil, fmt.Errorf("score: gold item %d is not within 1..%d", i, spec.N)
		}
		gold[i] = true
	}
	if len(gold) == 0 {
		return nil, fmt.Errorf("score: ranking target names no gold item")
	}
	return ranking{n: spec.N, k: cutoff(spec), gold: gold}, nil
}

// cutoff is how many ranked items count: K, or all of them if K is not set.
func cutoff(spec methods.AnswerSpec) int {
	if spec.K > 0 {
		return spec.K
	}
	return spec.N
}

func hitCutoffs(k int) []int {
	var cuts []int
	for _, c := range []int{1, 3, 5} {
		if c < k {
			cuts = append(cuts, c)
		}
	}
	return append(cuts, k)
}

func (r ranking) grade(a methods.Answer) (map[string]float64, error) {
	items, err := a.Ranking()
	if err != nil {
		return nil, err
	}
	v := zero(methods.AnswerSpec{Kind: methods.Ranking, N: r.n, K: r.k})
	if len(items) > 0 {
		v[First] = oneIf(items[0] == 1)
	}
	items = items[:min(r.k, len(items))]
	best := slices.IndexFunc(items, func(i int) bool { return r.gold[i] })
	if best < 0 {
		return v, nil
	}
	for _, c := range hitCutoffs(r.k) {
		v[Hits(c)] = oneIf(best < c)
	}
	v[MRR] = 1 / float64(best+1)
	var dcg float64
	for at, i := range items {
		if r.gold[i] {
			dcg += discount(at + 1)
		}
	}
	v[NDCG(r.k)] = dcg / r.ideal()
	return v, nil
}

// chance averages over all orders of the n items with g gold ones among them.
// No gold item is in the first c with probability C(n-g,c)/C(n,c), computed as
// a running product, so that large n cannot overflow.
func (r ranking) chance() map[string]float64 {
	v := map[string]float64{First: 1 / float64(r.n)}
	g, k := len(r.gold), min(r.k, r.n)
	cuts := hitCutoffs(r.k)
	none := 1.0 // probability that no gold item is ranked so far
	var mrr, dcg float64
	for rank := 1; rank <= k; rank++ {
		left := r.n - rank + 1
		goldHere := min(1, float64(g)/float64(left)) // given that none came before
		mrr += none * goldHere / float64(rank)
		none *= 1 - goldHere
		dcg += float64(g) / float64(r.n) * discount(rank)
		hit := 1 - none
		if g == 1 {
			hit = float64(rank) / float64(r.n) // without the rounding of the product
		}
		for _, c := range cuts {
			if c >= rank {
				v[Hits(c)] = hit
			}
		}
	}
	v[MRR], v[NDCG(r.k)] = mrr, dcg/r.ideal()
	return v
}

// ideal is the DCG of the best ranking.
func (r ranking) ideal() (dcg float64) {
	for rank := 1; rank <= min(len(r.gold), r.k); rank++ {
		dcg += discount(rank)
	}
	return dcg
}

// discount is the worth of a gold item at a rank, from 1.
func discount(rank int) float64 { return 1 / math.Log2(float64(rank)+1) }
