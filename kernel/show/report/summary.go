// Package report prints what runs have to say: tables that fit 100 columns unless names are long,
// transcripts and progress. It formats what package compare computed and computes
// nothing itself; wherever numbers of a simulated model are shown, it says so.
package report

import (
	"fmt"
	"html"
	"slices"
	"strings"

	"noema/kernel/base/display"
	"noema/kernel/base/score"
	"noema/kernel/result/compare"
	"noema/kernel/run/runner"
)

// Sheet is a run or a comparison to look at: tables with text around them.
type Sheet struct {
	Verdict string // the news, in one sentence; empty where nothing was compared
	Head    string
	Tables  []display.Table
	Tail    string
	Width   int  // of the text form, as of a [display.Table]
	Colour  bool // of the text form
}

// Display implements [display.Displayer].
func (s Sheet) Display() display.Bundle {
	var parts []display.Displayer
	if s.Verdict != "" {
		verdict := wrapped(wrap(s.Verdict, s.textWidth()))
		if s.Colour {
			verdict[display.PlainText] = slices.Concat([]byte(display.Bold), verdict[display.PlainText], []byte(display.Plain))
		}
		verdict[display.HTML] = []byte("<h1>" + html.EscapeString(display.Visible(s.Verdict)) + "</h1>")
		parts = append(parts, verdict)
	}
	parts = append(parts, display.Text(s.fitted(s.Head)))
	for _, t := range s.Tables {
		t.Width, t.Colour = s.Width, s.Colour
		parts = append(parts, t)
	}
	return display.Stack(append(parts, wrapped(s.fitted(s.Tail)))...)
}

// fitted is a text around the tables with lines that a terminal has room for.
func (s Sheet) fitted(text string) string {
	if s.Width <= 0 {
		return text
	}
	var lines []string
	for line := range strings.SplitSeq(unwrapped(text), "\n") {
		lines = append(lines, wrap(line, s.Width))
	}
	return strings.Join(lines, "\n")
}

// textWidth is that of what is not a table, where no terminal has another.
const textWidth = DefaultWidth - 2

// textWidth is the width of what is not a table.
func (s Sheet) textWidth() int {
	if s.Width <= 0 {
		return textWidth
	}
	return s.Width
}

// wrapped is a text whose lines are broken for the terminal alone.
func wrapped(text string) display.Bundle {
	b := display.Stack(display.Text(unwrapped(text)))
	b[display.PlainText] = display.Text(text)[display.PlainText]
	return b
}

// unwrapped is a text without the breaks of wrap.
func unwrapped(text string) string { return strings.ReplaceAll(text, "\n  ", " ") }

// Notes is the text below the tables where lines need not fit a terminal.
func (s Sheet) Notes() string { return unwrapped(s.Tail) }

// RunSheet is a run: how right its methods are, what they take and, if they were
// compared, how they differ. Groups is what its samples are grouped by, to show the groups;
// empty shows none.
func RunSheet(s *runner.Summary, groups string) Sheet {
	c := s.Comparison
	if nothing(c) {
		return Sheet{Verdict: "no trial was answered", Head: head(s, DefaultWidth), Tail: strings.Join(below(s), "\n")}
	}
	tables := []display.Table{amounts(c)}
	if len(c.Metrics) > 0 || s.Unscored < s.Samples {
		tables = []display.Table{quality(c), amounts(c)}
	}
	if len(c.Pairs) > 0 && len(c.Metrics) > 0 {
		tables = append(tables, pairTables(c)...)
	}
	tables = append(tables, gradingTables(c)...)
	if s.Unscored > inFull || 0 < s.Unscored && s.Unscored < s.Samples {
		tables = append(tables, askedTable(s))
	}
	if groups != "" && len(c.Groups) > 0 {
		tables = append(tables, groupTable(c, groups))
	}
	tables = append(tables, curveTables(c)...)
	tail := strings.Join(below(s), "\n")
	if lines := remarks(c); len(lines) > 0 {
		tail = strings.Join(lines, "\n") + "\n\n" + tail
	}
	sheet := Sheet{Head: head(s, DefaultWidth), Tables: explained(tables), Tail: tail}
	if len(c.Pairs) > 0 {
		sheet.Verdict = c.Verdict
	}
	if 2*s.NotUnderstood > s.Prompts { // nothing below is about the methods
		sheet.Verdict = NotUnderstood(s.Prompts, s.NotUnderstood)
	}
	return sheet
}

// nothing reports whether every trial failed for other reasons than its method.
func nothing(c *compare.Comparison) bool {
	return len(c.Methods) > 0 && !slices.ContainsFunc(c.Methods, func(m compare.MethodStats) bool { return m.Trials == 0 || m.Failed < m.Trials })
}

