package lab

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"noema/kernel/base/display"
	"noema/kernel/base/score"
	"noema/kernel/result/compare"
	"noema/kernel/result/record"
	"noema/kernel/run/runner"
	"noema/kernel/show/report"
	"noema/methods"
)

// Comparing says how results are compared; the zero value compares every pair
// of methods on the headline measure.
type Comparing struct {
	Baseline string            `json:"baseline" part:"pair" doc:"compare every other method with this one (default: every pair); declared with a run it needs less evidence, chosen for a stored one it only chooses what is shown"`
	Metrics  []string          `json:"metric" part:"pair" doc:"measures to compare, the headline first (default: the task's)"`
	By       string            `json:"by" part:"pair" doc:"show each group of samples, too: group, or a column of the samples' metadata"`
	Budget   map[string]string `json:"budget" part:"pair" doc:"count trials that used more as wrong, so that all methods have the same budget: tokens=4000, calls=5, cost=0.01 (dollars) or time=30s"`
	Curve    string            `json:"curve" part:"pair" choices:"tokens,calls,cost,time" doc:"show what each method is worth at every budget, who wins there, and where methods overtake each other"`
	Force    bool              `json:"force" part:"stored" doc:"compare the samples that stored runs over different data share"`
	// Equivalence is the margin within which methods are equivalent; 0 takes that of the
	// run's design, if it has one.
	Equivalence float64
}

// Comparison is methods side by side: shown, it is their table.
type Comparison struct {
	*compare.Comparison
	Runs      []string // ids
	Of        []string // their tasks and models, as "task · model"
	Roots     []string // their root hashes
	Simulated bool     // of any of its runs: the numbers say nothing about language models
	by        string
	notes     []string // all but those on looks
	merged    *compare.Merged
	lab       *Lab
}

// Display implements [Displayer].
func (c *Comparison) Display() Bundle {
	return pictured(c.Sheet(), report.NewsOf(c.Comparison, nil), c.Curves()...)
}

// pictured is a sheet with its news first, and plots.
func pictured(s report.Sheet, n *report.News, plots ...Displayer) Bundle {
	b, err := report.Pictured(s, n, plots...)
	if err != nil {
		return display.Of(err)
	}
	return b
}

// Sheet is the comparison as tables with text around them.
func (c *Comparison) Sheet() report.Sheet {
	return report.ComparisonSheet(c.Comparison, report.ComparisonView{Runs: c.Runs, Of: c.Of, Simulated: c.Simulated, Groups: c.by})
}

// Curves are the curves over budgets, if there are any.
func (c *Comparison) Curves() []Displayer { return report.CurvePlots(c.Comparison, c.Simulated) }

// GroupPlot is the headline measure of each method in each group of samples.
func (c *Comparison) GroupPlot() Plot { return report.GroupPlot(c.Comparison, c.Simulated) }

// Compare compares the methods of this run.
func (r *Result) Compare(o Comparing) (*Comparison, error) { return Compare(o, r) }

// Numbers is a run with its comparison for scripts, as "noema compare --json" prints it.
// Its fields are stable, new ones may be added.
type Numbers struct {
	*runner.Summary
	Comparison *compare.Comparison `json:"comparison"`
}

// Numbers are the numbers of the run, the same wherever it is: looks at its comparison,
// which are of a store, are not part of them.
func (r *Result) Numbers() (*Numbers, error) {
	c, err := Comparing{}.unseen([]*Result{r})
	if err != nil {
		return nil, err
	}
	return &Numbers{runner.SummaryOf(r.Result, c.Comparison), c.Comparison}, nil
}

// Compare compares the methods of one or more runs on the samples that they
// share. Runs over different tasks or versions of the data are an error, unless
// o says to force it. Runs of one experiment are taken together: each trial counts
// once, however many runs have it. A method that runs make in different ways is
// labelled with its model or its run. The look at the verdict is recorded in the
// store; see [compare.Looks].
func Compare(o Comparing, results ...*Result) (*Comparison, error) {
	c, err := o.unseen(results)
	if err != nil {
		return nil, err
	}
	return c.Look(), nil
}

