package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"noema/cache"
	"noema/kernel/result/record"
	"noema/kernel/run/gateway"
	"noema/kernel/task"
)

// Study is several experiments with the same methods, each over one task with one model.
// They are carried out, resumed and proven as one.
type Study struct {
	Cells    []Cell
	Name     string
	Question string
	Fresh    bool
	Command  []string
}

// Cell is one experiment of a study, with what its task and its model are called in it and
// how much its task weighs.
type Cell struct {
	Setup
	Task, Model string
	Weight      float64
}

// StudyResult is a study with the results of its cells that have begun, in their order.
type StudyResult struct {
	Run   *record.Run
	Cells []*Result // nil of a cell that has not begun
}

// Run carries the study out, one cell after the other. What no method can answer in any
// cell is told before the first call. The limits of the whole run are of all cells
// together. An unfinished study of the same configuration goes on: finished cells stay.
func (s Study) Run(ctx context.Context, store *cache.Store, observe Observer) (*StudyResult, error) {
	configs, err := s.resolve()
	if err != nil {
		return nil, err
	}
	run, unlock, err := s.adopt(ctx, store, configs)
	if err != nil {
		return nil, err
	}
	defer unlock()
	result := &StudyResult{Run: run, Cells: make([]*Result, len(s.Cells))}
	recorded, err := s.recorded(ctx, store, run)
	if err != nil {
		return nil, err
	}
	done, total := 0, 0
	for i, config := range configs {
		total += config.Size()
		if recorded[i] == nil {
			continue
		}
		if result.Cells[i], err = LoadResult(ctx, store, recorded[i], true); err != nil {
			return nil, err
		}
		done += result.Cells[i].sound()
	}
	observe.Start(run, done, total)
	err = s.carryOut(ctx, store, observe, result)
	return result, errors.Join(err, result.finish(context.WithoutCancel(ctx), store, err))
}

