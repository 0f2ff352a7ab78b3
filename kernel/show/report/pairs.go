package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"noema/kernel/base/display"
	"noema/kernel/base/score"
	"noema/kernel/result/compare"
)

// pairTables are the pairs and, where they were bet on, how their e-values grew.
func pairTables(c *compare.Comparison) []display.Table {
	tables := []display.Table{pairTable(c)}
	if paths := pathTable(c); len(paths.Rows) > 0 {
		tables = append(tables, paths)
	}
	return tables
}

// pairTable is a line a pair: the difference, how sure it is, and who wins.
func pairTable(c *compare.Comparison) display.Table {
	if c.Sequential != nil {
		return stopTable(c)
	}
	var t display.Table
	t.AddWhole("pair", differenceHeading, sidesHeading, "p, corrected", "winner")
	for _, p := range c.Pairs {
		d := p.Metrics[c.Metric]
		t.Row(p.A+" − "+p.B, signed(d.Difference), sides(d), pValue(d.Corrected), cmp.Or(d.Winner, "none")+d.Margins("; "))
		draw(&t, d)
		if d.Unconfirmed() {
			t.Notes = append(t.Notes, fmt.Sprintf("%s − %s: %s", p.A, p.B, compare.Unconfirmed))
		}
	}
	if text := unseen(c); text != "" {
		t.Notes = append(t.Notes, text)
	}
	return t
}

// draw has a terminal draw the interval of a difference beside the row that was added
// last, which stands out if there is a winner.
func draw(t *display.Table, d compare.Difference) {
	bar := display.Bar{Value: math.NaN()}
	if m := d.Difference; m.Defined && m.HasInterval() {
		bar = display.Bar{Value: m.Value, Low: m.Low, High: m.High}
	}
	t.Bars, t.Strong = append(t.Bars, bar), append(t.Strong, d.Winner != "")
}

// Headings of a pair's columns, the same in every table. A note says the level of the
// intervals.
const (
	differenceHeading = "difference [interval]"
	sidesHeading      = "wins/losses/ties"
)

// unseen says how large a difference must be for these samples to show it, for the pairs
// that have no winner.
func unseen(c *compare.Comparison) string {
	var texts []string
	pairs := map[string][]string{}
	for _, p := range c.Pairs {
		size := p.Metrics[c.Metric].Detectable
		if !size.Defined() {
			continue
		}
		text := fmt.Sprintf("%.2f", float64(size))
		if pairs[text] == nil {
			texts = append(texts, text)
		}
		pairs[text] = append(pairs[text], p.A+" − "+p.B)
	}
	slices.Sort(texts)
	const says = "too few samples to see a difference under "
	switch {
	case len(texts) == 0:
		return ""
	case len(texts) == 1 && (len(c.Pairs) == 1 || len(pairs[texts[0]]) > 1):
		return says + texts[0]
	case len(texts) > maxSizes:
		return fmt.Sprintf("%s%s to %s, depending on the pair", says, texts[0], texts[len(texts)-1])
	}
	parts := make([]string, len(texts))
	for i, text := range texts {
		parts[i] = text + " (" + strings.Join(pairs[text], ", ") + ")"
	}
	return says + strings.Join(parts, " or ")
}

// maxSizes is up to how many sizes of unseen differences are told with their pairs.
const maxSizes = 2

