package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"noema/kernel/base/display"
	"noema/kernel/base/score"
	"noema/kernel/result/compare"
	"noema/kernel/result/record"
	"noema/kernel/run/runner"
	"noema/methods"
)

// Transcript prints a trial of a run: its calls with their failed attempts,
// its events, its answer and its score. read fetches a call's request and reply.
func Transcript(w io.Writer, run *record.Run, t *record.Trial, read func(record.Call) (runner.Exchange, error)) {
	w = Guarded(w)
	fmt.Fprintf(w, "trial   %s   seed %d   hash %s\n", t.ID, t.Seed, t.Hash)
	fmt.Fprintf(w, "model   %s\n", ModelName(run.Config.Model))
	fmt.Fprintf(w, "answer  %s %s", t.Answer.Outcome, t.Answer.Value)
	if t.Answer.Reason != "" {
		fmt.Fprintf(w, " (%s)", t.Answer.Reason)
	}
	fmt.Fprintln(w)
	if words, ok := t.Answer.InWords(); ok {
		block(w, "in words", words)
	}
	if t.HasTarget() {
		fmt.Fprintf(w, "target  %s%s\n", t.Target, Shuffled(run, t))
	} else {
		fmt.Fprintln(w, "target  none")
	}
	fmt.Fprintf(w, "score   %s\n", scores(t))
	if t.Ungraded != "" {
		fmt.Fprintf(w, "ungraded %s\n", t.Ungraded)
	}
	if t.Failure != "" {
		fmt.Fprintf(w, "failure %s\n", t.Failure)
	}
	if t.Printed != "" {
		block(w, "printed", t.Printed)
	}
	fmt.Fprintln(w, "\nEVENTS")
	for _, e := range inOrder(t.Events) {
		where := e.Path
		if !strings.HasPrefix(e.Path, e.Phase) {
			where = strings.TrimSpace("[" + e.Phase + "] " + e.Path)
		}
		fmt.Fprintf(w, "  %s %s: %s\n", where, e.Kind, display.Line(e.Text, 100))
	}
	fmt.Fprintln(w, "\nCALLS")
	for _, c := range t.Calls {
		call(w, run, c, read)
	}
	if len(t.Grading) > 0 {
		fmt.Fprintln(w, "\nGRADING")
	}
	for _, c := range t.Grading {
		call(w, run, c, read)
	}
}

// Shuffled says why a trial's target is not the sample's.
func Shuffled(run *record.Run, t *record.Trial) string {
	_, ranked := t.Score.Values[score.MRR]
	for _, m := range run.Config.Methods {
		if m.Label == t.ID.Method && m.Shuffle && ranked {
			return " (places in this trial's shuffled list)"
		}
	}
	return ""
}

// scores lists what a trial earned, its headline first.
func scores(t *record.Trial) string {
	switch {
	case !t.HasTarget() && len(t.Score.Values) == 0:
		return unscored
	case len(t.Score.Values) == 0 || t.Infra:
		return "none"
	}
	first, _, _ := compare.Headline(t)
	names := slices.SortedFunc(maps.Keys(t.Score.Values), func(a, b string) int {
		return cmp.Or(cmp.Compare(order(a, first), order(b, first)), record.ComparePaths(a, b))
	})
	for i, name := range names {
		names[i] = fmt.Sprintf("%s %.4g", name, t.Score.Values[name])
	}
	return strings.Join(names, ", ")
}

// unscored stands where a score would, if the right answer is not known.
const unscored = "unscored"

// order is 0 for the first name and 1 for all others.
func order(name, first string) int {
	if name == first {
		return 0
	}
	return 1
}

// inOrder is events as people read them: the end of a phase after its steps.
func inOrder(events []methods.Event) []methods.Event {
	place := func(e methods.Event) string {
		if e.Kind == methods.PhaseEnd {
			return e.Path + "/\uffff"
		}
		return e.Path
	}
	return slices.SortedStableFunc(slices.Values(events), func(a, b methods.Event) int { return record.ComparePaths(place(a), place(b)) })
}