// carryOut runs the cells that are not finished.
func (s Study) carryOut(ctx context.Context, store *cache.Store, observe Observer, result *StudyResult) error {
	for i, c := range s.Cells {
		if r := result.Cells[i]; r != nil && r.Run.Status == record.Finished {
			continue
		}
		c.Light = true  // so that the memory of a study does not grow with its cells
		c.Fresh = false // an unfinished cell is of this study, which is fresh itself
		for j, other := range result.Cells {
			if other != nil && j != i {
				c.Before = c.Before.Plus(charged(other.Run, other.Trials))
			}
		}
		config, samples, err := c.resolve()
		if err != nil {
			return err
		}
		x := newExecution(c.Setup, cellOf{study: result.Run.ID}, store, within{observe}, samples)
		x.begun = func(ctx context.Context, id string) error {
			result.Run.Cells[i] = id
			return saveRun(ctx, store, result.Run)
		}
		found, err := x.carryOut(ctx, config)
		if found != nil {
			result.Cells[i] = found
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// within tells an observer of a study what happens in a cell of it.
type within struct{ Observer }

// Start implements Observer: the study has begun before.
func (within) Start(*record.Run, int, int) {}

// sound counts the trials that a resumed run need not make again.
func (r *Result) sound() (n int) {
	for _, t := range r.Trials {
		if !t.Infra {
			n++
		}
	}
	return n
}

// Check reports whatever is wrong with any cell, without a call.
func (s Study) Check() error {
	configs, err := s.resolve()
	if err == nil {
		_, err = s.config(configs)
	}
	return err
}

// resolve completes the cells and returns their configurations. Its error names whatever is
// wrong with any of them.
func (s Study) resolve() ([]record.Config, error) {
	configs, faults := make([]record.Config, len(s.Cells)), make([]error, len(s.Cells))
	over := map[*task.Task][]int{} // the cells of each task, whose models share what is made of it
	for i, c := range s.Cells {
		if c.Until != "" || c.Looks > 0 {
			return nil, Misused(errors.New("declare study: until and looks stop a comparison of one task with one model: leave them out"))
		}
		over[c.Setup.Task] = append(over[c.Setup.Task], i)
	}
	var resolving errgroup.Group
	resolving.SetLimit(runtime.GOMAXPROCS(0))
	for _, cells := range over {
		resolving.Go(func() error {
			first := &s.Cells[cells[0]]
			for _, i := range cells {
				c := &s.Cells[i]
				c.Setup.Task, c.digest = first.Setup.Task, first.digest
				var err error
				if configs[i], _, err = c.resolve(); err != nil {
					faults[i] = fmt.Errorf("%s · %s: %w", c.Task, c.Model, err)
				}
			}
			return nil
		})
	}
	_ = resolving.Wait() // what is wrong is among the faults
	return configs, Misused(errors.Join(faults...))
}

// config is the configuration of the study over those of its cells.
func (s Study) config(cells []record.Config) (record.Config, error) {
	first := cells[0]
	c := record.Config{Methods: slices.Clone(first.Methods), Epochs: first.Epochs, Seed: first.Seed, Baseline: first.Baseline, Study: &record.Study{Rule: record.StudyRule}}
	for i := range c.Methods {
		c.Methods[i].Options, c.Methods[i].Data = nil, "" // which cells say
	}
	for i, cell := range cells {
		digest, err := cell.Digest()
		if err != nil {
			return c, err
		}
		of := record.Cell{Task: s.Cells[i].Task, Model: s.Cells[i].Model, Weight: cmp.Or(s.Cells[i].Weight, 1), Digest: digest}
		if slices.ContainsFunc(c.Study.Cells, func(other record.Cell) bool { return other.Task == of.Task && other.Model == of.Model }) {
			return c, Misused(fmt.Errorf("declare study: the cell %s is named twice", of))
		}
		c.Study.Cells = append(c.Study.Cells, of)
	}
	return c, nil
}

// adopt finds the unfinished study of these configurations, or records a new one.
func (s Study) adopt(ctx context.Context, store *cache.Store, configs []record.Config) (*record.Run, func(), error) {
	config, err := s.config(configs)
	if err != nil {
		return nil, nil, err
	}
	digest, err := config.Digest()
	if err != nil {
		return nil, nil, err
	}
	all, err := records(ctx, store)
	if err != nil {
		return nil, nil, err
	}
	for _, r := range all {
		if r.Digest != digest || r.Status == record.Finished || s.Fresh {
			continue
		}
		unlock, err := lockRun(store.Dir(), r.ID)
		if errors.Is(err, errLocked) {
			continue // another process is at it
		}
		if err != nil {
			return nil, nil, err
		}
		run, err := unfinished(ctx, store, r.ID)
		if run != nil && err == nil {
			return run, unlock, nil
		}
		unlock()
		if err != nil {
			return nil, nil, err
		}
	}
	run := &record.Run{
		Format: record.StudyFormat, Name: s.Name, Question: s.Question, Config: config, Digest: digest, Cells: make([]string, len(configs)),
		Status: record.Unfinished, Created: time.Now().UTC(), Command: s.Command,
	}
	for _, c := range configs {
		run.Planned += c.Size()
	}
	unlock, err := begin(ctx, store, run, all)
	return run, unlock, err
}

// recorded are the runs of the study's cells; nil of one that has not begun. A cell that
// began when its study was killed is found by what it says of itself.
func (s Study) recorded(ctx context.Context, store *cache.Store, study *record.Run) ([]*record.Run, error) {
	runs, err := Runs(ctx, store)
	if err != nil {
		return nil, err
	}
	cells := make([]*record.Run, len(study.Cells))
	for _, r := range runs {
		if r.Study != study.ID {
			continue
		}
		for i, c := range study.Config.Study.Cells {
			if r.Digest == c.Digest && cells[i] == nil {
				cells[i], study.Cells[i] = r, r.ID
			}
		}
	}
	return cells, nil
}

// finish records how far the study came.
func (r *StudyResult) finish(ctx context.Context, store *cache.Store, failure error) error {
	r.Run.Ended, r.Run.Stopped = time.Now().UTC(), gateway.LimitOf(failure)
	r.count()
	if !slices.ContainsFunc(r.Cells, func(c *Result) bool { return c == nil || c.Run.Status != record.Finished }) {
		r.Run.Status, r.Run.Root = record.Finished, r.root(func(c *Result) string { return c.Run.Root })
	}
	return saveRun(ctx, store, r.Run)
}

// count has the study's record say what its cells called.
func (r *StudyResult) count() {
	r.Run.Calls = record.Calls{}
	for _, c := range r.Cells {
		if c != nil {
			r.Run.Calls = r.Run.Calls.Plus(c.counted())
		}
	}
}

// root is the root hash of the study over those of its cells.
func (r *StudyResult) root(of func(*Result) string) string {
	var roots []string
	for _, c := range r.Cells {
		roots = append(roots, of(c))
	}
	return record.Root(r.Run.Digest, roots)
}

// CellRuns are the runs of a study's cells, in their order; an error names one that is missing.
func CellRuns(ctx context.Context, store *cache.Store, study *record.Run) ([]*record.Run, error) {
	var runs []*record.Run
	for i, id := range study.Cells {
		if id == "" {
			continue
		}
		raw, err := store.Run(ctx, id)
		if err != nil {
			return nil, fmt.Errorf("read study %q: its cell %s: run %q: %w", study.ID, study.Config.Study.Cells[i], id, err)
		}
		run, err := record.UnmarshalRun(raw)
		if err != nil {
			return nil, err
		}
		runs = append(runs, run)
	}
	return runs, nil
}

// LoadStudy returns a stored study with the results of its cells, whose trials are light.
func LoadStudy(ctx context.Context, store *cache.Store, study *record.Run) (*StudyResult, error) {
	out := &StudyResult{Run: study, Cells: make([]*Result, len(study.Cells))}
	runs, err := CellRuns(ctx, store, study)
	if err != nil {
		return nil, err
	}
	tasks := map[string]taskLoader{} // by blob: models that answer the same have one copy
	for _, run := range runs {
		tasks[run.Blob] = once(LoadTask)
	}
	loading, ctx := errgroup.WithContext(ctx)
	loading.SetLimit(runtime.GOMAXPROCS(0))
	for _, run := range runs {
		loading.Go(func() (err error) {
			out.Cells[slices.Index(study.Cells, run.ID)], err = loadResult(ctx, store, run, true, tasks[run.Blob])
			return err
		})
	}
	err = loading.Wait()
	if err == nil && study.Status != record.Finished {
		out.count() // which its record has when it ends
	}
	return out, err
}

// once loads a task for the first that asks for it, and gives it to all.
func once(load taskLoader) taskLoader {
	var known sync.Once
	var t *task.Task
	var err error
	return func(ctx context.Context, store *cache.Store, run *record.Run) (*task.Task, error) {
		known.Do(func() { t, err = load(ctx, store, run) })
		return t, err
	}
}
