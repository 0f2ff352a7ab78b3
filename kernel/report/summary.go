// Package report prints what runs have to say: tables that fit 100
// columns, transcripts and progress. It formats and decides nothing; every
// face of numbers that a simulated model made says so here.
package report

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"noema/kernel/display"
	"noema/kernel/runner"
	"noema/kernel/score"
	"noema/methods"
)

// columns picks the metrics to show: what rankings are judged by, or the
// first measures of other kinds. JSON has them all.
func columns(s *runner.Summary) []score.Info {
	has := map[string]bool{}
	last := 0 // the largest k of the hits@k
	for _, m := range s.Methods {
		for name := range m.Metrics {
			has[name] = true
			if k, err := strconv.Atoi(strings.TrimPrefix(name, "hits@")); err == nil {
				last = max(last, k)
			}
		}
	}
	all := score.Columns(last)
	return slices.DeleteFunc(all, func(c score.Info) bool { return !has[c.Name] })
}

// Summary prints a run's table.
func Summary(w io.Writer, s *runner.Summary) {
	w = Guarded(w)
	fmt.Fprintln(w, title(s))
	for _, note := range s.Notes {
		fmt.Fprintln(w, "note:", note)
	}
	fmt.Fprintf(w, "\n%s\n%s\n", quality(s).Text(), amounts(s).Text())
	below(w, s)
}

// SummaryBundle is a run's table in every form.
func SummaryBundle(s *runner.Summary) display.Bundle {
	var head, all, tail bytes.Buffer
	fmt.Fprintln(&head, title(s))
	for _, note := range s.Notes {
		fmt.Fprintln(&head, "note:", note)
	}
	Summary(&all, s)
	below(&tail, s)
	b := display.Join(display.Text(head.String()), quality(s), amounts(s), display.Text(tail.String()))
	b[display.PlainText] = all.Bytes()
	return b
}

// SummaryTables are the tables of a run, for faces that lay them out themselves.
func SummaryTables(s *runner.Summary) []display.Table {
	return []display.Table{quality(s), amounts(s)}
}

// SummaryNotes are what stands around the tables.
func SummaryNotes(s *runner.Summary) string {
	var b bytes.Buffer
	for _, note := range s.Notes {
		fmt.Fprintln(Guarded(&b), "note:", note)
	}
	below(&b, s)
	return b.String()
}

// Cost is what a trial was charged, or unknown.
func Cost(u methods.Usage) string {
	if u.Unpriced > 0 {
		return "unknown cost"
	}
	usd := u.Cost.USD()
	return money(&usd, 1)
}

// NotUnderstood says how many prompts the simulated model did not understand, with
// the cure.
func NotUnderstood(prompts, unknown int) string {
	return fmt.Sprintf("sim did not understand %s of %s prompts: use a real or scripted model", count(unknown), count(prompts))
}

// below prints what stands below the tables.
func below(w io.Writer, s *runner.Summary) {
	w = Guarded(w)
	causes(w, s)
	warnings(w, s)
	for _, m := range s.Methods {
		if told := parts(m.Usage, "", ""); told != "" {
			fmt.Fprintf(w, "tokens    %s: %s\n", m.Method, told)
		}
	}
	if s.NotUnderstood > 0 {
		fmt.Fprintf(w, "prompts   %s\n", NotUnderstood(s.Prompts, s.NotUnderstood))
	}
	fmt.Fprintf(w, "calls     %s to the provider, %s from the store", count(s.ProviderCalls), count(s.CachedCalls))
	if s.FailedAttempts > 0 {
		fmt.Fprintf(w, ", %s requests without an answer", count(s.FailedAttempts))
	}
	if s.ToolRuns > 0 {
		fmt.Fprintf(w, ", %s runs of tools", count(s.ToolRuns))
	}
	if s.SharedCalls > 0 {
		fmt.Fprintf(w, "; %s completions shared between methods", count(s.SharedCalls))
	}
	fmt.Fprintln(w)
	for _, m := range s.Methods {
		if m.Hops != nil {
			fmt.Fprintf(w, "per hop   %s: %s tokens; %.1f steps a trial\n", m.Method, count(int(m.Hops.Tokens+0.5)), m.Hops.Steps)
		}
	}
	if s.Seeds != nil {
		fmt.Fprintf(w, "seeds     method seeds cost %d calls and %s, charged to no trial\n", s.Seeds.Calls, money(s.Seeds.CostUSD, 1))
	}
	fmt.Fprintf(w, "run       %s\n", s.Run)
	if s.RootHash == "" {
		fmt.Fprintln(w, "root      none: the run is unfinished")
	} else {
		fmt.Fprintf(w, "root      %s\n", s.RootHash)
	}
	if s.Simulated {
		fmt.Fprintln(w, "\n"+simulated)
	}
}

// simulated is what stands below every face of such numbers.
const simulated = "simulated model: these numbers show how methods carry errors on, and say nothing about\nlanguage models"

func title(s *runner.Summary) string {
	model := s.Model
	if s.Simulated {
		model += " (simulated model)"
	}
	t := fmt.Sprintf("%s · %s\n%s", s.Task, model, plural(s.Samples, "sample"))
	if s.Epochs > 1 {
		t += fmt.Sprintf(" × %d epochs", s.Epochs)
	}
	return t + fmt.Sprintf(" · seed %d", s.Seed)
}

