package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"noema/kernel/base/display"
	"noema/kernel/base/score"
	"noema/kernel/result/compare"
	"noema/methods"
)

// columns picks the metrics to show: what rankings are judged by, or the
// first measures of other kinds. JSON has them all.
func columns(c *compare.Comparison) []score.Info {
	has := map[string]bool{}
	last := 0 // the largest k of the hits@k
	for _, m := range c.Methods {
		for name := range m.Metrics {
			has[name] = true
			if k, err := strconv.Atoi(strings.TrimPrefix(name, "hits@")); err == nil {
				last = max(last, k)
			}
		}
	}
	return slices.DeleteFunc(score.Columns(last), func(c score.Info) bool { return !has[c.Name] })
}

// quality shows how right each method is, and what needs no method at all.
func quality(c *compare.Comparison) display.Table {
	cols := columns(c)
	var t display.Table
	t.AddWhole("method", "n")
	for _, col := range cols {
		t.AddWhole(col.Label)
	}
	for _, m := range c.Methods {
		cells := []string{m.Method, strconv.Itoa(m.N)}
		for _, col := range cols {
			cells = append(cells, metric(m.Metrics[col.Name].Value, col.Interval))
		}
		t.Row(cells...)
	}
	for _, b := range baselines(c) {
		cells, any := []string{b.name, ""}, false
		for _, col := range cols {
			level, ok := b.levels[col.Name]
			any = any || ok
			cells = append(cells, orDash(level, ok))
		}
		if any {
			t.Row(cells...)
		}
	}
	return t
}

// baseline is what needs no method, by metric.
type baseline struct {
	name   string
	levels map[string]float64
}

func baselines(c *compare.Comparison) []baseline {
	return []baseline{{"chance", c.Chance}, {"majority", c.Majority}}
}

func orDash(level float64, ok bool) string {
	if !ok {
		return "–"
	}
	return fmt.Sprintf("%.2f", level)
}

// amounts shows what a trial of each method takes, and how its answers came
// about.
func amounts(c *compare.Comparison) display.Table {
	var t display.Table
	calls := "calls"
	if slices.ContainsFunc(c.Methods, func(m compare.MethodStats) bool { return m.Total.ToolCalls != nil && *m.Total.ToolCalls > 0 }) {
		calls = "calls and tools"
	}
	t.AddWhole("per trial", calls, "tokens in+out", "cost", "model time", "outcomes")
	for _, m := range c.Methods {
		if m.Trials == 0 {
			t.Row(m.Method, "–", "–", "–", "–", "no trial finished")
			continue
		}
		t.Row(m.Method, amount(m, compare.Calls), tokens(m), amount(m, compare.Cost), amount(m, compare.Latency), outcomes(m))
		if m.Seeds != nil {
			of := func(r compare.Resource) string { return share(m.Seeds, r) }
			t.Row("of which seeds", of(compare.Calls), of(compare.InputTokens)+"+"+of(compare.OutputTokens), of(compare.Cost), of(compare.Latency),
				Plural(m.Seeds.Seeds, "seed"))
		}
	}
	return t
}

// Totals shows what all trials of each method took together.
func Totals(c *compare.Comparison) display.Table {
	var t display.Table
	t.AddWhole("total", "calls", "tokens in+out", "cost")
	for _, m := range c.Methods {
		u := m.Total
		if u.Calls != nil && u.InputTokens != nil && u.OutputTokens != nil {
			t.Row(m.Method, count(*u.Calls), count(int(*u.InputTokens))+"+"+count(int(*u.OutputTokens)), money(u.CostUSD))
		}
	}
	return t
}

// share is a trial's part of what a method's seeds took.
func share(s *compare.SeedUse, r compare.Resource) string {
	v, known := s.PerTrial[r]
	if !known {
		return "unknown"
	}
	return quantity(r, v)
}

// metric writes what is undefined as a dash.
func metric(m score.Metric, interval bool) string {
	if !m.Defined {
		return "–"
	}
	s := fmt.Sprintf("%.2f", m.Value)
	switch {
	case interval && m.HasInterval():
		s += fmt.Sprintf(" [%.2f, %.2f]", m.Low, m.High)
	case interval:
		s += " [–]"
	}
	return s
}

func tokens(m compare.MethodStats) string {
	if !m.Usage[compare.Tokens].Defined {
		return "unknown"
	}
	return amount(m, compare.InputTokens) + "+" + amount(m, compare.OutputTokens)
}

// amount is the mean use of a trial.
func amount(m compare.MethodStats, r compare.Resource) string {
	if !m.Usage[r].Defined {
		return "unknown"
	}
	return quantity(r, m.Usage[r].Value)
}

func quantity(r compare.Resource, v float64) string {
	switch r {
	case compare.Cost:
		return money(&v)
	case compare.Latency:
		return seconds(time.Duration(v * float64(time.Millisecond)))
	case compare.Calls:
		return fmt.Sprintf("%.1f", v)
	}
	return count(int(v + 0.5))
}

// parts says which of the tokens were cached or spent on reasoning, between the
// given texts, or is empty.
func parts(u compare.Usage, before, after string) string {
	var told []string
	for _, p := range []struct {
		n    int64
		what string
	}{
		{u.CachedTokens, "in from the provider's cache"}, {u.CacheWriteTokens, "in written to the provider's cache"}, {u.ReasoningTokens, "out spent on reasoning"},
	} {
		if p.n > 0 {
			told = append(told, count(int(p.n))+" "+p.what)
		}
	}
	if told == nil {
		return ""
	}
	return before + strings.Join(told, ", ") + after
}

// outcomes says how a method's answers came about.
func outcomes(m compare.MethodStats) string {
	var parts []string
	for _, o := range methods.Outcomes() {
		if n := m.Outcomes[o]; n > 0 {
			part := fmt.Sprintf("%d %s", n, o)
			if o == methods.Answered && m.Repaired > 0 {
				part += fmt.Sprintf(" (%d repaired)", m.Repaired)
			}
			parts = append(parts, part)
		}
	}
	if m.Cut > 0 {
		parts = append(parts, fmt.Sprintf("%d with a reply cut at the token limit", m.Cut))
	}
	if m.Missing > 0 {
		parts = append(parts, fmt.Sprintf("%d not finished", m.Missing))
	}
	s := strings.Join(parts, ", ")
	if m.Failed > 0 {
		s += fmt.Sprintf(" (%d left out)", m.Failed)
	}
	return s
}

// resourceName heads a column of what is used.
func resourceName(r compare.Resource) string {
	switch r {
	case compare.Cost:
		return "cost"
	case compare.Latency:
		return "model time"
	}
	return string(r)
}
