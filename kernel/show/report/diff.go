package report

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/sergi/go-diff/diffmatchpatch"

	"noema/kernel/base/display"
	"noema/kernel/result/compare"
	"noema/kernel/result/record"
	"noema/kernel/run/runner"
)

// DiffView chooses what of a diff is printed, and in which form.
type DiffView struct {
	Flipped bool // only trials that scored differently
	Limit   int  // trials shown in full; 0 is all
	Colour  bool
	// ReadA and ReadB fetch the request and the reply of a call of each run.
	ReadA, ReadB func(id record.TrialID, c record.Call) (runner.Exchange, error)
}

// Diff prints where two runs first differ.
func Diff(w io.Writer, d *compare.Diff, v DiffView) {
	fmt.Fprintf(w, "a  %s\nb  %s\n", d.A, d.B)
	for _, warning := range d.Warnings {
		fmt.Fprintln(w, "warning:", Plain(warning))
	}
	flipped := d.Flipped()
	fmt.Fprintf(w, "\n%s same; %s\n", Plural(d.Same, "trial"), differing(d.Trials, len(flipped)))
	for _, only := range []struct {
		run string
		ids []record.TrialID
	}{{"a", d.OnlyA}, {"b", d.OnlyB}} {
		if len(only.ids) > 0 {
			fmt.Fprintf(w, "%s only in %s: %s\n", Plural(len(only.ids), "trial"), only.run, Plain(someTrials(only.ids)))
		}
	}
	shown := d.Trials
	if v.Flipped {
		shown = flipped
	}
	for i, t := range shown {
		if v.Limit > 0 && i == v.Limit {
			fmt.Fprintf(w, "\n%d more: --limit 0 shows all\n", len(shown)-i)
			break
		}
		diffTrial(w, t, v)
	}
}

// differing says how many trials differ, and how many of them in their score or,
// where there is none, in their answer.
func differing(all []compare.TrialDiff, flipped int) string {
	trials, verb, what := len(all), "differ", "score"
	if slices.ContainsFunc(all, func(t compare.TrialDiff) bool { return t.Unscored }) {
		what = "answer"
	}
	if trials == 1 {
		verb = "differs"
	}
	switch {
	case trials == 0:
		return "none differs"
	case flipped == 0:
		return fmt.Sprintf("%s %s, with the same %s", count(trials), verb, what)
	case flipped == trials:
		return fmt.Sprintf("%s %s, with another %s", count(trials), verb, what)
	}
	return fmt.Sprintf("%s %s, %s of them with another %s", count(trials), verb, count(flipped), what)
}

func someTrials(ids []record.TrialID) string {
	var names []string
	for i, id := range ids {
		if i == 5 {
			names = append(names, "…")
			break
		}
		names = append(names, id.String())
	}
	return strings.Join(names, ", ")
}

func diffTrial(w io.Writer, t compare.TrialDiff, v DiffView) {
	name := t.A.String()
	if t.B != t.A {
		name += " and " + t.B.String()
	}
	fmt.Fprintf(w, "\n%s", Plain(name))
	switch {
	case t.Unscored:
		fmt.Fprintf(w, "  %s", unscored)
	case t.Flipped():
		fmt.Fprintf(w, "  %s %s → %s", t.Metric, optional(t.ScoreA), optional(t.ScoreB))
	}
	fmt.Fprintln(w)
	if t.First != nil {
		where := ""
		if t.First.Path != "" {
			where = "call " + t.First.Path + ": "
		}
		fmt.Fprintf(w, "  first differs at %s\n", display.Line(where+t.First.What, 300))
	}
	diffCall(w, t, v)
	if string(t.AnswerA.Value) != string(t.AnswerB.Value) || t.AnswerA.Outcome != t.AnswerB.Outcome {
		fmt.Fprintf(w, "  answer a: %s %s\n  answer b: %s %s\n", t.AnswerA.Outcome, display.Line(string(t.AnswerA.Value), 200),
			t.AnswerB.Outcome, display.Line(string(t.AnswerB.Value), 200))
	}
}

func optional(v *float64) string {
	if v == nil {
		return "undefined"
	}
	return fmt.Sprintf("%.4g", *v)
}

