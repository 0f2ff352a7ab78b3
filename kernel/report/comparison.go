package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"noema/kernel/compare"
	"noema/kernel/display"
	"noema/kernel/score"
)

// ComparisonView says what a comparison is shown with.
type ComparisonView struct {
	Runs      []string
	Simulated bool
	Groups    bool // show the groups of samples
}

// Comparison prints methods side by side, in at most 100 columns.
func Comparison(w io.Writer, c *compare.Comparison, v ComparisonView) {
	fmt.Fprint(w, string(ComparisonBundle(c, v)[display.PlainText]))
}

// ComparisonBundle is methods side by side in every form.
func ComparisonBundle(c *compare.Comparison, v ComparisonView) display.Bundle {
	var parts []display.Displayer
	parts = append(parts, display.Text(comparisonTitle(c, v)))
	for _, t := range ComparisonTables(c, v) {
		parts = append(parts, t)
	}
	if tail := comparisonTail(c, v); tail != "" {
		parts = append(parts, display.Text(tail))
	}
	b := display.Join(parts...)
	b[display.PlainText] = append(b[display.PlainText], '\n')
	return b
}

// ComparisonTables are the tables of a comparison, for faces that lay them out
// themselves.
func ComparisonTables(c *compare.Comparison, v ComparisonView) []display.Table {
	tables := []display.Table{methodTable(c)}
	if len(c.Pairs) > 0 {
		tables = append(tables, pairTable(c), ratioTable(c))
	}
	if v.Groups && len(c.Groups) > 0 {
		tables = append(tables, groupTable(c))
	}
	return tables
}

// ComparisonNotes are what stands below the tables.
func ComparisonNotes(c *compare.Comparison, v ComparisonView) string { return comparisonTail(c, v) }

func comparisonTitle(c *compare.Comparison, v ComparisonView) string {
	t := fmt.Sprintf("%s\n%s", c.Verdict, plural(c.Samples, "sample"))
	if c.Epochs > 1 {
		t += fmt.Sprintf(" × %d epochs", c.Epochs)
	}
	if c.Clusters > 0 {
		t += fmt.Sprintf(" in %d clusters", c.Clusters)
	}
	t += fmt.Sprintf(" · %.0f %% intervals · bootstrap of %s, seed %d", c.Level*100, count(c.Resamples), c.Seed)
	if len(v.Runs) > 1 {
		t += "\nruns " + strings.Join(v.Runs, ", ")
	}
	if c.Budget != nil {
		t += fmt.Sprintf("\nequal budget: a trial over %s counts as wrong", budgetText(c))
	}
	return t
}

func budgetText(c *compare.Comparison) string {
	var parts []string
	if n := c.Budget.Calls; n > 0 {
		parts = append(parts, plural(n, "call"))
	}
	if n := c.Budget.Tokens; n > 0 {
		parts = append(parts, plural(int(n), "token"))
	}
	if n := c.Budget.Cost; n > 0 {
		usd := n.USD()
		parts = append(parts, money(&usd, 1))
	}
	return strings.Join(parts, " or ")
}

// methodTable is a line a method: how good, at what cost, and where that puts
// it.
func methodTable(c *compare.Comparison) display.Table {
	var t display.Table
	t.Add("method")
	t.AddWhole(c.Metric, string(c.Pareto.Resource))
	t.Add("front", "non-answers")
	for i, m := range c.Methods {
		standing := ""
		if i < len(c.Pareto.Points) {
			standing = string(c.Pareto.Points[i].Standing)
			if by := c.Pareto.Points[i].By; len(by) > 0 {
				standing += " by " + strings.Join(by, ", ")
			}
		}
		t.Row(m.Method, metric(m.Metrics[c.Metric].Value, true), used(c.Pareto.Resource, m.Usage[c.Pareto.Resource]), standing, nonAnswers(m))
	}
	for _, line := range []struct {
		name   string
		levels map[string]float64
	}{{"chance", c.Chance}, {"majority", c.Majority}} {
		if v, ok := line.levels[c.Metric]; ok {
			t.Row(line.name, fmt.Sprintf("%.2f", v))
		}
	}
	return t
}

