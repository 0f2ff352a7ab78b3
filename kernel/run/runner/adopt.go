package runner

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"noema/cache"
	"noema/kernel/result/record"
	"noema/kernel/task"
	"noema/methods"
)

// adopt finds the unfinished run to go on with, or makes a new one, and holds
// its lock.
func (x *execution) adopt(ctx context.Context, config record.Config) (unlock func(), err error) {
	digest, err := config.Digest()
	if err != nil {
		return nil, err
	}
	runs, err := Runs(ctx, x.store)
	if err != nil {
		return nil, err
	}
	for _, r := range runs { // newest first
		if !x.origin.same(r) {
			continue // a fork is not what the configuration alone gives
		}
		if config.Limited() && sameGround(config, r.Config) {
			x.follow(r)
		}
		if r.Digest != digest || r.Status == record.Finished || x.exp.Fresh {
			continue
		}
		unlock, err := lockRun(x.store.Dir(), r.ID)
		if errors.Is(err, errLocked) {
			continue // another process is at it
		}
		if err != nil {
			return nil, err
		}
		if x.run, err = unfinished(ctx, x.store, r.ID); x.run == nil && err == nil {
			unlock() // another process has just finished it
			continue
		}
		if err == nil {
			err = x.reload(ctx)
		}
		if err != nil {
			unlock()
			return nil, err
		}
		return unlock, nil
	}
	return x.create(ctx, config, digest, runs)
}

// unfinished reads a run whose lock is held, or nil if it is no longer unfinished.
func unfinished(ctx context.Context, store *cache.Store, id string) (*record.Run, error) {
	raw, err := store.Run(ctx, id)
	if errors.Is(err, cache.ErrNotFound) || errors.Is(err, cache.ErrCorrupt) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	run, err := record.UnmarshalRun(raw)
	if err != nil || run.Status == record.Finished {
		return nil, err
	}
	return run, nil
}

// reload reads the finished trials of an adopted run, and records what they called if its last
// execution was killed. Those that the infrastructure failed are run again.
func (x *execution) reload(ctx context.Context) error {
	known := map[string]bool{}
	for _, s := range x.run.Seeds {
		known[s.Key] = true
	}
	calls, ended := x.run.Calls, x.run.Ended
	for t, err := range Trials(ctx, x.store, x.run) {
		if err != nil {
			return err
		}
		calls = calls.Plus(uncounted(x.run, t))
		if end := t.Started.Add(t.Wall); end.After(ended) {
			ended = end
		}
		if t.Infra {
			continue
		}
		if err := x.reloadSeeds(ctx, t, known); err != nil {
			return err
		}
		x.trials[t.ID] = x.held(t)
	}
	x.run.Calls, x.run.Ended = calls, ended
	noteReach(x.run, x.exp.Methods)
	return x.save(ctx)
}

// reloadSeeds adds to the run's list the method seeds of a finished trial that are not
// known, which a killed execution had no time to write there.
func (x *execution) reloadSeeds(ctx context.Context, t *record.Trial, known map[string]bool) error {
	for _, c := range t.Calls {
		if c.Kind != record.SeedCall || c.Fault != "" || known[c.Key] {
			continue
		}
		known[c.Key] = true
		key, err := cache.ParseKey(c.Key)
		if err != nil {
			return fmt.Errorf("reload trial %s: %w", t.ID, err)
		}
		rec, err := x.store.Seed(ctx, key)
		if err != nil {
			continue // it was built without the store, or is damaged
		}
		x.run.Seeds = append(x.run.Seeds, record.Seed{
			Key: c.Key, Kind: strings.TrimPrefix(c.Path, "seed/"), Method: t.ID.Method, Digest: c.Digest, Usage: rec.Usage,
		})
	}
	return nil
}

// create records a new run before its first trial.
func (x *execution) create(ctx context.Context, config record.Config, digest string, others []*record.Run) (func(), error) {
	x.run = &record.Run{
		Format: record.Format, Name: x.exp.Name, Question: x.exp.Question, Config: config, Digest: digest,
		Status: record.Unfinished, Created: time.Now().UTC(),
		Source: x.exp.Task.Source, Notes: x.exp.Task.Notes, Command: x.exp.Command,
	}
	x.origin.begin(x.run)
	if x.run.Blob == "" {
		var err error
		if x.run.Blob, err = saveTask(ctx, x.store, x.exp.Task, x.used(config)); err != nil {
			return nil, err
		}
	}
	for _, m := range x.exp.Methods {
		x.run.Plugins = append(x.run.Plugins, m.Plugin)
	}
	return begin(ctx, x.store, x.run, others)
}