// below is what stands below the tables of a run.
func below(s *runner.Summary) []string {
	var lines []string
	add := func(name, format string, args ...any) {
		lines = append(lines, fmt.Sprintf("%-9s ", name)+fmt.Sprintf(format, args...))
	}
	told := map[string]string{} // the first method with a cause
	for _, m := range s.Comparison.Methods {
		if s.Unscored == s.Samples && s.Unscored <= inFull {
			break // the answers say it
		}
		for i, c := range m.Causes {
			if i == shownCauses {
				add("cause", "%s: %d more kinds", m.Method, len(m.Causes)-shownCauses)
				break
			}
			text := strings.TrimPrefix(c.Text, m.Method+": ")
			if first := told[text]; first != "" {
				add("cause", "%s: %d %s, as %s", m.Method, c.Trials, c.Outcome, first)
				continue
			}
			told[text] = m.Method
			add("cause", "%s: %d %s, as in %s: %s", m.Method, c.Trials, c.Outcome, c.Example, display.Line(text, 200))
		}
	}
	for _, text := range warnings(s.Comparison, columns(s.Comparison)) {
		add("warning", "%s", text)
	}
	for _, m := range s.Methods {
		if told := parts(m.Usage, "", ""); told != "" {
			add("tokens", "%s: %s", m.Method, told)
		}
	}
	text := NotUnderstood(s.Prompts, s.NotUnderstood)
	if s.NotUnderstood > 0 && !slices.Contains(s.Comparison.Notes, text) { // which a comparison has said
		add("prompts", "%s", text)
	}
	if s.Imported == "" {
		add("calls", "%s", calls(s))
	}
	if price := unpriced(s); price != "" {
		add("cost", "%s", price)
	}
	for _, m := range s.Methods {
		if m.Hops != nil {
			add("per hop", "%s: %s tokens; %.1f steps a trial", m.Method, count(int(m.Hops.Tokens+0.5)), m.Hops.Steps)
		}
	}
	add("run", "%s", s.Run)
	switch {
	case s.Imported != "":
		add("root", "none: imported from %s, no call is recorded", s.Imported)
	case s.RootHash == "":
		add("root", "none: the run is unfinished")
	default:
		add("root", "%s", s.RootHash)
	}
	if s.Simulated {
		lines = append(lines, "", wrap(simulated, textWidth))
	}
	return lines
}

// unpriced says how a model of a compatible server gets a price, where its tokens are
// known and their cost is not.
func unpriced(s *runner.Summary) string {
	known := func(r compare.Resource) bool {
		return slices.ContainsFunc(s.Comparison.Methods, func(m compare.MethodStats) bool { return m.Usage[r].Defined })
	}
	if !strings.HasPrefix(s.Model, "openai/") || s.Imported != "" || known(compare.Cost) || !known(compare.Tokens) {
		return ""
	}
	name, sign := s.Model, "?"
	if strings.Contains(name, "?") {
		sign = "&"
	}
	return fmt.Sprintf("unknown: no price of %s was known when it answered: name it '%s%sprice_input=0.1&price_output=0.4', in dollars per million tokens, before it is asked: stored replies keep what was known", name, name, sign)
}

// NotUnderstood says how many prompts the simulated model did not understand, with
// the cure.
func NotUnderstood(prompts, unknown int) string {
	return fmt.Sprintf("sim did not understand %s of %s prompts: use a real or scripted model", count(unknown), count(prompts))
}

// shownCauses is how many causes of a method's non-answers are listed.
const shownCauses = 4

// calls says where answers came from.
func calls(s *runner.Summary) string {
	text := fmt.Sprintf("%s to the provider, %s from the store", count(s.ProviderCalls), count(s.CachedCalls))
	failed := slices.ContainsFunc(s.Comparison.Methods, func(m compare.MethodStats) bool { return m.Failed > 0 })
	if s.FailedAttempts > 0 {
		text += ", " + Plural(s.FailedAttempts, "failed request")
		if !failed {
			text += ", repeated"
		}
	}
	if s.ToolRuns > 0 {
		text += ", " + Plural(s.ToolRuns, "run") + " of tools"
	}
	if failed {
		text += ", with those of failed trials" // which are in no trial's mean
	}
	if s.SharedCalls > 0 {
		text += "; " + Plural(s.SharedCalls, "completion") + " shared between methods"
	}
	return text
}

// simulated is printed wherever numbers of a simulated model are.
const simulated = "simulated model: it errs by the step, at the same rate for every method. These numbers show how methods carry errors on, and say nothing about language models"

func title(s *runner.Summary) string {
	model := s.Model
	if s.Simulated {
		model += " (simulated model)"
	}
	return fmt.Sprintf("%s · %s\n%s", s.Task, model, Basis(s))
}

// Basis is what the numbers of a run rest on.
func Basis(s *runner.Summary) string {
	t := Plural(s.Samples, "sample")
	if s.Epochs > 1 {
		t += fmt.Sprintf(" × %d epochs", s.Epochs)
	}
	if s.Comparison.Sequential != nil {
		t += " at most"
	}
	t += unscoredOf(s.Unscored, s.Samples) + fmt.Sprintf(" · seed %d", s.Seed)
	if c := s.Comparison; c.Metric != "" {
		t += fmt.Sprintf(" · %.0f %% intervals", 100*c.Level)
	}
	return t
}

// warnings are what the shown metrics warn of, each text once with the metrics
// that it is about.
func warnings(c *compare.Comparison, cols []score.Info) []string {
	var texts []string
	about := map[string][]string{}
	for _, m := range c.Methods {
		for _, col := range cols {
			for _, text := range m.Metrics[col.Name].Value.Warnings {
				if about[text] == nil {
					texts = append(texts, text)
				}
				about[text] = append(about[text], m.Method+" "+col.Label)
			}
		}
	}
	for i, text := range texts {
		metrics := strings.Join(about[text], ", ")
		if n := len(c.Methods) * len(cols); n > 1 && len(about[text]) == n {
			metrics = "every measure"
		}
		texts[i] = metrics + ": " + text
	}
	return texts
}
