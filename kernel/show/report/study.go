package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"noema/kernel/base/display"
	"noema/kernel/result/compare"
	"noema/kernel/result/record"
)

// StudySheet is a study: its verdict, the table of methods by task and model, the pairs over
// all tasks and on each, and what may be said beyond. run is nil of results that noema did not
// run.
func StudySheet(run *record.Run, s *compare.Study, simulatedModel bool) Sheet {
	tables := []display.Table{paperTable(s), amounts(s.Whole)}
	if len(s.Whole.Pairs) > 0 {
		tables = append(tables, pairTable(s.Whole))
	}
	for _, t := range []display.Table{partTable(s), rankTable(s), elsewhereTable(s)} {
		if len(t.Rows) > 0 {
			tables = append(tables, t)
		}
	}
	tables = append(tables, curveTables(s.Whole)...)
	return Sheet{Verdict: s.Verdict, Head: studyHead(run, s), Tables: explained(tables), Tail: strings.Join(studyTail(run, s, simulatedModel), "\n")}
}

// studyHead says what the study rests on.
func studyHead(run *record.Run, s *compare.Study) string {
	t := fmt.Sprintf("study of %s", Plural(len(s.Tasks), "task"))
	if len(s.Models) > 1 {
		t += fmt.Sprintf(" with %s", Plural(len(s.Models), "model"))
	}
	text := fmt.Sprintf("%s\n%s", strings.TrimSuffix(t+" · "+strings.Join(s.Models, ", "), " · "), basis(s.Whole))
	if run != nil {
		text += fmt.Sprintf(" · seed %d", run.Config.Seed)
	}
	text += cutWarnings(s.Whole)
	if s.Whole.Budget != nil {
		text += fmt.Sprintf("\nequal budget: a trial over %s counts as wrong", budgetText(s.Whole))
	}
	return text
}

// whole is the study as a slice.
func whole(s *compare.Study) compare.Slice {
	out := compare.Slice{Metric: s.Whole.Metric, Samples: s.Whole.Samples}
	for _, m := range s.Whole.Methods {
		out.Methods = append(out.Methods, m.Metrics[s.Whole.Metric].Value)
	}
	for _, p := range s.Whole.Pairs {
		out.Pairs = append(out.Pairs, p.Metrics[s.Whole.Metric])
	}
	return out
}

// sliceOf is a part of the study: a task, a model, or a task with a model; nothing for all.
func sliceOf(s *compare.Study, task, model string) (compare.Slice, bool) {
	if len(s.Tasks) == 1 {
		task = ""
	}
	if len(s.Models) == 1 {
		model = ""
	}
	if task == "" && model == "" {
		return whole(s), true
	}
	i := slices.IndexFunc(s.Slices, func(c compare.Slice) bool { return c.Task == task && c.Model == model })
	if i < 0 {
		return compare.Slice{}, false
	}
	return s.Slices[i], true
}

// columnsOf are the tasks of a study, and their mean if there are several.
func columnsOf(s *compare.Study) (names []string) {
	for _, t := range s.Tasks {
		names = append(names, t.Task)
	}
	if len(names) > 1 {
		names = append(names, "")
	}
	return names
}

// blocksOf are the models of a study, and all of them together if there are several.
func blocksOf(s *compare.Study) []string {
	if len(s.Models) > 1 {
		return append(slices.Clone(s.Models), "")
	}
	return s.Models
}

// paperTable is the table of a paper: methods in rows, tasks in columns, models in blocks.
// Cells that stand out hold the best mean and all that are not proven worse. Letters behind
// a cell name the methods that are proven worse there.
func paperTable(s *compare.Study) display.Table {
	var t display.Table
	several := len(s.Models) > 1
	if several {
		t.AddWhole("model")
	}
	t.AddWhole("method")
	for _, task := range columnsOf(s) {
		t.AddWhole(cmp.Or(task, "mean"))
	}
	t.AddWhole(resourceName(s.Whole.Pareto.Resource))
	for _, model := range blocksOf(s) {
		for m, method := range s.Whole.Methods {
			var row []string
			var best []bool
			if several {
				row, best = append(row, cmp.Or(model, "all")), append(best, false)
			}
			row, best = append(row, letter(m)+" "+method.Method), append(best, false)
			for _, task := range columnsOf(s) {
				part, ok := sliceOf(s, task, model)
				if !ok {
					row, best = append(row, "–"), append(best, false)
					continue
				}
				row, best = append(row, metric(part.Methods[m], true)+lettered(methodsOf(s), m, part.Pairs)), append(best, standsOut(s, part, m))
			}
			use := ""
			if model == "" || !several {
				use = amount(method, s.Whole.Pareto.Resource)
			}
			t.Row(append(row, use)...)
			t.Best = append(t.Best, append(best, false))
		}
	}
	bold := "the best, and all that are not proven worse"
	if s.Whole.Baseline != "" {
		bold = "the best, and of those compared with it, as each is with the baseline alone, all that are not proven worse"
	}
	t.Notes = append(t.Notes, "bold (*): "+bold+"; letters: the methods that are proven worse there")
	return t
}