func nonAnswers(m compare.MethodStats) string {
	var parts []string
	for _, cause := range m.Causes {
		parts = append(parts, fmt.Sprintf("%d %s", cause.Trials, cause.Outcome))
	}
	if m.Missing > 0 {
		parts = append(parts, fmt.Sprintf("%d not finished", m.Missing))
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

// used writes the use of a resource with its interval.
func used(r compare.Resource, m score.Metric) string {
	if !m.Defined {
		return "unknown"
	}
	s := amount(r, m.Value)
	if m.HasInterval() {
		s += fmt.Sprintf(" [%s, %s]", amount(r, m.Low), amount(r, m.High))
	}
	return s
}

func amount(r compare.Resource, v float64) string {
	switch r {
	case compare.Cost:
		return money(&v, 1)
	case compare.Latency:
		return seconds(time.Duration(v * float64(time.Millisecond)))
	case compare.Tokens:
		return count(int(v + 0.5))
	}
	return fmt.Sprintf("%.1f", v)
}

// pairTable is a line a pair: the difference, how sure it is, and who wins.
func pairTable(c *compare.Comparison) display.Table {
	var t display.Table
	t.Add("pair")
	t.AddWhole("difference", "+/-/=", "p (Holm)")
	t.Add("winner", "detectable")
	for _, p := range c.Pairs {
		d := p.Metrics[c.Metric]
		winner, detectable := "none", ""
		if d.Winner != "" {
			winner = d.Winner
		}
		if d.Detectable.Defined() {
			detectable = fmt.Sprintf("from %.2f", float64(d.Detectable))
		}
		t.Row(p.A+" − "+p.B, signed(d.Difference), fmt.Sprintf("%d/%d/%d", d.Wins, d.Losses, d.Ties), pValue(d.Holm), winner, detectable)
	}
	return t
}

func signed(m score.Metric) string {
	if !m.Defined {
		return "–"
	}
	s := plus(m.Value)
	if m.HasInterval() {
		s += fmt.Sprintf(" [%s, %s]", plus(m.Low), plus(m.High))
	}
	return s
}

// plus writes a number with its sign, and what rounds to 0 with none.
func plus(x float64) string {
	s := fmt.Sprintf("%+.2f", x)
	if s == "-0.00" || s == "+0.00" {
		return "0.00"
	}
	return s
}

func pValue(p compare.Number) string {
	switch {
	case !p.Defined():
		return "–"
	case p < 0.001:
		return "< 0.001"
	}
	return fmt.Sprintf("%.3f", float64(p))
}

// ratioTable tells how much one method of a pair uses for each unit of the
// other.
func ratioTable(c *compare.Comparison) display.Table {
	var t display.Table
	t.Add("times as much")
	t.AddWhole("calls", "tokens", "cost", "model time")
	for _, p := range c.Pairs {
		row := []string{p.A + " / " + p.B}
		for _, r := range compare.Resources() {
			row = append(row, ratio(p.Ratios[r]))
		}
		t.Row(row...)
	}
	return t
}

func ratio(r compare.Ratio) string {
	if !r.Ratio.Defined {
		return "–"
	}
	s := fmt.Sprintf("%.3g", r.Ratio.Value)
	if r.Ratio.HasInterval() && !r.Constant {
		s += fmt.Sprintf(" [%.3g, %.3g]", r.Ratio.Low, r.Ratio.High)
	}
	return s
}

func groupTable(c *compare.Comparison) display.Table {
	var t display.Table
	t.Add("group", "n")
	for _, m := range c.Methods {
		t.Add(m.Method)
	}
	t.Add("chance")
	for _, g := range c.Groups {
		row := []string{or(g.Group, "(none)"), fmt.Sprint(g.Samples)}
		for _, m := range g.Methods {
			row = append(row, metric(m, true))
		}
		chance := "–"
		if g.Chance.Defined() {
			chance = fmt.Sprintf("%.2f", float64(g.Chance))
		}
		t.Row(append(row, chance)...)
	}
	return t
}

func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// comparisonTail is what stands below the tables.
func comparisonTail(c *compare.Comparison, v ComparisonView) string {
	var lines []string
	for _, n := range c.Notes {
		if !v.Groups && strings.Contains(n, "within groups") {
			continue // they are not shown
		}
		lines = append(lines, "note: "+Plain(n))
	}
	for _, m := range c.Methods {
		for _, warning := range m.Metrics[c.Metric].Value.Warnings {
			lines = append(lines, fmt.Sprintf("warning: %s: %s", m.Method, warning))
		}
		if m.First != nil && m.First.P.Defined() && m.First.P < 0.05 {
			lines = append(lines, fmt.Sprintf("bias: %s puts the first item first in %.0f %% of trials; chance is %.0f %% (p %s)",
				m.Method, 100*m.First.Rate.Value, 100*float64(m.First.Chance), pValue(m.First.P)))
		}
		for _, k := range m.Repeats {
			if k.K == c.Epochs && k.K > 1 {
				lines = append(lines, fmt.Sprintf("repeats: %s solves %.2f of the samples in at least one of %d tries (pass@%d), %.2f in all (pass^%d)",
					m.Method, k.PassAt.Value, k.K, k.K, k.Pass.Value, k.K))
			}
		}
	}
	for _, p := range c.Pairs {
		lines = append(lines, countedOtherwise(p, c.Metric)...)
	}
	if v.Simulated {
		lines = append(lines, "")
	}
	for i, l := range lines {
		lines[i] = wrap(l)
	}
	if v.Simulated {
		lines = append(lines, simulated)
	}
	return strings.Join(lines, "\n")
}

// wrap breaks a line that is wider than the tables, between words.
func wrap(s string) string {
	const width = 98
	var b strings.Builder
	used := 0
	for i, word := range strings.Split(s, " ") {
		n := len([]rune(word))
		switch {
		case i == 0:
		case used+1+n > width:
			b.WriteString("\n  ")
			used = 2
		default:
			b.WriteByte(' ')
			used++
		}
		b.WriteString(word)
		used += n
	}
	return b.String()
}

// countedOtherwise tells of a pair what other ways to count non-answers give.
func countedOtherwise(p compare.Pair, metric string) []string {
	var lines []string
	d := p.Metrics[metric]
	for _, o := range []struct {
		name string
		m    *score.Metric
	}{{"with failed trials as wrong", d.FailedAsWrong}, {"without samples that lack an answer", d.AnsweredOnly}} {
		if o.m != nil {
			lines = append(lines, fmt.Sprintf("%s − %s %s: %s", p.A, p.B, o.name, signed(*o.m)))
		}
	}
	return lines
}

// ParetoPlot is the headline measure against what a trial costs.
func ParetoPlot(c *compare.Comparison, simulatedModel bool) display.Plot {
	p := display.Plot{
		Title: plotTitle(c.Metric+" against "+string(c.Pareto.Resource)+" of a trial", simulatedModel), Style: display.Dots,
		X: display.Axis{Label: string(c.Pareto.Resource) + " a trial"}, Y: display.Axis{Label: c.Metric, Min: 0, Max: 1},
	}
	for _, pt := range c.Pareto.Points {
		p.Series = append(p.Series, display.Series{Name: pt.Method, Points: []display.Point{{
			X: pt.Cost.Value, XLow: pt.Cost.Low, XHigh: pt.Cost.High, Y: pt.Merit.Value, Low: pt.Merit.Low, High: pt.Merit.High, Label: pt.Method,
		}}})
	}
	return p
}

// GroupPlot is the headline measure of each method in each group.
func GroupPlot(c *compare.Comparison, simulatedModel bool) display.Plot {
	p := display.Plot{
		Title: plotTitle(c.Metric+" by group", simulatedModel), Style: display.Bars, Width: 860,
		Y: display.Axis{Label: c.Metric, Min: 0, Max: 1},
	}
	for i, m := range c.Methods {
		s := display.Series{Name: m.Method}
		for _, g := range c.Groups {
			s.Points = append(s.Points, display.Point{Y: g.Methods[i].Value, Low: g.Methods[i].Low, High: g.Methods[i].High, Label: g.Group})
		}
		p.Series = append(p.Series, s)
	}
	return p
}

func plotTitle(s string, simulatedModel bool) string {
	if simulatedModel {
		s += " (simulated model)"
	}
	return s
}

// AblationTable tells what each changed option does: to the headline measure, to
// the tokens of a trial, and to both together. The sign is that of the full
// method against the variant: a positive gain is what the option earns.
func AblationTable(c *compare.Comparison) display.Table {
	t := display.Table{Title: "what the full method gains over each variant"}
	t.Add("variant", "gain", "p (Holm)", "tokens more", "gain per 1,000 tokens")
	usage := map[string]map[compare.Resource]score.Metric{}
	for _, m := range c.Methods {
		usage[m.Method] = m.Usage
	}
	for _, p := range c.Pairs { // A is the variant, B the full method
		d := p.Metrics[c.Metric].Difference
		gain := d
		gain.Value, gain.Low, gain.High = -d.Value, -d.High, -d.Low
		full, variant := usage[p.B][compare.Tokens], usage[p.A][compare.Tokens]
		more, per := "unknown", "–"
		if full.Defined && variant.Defined {
			tokens := full.Value - variant.Value
			more = fmt.Sprintf("%+.0f", tokens)
			if d.Defined && tokens >= 1 {
				per = fmt.Sprintf("%+.3f", gain.Value/tokens*1000+0) // + 0 makes -0 into 0
			}
		}
		t.Row(p.A, signed(gain), pValue(p.Metrics[c.Metric].Holm), more, per)
	}
	return t
}
