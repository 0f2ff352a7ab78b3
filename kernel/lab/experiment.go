package lab

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"noema/cache"
	"noema/kernel/model/provider"
	"noema/kernel/run/cluster"
	"noema/kernel/run/gateway"
	"noema/kernel/run/runner"
	"noema/kernel/show/report"
	"noema/kernel/task/attack"
	"noema/plugins"
)

// setup opens what e names, without its methods.
func (l *Lab) setup(e Experiment) (runner.Setup, error) {
	s := runner.Setup{Command: slices.Clone(os.Args), Redactor: l.o.Redactor}
	var err error
	if s.Experiment, err = e.Complete(); err != nil {
		return s, err
	}
	e = s.Experiment
	if s.Task, err = l.taskOf(e); err != nil {
		return s, err
	}
	if s.Provider, err = l.modelOf(e, e.Model); err != nil {
		return s, err
	}
	s.Graders, err = l.graders(s.Task, e)
	return s, err
}

// graders opens the models that grade the task's answers; there are none if no scorer
// of it asks models.
func (l *Lab) graders(t *Task, e Experiment) (list []provider.Provider, err error) {
	g, _ := t.Scorer.Grading()
	for _, name := range g.Models {
		by, err := l.modelOf(e, name)
		if err != nil {
			return nil, fmt.Errorf("open grader %q: %w", name, err)
		}
		list = append(list, by)
	}
	return list, nil
}

// taskOf opens the task of e, with the scorers that it names, under its attack if
// there is one.
func (l *Lab) taskOf(e Experiment) (*Task, error) {
	t, err := l.Task(e.Task, e.TaskOptions)
	if err == nil && len(e.Scorers) > 0 {
		t, err = t.ScoredBy(e.Scorers)
		err = Misused(err)
	} else if err == nil {
		t, err = t.Scored()
		err = Misused(err)
	}
	if err != nil || e.Attack == "" {
		return t, err
	}
	a, err := attack.Parse(e.Attack)
	if err != nil {
		return nil, Misused(err)
	}
	t, err = a.Apply(t, e.Seed)
	return t, Misused(err)
}

// modelOf opens a model that e names. With workers, those that serve it answer its calls.
func (l *Lab) modelOf(e Experiment, name string) (provider.Provider, error) {
	recorded := e.Cache == string(gateway.Replay)
	here, err := l.Model(name, recorded, e.MaxConnections)
	elsewhere := IsNotHere(err)
	if recorded || e.Listen == "" && e.NATS == "" || err != nil && !elsewhere || err == nil && here.Info().ID.Weights == "" {
		return here, err
	}
	crew, err := l.crewOf(e)
	if err != nil {
		return nil, err
	}
	if elsewhere {
		here = nil
	}
	return crew.Model(l.o.Context(), name, here)
}

// Run carries e out, or goes on with it where it was interrupted, and shows its
// progress. Calls that the store has answers to are not made. The result of an
// experiment that failed holds what was finished, and shows the error.
func (l *Lab) Run(e Experiment) (*Result, error) {
	found, err := l.run(e, false)
	return l.newResult(found, err), err
}

// RunLight carries out an experiment for its tables, in a tenth of the memory: what its
// trials did stays in the store, from which Whole reads it.
func (l *Lab) RunLight(e Experiment) (*Result, error) {
	found, err := l.run(e, true)
	return l.newResult(found, err), err
}

func (l *Lab) run(e Experiment, light bool) (*runner.Result, error) {
	e, err := Settle(e)
	if err != nil {
		return nil, err
	}
	if e, err = e.Complete(); err != nil {
		return nil, err
	}
	if e.Several() {
		return nil, Misused(errors.New("run experiment: it is over several tasks or models: Study carries it out"))
	}
	ctx, cancel := context.WithCancel(l.o.Context())
	defer cancel()
	var opening errgroup.Group // beside the setup: processes take time to start, and tasks to generate
	var opened []runner.Method
	var s runner.Setup
	ready := make(chan struct{})
	hide := sync.OnceValue(func() *plugins.Withheld {
		<-ready
		return l.withheld([]string{e.Task}, []*Task{s.Task})
	})
	opening.Go(func() (err error) {
		opened, err = l.openMethods(ctx, e.Methods, e.MethodOptions, hide)
		return err
	})
	s, err = l.setup(e)
	close(ready)
	if err != nil {
		cancel()
		_ = opening.Wait() // what is wrong with the setup comes first
		return nil, err
	}
	if err := opening.Wait(); err != nil {
		return nil, err
	}
	s.Methods, s.Light = opened, light
	return l.carryOut(s)
}