// letter marks a method, such as a.
func letter(m int) string {
	if m < 26 {
		return string(rune('a' + m))
	}
	return letter(m/26-1) + letter(m%26)
}

// provenWorse are the methods that are proven worse than one.
func provenWorse(pairs []compare.Difference, than string) (names []string) {
	for _, d := range pairs {
		switch {
		case d.Winner != than:
		case d.A == than:
			names = append(names, d.B)
		default:
			names = append(names, d.A)
		}
	}
	return names
}

// lettered are the letters of the methods that are proven worse than one, as in " >ab".
func lettered(methods []string, m int, pairs []compare.Difference) string {
	worse, text := provenWorse(pairs, methods[m]), " >"
	for i, name := range methods {
		if slices.Contains(worse, name) {
			text += letter(i)
		}
	}
	return strings.TrimSuffix(text, " >")
}

// methodsOf are the labels of a study's methods.
func methodsOf(s *compare.Study) (names []string) {
	for _, m := range s.Whole.Methods {
		names = append(names, m.Method)
	}
	return names
}

// standsOut reports whether a method has the best mean of a part, or is not proven worse
// than the method that has it. Without a comparison of the two it is not known to be as good.
func standsOut(s *compare.Study, part compare.Slice, m int) bool {
	best := -1
	for i, v := range part.Methods {
		if v.Defined && (best < 0 || v.Value > part.Methods[best].Value) {
			best = i
		}
	}
	if best < 0 || !part.Methods[m].Defined {
		return false
	}
	if m == best || part.Methods[m].Value == part.Methods[best].Value {
		return true
	}
	top, name := s.Whole.Methods[best].Method, s.Whole.Methods[m].Method
	return slices.ContainsFunc(part.Pairs, func(d compare.Difference) bool {
		return d.Winner != top && (d.A == top && d.B == name || d.A == name && d.B == top)
	})
}

// partTable is a line a pair and model: the difference on each task. Cells that stand out
// have a winner.
func partTable(s *compare.Study) display.Table {
	var t display.Table
	if len(s.Slices) == 0 {
		return t
	}
	t.AddWhole("difference")
	for _, task := range columnsOf(s) {
		t.AddWhole(cmp.Or(task, "mean"))
	}
	for i, p := range s.Whole.Pairs {
		for _, model := range blocksOf(s) {
			row, best := []string{p.A + " − " + p.B}, []bool{false}
			if len(s.Models) > 1 {
				row[0] += " · " + cmp.Or(model, "all")
			}
			for _, task := range columnsOf(s) {
				cell, decided := "–", false
				if part, ok := sliceOf(s, task, model); ok {
					cell, decided = signed(part.Pairs[i].Difference), part.Pairs[i].Winner != ""
				}
				row, best = append(row, cell), append(best, decided)
			}
			t.Row(row...)
			t.Best = append(t.Best, best)
		}
	}
	t.Notes = append(t.Notes, "bold (*): a winner; the pairs of all tasks are one family, so are those of all models, and those of each task with each model")
	return t
}

// rankTable is a line a method: the places that it may have.
func rankTable(s *compare.Study) display.Table {
	var t display.Table
	if len(s.Ranks) < 3 {
		return t
	}
	t.AddWhole("rank", "from", "to")
	for _, r := range s.Ranks {
		t.Row(r.Method, fmt.Sprint(r.From), fmt.Sprint(r.To))
	}
	t.Notes = []string{"the places that each method may have, all at once at the level of the intervals"}
	return t
}

// elsewhereTable is a line a pair: the difference on tasks like these.
func elsewhereTable(s *compare.Study) display.Table {
	var t display.Table
	if len(s.Elsewhere) == 0 {
		return t
	}
	t.AddWhole("on tasks like these", "mean [interval]", "one further task")
	for _, e := range s.Elsewhere {
		t.Row(e.A+" − "+e.B, signed(e.Mean), signed(e.Next))
	}
	t.Notes = []string{"if other tasks scatter as these do; no winner is named by it: one task in ten that turns round makes such rules name false ones"}
	return t
}

