package lab

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

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
	Baseline     string   `json:"baseline" part:"pair" doc:"compare every other method with this one (default: every pair)"`
	Metrics      []string `json:"metric" part:"pair" doc:"measures to compare, the headline first (default: the task's)"`
	By           string   `json:"by" part:"pair" choices:"group" doc:"group: show each group of samples, too"`
	BudgetTokens int64    `json:"budget-tokens" part:"pair" min:"0" doc:"count trials that used more tokens as wrong, so that all methods have the same budget"`
	BudgetCalls  int      `json:"budget-calls" part:"pair" min:"0" doc:"count trials that made more calls as wrong"`
	BudgetCost   float64  `json:"budget-cost" part:"pair" min:"0" doc:"count trials that cost more dollars as wrong"`
	Force        bool     `json:"force" part:"stored" doc:"compare the samples that stored runs over different data share"`
	// Equivalence is the margin within which methods are equivalent; 0 takes that of the
	// run's design, if it has one.
	Equivalence float64
}

// Comparison is methods side by side: shown, it is their table.
type Comparison struct {
	*compare.Comparison
	Runs      []string // ids
	Roots     []string // their root hashes
	Simulated bool     // of any of its runs: the numbers say nothing about language models
	byGroup   bool
	notes     []string // all but those on looks
	sides     []*side
	lab       *Lab
}

// Display implements [Displayer].
func (c *Comparison) Display() Bundle {
	return c.Sheet().Display()
}

// Sheet is the comparison as tables with text around them.
func (c *Comparison) Sheet() report.Sheet {
	return report.ComparisonSheet(c.Comparison, report.ComparisonView{Runs: c.Runs, Simulated: c.Simulated, Groups: c.byGroup})
}

// Plot is the headline measure against what a trial costs, a point a method.
func (c *Comparison) Plot() Plot { return report.ParetoPlot(c.Comparison, c.Simulated) }

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
	results, repeated := withoutRepeats(results)
	notes, err := comparable(results, o.Force)
	if err != nil {
		return nil, Misused(err)
	}
	sides, together, err := merge(results)
	if err != nil {
		return nil, err
	}
	notes = slices.Concat(notes, repeated, together)
	data, err := dataOf(sides, results, o.Metrics)
	if err != nil {
		return nil, Misused(err)
	}
	test, err := testOf(results)
	if err != nil {
		return nil, Misused(err)
	}
	c, err := compare.Compare(data, compare.Options{
		Design: design(results), Undeclared: undeclared(results, o), Test: test, Equivalence: o.Equivalence, Baseline: o.Baseline, Against: against(sides, o.Baseline), Budget: runner.LimitsOf(o.BudgetCalls, o.BudgetTokens, o.BudgetCost, 0),
	})
	if err != nil {
		return nil, Misused(err)
	}
	if prompts, unknown := notUnderstood(sides); unknown > 0 {
		notes = append(notes, report.NotUnderstood(prompts, unknown))
	}
	c.Notes = slices.Concat(notes, c.Notes, reach(sides, results))
	out := &Comparison{Comparison: c, byGroup: o.By == "group", notes: c.Notes, sides: sides, lab: results[0].lab}
	for _, r := range results {
		out.Runs, out.Roots = append(out.Runs, r.Run.ID), append(out.Roots, r.Run.Root)
		out.Simulated = out.Simulated || r.Run.Config.Model.Simulated
	}
	return out, nil
}

// notUnderstood counts prompts of each trial once.
func notUnderstood(sides []*side) (prompts, unknown int) {
	for _, s := range sides {
		p, u := runner.NotUnderstood(slices.Collect(maps.Values(s.trials)))
		prompts, unknown = prompts+p, unknown+u
	}
	return prompts, unknown
}

