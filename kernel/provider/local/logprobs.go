package local

import (
	"math"
	"slices"

	"noema/kernel/provider"
	"noema/methods"
)

// tell is a token of the reply with its log probability and the likeliest ones
// at its place, the first of equals first. They are the model's own, at
// temperature 1 and before top-k, top-p or a schema narrow the choice.
func (w *writer) tell(logits []float32, token int) methods.TokenLogprob {
	top, rest := logSum(logits)
	one := w.spelled(token, float64(logits[token])-top-rest)
	var best []int // ids, likeliest first
	for id, l := range logits {
		if !w.p.used[id] || len(best) == w.logprobs && l <= logits[best[len(best)-1]] {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, l, func(have int, l float32) int {
			if logits[have] >= l {
				return -1
			}
			return 1
		})
		best = slices.Insert(best, at, id)
		best = best[:min(len(best), w.logprobs)]
	}
	for _, id := range best {
		one.Top = append(one.Top, w.spelled(id, float64(logits[id])-top-rest))
	}
	return one
}

// spelled is a token as it reads: marks, which stand for no text, by name.
func (w *writer) spelled(id int, logprob float64) methods.TokenLogprob {
	raw := w.p.tokenizer.Bytes(id)
	if len(raw) == 0 {
		raw = []byte(w.p.tokenizer.Token(id))
	}
	return provider.TokenLogprob(raw, logprob)
}

// logprob is the logarithm of a token's probability.
func logprob(logits []float32, id int) float64 {
	top, rest := logSum(logits)
	return float64(logits[id]) - top - rest
}

// logSum is the logarithm of the sum of the exponentials, as the greatest
// score and what comes to it. The sum runs in the order of ids, in 64 bits.
func logSum(logits []float32) (top, rest float64) {
	top = float64(slices.Max(logits))
	var sum float64
	for _, l := range logits {
		sum += math.Exp(float64(l) - top)
	}
	return top, math.Log(sum)
}
