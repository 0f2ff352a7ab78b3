package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"noema/kernel/base/display"
	"noema/kernel/base/score"
	"noema/kernel/result/compare"
)

// ComparisonView says what a comparison is shown with.
type ComparisonView struct {
	Runs      []string
	Of        []string // the tasks and models that were run, each as "task · model"
	Simulated bool
	Groups    string // what the samples are grouped by, to show the groups; empty shows none
}

// ComparisonSheet is methods side by side. Names of pairs are never cut: two
// rows must not read the same.
func ComparisonSheet(c *compare.Comparison, v ComparisonView) Sheet {
	s := Sheet{Verdict: c.Verdict, Head: comparisonTitle(c, v)}
	switch {
	case len(c.Metrics) == 0: // no sample has a target
		s.Tables = []display.Table{amounts(c)}
	case len(c.Pairs) == 0:
		s.Tables = []display.Table{methodTable(c)}
	default:
		s.Tables = append([]display.Table{methodTable(c)}, pairTables(c)...)
	}
	if len(c.Pairs) > 0 {
		s.Tables = append(s.Tables, ratioTable(c))
	}
	s.Tables = append(append(s.Tables, gradingTables(c)...), curveTables(c)...)
	if v.Groups != "" && len(c.Groups) > 0 {
		s.Tables = append(s.Tables, groupTable(c, v.Groups))
	}
	lines := remarks(c)
	for _, m := range c.Methods {
		if m.Seeds != nil {
			lines = append(lines, wrap(fmt.Sprintf("note: %s: %s", m.Method, m.Seeds.Sentence()), textWidth))
		}
	}
	for _, text := range warnings(c, []score.Info{{Name: c.Metric, Label: c.Metric}}) {
		lines = append(lines, wrap("warning: "+text, textWidth))
	}
	if v.Simulated {
		lines = append(lines, "", wrap(simulated, textWidth))
	}
	s.Tables, s.Tail = explained(s.Tables), strings.Join(lines, "\n")
	return s
}

func comparisonTitle(c *compare.Comparison, v ComparisonView) string {
	t := strings.Join(append(slices.Clone(v.Of), basis(c)), "\n")
	if len(v.Runs) > 1 {
		t += "\nruns " + strings.Join(v.Runs, ", ")
	}
	t += cutWarnings(c)
	if c.Budget != nil {
		t += fmt.Sprintf("\nequal budget: a trial over %s counts as wrong", budgetText(c))
	}
	return t
}

// cutWarnings are lines on methods of which more than 5 % of the trials had a cut reply: their
// numbers are those of the limit.
func cutWarnings(c *compare.Comparison) (lines string) {
	for _, m := range c.Methods {
		if 20*m.Cut > m.Trials {
			lines += fmt.Sprintf("\nwarning: %s: %d of %d trials had a reply cut at the token limit: allow more, as in -S max_tokens=4096", m.Method, m.Cut, m.Trials)
		}
	}
	return lines
}

// basis is what the numbers rest on.
func basis(c *compare.Comparison) string {
	t := Plural(c.Samples, "sample")
	if c.Epochs > 1 {
		t += " × " + c.EpochsText()
	}
	t += unscoredOf(c.Unscored, c.Samples)
	if c.Clusters > 0 {
		t += fmt.Sprintf(" in %d clusters", c.Clusters)
	}
	if c.Sequential != nil && c.Sequential.Bound > 0 {
		t += fmt.Sprintf(" of at most %d", c.Sequential.Bound)
	}
	t += fmt.Sprintf(" · %.0f %% intervals", c.Level*100)
	if c.Test != "" {
		t += " · test: " + c.Test
	}
	return t
}

func budgetText(c *compare.Comparison) string {
	var parts []string
	if n := c.Budget.Calls; n > 0 {
		parts = append(parts, Plural(n, "call"))
	}
	if n := c.Budget.Tokens; n > 0 {
		parts = append(parts, Plural(int(n), "token"))
	}
	if n := c.Budget.Cost; n > 0 {
		usd := n.USD()
		parts = append(parts, money(&usd))
	}
	return strings.Join(parts, " or ")
}

// methodTable is a line a method: how good, at what cost, and where that puts
// it.
func methodTable(c *compare.Comparison) display.Table {
	var t display.Table
	t.AddWhole("method", "n", c.Metric, resourceName(c.Pareto.Resource))
	t.AddWhole("for what it takes", "outcomes")
	for i, m := range c.Methods {
		t.Row(m.Method, strconv.Itoa(m.N), metric(m.Metrics[c.Metric].Value, true), used(m, c.Pareto.Resource), standing(c.Pareto.Points[i]), outcomes(m))
	}
	for _, b := range baselines(c) {
		if level, ok := b.levels[c.Metric]; ok {
			t.Row(b.name, "", orDash(level, ok))
		}
	}
	return t
}

