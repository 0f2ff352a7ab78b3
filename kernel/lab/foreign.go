package lab

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"noema/kernel/base/score"
	"noema/kernel/result/compare"
	"noema/kernel/result/predictions"
	"noema/kernel/show/report"
	"noema/methods"
)

// Foreign is a comparison of results that noema did not run, by the scores of their files.
// Nothing of it is recorded.
type Foreign struct {
	Comparison *Comparison    // over one task; nil over several
	Study      *compare.Study // over several tasks; nil over one
}

// foreignMethod is what one method earned, by task.
type foreignMethod struct {
	path, method, model, label string
	tasks                      map[string]*predictions.File
}

// CompareFiles compares the methods whose results are at paths, which are files or folders:
// see [predictions.ReadResults]. Samples are paired by id, or by question where the ids are
// on others; force pairs them by id whatever they ask.
func CompareFiles(ctx context.Context, o Comparing, paths ...string) (*Foreign, error) {
	if o.By != "" && o.By != "group" {
		return nil, Misused(fmt.Errorf("compare files: --by %q: files have groups by their column group alone: name it so, or leave --by out", o.By))
	}
	var all []*foreignMethod
	for _, path := range paths {
		found, err := predictions.ReadResults(ctx, path, o.Metrics)
		if err != nil {
			return nil, Misused(err)
		}
		for _, f := range found {
			i := slices.IndexFunc(all, func(m *foreignMethod) bool { return m.path == path && m.method == f.Method && m.model == f.Model })
			if i < 0 {
				i = len(all)
				all = append(all, &foreignMethod{path: path, method: f.Method, model: f.Model, tasks: map[string]*predictions.File{}})
			}
			all[i].tasks[f.Task] = f
		}
	}
	if len(all) < 2 {
		return nil, Misused(fmt.Errorf("compare files: %s has the results of one method: name those of another behind it", paths[0]))
	}
	nameForeign(all)
	out, err := compareForeign(all, o)
	return out, Misused(err)
}

// compareForeign compares one task, or several as a study.
func compareForeign(all []*foreignMethod, o Comparing) (*Foreign, error) {
	tasks, notes := sharedTasks(all)
	var cells []compare.CellData
	for _, task := range tasks {
		d, more, err := foreignData(all, task, o)
		if err != nil {
			return nil, fmt.Errorf("compare files: %s%w", strings.TrimPrefix(task+": ", ": "), err)
		}
		notes = append(notes, more...)
		cells = append(cells, compare.CellData{Task: task, Weight: 1, Data: d})
	}
	notes = append(notes, "scores are those of the files: noema neither ran nor scored these results")
	options, err := o.options()
	if err != nil {
		return nil, err
	}
	switch len(cells) {
	case 0:
		return nil, fmt.Errorf("compare files: no task has results of all methods: %s", strings.Join(notes, "; "))
	case 1:
		c, err := compare.Compare(cells[0].Data, options)
		if err != nil {
			return nil, err
		}
		c.Notes = slices.Concat(notes, c.Notes)
		return &Foreign{Comparison: &Comparison{Comparison: c, Runs: []string{}, Roots: []string{}, by: o.By}}, nil
	}
	for i := range cells {
		cells[i].Data.Metrics = cells[i].Data.Metrics[:1]
	}
	s, err := compare.CompareStudy(cells, options)
	if err != nil {
		return nil, err
	}
	s.Whole.Notes = slices.Concat(notes, s.Whole.Notes)
	return &Foreign{Study: s}, nil
}

// Sheet is the comparison as tables with text around them.
func (f *Foreign) Sheet() report.Sheet {
	if f.Study != nil {
		return report.StudySheet(nil, f.Study, false)
	}
	return f.Comparison.Sheet()
}