// unseen is the comparison without the look at it.
func (o Comparing) unseen(results []*Result) (*Comparison, error) {
	if len(results) == 0 {
		return nil, Misused(errors.New("compare runs: name at least one"))
	}
	for _, r := range results {
		if err := r.missing(); err != nil {
			return nil, err
		}
	}
	runs := make([]*compare.Recorded, len(results))
	for i, r := range results {
		runs[i] = &r.Result.Recorded
	}
	m, err := compare.FromRuns(runs, o.Force, o.Metrics...)
	if err != nil {
		return nil, Misused(err)
	}
	if err := o.regroup(m, runs); err != nil {
		return nil, Misused(err)
	}
	options, err := o.options()
	if err != nil {
		return nil, Misused(err)
	}
	if options.Test, err = m.Test(); err != nil {
		return nil, Misused(err)
	}
	options.Design, options.Against = m.Design(), m.Against(o.Baseline)
	options.Declared = m.Baseline()
	if options.Against == nil {
		options.Baseline = cmp.Or(options.Baseline, options.Declared)
	}
	options.Undeclared = options.Budget != (record.Limits{}) || !m.Declared()
	c, err := compare.Compare(m.Data, options)
	if err != nil {
		return nil, Misused(err)
	}
	notes := m.Notes
	if prompts, unknown := runner.NotUnderstood(m.Trials()); unknown > 0 {
		notes = append(notes, report.NotUnderstood(prompts, unknown))
	}
	c.Notes = slices.Concat(notes, c.Notes, m.Reach())
	out := &Comparison{Comparison: c, by: o.By, notes: c.Notes, merged: m, lab: results[0].lab}
	for _, r := range m.Runs() {
		out.Runs, out.Roots = append(out.Runs, r.Run.ID), append(out.Roots, r.Run.Root)
		if of := report.TaskAndModel(r.Run); !slices.Contains(out.Of, of) {
			out.Of = append(out.Of, of)
		}
		out.Simulated = out.Simulated || r.Run.Config.Model.Simulated
	}
	return out, nil
}

// options are those of every kind of comparison.
func (o Comparing) options() (compare.Options, error) {
	var most struct {
		Calls  int           `json:"calls" min:"0"`
		Tokens int64         `json:"tokens" min:"0"`
		Cost   float64       `json:"cost" min:"0"`
		Time   time.Duration `json:"time"`
	}
	if err := methods.ParseOptions(o.Budget, &most); err != nil {
		return compare.Options{}, fmt.Errorf("budget: %w", err)
	}
	if most.Time < 0 {
		return compare.Options{}, fmt.Errorf("budget: time %v is below 0", most.Time)
	}
	curve := map[string]compare.Resource{"": "", "tokens": compare.Tokens, "calls": compare.Calls, "cost": compare.Cost, "time": compare.Latency}
	over, known := curve[o.Curve]
	if !known {
		return compare.Options{}, fmt.Errorf("curve %q: use tokens, calls, cost or time", o.Curve)
	}
	return compare.Options{
		Equivalence: o.Equivalence, Baseline: o.Baseline, Curve: over, Budget: runner.LimitsOf(most.Calls, most.Tokens, most.Cost, most.Time),
	}, nil
}

// maxGroups bounds the groups that a column may make.
const maxGroups = 100

// hasColumn is an error if the samples lack the column by which o groups them.
func (o Comparing) hasColumn(samples []Sample) error {
	columns := map[string]bool{}
	for _, s := range samples {
		for name := range s.Metadata {
			columns[name] = true
		}
	}
	if o.By == "" || o.By == "group" || columns[o.By] {
		return nil
	}
	return fmt.Errorf("--by %q: the samples have no such column: use one of %s; of a file of rows, ?metadata=%s keeps it",
		o.By, strings.Join(append([]string{"group"}, slices.Sorted(maps.Keys(columns))...), ", "), o.By)
}