// stopTable is a line a pair of a sequential design: what is known, and since when.
func stopTable(c *compare.Comparison) display.Table {
	var t display.Table
	evident := []string{"e-value", "needed"}
	if c.Sequential.Looks > 0 {
		evident = []string{"p (looks)", "look"}
	}
	t.AddWhole(append([]string{"pair", differenceHeading, sidesHeading}, evident...)...)
	t.AddWhole("winner", "samples")
	for _, p := range c.Pairs {
		d := p.Metrics[c.Metric]
		how := [2]string{"–", "–"}
		winner, asked := cmp.Or(d.Winner, "none"), strconv.Itoa(d.Difference.N)
		if s := d.Stop; s != nil {
			asked = strconv.Itoa(s.Asked)
			if how = [2]string{evidence(s.E), evidence(s.Needed)}; c.Sequential.Looks > 0 {
				how = [2]string{pValue(d.Corrected), fmt.Sprintf("%d of %d", s.Look, c.Sequential.Looks)}
			}
			if s.State == compare.Futile {
				winner = fmt.Sprintf("none: < %.3g", s.Detect)
			}
		}
		t.Row(p.A+" − "+p.B, signed(d.Difference), sides(d), how[0], how[1], winner, asked)
		draw(&t, d)
	}
	return t
}

// evidence writes an e-value.
func evidence(e float64) string {
	if e >= 1e6 {
		return "> 1,000,000"
	}
	if e >= 100 {
		return count(int(e))
	}
	return fmt.Sprintf("%.2g", e)
}

// pathTable is a line a pair of a design that bets: how its e-value grew. Its last
// column is what the pair ended with. It is empty where nothing was bet.
func pathTable(c *compare.Comparison) (t display.Table) {
	last := 0
	for _, p := range c.Pairs {
		if s := p.Metrics[c.Metric].Stop; s != nil && len(s.Path) > 0 {
			last = max(last, s.Asked)
		}
	}
	if last == 0 {
		return t
	}
	t.AddWhole("e-value after")
	for at := 1; at < last; at *= 2 {
		t.AddWhole(strconv.Itoa(at))
	}
	t.AddWhole("at last")
	for _, p := range c.Pairs {
		row := []string{p.A + " − " + p.B}
		s := cmp.Or(p.Metrics[c.Metric].Stop, &compare.Stop{})
		for _, at := range s.Path {
			if at.Asked < s.Asked {
				row = append(row, evidence(at.E))
			}
		}
		for len(row) < len(t.Columns)-1 {
			row = append(row, "")
		}
		t.Row(append(row, evidence(s.E))...)
	}
	return t
}

// sides is empty for a measure of all samples together.
func sides(d compare.Difference) string {
	if d.Wins+d.Losses+d.Ties == 0 {
		return "–"
	}
	return fmt.Sprintf("%d/%d/%d", d.Wins, d.Losses, d.Ties)
}

func signed(m score.Metric) string {
	if !m.Defined {
		return "–"
	}
	s := plus(m.Value)
	if m.HasInterval() {
		s += fmt.Sprintf(" [%s, %s]", end(m.Low, m), end(m.High, m))
	}
	return s
}

// end writes an end of an interval; one that leaves 0 out must not read as 0.
func end(x float64, m score.Metric) string {
	if text := plus(x); text != "0.00" || m.Low*m.High <= 0 {
		return text
	}
	return fmt.Sprintf("%+.3f", x)
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

// ratioTable shows how much one method of a pair uses for each unit of the
// other.
func ratioTable(c *compare.Comparison) display.Table {
	var t display.Table
	t.AddWhole("ratio of use [interval]", "calls", "tokens", "cost", "model time")
	for _, p := range c.Pairs {
		row := []string{p.A + " / " + p.B}
		for _, r := range compare.Resources() {
			row = append(row, ratio(p.Ratios[r]))
			if p.Ratios[r].Narrow {
				t.Notes = []string{narrow + ": few samples for use as skewed as theirs, so that the interval tends to be too narrow"}
			}
		}
		t.Row(row...)
	}
	return t
}

// narrow marks an interval that tends to be too narrow.
const narrow = "~"

func ratio(r compare.Ratio) string {
	if !r.Ratio.Defined {
		return "–"
	}
	s := fmt.Sprintf("%.3g", r.Ratio.Value)
	if r.Ratio.HasInterval() && !r.Constant {
		s += fmt.Sprintf(" [%.3g, %.3g]", r.Ratio.Low, r.Ratio.High)
	}
	if r.Narrow {
		s += narrow
	}
	return s
}