// carryOut runs what is open and shows its progress.
func (l *Lab) carryOut(s runner.Setup) (*runner.Result, error) {
	crew, err := l.crewOf(s.Experiment)
	if err != nil {
		return nil, err
	}
	if err := onlyHere(&s, crew); err != nil {
		return nil, err
	}
	result, err := watched(l, func(ctx context.Context, store *cache.Store, observe runner.Observer) (*runner.Result, error) {
		countWorkers(observe, crew)
		return s.Run(ctx, store, observe)
	})
	if err != nil && l.o.Context().Err() != nil {
		err = context.Canceled
	}
	return result, err
}

// onlyHere gives the experiment its crew, and refuses functions of this program where they
// could not run.
func onlyHere(s *runner.Setup, crew *cluster.Coordinator) error {
	if crew != nil {
		s.Crew = crew
	}
	i := slices.IndexFunc(s.Methods, func(m runner.Method) bool { return m.Plugin.Path == functionPath })
	if i < 0 {
		return nil
	}
	if crew != nil && crew.Here(1) == 0 { // its trials would wait for ever
		return Misused(fmt.Errorf("method %q is a function of this program, and runs on this machine alone: leave out local-workers, or make a plugin of it by \"noema plugin promote\"", s.Methods[i].Label))
	}
	s.Fresh = s.Fresh || slices.ContainsFunc(s.Methods, fleeting)
	return nil
}

// countWorkers has the progress say how many workers take part.
func countWorkers(observe runner.Observer, crew *cluster.Coordinator) {
	if p, ok := observe.(*report.Progress); ok && crew != nil {
		p.Workers(crew.Workers)
	}
}

// quietTrials is how many trials of a sample an estimate looks at without a word.
const quietTrials = 1000

// Estimate says what running e would ask the provider for, from what the store
// has, and what would refuse the run; it makes no call and records nothing.
func (l *Lab) Estimate(e Experiment) (*runner.Estimate, error) {
	ctx := l.o.Context()
	replay := e.Cache == string(gateway.Replay)
	e.Cache = string(gateway.Replay) // no key is needed to look
	e, err := Settle(e)
	if err != nil {
		return nil, err
	}
	s, err := l.setup(e)
	if err != nil {
		return nil, err
	}
	hide := sync.OnceValue(func() *plugins.Withheld { return l.withheld([]string{e.Task}, []*Task{s.Task}) })
	if s.Methods, err = l.openMethods(ctx, s.Experiment.Methods, e.MethodOptions, hide); err != nil {
		return nil, err
	}
	return l.estimate(ctx, s, replay)
}

// EstimateStudy says the same of each cell of a study, in their order.
func (l *Lab) EstimateStudy(e Experiment) ([]CellEstimate, error) {
	ctx := l.o.Context()
	replay := e.Cache == string(gateway.Replay)
	e.Cache = string(gateway.Replay)
	s, err := l.study(ctx, e)
	if err == nil {
		err = s.Check()
	}
	if err != nil {
		return nil, err
	}
	all := make([]CellEstimate, len(s.Cells))
	for i, c := range s.Cells {
		all[i].Task, all[i].Model = c.Task, c.Model
		if all[i].Estimate, err = l.estimate(ctx, c.Setup, replay); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// CellEstimate is the [runner.Estimate] of one cell of a study.
type CellEstimate struct {
	Task  string `json:"task"`
	Model string `json:"model"`
	*runner.Estimate
}

// estimate is Estimate of what is open.
func (l *Lab) estimate(ctx context.Context, s runner.Setup, replay bool) (*runner.Estimate, error) {
	store, err := l.Store()
	if err != nil {
		return nil, err
	}
	if config := len(s.Methods) * s.Epochs; config > quietTrials {
		fmt.Fprintf(l.o.Stderr, "estimating from the store: %d epochs by %d methods may take minutes\n", s.Epochs, len(s.Methods))
	}
	found, err := s.DryRun(ctx, store, runner.Quiet{})
	if err != nil {
		return nil, err
	}
	if err := store.Refusal(); err != nil {
		found.Refusal = err.Error()
		return found, nil
	}
	if replay || !found.Missing() {
		return found, nil
	}
	if _, err := l.Model(s.Model, false, s.MaxConnections); err != nil {
		found.Refusal = err.Error()
	}
	return found, nil
}

// sortedKeys returns the keys of m in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