// nameForeign labels methods by what tells them apart: their names in the files, their models,
// both, or the names of the files.
func nameForeign(all []*foreignMethod) {
	join := func(texts ...string) string {
		return strings.Join(slices.DeleteFunc(texts, func(t string) bool { return t == "" }), " · ")
	}
	for _, name := range []func(*foreignMethod) string{
		func(m *foreignMethod) string { return m.method },
		func(m *foreignMethod) string { return m.model },
		func(m *foreignMethod) string { return join(m.method, m.model) },
		func(m *foreignMethod) string { return strings.TrimSuffix(filepath.Base(m.path), filepath.Ext(m.path)) },
		func(m *foreignMethod) string { return join(m.path, m.method, m.model) },
	} {
		labels := map[string]bool{}
		for _, m := range all {
			m.label = importLabel(name(m))
			labels[m.label] = true
		}
		if len(labels) == len(all) && !labels[""] {
			return
		}
	}
}

// sharedTasks are the tasks that all methods have results of. Where each has one, it is one
// task, whatever the files call it.
func sharedTasks(all []*foreignMethod) (tasks, notes []string) {
	first := sortedKeys(all[0].tasks)
	single := !slices.ContainsFunc(all, func(m *foreignMethod) bool { return len(m.tasks) != 1 })
	for _, m := range all {
		for _, task := range sortedKeys(m.tasks) {
			switch missing := slices.IndexFunc(all, func(o *foreignMethod) bool { return o.tasks[task] == nil }); {
			case single:
				m.tasks[first[0]] = m.tasks[task]
			case missing >= 0:
				notes = append(notes, fmt.Sprintf("task %s of %s is left out: %s has no results of it", task, m.label, all[missing].label))
			case !slices.Contains(tasks, task):
				tasks = append(tasks, task)
			}
		}
	}
	if single {
		return first, nil
	}
	return tasks, notes
}

// foreignData pairs the results of all methods on a task by sample.
func foreignData(all []*foreignMethod, task string, o Comparing) (d compare.Data, notes []string, err error) {
	d.Planned = map[string]int{}
	find := partners{byID: map[string]int{}, byQuestion: map[string]int{}, force: o.Force}
	for m, method := range all {
		f := method.tasks[task]
		find.before = len(d.Samples)
		d.Methods, d.Planned[method.label] = append(d.Methods, method.label), len(f.All)
		for _, p := range f.All {
			at, id := find.sample(p, method.label)
			if at == len(d.Samples) {
				d.Samples = append(d.Samples, compare.Sample{ID: id, Cells: make([][]compare.Cell, len(all))})
			}
			if err := kinship(&d.Samples[at], p); err != nil {
				return d, nil, err
			}
			c := compare.Cell{Epoch: p.Epoch, Values: p.Scores, Outcome: methods.Answered, Usage: p.Usage, Trial: method.label + "/" + p.ID}
			if len(p.Scores) == 0 { // what it is worth is not known
				c.Outcome, c.Reason, c.Infra = methods.Failed, cmp.Or(p.Failure, "no score"), true
			}
			d.Samples[at].Cells[m] = append(d.Samples[at].Cells[m], c)
		}
		notes = append(notes, fmt.Sprintf("%s: %d results, %s", method.label, len(f.All), f.Harness))
	}
	notes = append(notes, absences(d)...)
	shared := 0
	for _, s := range d.Samples {
		if !slices.ContainsFunc(s.Cells, func(cells []compare.Cell) bool { return len(cells) == 0 }) {
			shared++
		}
	}
	switch n := len(d.Samples); {
	case shared == 0:
		return d, nil, fmt.Errorf("the methods have no sample in common, by id or by question: ids are such as %.60q and %.60q: name results on the same data; --force pairs ids whose questions read otherwise", d.Samples[0].ID, d.Samples[n-1].ID)
	case 2*shared < n:
		notes = append(notes, fmt.Sprintf("warning: few partners: all methods have %d of the %d samples: the files may be of different tasks, versions or parts of the data", shared, n))
	}
	if find.questioned > 0 {
		notes = append(notes, fmt.Sprintf("%d results were paired by their questions, since their ids are those of others", find.questioned))
	}
	d.Metrics, err = foreignMetrics(all, task, o.Metrics)
	return d, notes, err
}

