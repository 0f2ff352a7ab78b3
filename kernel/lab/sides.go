package lab

import (
	"cmp"
	"slices"
	"strings"

	"noema/kernel/result/compare"
	"noema/kernel/result/record"
	"noema/kernel/run/runner"
)

// name gives the sides labels that are unique: the change of their task, the model
// and the first run are added where the label alone does not tell.
func name(sides []*side) {
	count, models := map[string]int{}, map[string]bool{}
	changed := false // then the change tells methods of one name apart
	for _, s := range sides {
		changed = changed || s.runs[0].Task.Change != ""
		models[s.runs[0].Run.Config.Model.ID.String()] = true
		count[s.method]++
	}
	used := map[string]bool{}
	for _, s := range sides {
		first, alike := s.runs[0], count[s.method] > 1
		if first.Task.Change != "" && alike {
			change, _, _ := strings.Cut(first.Task.Change, "?") // its options would fill the table
			s.label += " under " + change
		}
		if alike && len(models) > 1 {
			s.label += " @ " + first.Run.Config.Model.ID.String()
		}
		if used[s.label] || alike && len(models) == 1 && !changed {
			s.label += " (" + strings.TrimSpace(first.Run.ID) + ")"
		}
		used[s.label] = true
	}
}

// dataOf makes the data of a comparison of the sides.
func dataOf(sides []*side, results []*Result, metrics []string) (compare.Data, error) {
	labels := make([]string, len(sides))
	var trials []*record.Trial
	planned := map[string]int{}
	for i, s := range sides {
		labels[i] = s.label
		plan := map[TrialID]bool{}
		for id, t := range s.trials {
			named := *t
			named.ID.Method = s.label
			trials, plan[id] = append(trials, &named), true
		}
		for _, r := range s.runs {
			for _, id := range r.Run.Trials() {
				if id.Method == s.method && r.Run.Stopped == "" {
					plan[id] = true
				}
			}
		}
		planned[s.label] = len(plan)
	}
	d, err := compare.FromTrials(labels, samplesOf(results), trials, metrics...)
	if err != nil {
		return d, err
	}
	d.Planned = planned
	var runs []*record.Run
	for _, r := range results {
		runs = append(runs, r.Run)
		d.AddLabels(r.Labels)
	}
	runner.AddSeeds(&d, func(run *record.Run, method string) string { return labelIn(sides, run, method) }, runs...)
	return d, nil
}

// samplesOf are the samples of all results, in an order that does not depend on the
// order in which runs are named: graded differences are bet on in turn.
func samplesOf(results []*Result) (all []Sample) {
	if i := slices.IndexFunc(results, func(r *Result) bool { return r.Run.Config.Design != nil }); i > 0 {
		results = slices.Clone(results) // the order that was declared counts
		results[0], results[i] = results[i], results[0]
	}
	lists := make([][]Sample, len(results))
	for i, r := range results {
		lists[i] = r.Samples()
	}
	by := lists
	if len(results) > 0 && results[0].Run.Config.Design != nil {
		by = lists[1:]
	}
	slices.SortStableFunc(by, func(a, b []Sample) int {
		if c := cmp.Compare(len(b), len(a)); c != 0 || len(a) == 0 {
			return c
		}
		return record.ComparePaths(a[0].ID, b[0].ID)
	})
	known := map[string]bool{}
	for _, s := range slices.Concat(lists...) {
		if !known[s.ID] {
			known[s.ID] = true
			all = append(all, s)
		}
	}
	return all
}

// against pairs each method of a run over a changed task with itself on the
// unchanged one. Without such a pair, or with a baseline, it is nil.
func against(sides []*side, baseline string) map[string]string {
	if baseline != "" {
		return nil
	}
	clean := map[string]string{}
	for _, s := range sides {
		if s.runs[0].Task.Change == "" {
			clean[origin(s.runs[0])+s.method] = s.label
		}
	}
	var pairs map[string]string
	for _, s := range sides {
		if of := clean[origin(s.runs[0])+s.method]; of != "" && s.runs[0].Task.Change != "" {
			if pairs == nil {
				pairs = map[string]string{}
			}
			pairs[s.label] = of
		}
	}
	return pairs
}

// labelIn is the label in the comparison of a run's method.
func labelIn(sides []*side, run *record.Run, method string) string {
	for _, s := range sides {
		if s.method == method && slices.ContainsFunc(s.runs, func(r *Result) bool { return r.Run == run }) {
			return s.label
		}
	}
	return method
}

// reach is what readers must know of each run, with the labels of the comparison.
func reach(sides []*side, results []*Result) (notes []string) {
	for _, r := range results {
		for _, note := range runner.Reach(r.Run, r.Result.Trials, func(label string) string { return labelIn(sides, r.Run, label) }) {
			if !slices.Contains(notes, note) {
				notes = append(notes, note)
			}
		}
	}
	return notes
}