func call(w io.Writer, run *record.Run, c record.Call, read func(record.Call) (runner.Exchange, error)) {
	fmt.Fprintf(w, "  %s  %s  key %.12s", c.Path, c.Kind, c.Key)
	if c.Draw > 0 {
		fmt.Fprintf(w, "  draw %d", c.Draw)
	}
	if c.Fault != "" {
		fmt.Fprintf(w, "  FAILED (%s): %s\n", c.Fault, display.Line(c.Error, 200))
		return
	}
	used, built := run.UsageOf(c), ""
	if c.Kind == record.SeedCall {
		built = "  to build it, once for the run"
	}
	fmt.Fprintf(w, "  %d+%d tokens%s  %s%s\n", used.InputTokens, used.OutputTokens, parts(compare.UsageOf(used), " (", ")"), seconds(used.Latency), built)
	if c.Kind == record.ToolCall {
		return
	}
	x, err := read(c)
	if err != nil {
		fmt.Fprintf(w, "    %v\n", err)
		return
	}
	miscount, failed := x.Record.Miscount()
	if miscount != "" {
		fmt.Fprintf(w, "    token counts refused: %s\n", display.Line(miscount, 120))
	}
	for i, a := range x.Record.Attempts[:failed] {
		fmt.Fprintf(w, "    attempt %d failed: %s", i+1, a.Kind)
		if a.Status != 0 {
			fmt.Fprintf(w, " (HTTP %d)", a.Status)
		}
		fmt.Fprintf(w, ", waited %s: %s\n", seconds(a.Wait), display.Line(a.Message, 120))
	}
	for _, m := range x.Request.Messages {
		block(w, string(m.Role), m.Content)
	}
	whole := x.Parts()
	for _, thought := range whole.Thoughts {
		block(w, "thought", thought)
	}
	block(w, "reply", whole.Said)
	if told := x.Record.Completion.Logprobs; len(told) > 0 {
		sum := 0.0
		for _, t := range told {
			sum += t.Logprob
		}
		fmt.Fprintf(w, "    log probability: %.3f over %s\n", sum, Plural(len(told), "token"))
	}
}

// block prints a text indented under its heading.
func block(w io.Writer, head, text string) {
	fmt.Fprintf(w, "    %s:\n", head)
	for l := range strings.Lines(text) {
		fmt.Fprintf(w, "      %s\n", printable(strings.TrimRight(l, "\n")))
	}
}

// printable keeps model output from steering the terminal, and on its line.
func printable(s string) string { return strings.ReplaceAll(display.Visible(s), "\n", "\u240a") }

// Plain is printable for texts of several lines, such as errors that quote a
// server or a plugin.
func Plain(s string) string { return display.Visible(s) }

// Guarded is w for texts with parts that are others': names and versions that a
// plugin gives itself, ids and groups of a data set, paths of calls. What could
// steer a terminal becomes visible. Each Write must be whole characters, as those
// of fmt are.
func Guarded(w io.Writer) io.Writer { return guarded{w} }

type guarded struct{ w io.Writer }

// Write implements io.Writer.
func (g guarded) Write(p []byte) (int, error) {
	if _, err := io.WriteString(g.w, display.Visible(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Answer prints an answer with what it rests on, and the target beside it.
func Answer(w io.Writer, a methods.Answer, target json.RawMessage) {
	w = Guarded(w)
	fmt.Fprintf(w, "answer  %s %s\n", a.Outcome, Plain(string(a.Value)))
	if a.Reason != "" {
		fmt.Fprintf(w, "reason  %s\n", display.Line(a.Reason, 300))
	}
	if words, ok := a.InWords(); ok {
		block(w, "in words", words)
	}
	fmt.Fprintf(w, "target  %s\n", cmp.Or(Plain(string(target)), "none"))
	for _, e := range a.Evidence {
		fmt.Fprintf(w, "  %s: %s\n", display.Line(e.Source, 40), display.Line(e.Text, 160))
	}
}