func standing(p compare.ParetoPoint) string {
	by := strings.Join(p.By, ", ")
	if more := len(p.By) - shownBy; more > 0 {
		by = fmt.Sprintf("%s and %d more", strings.Join(p.By[:shownBy], ", "), more)
	}
	switch p.Standing {
	case compare.OnFront:
		return "best value"
	case compare.Dominated:
		return "beaten by " + by
	case compare.Costlier:
		return "cheaper: " + by
	case compare.Undecided:
		if len(p.By) == 0 {
			return "no order shown"
		}
		return fmt.Sprintf("behind %s so far (%s p = %.2f, use p = %.2f, not corrected)", p.By[0], "merit", float64(p.MeritP[0]), float64(p.ThriftP[0]))
	}
	return ""
}

// shownBy is how many methods a place on the front names.
const shownBy = 2

// used writes the use of a resource with its interval.
func used(m compare.MethodStats, r compare.Resource) string {
	s, u := amount(m, r), m.Usage[r]
	if u.HasInterval() {
		s += fmt.Sprintf(" [%s, %s]", quantity(r, u.Low), quantity(r, u.High))
	}
	return s
}

// groupTable is a line a group, or a line a group and method where the methods would
// not fit side by side.
func groupTable(c *compare.Comparison, by string) display.Table {
	var t display.Table
	wide := 0
	for _, m := range c.Methods {
		wide += max(len(m.Method), len("0.00 [0.00, 0.00]")) + 2
	}
	side := wide <= groupWidth
	t.Add(by)
	t.AddWhole("n")
	if !side {
		t.AddWhole("method", c.Metric)
	}
	for _, m := range c.Methods {
		if side {
			t.AddWhole(m.Method)
		}
	}
	t.AddWhole("chance")
	for _, g := range c.Groups {
		row, chance := []string{cmp.Or(g.Group, "(none)"), strconv.Itoa(g.Samples)}, orDash(float64(g.Chance), g.Chance.Defined())
		all := slices.Clone(row)
		for i, m := range g.Methods {
			all = append(all, metric(m, true))
			if !side {
				t.Row(append(slices.Clone(row), c.Methods[i].Method, metric(m, true), chance)...)
			}
		}
		if side {
			t.Row(append(all, chance)...)
		}
	}
	t.Notes = []string{"intervals within groups are not corrected for the number of groups: they show where to look"}
	return t
}

// groupWidth is how many columns of a terminal the methods of a group may take.
const groupWidth = 80

// remarks are what a reader of the tables must know.
func remarks(c *compare.Comparison) []string {
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, wrap(fmt.Sprintf(format, args...), textWidth)) }
	for _, n := range c.Notes {
		add("note: %s", Plain(n))
	}
	for _, m := range c.Methods {
		if p := m.First; p.Biased() {
			add("position bias: %s, where it is wrong, ranks the item shown first on top in %d of %d trials (%.0f %%); chance %.0f %% (p %s)",
				m.Method, p.First, p.Trials, 100*float64(p.First)/float64(p.Trials), 100*float64(p.Chance), pValue(p.Holm))
		}
		for _, k := range m.Repeats {
			if k.K == c.Epochs && k.K > 1 {
				add("repeats: %s solves %.2f of the samples in at least one of %d tries (pass@%d), %.2f in all (pass^%d)",
					m.Method, k.PassAt.Value, k.K, k.K, k.Pass.Value, k.K)
			}
		}
	}
	for _, p := range c.Pairs {
		if d := p.Metrics[c.Metric]; d.Stop != nil && d.Stop.State != compare.Bound && d.Winner == "" { // which the table says
			add("%s − %s: %s", p.A, p.B, d.Stopped())
		}
		if g := p.Agreement; g != nil {
			add("agreement: %s", g.Sentence(p.A, p.B))
		}
		d := p.Metrics[c.Metric]
		if d.FailedAsWrong != nil {
			add("%s − %s with failed trials counted as wrong: %s", p.A, p.B, signed(*d.FailedAsWrong))
		}
		if d.AnsweredOnly != nil && d.AnsweredOnly.Defined {
			add("%s − %s without trials that gave no answer: %s", p.A, p.B, signed(*d.AnsweredOnly))
		}
	}
	return lines
}

// wrap breaks a line that is wider than the tables, between words.
func wrap(s string, width int) string {
	const tied = "\u00a0%" // a number keeps its percent sign
	var b strings.Builder
	used := 0
	for i, word := range strings.Split(strings.ReplaceAll(s, " %", tied), " ") {
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
	return strings.ReplaceAll(b.String(), tied, " %")
}