// diffCall prints the request and the reply of the first differing call, word
// by word.
func diffCall(w io.Writer, t compare.TrialDiff, v DiffView) {
	if t.CallA == nil || t.CallB == nil || t.CallA.Kind != record.CompletionCall || t.CallA.Fault != "" || t.CallB.Fault != "" {
		return
	}
	a, errA := v.ReadA(t.A, *t.CallA)
	b, errB := v.ReadB(t.B, *t.CallB)
	if errA != nil || errB != nil {
		fmt.Fprintf(w, "  the call cannot be read: %v\n", errors.Join(errA, errB))
		return
	}
	if t.CallA.Key != t.CallB.Key {
		words(w, "prompt", prompt(a), prompt(b), v.Colour)
	}
	words(w, "reply", a.Record.Completion.Text, b.Record.Completion.Text, v.Colour)
}

func prompt(x runner.Exchange) string {
	var b strings.Builder
	for _, m := range x.Request.Messages {
		fmt.Fprintf(&b, "%s: %s\n", m.Role, m.Content)
	}
	return b.String()
}

// words prints a word-level diff: [-gone-] and {+new+}, in colour on request.
func words(w io.Writer, what, a, b string, colour bool) {
	if a == b {
		fmt.Fprintf(w, "  same %s\n", what)
		return
	}
	red, green, end := "", "", ""
	if colour {
		red, green, end = "\x1b[31m", "\x1b[32m", "\x1b[0m"
	}
	around := map[diffmatchpatch.Operation][2]string{deleted: {red + "[-", "-]" + end}, inserted: {green + "{+", "+}" + end}}
	var text strings.Builder
	for _, p := range hunks(diffWords(a, b), 60) {
		marks := around[p.Type]
		text.WriteString(marks[0] + Plain(p.Text) + marks[1])
	}
	fmt.Fprintf(w, "  %s:\n", what)
	for line := range strings.Lines(text.String()) {
		fmt.Fprintf(w, "    %s\n", strings.TrimRight(line, "\n"))
	}
}

// changedScores prints every metric that differs, a line each.
func changedScores(w io.Writer, before, after *record.Trial) {
	names := slices.SortedFunc(maps.Keys(before.Score.Values), record.ComparePaths)
	for name := range after.Score.Values {
		if _, ok := before.Score.Values[name]; !ok {
			names = append(names, name)
		}
	}
	changed := 0
	for _, name := range names {
		was, now := scoreText(before, name), scoreText(after, name)
		if was != now {
			fmt.Fprintf(w, "%-7s %s → %s\n", name, was, now)
			changed++
		}
	}
	if name, _, ok := compare.Headline(after); changed == 0 && ok {
		fmt.Fprintf(w, "%-7s %s, unchanged, as is every metric\n", name, scoreText(after, name))
	}
}

func scoreText(t *record.Trial, name string) string {
	v, ok := t.Score.Values[name]
	if !ok || t.Infra {
		return "undefined"
	}
	return fmt.Sprintf("%.4g", v)
}

// Fork prints what replacing one reply did.
func Fork(w io.Writer, parent, run *record.Run, at string, before, after *record.Trial) {
	w = Guarded(w)
	fmt.Fprintf(w, "forked  %s from %s at %s\n", run.ID, parent.ID, at)
	fmt.Fprintf(w, "answer  %s %s → %s %s\n", before.Answer.Outcome, display.Line(string(before.Answer.Value), 80), after.Answer.Outcome, display.Line(string(after.Answer.Value), 80))
	if after.HasTarget() {
		fmt.Fprintf(w, "target  %s\n", display.Line(string(after.Target), 80))
	}
	changedScores(w, before, after)
	fmt.Fprintf(w, "calls   %d → %d: %d from the store, %d new\n", len(before.Calls), len(after.Calls), len(after.Calls)-after.Provider, after.Provider)
	if parent.Root == run.Root {
		fmt.Fprintf(w, "root    %s, that of the parent\n", run.Root)
		return
	}
	fmt.Fprintf(w, "root    %s\n", run.Root)
}
