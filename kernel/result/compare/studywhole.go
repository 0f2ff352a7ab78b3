package compare

import (
	"fmt"
	"slices"

	"noema/kernel/base/score"
	"noema/methods"
)

// whole is the study as one comparison on the mean of its tasks.
func (s *study) whole(of Slice) *Comparison {
	c := &Comparison{
		Metric: of.Metric, Metrics: []string{of.Metric}, Level: s.Level, PairLevel: s.simultaneous(),
		Baseline: s.Baseline, Samples: of.Samples, Chance: map[string]float64{},
	}
	if len(s.envelope) > 0 {
		c.Budget = &s.Budget
	}
	for _, one := range s.cells {
		c.Epochs = max(c.Epochs, one.Data.epochs())
	}
	for m := range s.methods {
		c.Methods = append(c.Methods, s.stats(m, of))
	}
	c.Pareto.Resource = payment(c.Methods)
	for i, p := range s.pairs {
		d := of.Pairs[i]
		d.Equivalence = d.within(s.Equivalence)
		p.Metrics = map[string]Difference{of.Metric: d}
		p.Winner, p.Verdict = d.Winner, d.Verdict()
		c.Pairs = append(c.Pairs, p)
	}
	c.Verdict = c.verdict()
	if slices.ContainsFunc(s.strata, func(t stratum) bool { return t.Metric == score.Graded }) {
		c.Notes = append(c.Notes, "a model grades answers of this study: the study names no winner; \"noema label\" and a comparison of the one run decide")
	}
	for _, m := range c.Methods {
		if m.Failed > 0 {
			c.Notes = append(c.Notes, c.failures(m))
		}
	}
	return c
}

// stats are the numbers of a method over all cells: what a trial uses is the mean of the
// tasks by their weights, and of the models.
func (s *study) stats(m int, of Slice) MethodStats {
	out := MethodStats{
		Method: s.methods[m], N: of.Methods[m].N, Outcomes: map[methods.Outcome]int{},
		Metrics: map[string]Merit{of.Metric: {Value: of.Methods[m]}}, Usage: map[Resource]score.Metric{},
	}
	for _, r := range append(Resources(), InputTokens, OutputTokens) {
		out.Usage[r] = s.use(m, r)
	}
	var total methods.Usage
	for _, c := range s.cells {
		used, _, _ := out.tally(c.Data, m)
		total = total.Plus(used)
		for _, cause := range c.Data.Causes(m) {
			cause.Example = fmt.Sprintf("%s · %s: %s", c.Task, c.Model, cause.Example)
			out.Causes = append(out.Causes, cause)
		}
	}
	out.Total = UsageOf(total)
	return out
}
