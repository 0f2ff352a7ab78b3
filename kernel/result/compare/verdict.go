package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// verdict is the sentence on the headline metric.
func (c *Comparison) verdict() string {
	switch {
	case c.Samples > 0 && c.Unscored == c.Samples:
		return "no sample has a target: answers are shown and not judged"
	case len(c.Pairs) == 0:
		return "one method: nothing to compare"
	case len(c.Pairs) == 1:
		return c.Pairs[0].Verdict
	case c.Sequential != nil && c.Baseline == "" && c.Against == nil:
		return c.overallUntil()
	case c.Baseline != "":
		return fmt.Sprintf("against %s on %s: %s", c.Baseline, c.Metric, c.sorted())
	case c.Against != nil:
		return fmt.Sprintf("each pair on %s: %s", c.Metric, c.sorted())
	}
	return c.overall()
}

// sorted are the methods that have a baseline by what is decided.
func (c *Comparison) sorted() string {
	var better, worse, open []string
	for _, p := range c.Pairs {
		switch p.Winner {
		case p.A:
			better = append(better, p.A)
		case p.B:
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
	return strings.Join(parts, "; ")
}

// overall names the best method if it beats every other. If not, it names
// the methods that the one with the highest mean is not proven better than.
func (c *Comparison) overall() string {
	means := make([]Number, len(c.Methods))
	for i, m := range c.Methods {
		if means[i] = undefined; m.Metrics[c.Metric].Value.Defined {
			means[i] = Number(m.Metrics[c.Metric].Value.Value)
		}
	}
	if c.Common != nil {
		means = c.Common.Means
	}
	best := -1
	for i, mean := range means {
		if mean.Defined() && (best < 0 || mean > means[best]) {
			best = i
		}
	}
	if best < 0 && c.Common != nil {
		return fmt.Sprintf("not decided on %s among all: the methods have no sample in common", c.Metric)
	}
	if best < 0 {
		return fmt.Sprintf("not decided: %s is undefined for every method", c.Metric)
	}
	name := c.Methods[best].Method
	if c.Uncalibrated() {
		return fmt.Sprintf("uncalibrated: for the graders %s has the highest mean, but no labels of people confirm it: \"noema label\" asks for labels", name)
	}
	var rivals []string
	for _, p := range c.Pairs {
		if p.Winner != name && (p.A == name || p.B == name) {
			rivals = append(rivals, p.A, p.B)
		}
	}
	rivals = slices.DeleteFunc(rivals, func(r string) bool { return r == name })
	if len(rivals) == 0 {
		return fmt.Sprintf("%s is the best on %s: better than each of the other %d", name, c.Metric, len(c.Methods)-1)
	}
	return fmt.Sprintf("not decided on %s: %s has the highest mean but is not proven better than %s",
		c.Metric, name, strings.Join(rivals, ", "))
}

// EpochsText is "3 epochs", or "up to 3 epochs".
func (c *Comparison) EpochsText() string {
	if c.UnevenEpochs {
		return fmt.Sprintf("up to %d epochs", c.Epochs)
	}
	return fmt.Sprintf("%d epochs", c.Epochs)
}

// failures names the trials of m that are left out, and what they would do to
// the headline if they were wrong, where that could change who is ahead.
func (c *Comparison) failures(m MethodStats) string {
	var why []string
	for _, cause := range m.Causes {
		if cause.Infra {
			why = append(why, fmt.Sprintf("%d × %s", cause.Trials, short(strings.TrimPrefix(cause.Text, m.Method+": "))))
		}
	}
	text := fmt.Sprintf("%s: %d of %d trials failed for other reasons than the method and are left out: %s", m.Method, m.Failed, m.Trials, strings.Join(why, "; "))
	if c.sensitive(m) {
		merit := m.Metrics[c.Metric]
		text += fmt.Sprintf("; if they were wrong: %s %.2f", c.Metric, merit.FailedAsWrong.Value)
		if merit.Value.Defined {
			text += fmt.Sprintf(" instead of %.2f", merit.Value.Value)
		}
	}
	return text
}

// short cuts a cause to fit a line.
func short(text string) string {
	const most = 100
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}

// sensitive reports whether m changes sides with another method, or with what
// guessing earns, once its failed trials count as wrong.
func (c *Comparison) sensitive(m MethodStats) bool {
	merit := m.Metrics[c.Metric]
	if merit.FailedAsWrong == nil {
		return false
	}
	var rivals []float64
	for _, levels := range []map[string]float64{c.Chance, c.Majority} {
		if level, ok := levels[c.Metric]; ok {
			rivals = append(rivals, level)
		}
	}
	for _, other := range c.Methods {
		if other.Method == m.Method {
			continue
		}
		theirs := other.Metrics[c.Metric]
		rivals = append(rivals, theirs.Value.Value)
		if theirs.FailedAsWrong != nil {
			rivals = append(rivals, theirs.FailedAsWrong.Value)
		}
	}
	if !merit.Value.Defined {
		return true
	}
	for _, rival := range rivals {
		if cmp.Compare(merit.Value.Value, rival) != cmp.Compare(merit.FailedAsWrong.Value, rival) {
			return true
		}
	}
	return slices.ContainsFunc(c.Pairs, func(p Pair) bool {
		d := p.Metrics[c.Metric]
		return (p.A == m.Method || p.B == m.Method) && d.FailedAsWrong != nil && sideOf(d.Difference) != sideOf(*d.FailedAsWrong)
	})
}
