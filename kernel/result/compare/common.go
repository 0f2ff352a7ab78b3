package compare

import (
	"fmt"
	"slices"
	"strings"

	"noema/kernel/base/score"
)

// Common is how good the methods are on the samples that all of them have. Only
// there are their means compared: on other samples, a method with easier ones would
// have the highest mean.
type Common struct {
	Samples int      `json:"samples"`
	Means   []Number `json:"means"` // of the headline, along Comparison.Methods; null without a common sample
}

// common are the scored samples on which every method has a trial that counts for
// the headline. others reports whether some method has more of them.
func (d Data) common(o plan) (shared Data, others bool) {
	v := view{metric: d.Metrics[0], envelope: envelopeOf(o.Budget)}
	shared = d.scored().where(func(s Sample) bool {
		with := 0
		for _, cells := range s.Cells {
			if slices.ContainsFunc(cells, v.has) {
				with++
			}
		}
		others = others || 0 < with && with < len(s.Cells)
		return with == len(s.Cells)
	})
	return shared, others
}

// has reports whether a trial says something on v's metric.
func (v view) has(c Cell) bool {
	if isCorpus(v.metric) || v.metric == score.Graded {
		return v.counts(c)
	}
	return finite(v.value(c))
}

// headlines are the methods' on the samples of d.
func (d Data) headlines(o plan) []Number {
	v := view{metric: d.Metrics[0], envelope: envelopeOf(o.Budget), bare: true}
	means := make([]Number, len(d.Methods))
	for m := range d.Methods {
		means[m] = undefined
		if mean := d.metric(m, v, o); mean.Defined {
			means[m] = Number(mean.Value)
		}
	}
	return means
}

// commonNote says on what the means are compared.
func (c *Comparison) commonNote() string {
	if c.Common.Samples == 0 {
		return fmt.Sprintf("the methods have no sample in common: their means of %s are over different samples and not compared", c.Metric)
	}
	parts := make([]string, len(c.Methods))
	for i, m := range c.Methods {
		parts[i] = fmt.Sprintf("%s %.3f", m.Method, float64(c.Common.Means[i]))
	}
	one := fmt.Sprintf("the %d samples that all methods have", c.Common.Samples)
	if c.Common.Samples == 1 {
		one = "the one sample that all methods have"
	}
	return fmt.Sprintf("the methods have different samples: their means of %s are compared on %s: %s", c.Metric, one, strings.Join(parts, ", "))
}
