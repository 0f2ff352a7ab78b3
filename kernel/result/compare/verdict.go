package compare

import (
	"cmp"
	"fmt"
	"math"
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
	case c.Baseline != "":
		return fmt.Sprintf("against %s on %s: %s", c.Baseline, c.Metric, c.sorted())
	case c.Against != nil:
		return fmt.Sprintf("each pair on %s: %s", c.Metric, c.sorted())
	}
	return c.overall()
}

// within says for which budget a verdict is.
func (c *Comparison) within() string {
	if c.Budget == nil || len(c.Pairs) == 0 {
		return ""
	}
	var parts []string
	for _, one := range []struct {
		most float64
		text string
	}{{float64(c.Budget.Calls), "%.0f calls"}, {float64(c.Budget.Tokens), "%.0f tokens"}, {c.Budget.Cost.USD(), "$%g"}, {c.Budget.Time.Seconds(), "%g s"}} {
		if one.most > 0 {
			parts = append(parts, fmt.Sprintf(one.text, one.most))
		}
	}
	return " (within a budget of " + Listed(parts) + " a trial)"
}

// sorted are the methods that have a baseline by what is proven.
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
	}{{"better", better}, {"worse", worse}, {"nothing is proven of", open}} {
		if len(part.names) > 0 {
			parts = append(parts, part.word+": "+strings.Join(part.names, ", "))
		}
	}
	return strings.Join(parts, "; ")
}

// overall says the news before the doubt: who is proven better than whom, then which
// methods remain between which nothing is proven.
func (c *Comparison) overall() string {
	highest := c.highest()
	switch {
	case highest == nil && c.Common != nil:
		return fmt.Sprintf("nothing is proven on %s among all: the methods have no sample in common", c.Metric)
	case highest == nil:
		return fmt.Sprintf("nothing is proven: %s is undefined for every method", c.Metric)
	case c.Uncalibrated():
		return fmt.Sprintf("uncalibrated: for the graders %s, but no labels of people confirm it: \"noema label\" asks for labels", c.leading(highest))
	}
	beats, left := c.results()
	for name, losers := range beats {
		if len(losers) == len(c.Methods)-1 {
			return fmt.Sprintf("%s is the best on %s: better than each of the other %d", name, c.Metric, len(losers))
		}
	}
	parts := append(c.proven(beats), c.alike()...)
	switch open := c.untold(left); {
	case len(beats) == 0 && open:
		doubt := ", but is not proven better than any other"
		if len(highest) > 1 {
			doubt = ""
		}
		parts = append([]string{fmt.Sprintf("nothing is proven on %s%s: %s%s", c.Metric, c.yet(), c.leading(highest), doubt)}, parts...)
	case open:
		parts[0] += " on " + c.Metric
		parts = append(parts, among(left)+" nothing is proven"+c.yet())
	default:
		parts[0] += " on " + c.Metric
	}
	return strings.Join(parts, "; ")
}

// results are the methods that each one beats, and those that none beats.
func (c *Comparison) results() (beats map[string][]string, left []string) {
	beats = map[string][]string{}
	beaten := map[string]bool{}
	for _, p := range c.Pairs {
		loser := p.A
		if p.Winner == p.A {
			loser = p.B
		}
		if p.Winner != "" {
			beats[p.Winner], beaten[loser] = append(beats[p.Winner], loser), true
		}
	}
	for _, m := range c.Methods {
		if !beaten[m.Method] && m.Metrics[c.Metric].Value.Defined {
			left = append(left, m.Method)
		}
	}
	return beats, left
}

// untold reports whether two of the methods are neither told apart nor shown to be alike.
func (c *Comparison) untold(names []string) bool {
	return slices.ContainsFunc(c.Pairs, func(p Pair) bool {
		d := p.Metrics[c.Metric]
		return slices.Contains(names, p.A) && slices.Contains(names, p.B) && p.Winner == "" && !d.futile() && !(d.equivalent() && d.Stop == nil)
	})
}