// regroup puts the samples of m into groups by the column of their metadata that o names.
func (o Comparing) regroup(m *compare.Merged, runs []*compare.Recorded) error {
	if o.By == "" || o.By == "group" {
		return nil
	}
	var samples []Sample
	for _, r := range runs {
		samples = append(samples, r.Samples()...)
	}
	if err := o.hasColumn(samples); err != nil {
		return err
	}
	value, groups := map[string]string{}, map[string]bool{}
	for _, s := range samples {
		value[s.ID], groups[s.Metadata[o.By]] = s.Metadata[o.By], true
	}
	if len(groups) > maxGroups {
		return fmt.Errorf("--by %q: it has %d values, but at most %d groups are shown: name a column that says a kind", o.By, len(groups), maxGroups)
	}
	m.Data.Samples = slices.Clone(m.Data.Samples)
	for i, s := range m.Data.Samples {
		m.Data.Samples[i].Group = value[s.ID]
	}
	return nil
}

// Ready reports what is wrong with a comparison of e as far as can be told
// without a call: its task, its methods, a budget or a curve, and a baseline, a measure or
// a column that there will not be. Of a study, each task is looked at, which one of the
// measures is enough for.
func (l *Lab) Ready(e Experiment, o Comparing) error {
	if _, err := o.options(); err != nil {
		return Misused(err)
	}
	cells, err := l.cells(e)
	if err != nil {
		return err
	}
	if err := l.readyMethods(cells, o); err != nil {
		return err
	}
	for _, c := range cells {
		if c.Model != cells[0].Model {
			continue // which model answers a task changes nothing
		}
		if err := l.readyTask(c.Experiment, o, len(cells) > 1); err != nil {
			return err
		}
	}
	return nil
}

// readyMethods checks the methods of the cells, which all cells share with the first.
func (l *Lab) readyMethods(cells []cell, o Comparing) error {
	e := cells[0].Experiment
	tasks := opening{lab: l, tasks: map[string]func() (*Task, error){}, names: map[string]string{}}
	for _, c := range cells { // they are opened where a method has a folder beside which they may lie
		tasks.add(c)
	}
	opened, err := l.openMethods(l.o.Context(), e.Methods, e.MethodOptions, sync.OnceValue(tasks.withheld))
	if err != nil {
		return err
	}
	labels := make([]string, len(opened))
	for i, m := range opened {
		labels[i] = m.Label
	}
	if o.Baseline != "" && !slices.Contains(labels, o.Baseline) {
		return Misused(fmt.Errorf("baseline %q is not among the methods %s%s", o.Baseline, strings.Join(labels, ", "), methods.DidYouMean(o.Baseline, labels)))
	}
	if o.Baseline != "" && len(labels) == 1 {
		return Misused(fmt.Errorf("baseline %q: there is no other method to compare with it", o.Baseline))
	}
	return nil
}

// readyTask is Ready for the task of e, which may be one of several.
func (l *Lab) readyTask(e Experiment, o Comparing, several bool) error {
	if len(o.Metrics) == 0 && e.Attack == "" && o.By == "" {
		return nil
	}
	t, err := l.taskOf(e)
	if err != nil {
		return err
	}
	if err := o.hasColumn(t.Samples); err != nil {
		return Misused(err)
	}
	if !t.Scorer.IsZero() {
		return nil // a scorer of its own has measures of its own
	}
	var names []string
	for _, s := range t.Samples {
		names = append(names, score.Names(s.Problem.Answer)...)
	}
	if slices.Contains(names, score.VerdictAccuracy) {
		names = append(names, score.OfCorpus()...)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	missing := slices.DeleteFunc(slices.Clone(o.Metrics), func(m string) bool { return slices.Contains(names, m) })
	if len(missing) == 0 || several && len(missing) < len(o.Metrics) {
		return nil
	}
	return Misused(fmt.Errorf("task %q has no measure %q%s: use one of %s", t.Name, missing[0], methods.DidYouMean(missing[0], names), strings.Join(names, ", ")))
}
