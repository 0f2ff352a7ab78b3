package score

import (
	"maps"
	"math"
	"slices"
)

// Reduced is what the epochs of one sample come to. Samples are what the
// statistics count: the epochs of one are repeats, not further evidence.
type Reduced struct {
	Values map[string]float64 `json:"values"` // mean over the epochs where it is defined
	Counts map[string]int     `json:"counts"` // in how many epochs it is defined
	Epochs int                `json:"epochs"`
}

// Reducer brings the scores of one sample's epochs, in the order of the
// epochs, together.
type Reducer func(epochs []Score) Reduced

var _ Reducer = Reduce

// Reduce averages each value over the epochs in which it is defined; Counts
// says how many those are. A value that no epoch defines is absent.
func Reduce(epochs []Score) Reduced {
	r := Reduced{Values: map[string]float64{}, Counts: map[string]int{}, Epochs: len(epochs)}
	for _, e := range epochs {
		for name, v := range e.Values {
			if finite(v) {
				r.Values[name] += v
				r.Counts[name]++
			}
		}
	}
	for name, n := range r.Counts {
		r.Values[name] /= float64(n)
	}
	return r
}

// Summarize makes the metric of one value over samples. clusters names each
// sample's cluster, as in [MeanClustered]; nil means that all samples stand
// alone. Samples without the value are left out, with a warning, and another
// warning tells of samples whose epochs do not all have it.
func Summarize(name string, samples []Reduced, clusters []string, o Options) Metric {
	values, partial := make([]float64, len(samples)), 0
	for i, s := range samples {
		v, ok := s.Values[name]
		if !ok {
			v = math.NaN()
		} else if s.Counts[name] < s.Epochs {
			partial++
		}
		values[i] = v
	}
	var m Metric
	if clusters == nil {
		m = Mean(name, values, o)
	} else {
		m = MeanClustered(name, values, clusters, o)
	}
	if partial > 0 {
		m.warn("undefined in some epochs of %d of %d samples", partial, len(samples))
	}
	return m
}

// ValueNames lists the values that any of the samples has, sorted.
func ValueNames(samples []Reduced) []string {
	seen := map[string]bool{}
	for _, s := range samples {
		for name := range s.Values {
			seen[name] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}
