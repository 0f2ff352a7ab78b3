package compare

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"noema/kernel/base/display"
	"noema/kernel/result/record"
	"noema/methods"
)

// reach says what readers of a run's numbers must know of what its methods could
// reach, and whether they keep a state between trials: who read the task's data and who searched them, plugins that ran with
// more rights than others, or on a system that bounds them less, and methods that
// answered without asking anybody. The latter happens by nature to some, which declare it; otherwise it suggests that
// the answers come from elsewhere. The built-in methods are known. And what the
// provider said of its tokens that cannot be. name gives a
// method's label as it is shown.
func reach(run *record.Run, trials []*record.Trial, name func(label string) string) []string {
	notes := dataNotes(run.Config.Methods, name)
	if a := run.Ahead; a != nil {
		notes = append(notes, fmt.Sprintf("ran ahead: %s trials were begun before it was known that they are not needed; they are left out, and were charged %s",
			display.Count(a.Trials), charged(a.Usage)))
	}
	for i, m := range run.Config.Methods {
		if i >= len(run.Plugins) {
			break
		}
		p := run.Plugins[i]
		if len(p.Allowed) > 0 {
			notes = append(notes, fmt.Sprintf("%s was allowed more than other plugins: %s", name(m.Label), strings.Join(p.Allowed, ", ")))
		}
		if names := p.Withheld(); len(names) > 0 {
			notes = append(notes, fmt.Sprintf("%s was not given %s, which its folder has beside its code: data of the task", name(m.Label), strings.Join(names, ", ")))
		}
		if p.Weak {
			notes = append(notes, fmt.Sprintf("%s could reach more than a plugin should: %s", name(m.Label), p.Isolation))
		}
		if p.State != "" {
			notes = append(notes, fmt.Sprintf("%s %s", name(m.Label), p.State))
		}
		if n := unordered(m.Label, trials); n > 0 {
			notes = append(notes, fmt.Sprintf("%s: order-dependent in %s trials: equal requests were under way at once and nothing says which came first, so that a replay may give them each other's replies",
				name(m.Label), display.Count(n)))
		}
		if alone, answered := withoutCall(m.Label, trials); alone > 0 && !p.NoCalls && !p.Builtin {
			notes = append(notes, fmt.Sprintf("%s answered %s of %s trials without a call of a model or tool", name(m.Label), display.Count(alone), display.Count(answered)))
		}
	}
	if note := miscounts(trials); note != "" {
		notes = append(notes, note)
	}
	return notes
}

// unordered counts the trials of a method in which chance decided the order of equal calls.
func unordered(label string, trials []*record.Trial) (n int) {
	for _, t := range trials {
		if t.ID.Method == label && t.Facts().Unordered {
			n++
		}
	}
	return n
}

// charged says what calls were charged.
func charged(u methods.Usage) string {
	text := fmt.Sprintf("%s calls", display.Count(u.Calls+u.ToolCalls))
	if u.Unpriced == 0 {
		text += fmt.Sprintf(", $%.4f", u.Cost.USD())
	}
	return text
}

// miscounts says how many replies had token counts that cannot be; empty if none
// had.
func miscounts(trials []*record.Trial) string {
	replies, first := map[string]bool{}, ""
	for _, t := range trials {
		for _, c := range t.Facts().Miscounts {
			first = cmp.Or(first, c.Miscount)
			replies[c.Key] = true
		}
	}
	if len(replies) == 0 {
		return ""
	}
	these := fmt.Sprintf("%d replies are refused, and their tokens and cost are unknown", len(replies))
	if len(replies) == 1 {
		these = "1 reply are refused, and its tokens and cost are unknown"
	}
	return fmt.Sprintf("%s, which cannot be: such token counts of %s", first, these)
}

// dataNotes says which methods read and which searched, where a task knows both.
func dataNotes(list []record.Method, name func(label string) string) []string {
	labels := map[string][]string{}
	for _, m := range list {
		if m.Data != "" {
			labels[m.Data] = append(labels[m.Data], name(m.Label))
		}
	}
	severally := strings.NewReplacer("searches", "search", "reads ", "read ") // the verbs of several methods
	var parts []string
	for _, what := range slices.Sorted(maps.Keys(labels)) {
		does := what
		if len(labels[what]) > 1 {
			does = severally.Replace(what)
		}
		parts = append(parts, fmt.Sprintf("%s (%s)", strings.Join(labels[what], ", "), does))
	}
	if parts == nil {
		return nil
	}
	return []string{"data: " + strings.Join(parts, "; ")}
}

// withoutCall counts the trials of a method that have an answer, and those of
// them without any call.
func withoutCall(label string, trials []*record.Trial) (alone, answered int) {
	for _, t := range trials {
		if t.ID.Method != label || t.Failure != "" || len(t.Answer.Value) == 0 {
			continue
		}
		answered++
		if !t.Facts().Answered {
			alone++
		}
	}
	return alone, answered
}