// studyTail is what stands below the tables of a study.
func studyTail(run *record.Run, s *compare.Study, simulatedModel bool) []string {
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, wrap(fmt.Sprintf(format, args...), textWidth)) }
	if len(s.Tasks) > 1 {
		var weights, pooled []string
		for _, t := range s.Tasks {
			weights = append(weights, fmt.Sprintf("%s %s, %.3g of the mean", t.Task, Plural(t.Samples, "sample"), t.Weight))
		}
		for i, m := range s.Whole.Methods {
			pooled = append(pooled, fmt.Sprintf("%s %s", m.Method, orDash(float64(s.Pooled[i]), s.Pooled[i].Defined())))
		}
		add("note: the verdict is on the mean of these tasks: %s", strings.Join(weights, "; "))
		add("note: mean over all samples, by which large tasks decide and nothing is concluded: %s", strings.Join(pooled, ", "))
	}
	if len(s.Whole.Pairs) > 1 {
		add("note: intervals of pairs hold together: each of the %d is at %.4g %%, all at once at %.0f %%", len(s.Whole.Pairs), 100*s.Whole.PairLevel, 100*s.Level)
	}
	for _, line := range interactionLines(s) {
		add("%s", line)
	}
	lines = append(lines, remarks(s.Whole)...)
	lines = append(lines, "")
	for _, m := range s.Whole.Methods {
		if told := parts(m.Total, "", ""); told != "" {
			lines = append(lines, fmt.Sprintf("%-9s %s: %s", "tokens", m.Method, told))
		}
	}
	if run == nil {
		return lines
	}
	calls := run.Calls
	lines = append(lines, fmt.Sprintf("%-9s %s to the provider, %s from the store, over all executions", "calls", count(calls.Provider), count(calls.Cached)))
	lines = append(lines, fmt.Sprintf("%-9s %s of %s", "study", run.ID, Plural(len(run.Cells), "run")))
	lines = append(lines, fmt.Sprintf("%-9s %s", "root", cmp.Or(run.Root, "none: the study is unfinished")))
	if simulatedModel {
		lines = append(lines, "", wrap(simulated, textWidth))
	}
	return lines
}

// interactionLines say whether a mean hides that the difference changes.
func interactionLines(s *compare.Study) (lines []string) {
	unseen := map[string][]compare.Interaction{}
	for _, i := range s.Interactions {
		pair := i.A + " − " + i.B
		var turned []string
		for _, d := range i.Parts {
			if d.Differs {
				turned = append(turned, fmt.Sprintf("%s %s against %s", d.Part, signed(d.Difference), d.Against))
			}
		}
		switch {
		case len(turned) > 0:
			lines = append(lines, fmt.Sprintf("interaction: %s changes between %s: %s", pair, i.Of, strings.Join(turned, "; ")))
		case i.F.Defined() && i.Corrected <= compare.Number(1-s.Level):
			lines = append(lines, fmt.Sprintf("interaction: %s changes between tasks (Welch's F, p %s), though no single task is shown to differ from the others", pair, pValue(i.Corrected)))
		default:
			unseen[i.Of] = append(unseen[i.Of], i)
		}
	}
	for _, of := range []string{"tasks", "models"} {
		var which []string
		for _, i := range unseen[of] {
			which = append(which, fmt.Sprintf("%s − %s (p %s, %s)", i.A, i.B, pValue(i.Corrected), missed(i.Parts)))
		}
		if len(which) > compare.FewPairs {
			var parts []compare.Departure
			for _, i := range unseen[of] {
				parts = append(parts, i.Parts...)
			}
			which = []string{fmt.Sprintf("%d of the %d pairs (%s; --json has each)", len(which), len(s.Whole.Pairs), missed(parts))}
		}
		if len(which) > 0 {
			lines = append(lines, fmt.Sprintf("interaction: not shown to change between %s, which does not say that it is the same: %s", of, strings.Join(which, "; ")))
		}
	}
	return lines
}

// missed says how large a change may be that these samples do not show.
func missed(parts []compare.Departure) string {
	least, blind := compare.Number(0), 0
	for _, d := range parts {
		if d.Detectable.Defined() {
			least = max(least, d.Detectable)
		} else {
			blind++
		}
	}
	text := fmt.Sprintf("a change under %.2f would be missed", float64(least))
	switch {
	case blind == len(parts):
		return "too few samples to find any change"
	case blind > 0:
		text += fmt.Sprintf(", and any in %d of %d comparisons, which have too few samples", blind, len(parts))
	}
	return text
}