// kinship puts a sample into the cluster and the group that a result names.
func kinship(s *compare.Sample, p predictions.Prediction) error {
	for _, one := range []struct {
		what, says string
		have       *string
	}{{"cluster", p.Cluster, &s.Cluster}, {"group", p.Group, &s.Group}} {
		if *one.have = cmp.Or(*one.have, one.says); one.says != "" && *one.have != one.says {
			return fmt.Errorf("%s: sample %.60q is in %s %.60q there, and in %.60q of another result: make them agree", p.Place, p.ID, one.what, one.says, *one.have)
		}
	}
	return nil
}

// absences notes the results that a method lacks on samples that others have, in the samples
// and in words: rows may be absent because the method failed there.
func absences(d compare.Data) (notes []string) {
	for m, label := range d.Methods {
		most, absent := 0, 0
		for _, s := range d.Samples {
			most = max(most, len(s.Cells[m]))
		}
		for i, s := range d.Samples {
			if lacks := most - len(s.Cells[m]); lacks > 0 {
				absent += lacks
				if s.Absent == nil {
					d.Samples[i].Absent = make([]int, len(d.Methods))
				}
				d.Samples[i].Absent[m] = lacks
			}
		}
		if absent > 0 {
			notes = append(notes, fmt.Sprintf("%d of %d results of %s are absent", absent, most*len(d.Samples), label))
		}
	}
	return notes
}

// partners finds the sample that a result is on.
type partners struct {
	byID, byQuestion map[string]int // places of samples
	asks             []string       // along the samples
	force            bool           // by id alone
	before           int            // samples of the methods before
	questioned       int
}

// sample is the place of a result's sample, which is a new one behind the others where none has
// its id with its question, nor its question. Ids may count rows, which are others elsewhere.
func (x *partners) sample(p predictions.Prediction, label string) (at int, id string) {
	question := p.Questions[0]
	id = p.ID
	if at, found := x.byID[id]; found && !x.force && question != "" && x.asks[at] != "" && x.asks[at] != question {
		id += " of " + label
	}
	if at, found := x.byID[id]; found {
		return at, id
	}
	at, found := x.byQuestion[question]
	if found && question != "" && at < x.before {
		x.questioned++
		return at, id
	}
	if at = len(x.asks); found { // which of them is meant would be a guess
		x.byQuestion[question] = math.MaxInt
	} else {
		x.byQuestion[question] = at
	}
	x.asks, x.byID[id] = append(x.asks, question), at
	return at, id
}

// foreignMetrics are the measures that all methods have, the headline first: those from 0 to
// 1, of which more is better.
func foreignMetrics(all []*foreignMethod, task string, asked []string) ([]string, error) {
	with, has, beyond := map[string]int{}, []string{}, ""
	results := map[string]int{} // with each measure
	for _, m := range all {
		own := map[string]bool{}
		for _, p := range m.tasks[task].All {
			for name, x := range p.Scores {
				results[name]++
				if own[name] = name != score.First; !(x >= 0 && x <= 1) {
					beyond, with[name] = fmt.Sprintf("; %s is %g at %s, and scores are from 0 to 1: scale them", name, x, p.Place), -len(all)
				}
			}
		}
		for name, is := range own {
			if is {
				with[name]++
			}
		}
		has = append(has, fmt.Sprintf("%s has %s", m.label, cmp.Or(strings.Join(sortedKeys(own), ", "), "no scores")))
	}
	shared := slices.DeleteFunc(sortedKeys(with), func(name string) bool { return with[name] < len(all) })
	slices.SortStableFunc(shared, func(a, b string) int { return results[b] - results[a] }) // the headline is a measure of all tests, not of a few
	if i := slices.IndexFunc(asked, func(name string) bool { return !slices.Contains(shared, name) }); i >= 0 {
		return nil, fmt.Errorf("not all methods have the measure %q: %s%s", asked[i], strings.Join(has, "; "), beyond)
	}
	if len(asked) > 0 {
		shared = asked
	}
	if len(shared) == 0 {
		return nil, fmt.Errorf("no measure is shared: %s%s", strings.Join(has, "; "), beyond)
	}
	return shared, nil
}