// begin gives a new run an id that no other has, records it and holds its lock.
func begin(ctx context.Context, store *cache.Store, run *record.Run, others []*record.Run) (func(), error) {
	base := run.Created.Format("20060102-150405-") + run.Digest[:4]
	for n := 1; ; n++ {
		run.ID = base
		if n > 1 {
			run.ID = fmt.Sprintf("%s.%d", base, n)
		}
		if slices.ContainsFunc(others, func(r *record.Run) bool { return r.ID == run.ID }) {
			continue
		}
		unlock, err := lockRun(store.Dir(), run.ID)
		if errors.Is(err, errLocked) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if _, err := store.Run(ctx, run.ID); !errors.Is(err, cache.ErrNotFound) {
			unlock() // another process has made one meanwhile
			if err != nil && !errors.Is(err, cache.ErrCorrupt) {
				return nil, err
			}
			continue
		}
		if err := saveRun(ctx, store, run); err != nil {
			unlock()
			return nil, err
		}
		return unlock, nil
	}
}

// used are the samples of a configuration, in its order.
func (x *execution) used(config record.Config) []task.Sample {
	used := make([]task.Sample, len(config.Task.Samples))
	for i, id := range config.Task.Samples {
		used[i] = x.samples[id]
	}
	return used
}

func (x *execution) save(ctx context.Context) error { return saveRun(ctx, x.store, x.run) }

func saveRun(ctx context.Context, store *cache.Store, run *record.Run) error {
	raw, err := record.Marshal(run)
	if err != nil {
		return fmt.Errorf("save run: %w", err)
	}
	return store.PutRun(ctx, run.ID, raw)
}

// spent is what the finished trials of an adopted run were charged.
func (x *execution) spent() methods.Usage {
	return charged(x.run, slices.Collect(maps.Values(x.trials)))
}

// Charged is what the run was charged so far: its trials, with their graders, and its seeds.
func (r *Result) Charged() methods.Usage { return charged(r.Run, r.Trials) }

// charged is what trials and the seeds of their run were charged.
func charged(run *record.Run, trials []*record.Trial) methods.Usage {
	var u methods.Usage
	for _, t := range trials {
		u = u.Plus(t.Usage).Plus(t.Facts().Grading)
	}
	for _, s := range run.Seeds {
		u = u.Plus(s.Usage)
	}
	return u
}

// precedent is where an earlier execution of a method's trials is kept.
type precedent struct{ run, label string }

// sameGround reports whether trials of one method are the same in both
// configurations.
func sameGround(a, b record.Config) bool {
	return a.Task.Digest == b.Task.Digest && a.Model == b.Model && a.Seed == b.Seed && a.Limits == b.Limits &&
		reflect.DeepEqual(a.Sampling, b.Sampling)
}

// follow lets the transcripts of a run settle what limits refuse to the methods
// that it has in common with this execution, whatever their labels. Runs that
// came first to be followed count first.
func (x *execution) follow(run *record.Run) {
	const enough = 8 // runs to look into, for a trial that is not in the first
	for label, m := range x.methods {
		for _, was := range run.Config.Methods {
			now := x.exp.identity(m)
			now.Label = was.Label
			if len(x.precedents[label]) < enough && reflect.DeepEqual(now, was) {
				x.precedents[label] = append(x.precedents[label], precedent{run.ID, was.Label})
			}
		}
	}
}

// precedent is an earlier execution of a trial, where one settles anything.
func (x *execution) precedent(ctx context.Context, id record.TrialID) (*record.Trial, error) {
	for _, p := range x.precedents[id.Method] {
		id.Method = p.label
		t, err := Trial(ctx, x.store, p.run, id)
		if err != nil || t != nil && !t.Infra { // one that was cut short settles nothing
			return t, err
		}
	}
	return nil, nil
}

// noteReach has the record of a run that is taken up again say the most that its
// methods could reach in any execution.
func noteReach(run *record.Run, now []Method) {
	for i := range run.Plugins {
		if i < len(now) && now[i].Plugin.Weak && !run.Plugins[i].Weak {
			run.Plugins[i].Isolation, run.Plugins[i].Weak = now[i].Plugin.Isolation, true
		}
		if i < len(now) && len(run.Plugins[i].Allowed) == 0 {
			run.Plugins[i].Allowed = now[i].Plugin.Allowed
		}
	}
}
