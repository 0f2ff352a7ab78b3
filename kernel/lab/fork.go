package lab

import (
	"bytes"
	"cmp"
	"fmt"

	"noema/kernel/base/display"
	"noema/kernel/result/compare"
	"noema/kernel/result/record"
	"noema/kernel/run/runner"
	"noema/kernel/show/report"
)

// Forked is a run with one recorded reply replaced: shown, it is the effect.
type Forked struct {
	*Result // the new run
	Parent  *Result
	At      string // METHOD/SAMPLE/EPOCH/PATH of the replaced reply
	Was     string // the reply as it was
	Reply   string // what stands in its place
	Before  *Trial
	After   *Trial
}

// Recorded returns the reply of a model call that is named as in
// "anot/R07/P3/c2": METHOD/SAMPLE/PATH, with the epoch after the sample if need
// be, and without the method if the run has only one.
func (r *Result) Recorded(at string) (string, error) {
	t, c, err := runner.FindCall(r.Result, at)
	if err != nil {
		return "", Misused(err)
	}
	return Call{c, &Trial{t, r}}.Reply()
}

// Fork replaces one recorded reply and runs again only what depends on it: the
// rest of its trial. The new run has this one as its parent; giving the reply
// that was recorded first gives a run with this one's root hash.
func (r *Result) Fork(at, reply string) (*Forked, error) {
	if err := r.Run.Replayable(); err != nil {
		return nil, Misused(err)
	}
	before, call, err := runner.FindCall(r.Result, at)
	if err != nil {
		return nil, Misused(err)
	}
	was, err := r.Recorded(at)
	if err != nil {
		return nil, err
	}
	setup, err := r.lab.again(r, "", false)
	if err != nil {
		return nil, err
	}
	made, err := watched(r.lab, runner.Fork{Parent: r.Result, Setup: setup, Call: call, Trial: before.ID, Reply: reply}.Do)
	if err != nil {
		return nil, err
	}
	f := &Forked{
		Result: r.lab.newResult(made, nil), Parent: r, At: before.ID.String() + "/" + call.Path, Was: was, Reply: reply,
		Before: &Trial{before, r},
	}
	f.After, err = f.Trial(before.ID.String())
	return f, err
}

// again opens what a run was made with, as it is now. Model is how its model is
// written, if its record does not say. With recorded set, nobody is to be asked.
func (l *Lab) again(r *Result, model string, recorded bool) (runner.Setup, error) {
	config := r.Run.Config
	methods, err := l.RecordedMethods(l.o.Context(), r.Run)
	if err != nil {
		return runner.Setup{}, err
	}
	asked := recordedModel(r.Run)
	if !recorded {
		if asked, err = l.Model(cmp.Or(model, config.Model.ID.String()), false, 0); err != nil {
			return runner.Setup{}, fmt.Errorf("open the model of run %s: %w", r.Run.ID, err)
		}
		if id := asked.Info().ID; id != config.Model.ID {
			return runner.Setup{}, Misused(fmt.Errorf("open the model of run %s: it is %s at %q, not that of the run, %s at %q: use the same server and options", r.Run.ID, id, id.Endpoint, config.Model.ID, config.Model.ID.Endpoint))
		}
	}
	live, err := r.LiveTask()
	if err != nil {
		live = nil // its files may be gone: the store has the samples
	}
	t, _ := runner.SameTask(r.Run, r.Task, live)
	graders, err := l.graders(t, Experiment{})
	return runner.Setup{
		Experiment: Experiment{Name: r.Run.Name, Question: r.Run.Question, Seed: config.Seed},
		Task:       t, Methods: methods, Provider: asked, Graders: graders, Redactor: l.o.Redactor,
	}, err
}

// LiveTask opens the task of the run again, with the tools as they are now: those of a
// stored task only repeat what they said.
func (r *Result) LiveTask() (*Task, error) {
	config := r.Run.Config.Task
	if config.Name == askName {
		return r.lab.asked(r)
	}
	return r.lab.Task(config.Name+"?"+config.Config, nil)
}

// Display implements [Displayer].
func (f *Forked) Display() Bundle {
	var text bytes.Buffer
	report.Fork(&text, f.Parent.Run, f.Run, f.At, f.Before.Trial, f.After.Trial)
	return display.Text(text.String())
}

// Diff sets this run against another, trial by trial.
func (r *Result) Diff(other *Result, force bool) (*Diff, error) {
	return r.DiffMethods("", other, "", force)
}

// DiffMethods sets a method of this run against one of another or of this one, trial by
// trial. An empty name stands for all methods of its run.
func (r *Result) DiffMethods(method string, other *Result, against string, force bool) (*Diff, error) {
	side := func(r *runner.Result, method string) compare.Side {
		return compare.Side{Run: r.Run, Method: method, Trials: r.Trials, Whole: r.Whole}
	}
	d, err := compare.DiffRuns(side(r.Result, method), side(other.Result, against), force)
	if err != nil {
		return nil, Misused(err)
	}
	return &Diff{d, r, other}, nil
}

// Diff is where two runs part: shown, it is the first differing call of each
// trial, word by word.
type Diff struct {
	*compare.Diff
	a, b *Result
}

// View is how the diff is printed by default.
func (d *Diff) View() report.DiffView {
	read := func(r *Result) func(record.TrialID, record.Call) (runner.Exchange, error) {
		return func(id record.TrialID, c record.Call) (runner.Exchange, error) { return r.Read(id, c) }
	}
	return report.DiffView{Limit: 20, ReadA: read(d.a), ReadB: read(d.b)}
}

// Display implements [Displayer].
func (d *Diff) Display() Bundle {
	var text bytes.Buffer
	report.Diff(&text, d.Diff, d.View())
	return display.Text(text.String())
}

// Read returns what a model call of a trial asked and was told.
func (r *Result) Read(id TrialID, c record.Call) (runner.Exchange, error) {
	store, err := r.lab.Store()
	if err != nil {
		return runner.Exchange{}, err
	}
	return runner.ReadExchange(r.lab.o.Context(), store, r.Run, id, c)
}
