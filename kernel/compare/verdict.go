package compare

import (
	"fmt"
	"slices"
	"strings"
)

// verdict is the sentence on the headline metric.
func (c *Comparison) verdict() string {
	switch {
	case len(c.Pairs) == 0:
		return "one method: nothing to compare"
	case len(c.Pairs) == 1:
		return c.Pairs[0].Verdict
	case c.Baseline != "":
		return c.againstBaseline()
	}
	return c.overall()
}

// againstBaseline sorts the methods by what is decided.
func (c *Comparison) againstBaseline() string {
	var better, worse, open []string
	for _, p := range c.Pairs {
		switch p.Winner {
		case p.A:
			better = append(better, p.A)
		case c.Baseline:
			worse = append(worse, p.A)
		default:
			open = append(open, p.A)
		}
	}
	var parts []string
	for _, part := range []struct {
		word  string
		names []string
	}{{"better", better}, {"worse", worse}, {"not decided", open}} {
		if len(part.names) > 0 {
			parts = append(parts, part.word+": "+strings.Join(part.names, ", "))
		}
	}
	return fmt.Sprintf("against %s on %s: %s", c.Baseline, c.Metric, strings.Join(parts, "; "))
}

// overall names the best method if it beats every other. If not, it names
// those that nothing separates from the one with the highest mean.
func (c *Comparison) overall() string {
	best := -1
	for i, m := range c.Methods {
		v := m.Metrics[c.Metric].Value
		if v.Defined && (best < 0 || v.Value > c.Methods[best].Metrics[c.Metric].Value.Value) {
			best = i
		}
	}
	if best < 0 {
		return fmt.Sprintf("not decided: %s is defined for no method", c.Metric)
	}
	name := c.Methods[best].Method
	var rivals []string
	for _, p := range c.Pairs {
		if p.Winner != name && (p.A == name || p.B == name) {
			rivals = append(rivals, p.A, p.B)
		}
	}
	rivals = slices.DeleteFunc(rivals, func(r string) bool { return r == name })
	if len(rivals) == 0 {
		return fmt.Sprintf("%s is the best on %s: better than each of the %d others", name, c.Metric, len(c.Methods)-1)
	}
	return fmt.Sprintf("not decided on %s: %s has the highest mean, but the samples do not separate it from %s",
		c.Metric, name, strings.Join(rivals, ", "))
}

// notes collects what a reader of the numbers must know.
func (d Data) notes(c *Comparison) []string {
	var notes []string
	note := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	if c.Epochs > 1 {
		note("%d epochs of each sample are averaged first: n counts samples", c.Epochs)
	}
	if c.Clusters > 0 {
		note("the %d samples are in %d clusters, which intervals and tests take as units", c.Samples, c.Clusters)
	}
	for _, m := range c.Methods {
		if m.Failed > 0 {
			note("%s: %d of %d trials failed by plugin, provider or time and are left out; failed_as_wrong counts them as wrong", m.Method, m.Failed, m.Trials)
		}
		if m.Missing > 0 {
			note("%s: %d trials are not finished: resume the run", m.Method, m.Missing)
		}
	}
	if c.Budget != nil {
		note("a trial beyond the budget counts as wrong, though its method did not know of the budget")
	}
	if len(c.Metrics) > 1 && len(c.Pairs) > 0 {
		note("%s decides; the other metrics are corrected each for itself and explain", c.Metric)
	}
	if len(c.Groups) > 0 {
		note("the intervals within groups are not corrected for their number: they show where to look")
	}
	return append(notes, sharedNotes(c.Pairs)...)
}

// sharedNotes tells of pairs that had answers of the model in common.
func sharedNotes(pairs []Pair) []string {
	var notes []string
	for _, p := range pairs {
		if p.Shared.Common > 0 {
			notes = append(notes, fmt.Sprintf(
				"%s and %s had answers of the model in common in %d of %d pairs of trials: common random numbers, which narrow the interval of their difference",
				p.A, p.B, p.Shared.Common, p.Shared.Trials))
		}
	}
	return notes
}