// quality tells how right each method is, and the chance line.
func quality(s *runner.Summary) display.Table {
	cols := columns(s)
	var t display.Table
	t.Add("method", "n")
	for _, c := range cols {
		t.Add(c.Label)
	}
	for _, m := range s.Methods {
		cells := []string{m.Method, strconv.Itoa(m.N)}
		for _, c := range cols {
			cells = append(cells, metric(m.Metrics[c.Name], c.Interval))
		}
		t.Row(cells...)
	}
	baseline(&t, "chance", s.Chance, cols)
	baseline(&t, "majority", s.Majority, cols)
	return t
}

// baseline adds a line of what needs no method at all.
func baseline(t *display.Table, name string, levels map[string]float64, cols []score.Info) {
	cells, any := []string{name, ""}, false
	for _, c := range cols {
		cell := "–"
		if level, ok := levels[c.Name]; ok {
			cell, any = fmt.Sprintf("%.2f", level), true
		}
		cells = append(cells, cell)
	}
	if any {
		t.Row(cells...)
	}
}

// amounts tells what each method took, in means over trials, and how its
// answers came about.
func amounts(s *runner.Summary) display.Table {
	var t display.Table
	t.Add("per trial", "calls", "tokens in+out", "cost", "model time", "outcomes")
	for _, m := range s.Methods {
		if m.Trials == 0 {
			t.Row(m.Method, "–", "–", "–", "–", "no trial finished")
			continue
		}
		n := float64(m.Trials)
		t.Row(m.Method, fmt.Sprintf("%.1f", float64(m.Usage.Calls+m.Usage.ToolCalls)/n),
			tokens(m.Usage, n), money(m.Usage.CostUSD, n),
			seconds(time.Duration(m.Usage.LatencyMS/n*float64(time.Millisecond))), outcomes(m))
	}
	return t
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

func tokens(u runner.Usage, n float64) string {
	if u.InputTokens == nil || u.OutputTokens == nil {
		return "unknown"
	}
	return fmt.Sprintf("%s+%s", count(int(float64(*u.InputTokens)/n+0.5)), count(int(float64(*u.OutputTokens)/n+0.5)))
}

// parts tells what of the tokens was cached or thought, between the given
// texts, or is empty.
func parts(u runner.Usage, before, after string) string {
	var told []string
	for _, p := range []struct {
		n    int64
		what string
	}{
		{u.CachedTokens, "in from the provider's cache"}, {u.CacheWriteTokens, "in written to the provider's cache"}, {u.ReasoningTokens, "out thought"},
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

// money shows three significant digits, so that a tenth of a cent is seen.
func money(dollars *float64, n float64) string {
	if dollars == nil {
		return "unknown"
	}
	x := *dollars / n
	if x == 0 {
		return "$0"
	}
	decimals := max(2, 2-int(math.Floor(math.Log10(x))))
	return "$" + strconv.FormatFloat(x, 'f', decimals, 64)
}

func seconds(d time.Duration) string {
	switch {
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
	case d < time.Second:
		return fmt.Sprintf("%.0f ms", float64(d)/float64(time.Millisecond))
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

// plural writes n of a thing.
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return count(n) + " " + thing + "s"
}

// count writes n with commas.
func count(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// outcomes tells how a method's answers came about.
func outcomes(m runner.MethodSummary) string {
	var parts []string
	for _, o := range methods.Outcomes() {
		if n := m.Outcomes[o]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, o))
		}
	}
	s := strings.Join(parts, ", ")
	if m.Failed > 0 {
		s += fmt.Sprintf(" (%d by plugin, provider or time)", m.Failed)
	}
	return s
}

// causes tells why answers were not reached, the most frequent first.
func causes(w io.Writer, s *runner.Summary) {
	const shown = 4
	for _, m := range s.Methods {
		for i, c := range m.Causes {
			if i == shown {
				fmt.Fprintf(w, "cause     %s: %d more kinds\n", m.Method, len(m.Causes)-shown)
				break
			}
			fmt.Fprintf(w, "cause     %s: %d %s, as in %s: %s\n", m.Method, c.Trials, c.Outcome, c.Example, oneLine(c.Text, 120))
		}
	}
}

// warnings prints what the shown metrics warn of, each text once with the
// metrics that it is about.
func warnings(w io.Writer, s *runner.Summary) {
	var texts []string
	about := map[string][]string{}
	shown := 0
	for _, m := range s.Methods {
		for _, c := range columns(s) {
			shown++
			for _, text := range m.Metrics[c.Name].Warnings {
				if len(about[text]) == 0 {
					texts = append(texts, text)
				}
				about[text] = append(about[text], m.Method+" "+c.Label)
			}
		}
	}
	for _, text := range texts {
		metrics := strings.Join(about[text], ", ")
		if len(about[text]) == shown {
			metrics = "every measure"
		}
		fmt.Fprintf(w, "warning   %s: %s\n", metrics, text)
	}
}

// Replay prints the table of a replay and its verdict.
func Replay(w io.Writer, s *runner.Summary, r *runner.ReplayResult) {
	Summary(w, s)
	fmt.Fprintln(w)
	Verdict(w, r)
}

// Verdict says whether a replay proved its run, and if not, where it parted.
func Verdict(w io.Writer, r *runner.ReplayResult) {
	w = Guarded(w)
	if r.Skipped > 0 {
		fmt.Fprintf(w, "%d trials had failed for reasons outside the method and were not repeated\n", r.Skipped)
	}
	for _, c := range r.Changed {
		fmt.Fprintln(w, "changed:", c)
	}
	if r.Same() {
		fmt.Fprintf(w, "replayed: the root hash is that of run %s\n", r.Run.ID)
		return
	}
	fmt.Fprintf(w, "DIVERGED: run %s has root hash %s\n", r.Run.ID, r.Recorded)
	if r.First != nil {
		fmt.Fprintln(w, "first at:", Plain(r.First.String()))
	}
}
