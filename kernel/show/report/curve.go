package report

import (
	"fmt"
	"strings"

	"noema/kernel/base/display"
	"noema/kernel/base/score"
	"noema/kernel/result/compare"
)

// curveTables are a table for each way to spend a budget, a line a budget, and one of what the
// methods know of their mistakes.
func curveTables(c *compare.Comparison) (tables []display.Table) {
	if c.Curve == nil {
		return nil
	}
	for _, w := range c.Curve.Ways {
		tables = append(tables, curveTable(c, w))
	}
	if len(c.Curve.Confidence) > 0 {
		tables = append(tables, confidenceTable(c.Curve.Confidence))
	}
	return tables
}

func curveTable(c *compare.Comparison, w compare.Spending) display.Table {
	r, t := c.Curve.Resource, display.Table{Title: fmt.Sprintf("%s within a budget: %s", c.Metric, w.Way)}
	t.AddWhole(resourceName(r) + " a sample")
	for i, l := range w.Lines {
		t.AddWhole(letter(i) + " " + l.Name)
	}
	var names []string
	for _, l := range w.Lines {
		names = append(names, l.Name)
	}
	cells := func(name string, of func(compare.CurveLine) (score.Metric, string), pair func(compare.CurvePair) compare.Difference) {
		var pairs []compare.Difference
		for _, p := range w.Pairs {
			pairs = append(pairs, pair(p))
		}
		row := []string{name}
		for i, l := range w.Lines {
			m, setting := of(l)
			row = append(row, metric(m, true)+setting+lettered(names, i, pairs))
		}
		t.Row(row...)
	}
	for b, budget := range c.Curve.Budgets {
		cells(quantity(r, budget), func(l compare.CurveLine) (score.Metric, string) { return l.Points[b], settingText(w.Way, l, b) },
			func(p compare.CurvePair) compare.Difference { return p.Points[b] })
	}
	cells("area", func(l compare.CurveLine) (score.Metric, string) { return l.Area, "" }, func(p compare.CurvePair) compare.Difference { return p.Area })
	t.Notes = append(t.Notes, "every band holds at all budgets at once; letters: the lines that are proven worse there; area: the mean over these budgets")
	for _, p := range w.Pairs {
		if x := p.Crossing; x != nil && (x.From.Defined() || x.To.Defined()) {
			t.Notes = append(t.Notes, crossingText(r, p))
		}
	}
	return t
}

// settingText is what a budget pays for, as in " k=5" or " effort=low".
func settingText(w compare.Way, l compare.CurveLine, budget int) string {
	if l.Settings == nil || l.Settings[budget] == "" {
		return ""
	}
	setting := l.Settings[budget]
	if w != compare.Dialled {
		return " k=" + setting
	}
	if _, options, has := strings.Cut(setting, "?"); has {
		return " " + options
	}
	return ""
}

// crossingText says where a line overtakes the other.
func crossingText(r compare.Resource, p compare.CurvePair) string {
	x := p.Crossing
	behind := p.A
	if x.Ahead == p.A {
		behind = p.B
	}
	from, to := behind+" is nowhere surely ahead", x.Ahead+" nowhere"
	if x.From.Defined() {
		from = fmt.Sprintf("%s is surely ahead up to %s", behind, quantity(r, float64(x.From)))
	}
	if x.To.Defined() {
		to = fmt.Sprintf("%s from %s on", x.Ahead, quantity(r, float64(x.To)))
	}
	text := fmt.Sprintf("%s − %s changes sides: %s, %s", p.A, p.B, from, to)
	if x.Times > 1 {
		text += fmt.Sprintf("; the means change places %d times, so there may be more than one crossing", x.Times)
	}
	return text
}

func confidenceTable(all []compare.Confidence) display.Table {
	t := display.Table{Title: "what the methods know of their mistakes"}
	t.AddWhole("method", "Brier score", "ECE", "by chance", "surest 25 %", "50 %", "75 %", "all", "confidence")
	for _, c := range all {
		row := []string{c.Method, metric(c.Brier, true), metric(c.ECE, true), orDash(float64(c.ByChance), c.ByChance.Defined())}
		for _, s := range c.Selective {
			row = append(row, fmt.Sprintf("%s of %.0f %%", metric(s.Value, true), 100*s.Answered))
		}
		t.Row(append(row, c.Source)...)
	}
	t.Notes = []string{"Brier score and ECE: 0 is perfect; by chance: about what ECE a method shows on so few samples whose confidences are right; answers of equal confidence are taken together"}
	return t
}

// CurvePlots are the curves of a comparison, one for each way to spend a budget.
func CurvePlots(c *compare.Comparison, simulatedModel bool) (all []display.Displayer) {
	if c.Curve == nil {
		return nil
	}
	for _, w := range c.Curve.Ways {
		p := display.Plot{
			Title: plotTitle(string(w.Way), simulatedModel), Style: display.Lines, Width: 860,
			X: display.Axis{Label: resourceName(c.Curve.Resource) + " a sample", Log: true}, Y: display.Axis{Label: c.Metric, Min: 0, Max: 1},
		}
		for _, l := range w.Lines {
			s := display.Series{Name: l.Name}
			for i, m := range l.Points {
				s.Points = append(s.Points, display.Point{X: c.Curve.Budgets[i], Y: m.Value, Low: m.Low, High: m.High})
			}
			p.Series = append(p.Series, s)
		}
		all = append(all, p)
	}
	return all
}