// leading says who has the highest mean.
func (c *Comparison) leading(names []string) string {
	switch len(names) {
	case 1:
		return names[0] + " has the highest mean"
	case len(c.Methods):
		return "all have the same mean"
	}
	return Listed(names) + " share the highest mean"
}

// highest are the methods with the highest mean, on the samples that all have if they do
// not have the same ones; none where there is no mean.
func (c *Comparison) highest() (names []string) {
	best := math.Inf(-1)
	for i, m := range c.Methods {
		mean := m.Metrics[c.Metric].Value.Value
		if !m.Metrics[c.Metric].Value.Defined {
			mean = math.NaN()
		}
		if c.Common != nil {
			mean = float64(c.Common.Means[i])
		}
		switch {
		case !finite(mean):
		case names == nil || apart(mean, best) > 0:
			best, names = mean, []string{m.Method}
		case apart(mean, best) == 0:
			names = append(names, m.Method)
		}
	}
	return names
}

// proven is a clause for all methods that beat the same others, or one for all that lose
// to the same others, whichever takes fewer.
func (c *Comparison) proven(beats map[string][]string) []string {
	loses := map[string][]string{}
	for _, m := range c.Methods {
		for _, loser := range beats[m.Method] {
			loses[loser] = append(loses[loser], m.Method)
		}
	}
	wins, defeats := c.clauses(beats, "beats", "beat"), c.clauses(loses, "loses to", "lose to")
	if len(defeats) < len(wins) || len(defeats) == len(wins) && len(loses) < len(beats) {
		return defeats
	}
	return wins
}

// clauses joins methods that have the same list.
func (c *Comparison) clauses(of map[string][]string, one, many string) (clauses []string) {
	inOrder := func(names []string) (list []string) {
		for _, m := range c.Methods {
			if slices.Contains(names, m.Method) {
				list = append(list, m.Method)
			}
		}
		return list
	}
	said := map[string]bool{}
	for _, m := range c.Methods {
		if said[m.Method] || len(of[m.Method]) == 0 {
			continue
		}
		others := inOrder(of[m.Method])
		var who []string
		for _, n := range c.Methods {
			if slices.Equal(inOrder(of[n.Method]), others) {
				who, said[n.Method] = append(who, n.Method), true
			}
		}
		verb := one
		if len(who) > 1 {
			verb = many
		}
		clauses = append(clauses, Listed(who)+" "+verb+" "+Listed(others))
	}
	return clauses
}

// alike names the pairs that are shown to be equal for practical purposes.
func (c *Comparison) alike() []string {
	var equivalent, futile []string
	margin := 0.0
	for _, p := range c.Pairs {
		switch d := p.Metrics[c.Metric]; {
		case d.futile():
			futile = append(futile, p.A+" and "+p.B)
		case d.equivalent() && d.Stop == nil && d.Winner == "":
			equivalent, margin = append(equivalent, p.A+" and "+p.B), d.Equivalence.Margin
		}
	}
	var parts []string
	if futile != nil {
		parts = append(parts, fmt.Sprintf("no difference of %.3g or more between %s", c.Sequential.Detect, strings.Join(futile, ", ")))
	}
	if equivalent != nil {
		parts = append(parts, fmt.Sprintf("equivalent within %.3g: %s", margin, strings.Join(equivalent, ", ")))
	}
	return parts
}

// yet marks what a rule may still decide.
func (c *Comparison) yet() string {
	if c.Sequential != nil && slices.ContainsFunc(c.Pairs, func(p Pair) bool {
		s := p.Metrics[c.Metric].Stop
		return s != nil && s.State == Open
	}) {
		return " yet"
	}
	return ""
}

// among begins a clause on methods.
func among(names []string) string {
	if len(names) == 2 {
		return "between " + Listed(names)
	}
	return "among " + Listed(names)
}

// Listed joins names as in "a, b and c".
func Listed(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
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
			why = append(why, fmt.Sprintf("%d × %s", cause.Trials, clipped(strings.Join(strings.Fields(strings.TrimPrefix(cause.Text, m.Method+": ")), " "), 100)))
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
