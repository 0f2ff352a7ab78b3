package compare

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"noema/kernel/result/record"
	"noema/kernel/task"
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
func dataOf(sides []*side, runs []*Recorded, metrics []string) (Data, error) {
	labels := make([]string, len(sides))
	var trials []*record.Trial
	planned, plans := map[string]int{}, make([]map[string]int, len(sides))
	for i, s := range sides {
		labels[i] = s.label
		plan := map[record.TrialID]bool{}
		for id, t := range s.trials {
			if t.ID.Method != s.label { // of a large run a copy of each would take as much as the run
				named := *t
				named.ID.Method = s.label
				t = &named
			}
			trials, plan[id] = append(trials, t), true
		}
		for _, r := range s.runs {
			for _, id := range r.Run.Trials() {
				if id.Method == s.method && r.Run.Stopped == "" {
					plan[id] = true
				}
			}
		}
		planned[s.label], plans[i] = len(plan), map[string]int{}
		for id := range plan {
			plans[i][id.Sample]++
		}
	}
	d, err := FromTrials(labels, samplesOf(runs), trials, metrics...)
	if err != nil {
		return d, err
	}
	d.Planned = planned
	d.expect(plans)
	for _, r := range runs {
		d.Largest = max(d.Largest, largestCluster(r.Task.Samples))
	}
	var all []*record.Run
	for _, r := range runs {
		all = append(all, r.Run)
		d.AddLabels(r.Labels)
	}
	d.AddSeeds(func(run *record.Run, method string) string { return labelIn(sides, run, method) }, all...)
	return d, nil
}

// expect notes the trials that were to be there and are not. plans are, along the methods, how
// many each was to have on a sample.
func (d Data) expect(plans []map[string]int) {
	for i, s := range d.Samples {
		absent := make([]int, len(d.Methods))
		for m := range absent {
			absent[m] = max(0, plans[m][s.ID]-len(s.Cells[m]))
		}
		d.Samples[i].Absent = absent
	}
}

// largestCluster is how many samples the largest cluster has; 0 where all stand alone.
func largestCluster(samples []task.Sample) (most int) {
	count := map[string]int{}
	for _, s := range samples {
		if s.Cluster != "" {
			count[s.Cluster]++
			most = max(most, count[s.Cluster])
		}
	}
	return most
}

// samplesOf are the samples of all runs, in an order that does not depend on the
// order in which runs are named: graded differences are bet on in turn.
func samplesOf(runs []*Recorded) (all []task.Sample) {
	if i := slices.IndexFunc(runs, func(r *Recorded) bool { return r.Run.Config.Design != nil }); i > 0 {
		runs = slices.Clone(runs) // the order that was declared counts
		runs[0], runs[i] = runs[i], runs[0]
	}
	lists := make([][]task.Sample, len(runs))
	for i, r := range runs {
		lists[i] = r.Samples()
	}
	by := lists
	if len(runs) > 0 && runs[0].Run.Config.Design != nil {
		by = lists[1:]
	}
	slices.SortStableFunc(by, func(a, b []task.Sample) int {
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

// Against pairs each method of a run over a changed task with itself on the
// unchanged one. Without such a pair, or with a baseline, it is nil.
func (m *Merged) Against(baseline string) map[string]string {
	if baseline != "" {
		return nil
	}
	clean := map[string]string{}
	for _, s := range m.sides {
		if s.runs[0].Task.Change == "" {
			clean[s.runs[0].origin()+s.method] = s.label
		}
	}
	var pairs map[string]string
	for _, s := range m.sides {
		if of := clean[s.runs[0].origin()+s.method]; of != "" && s.runs[0].Task.Change != "" {
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
		if s.method == method && slices.ContainsFunc(s.runs, func(r *Recorded) bool { return r.Run == run }) {
			return s.label
		}
	}
	return method
}

// Reach says what readers of the numbers must know of what each method could reach, with
// the labels of the comparison.
func (m *Merged) Reach() (notes []string) {
	for _, r := range m.runs {
		for _, note := range reach(r.Run, r.Trials, func(label string) string { return labelIn(m.sides, r.Run, label) }) {
			if !slices.Contains(notes, note) {
				notes = append(notes, note)
			}
		}
	}
	return notes
}

// Trials are the trials that are compared, each once.
func (m *Merged) Trials() (all []*record.Trial) {
	for _, s := range m.sides {
		all = append(all, slices.Collect(maps.Values(s.trials))...)
	}
	return all
}

// Design is the first rule by which any of the runs was to stop: what it decided is
// not for a fixed number of samples, also when it stands beside other runs. Looks
// that were spread for one run say nothing of another's: then every sample is one.
func (m *Merged) Design() *record.Design {
	for _, r := range m.runs {
		if r.Run.Config.Design != nil {
			d := *r.Run.Config.Design
			if len(m.runs) > 1 {
				d.Looks = 0
			}
			return &d
		}
	}
	return nil
}

// Declared reports whether the rule of a run was declared for this data and headline: it
// looks at the headline of the trials of one run.
func (m *Merged) Declared() bool {
	if len(m.runs) > 1 {
		return false
	}
	for _, t := range m.runs[0].Trials {
		if name, _, ok := Headline(t); ok && len(m.Data.Metrics) > 0 {
			return name == m.Data.Metrics[0]
		}
	}
	return true
}

// Baseline is the label of the method that the one run declared as its baseline; empty where it
// declared none, and for several runs, which were not declared together.
func (m *Merged) Baseline() string {
	if of := m.runs[0].Run.Config.Baseline; of != "" && len(m.runs) == 1 {
		return labelIn(m.sides, m.runs[0].Run, of)
	}
	return ""
}

// Test is the test that the runs declared.
func (m *Merged) Test() (string, error) {
	first := m.runs[0].Run
	for _, r := range m.runs[1:] {
		if r.Run.Config.Test != first.Config.Test {
			return "", fmt.Errorf("compare runs %s and %s: one declared --test %s and the other did not: no test was declared for both", first.ID, r.Run.ID, cmp.Or(first.Config.Test, r.Run.Config.Test))
		}
	}
	return first.Config.Test, nil
}
