package report

import (
	"fmt"
	"strconv"

	"noema/kernel/base/display"
	"noema/kernel/result/compare"
)

// gradingTable says how the models did that graded, what people's labels make of their
// mean, and what they cost, which is in no other table: it is not the method's.
func gradingTable(c *compare.Comparison) display.Table {
	var t display.Table
	t.AddWhole("grading", "graded", "ungraded", "labelled", "people", "too kind", "too hard", "kappa", "corrected", "grading cost")
	row := func(name string, g *compare.Grading) {
		cells := []string{name, count(g.Graded), count(g.Ungraded), count(g.Labelled), "–", strconv.Itoa(g.TooKind), strconv.Itoa(g.TooHard), "–", "uncalibrated", gradingCost(g)}
		if g.Labelled > 0 {
			cells[4] = fmt.Sprintf("%.2f", float64(g.Right)/float64(g.Labelled))
		}
		if g.Kappa.Defined() {
			cells[7] = fmt.Sprintf("%.2f", float64(g.Kappa))
		}
		if g.Corrected != nil {
			cells[8] = metric(*g.Corrected, true)
		}
		t.Row(cells...)
	}
	for _, m := range c.Methods {
		if m.Grading != nil {
			row(m.Method, m.Grading)
		}
	}
	return t
}

// preferenceTable is what graders prefer of two methods' answers, in both orders.
func preferenceTable(c *compare.Comparison) display.Table {
	var t display.Table
	t.AddWhole("pairwise, by graders", differenceHeading, sidesHeading, "p, corrected", "asked", "order decided", "unread")
	for _, p := range c.Pairs {
		if q := p.Preference; q != nil {
			t.Row(p.A+" − "+p.B, signed(q.Difference.Difference), sides(q.Difference), pValue(q.Corrected), strconv.Itoa(q.Asked), strconv.Itoa(q.Swayed), strconv.Itoa(q.Unread))
		}
	}
	return t
}

// gradingTables are the tables of what models graded.
func gradingTables(c *compare.Comparison) (tables []display.Table) {
	for _, t := range []display.Table{gradingTable(c), preferenceTable(c)} {
		if len(t.Rows) > 0 {
			tables = append(tables, t)
		}
	}
	return tables
}

func gradingCost(g *compare.Grading) string {
	cost := "unknown"
	if g.Usage.CostUSD != nil {
		cost = money(g.Usage.CostUSD)
	}
	if g.Usage.Calls == nil {
		return cost
	}
	return cost + ", " + Plural(*g.Usage.Calls, "call")
}
