package local

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"noema/methods"
)

// sampler chooses tokens by their scores.
type sampler struct {
	temperature float64
	topP        float64
	topK        int
	random      *rand.Rand
}

// newSampler seeds a generator with the request's seed and draw, so that draws
// of one request differ and each comes back exactly.
func newSampler(s methods.Sampling, draw int) *sampler {
	return &sampler{s.Temperature, s.TopP, s.TopK, rand.New(rand.NewPCG(s.Seed, uint64(draw)))}
}

// choose gives a token that allow permits; a nil allow permits all. It gives
// -1 if none is permitted.
func (s *sampler) choose(logits []float32, allow []bool) int {
	if s.temperature == 0 {
		return greatest(logits, allow)
	}
	candidates := s.candidates(logits, allow)
	if len(candidates) == 0 {
		return -1
	}
	var total float64
	for _, c := range candidates {
		total += c.weight
	}
	rest := s.random.Float64() * total
	for _, c := range candidates {
		if rest -= c.weight; rest < 0 {
			return c.id
		}
	}
	return candidates[len(candidates)-1].id
}

// greatest is the token of the highest score, the first one of equals.
func greatest(logits []float32, allow []bool) int {
	best := -1
	for id, l := range logits {
		if (allow == nil || allow[id]) && (best < 0 || l > logits[best]) {
			best = id
		}
	}
	return best
}

type candidate struct {
	id     int
	logit  float32
	weight float64 // in proportion to its probability
}

// candidates gives the tokens to choose from: in the order of ids, or from the
// likeliest on if they are narrowed.
func (s *sampler) candidates(logits []float32, allow []bool) []candidate {
	best := greatest(logits, allow)
	if best < 0 {
		return nil
	}
	all := make([]candidate, 0, len(logits))
	for id, l := range logits {
		if allow == nil || allow[id] {
			all = append(all, candidate{id, l, math.Exp(float64(l-logits[best]) / s.temperature)})
		}
	}
	narrowed := s.topK > 0 && s.topK < len(all) || s.topP > 0 && s.topP < 1
	if !narrowed {
		return all
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(b.logit, a.logit) })
	if s.topK > 0 && s.topK < len(all) {
		all = all[:s.topK]
	}
	if s.topP > 0 && s.topP < 1 {
		all = nucleus(all, s.topP)
	}
	return all
}

// nucleus keeps the likeliest candidates that together reach a share p.
func nucleus(all []candidate, p float64) []candidate {
	var total, sum float64
	for _, c := range all {
		total += c.weight
	}
	for i, c := range all {
		if sum += c.weight; sum >= p*total {
			return all[:i+1]
		}
	}
	return all
}
