package report

import (
	"fmt"

	"noema/kernel/base/display"
	"noema/kernel/base/score"
	"noema/kernel/result/compare"
)

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

// AblationTable shows what each changed option does to the headline measure, to
// the tokens of a trial, and to both together. A positive gain means that the full
// method is better than the variant.
func AblationTable(c *compare.Comparison) display.Table {
	t := display.Table{Title: "full method minus variant"}
	t.AddWhole("variant", "gain [interval]", "p, corrected", "extra tokens", "gain per 1,000 tokens")
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
		t.Row(p.A, signed(gain), pValue(p.Metrics[c.Metric].Corrected), more, per)
	}
	return t
}