// Ready reports what is wrong with a comparison of e as far as can be told
// without a call: its task, its methods, and a baseline or a measure that there
// will not be.
func (l *Lab) Ready(e Experiment, o Comparing) error {
	e, err := e.Complete()
	if err != nil {
		return err
	}
	opened, err := l.OpenMethods(l.o.Context(), e.Methods, e.MethodOptions)
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
	if len(o.Metrics) == 0 && e.Attack == "" {
		return nil
	}
	t, err := l.taskOf(e)
	if err != nil || !t.Scorer.IsZero() {
		return err // a scorer of its own has measures of its own
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
	for _, m := range o.Metrics {
		if !slices.Contains(names, m) {
			return Misused(fmt.Errorf("task %q has no measure %q%s: use one of %s", t.Name, m, methods.DidYouMean(m, names), strings.Join(names, ", ")))
		}
	}
	return nil
}

// design is the first rule by which any of the runs was to stop: what it decided is
// not for a fixed number of samples, also when it stands beside other runs. Looks
// that were spread for one run say nothing of another's: then every sample is one.
func design(results []*Result) *record.Design {
	for _, r := range results {
		if r.Run.Config.Design != nil {
			d := *r.Run.Config.Design
			if len(results) > 1 {
				d.Looks = 0
			}
			return &d
		}
	}
	return nil
}

// testOf is the test that the runs declared.
func testOf(results []*Result) (string, error) {
	first := results[0].Run
	for _, r := range results[1:] {
		if r.Run.Config.Test != first.Config.Test {
			return "", fmt.Errorf("compare runs %s and %s: one declared --test %s and the other did not: no test was declared for both", first.ID, r.Run.ID, cmp.Or(first.Config.Test, r.Run.Config.Test))
		}
	}
	return first.Config.Test, nil
}

// undeclared reports whether the rule of a run was not declared for what o compares: it
// looks at the headline of the trials of one run.
func undeclared(results []*Result, o Comparing) bool {
	if len(results) > 1 || o.BudgetCalls > 0 || o.BudgetTokens > 0 || o.BudgetCost > 0 {
		return true
	}
	for _, t := range results[0].Result.Trials {
		if name, _, ok := compare.Headline(t); ok && len(o.Metrics) > 0 {
			return name != o.Metrics[0]
		}
	}
	return false
}

// comparable refuses runs whose samples are not the same, or notes it.
func comparable(results []*Result, force bool) (notes []string, err error) {
	first := results[0].Run
	for _, r := range results[1:] {
		a, b := first.Config.Task, r.Run.Config.Task
		if a.Digest == b.Digest {
			continue
		}
		if origin(results[0]) == origin(r) {
			notes = append(notes, changeNotes(results[0], r)...)
			continue
		}
		what := "over another version of the data"
		if a.Name != b.Name || a.Config != b.Config {
			what = fmt.Sprintf("over task %s?%s, not %s?%s", b.Name, b.Config, a.Name, a.Config)
		}
		if !force {
			return nil, fmt.Errorf("compare runs %s and %s: the second is %s (digests %.12s and %.12s): use --force to pair samples by id",
				first.ID, r.Run.ID, what, a.Digest, b.Digest)
		}
		notes = append(notes, fmt.Sprintf("run %s is %s: samples are paired by id alone and may be different questions", r.Run.ID, what))
	}
	for _, r := range results {
		if from := r.Run.Imported; from != nil && len(results) > 1 { // alone, its own notes say it
			notes = append(notes, fmt.Sprintf("run %s was imported from %s (%s): its calls were not recorded and cannot be replayed", r.Run.ID, from.File, from.Harness))
		}
		if lacks := runner.Lacks(r.Result); lacks != nil {
			notes = append(notes, lacks...)
		} else if r.Run.Status != record.Finished {
			notes = append(notes, fmt.Sprintf("run %s is unfinished: the trials that it has are compared", r.Run.ID))
		}
	}
	return notes, nil
}

// origin is the digest of the task that a run's task is, or was made from.
func origin(r *Result) string {
	if d := r.Task.SeedDigest; d != "" {
		return d
	}
	return r.Run.Config.Task.Digest
}

// changeNotes say which runs are over a changed copy of the same task.
func changeNotes(results ...*Result) (notes []string) {
	for _, r := range results {
		if r.Task.Change != "" {
			notes = append(notes, fmt.Sprintf("run %s is under %s: the same questions with the same seeds, paired by sample", r.Run.ID, r.Task.Change))
			for _, note := range r.Run.Notes {
				if strings.HasPrefix(note, "attack "+r.Task.Change) {
					notes = append(notes, note)
				}
			}
		}
	}
	return notes
}

// withoutRepeats leaves out runs that are another one again.
func withoutRepeats(results []*Result) (kept []*Result, notes []string) {
	roots, ids := map[string]string{}, map[string]bool{}
	for _, r := range results {
		was, repeats := roots[r.Run.Root]
		switch {
		case ids[r.Run.ID]:
			notes = append(notes, fmt.Sprintf("run %s is named twice: it adds no data and counts once", r.Run.ID))
			continue
		case repeats && r.Run.Root != "":
			notes = append(notes, fmt.Sprintf("run %s repeats run %s (same root hash): it adds no data and is left out", r.Run.ID, was))
			continue
		}
		roots[r.Run.Root], ids[r.Run.ID] = r.Run.ID, true
		kept = append(kept, r)
	}
	return kept, notes
}
