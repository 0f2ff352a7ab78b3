package compare

import (
	"fmt"
	"slices"
	"strings"

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
	c.Verdict = c.verdict() + c.within()
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

// reversals say, before the mean, on which tasks a method is proven worse than one that it is
// better than, on the mean or on another task; nothing where there are none.
func (s *study) reversals(slices []Slice, whole []Difference) string {
	var parts []string
	for i, p := range s.pairs {
		wins := map[string][]string{} // of each, by task
		for _, one := range slices {
			if w := one.Pairs[i].Winner; one.Task != "" && one.Model == "" && w != "" {
				wins[w] = append(wins[w], one.Task)
			}
		}
		overall := whole[i].Winner
		for _, of := range [][2]string{{p.A, p.B}, {p.B, p.A}} {
			if len(wins[of[0]]) > 0 && (overall == of[1] || overall == "" && len(wins[of[1]]) > 0) {
				parts = append(parts, fmt.Sprintf("on %s %s is better than %s", Listed(wins[of[0]]), of[0], of[1]))
			}
		}
	}
	if parts == nil {
		return ""
	}
	if more := len(parts) - FewPairs; more > 1 {
		parts = append(parts[:FewPairs:FewPairs], fmt.Sprintf("%d more such pairs", more))
	}
	return "the tasks disagree: " + strings.Join(parts, ", ") + "; on the mean of all: "
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
