package report

import (
	"fmt"

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
	cell := func(l int, m score.Metric, setting string, of func(compare.CurvePair) compare.Difference) string {
		text, beaten := metric(m, true), ""
		if setting != "" && w.Way != compare.Dialled {
			text += " k=" + setting
		}
		for i, other := range w.Lines {
			for _, p := range w.Pairs {
				if name := w.Lines[l].Name; of(p).Winner == name && i != l && (p.A == other.Name || p.B == other.Name) {
					beaten += letter(i)
				}
			}
		}
		if beaten != "" {
			text += " >" + beaten
		}
		return text
	}
	for b, budget := range c.Curve.Budgets {
		row := []string{quantity(r, budget)}
		for i, l := range w.Lines {
			setting := ""
			if l.Settings != nil {
				setting = l.Settings[b]
			}
			row = append(row, cell(i, l.Points[b], setting, func(p compare.CurvePair) compare.Difference { return p.Points[b] }))
		}
		t.Row(row...)
	}
	row := []string{"area"}
	for i, l := range w.Lines {
		row = append(row, cell(i, l.Area, "", func(p compare.CurvePair) compare.Difference { return p.Area }))
	}
	t.Row(row...)
	t.Notes = append(t.Notes, "every band holds at all budgets at once; letters: the lines that are proven worse there; area: the mean over these budgets")
	for _, p := range w.Pairs {
		if x := p.Crossing; x != nil && (x.From.Defined() || x.To.Defined()) {
			t.Notes = append(t.Notes, crossingText(r, p))
		}
	}
	return t
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
	t.AddWhole("method", "Brier score", "ECE", "surest 25 %", "50 %", "75 %", "all", "confidence")
	for _, c := range all {
		row := []string{c.Method, metric(c.Brier, true), metric(c.ECE, true)}
		for _, s := range c.Selective {
			row = append(row, fmt.Sprintf("%s of %.0f %%", metric(s.Value, true), 100*s.Answered))
		}
		t.Row(append(row, c.Source)...)
	}
	t.Notes = []string{"Brier score and ECE: 0 is perfect; ECE is too high on average where samples are few; answers of equal confidence are taken together"}
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
