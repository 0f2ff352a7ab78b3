package local

import (
	"math"
	"slices"

	"noema/kernel/model/provider"
	"noema/methods"
)

// logprob is a token of the reply with its log probability and the likeliest
// ones at its place, the first of equals first. They are the model's own, at
// temperature 1 and before top-k, top-p or a schema narrow the choice.
func (w *writer) logprob(logits []float32, token int) methods.TokenLogprob {
	s := logSum(logits)
	one := w.spelled(token, s.of(logits[token]))
	var best []int // ids, likeliest first
	for id, l := range logits {
		if !w.p.used[id] || len(best) == w.alternatives && l <= logits[best[len(best)-1]] {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, l, func(have int, l float32) int {
			if logits[have] >= l {
				return -1
			}
			return 1
		})
		best = slices.Insert(best, at, id)
		best = best[:min(len(best), w.alternatives)]
	}
	for _, id := range best {
		one.Top = append(one.Top, w.spelled(id, s.of(logits[id])))
	}
	return one
}

// spelled is a token as text; special tokens, which have none, by their name.
func (w *writer) spelled(id int, logprob float64) methods.TokenLogprob {
	raw := w.p.tokenizer.Bytes(id)
	if len(raw) == 0 {
		raw = []byte(w.p.tokenizer.Token(id))
	}
	return provider.TokenLogprob(raw, logprob)
}

// scale is the logarithm of the sum of the exponentials of scores, as the
// greatest score and what comes to it.
type scale struct{ top, rest float64 }

// logSum sums in the order of ids, in 64 bits.
func logSum(logits []float32) scale {
	top := float64(slices.Max(logits))
	var sum float64
	for _, l := range logits {
		sum += math.Exp(float64(l) - top)
	}
	return scale{top, math.Log(sum)}
}

// of is the logarithm of the probability that belongs to a score.
func (s scale) of(logit float32) float64 { return float64(logit) - s.top - s.rest }
