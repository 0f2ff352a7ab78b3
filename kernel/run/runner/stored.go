package runner

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"noema/cache"
	"noema/kernel/result/compare"
	"noema/kernel/result/record"
	"noema/kernel/task"
)

// Runs lists the runs of a store, newest first, the cells of studies included and the
// studies not. Records that cannot be read are left out.
func Runs(ctx context.Context, store *cache.Store) ([]*record.Run, error) {
	all, err := records(ctx, store)
	return slices.DeleteFunc(all, func(r *record.Run) bool { return r.Config.Study != nil }), err
}

// Declared lists runs and studies, newest first, without the cells of studies.
func Declared(ctx context.Context, store *cache.Store) ([]*record.Run, error) {
	all, err := records(ctx, store)
	begun := map[string]int{} // trials of a study's cells, for one that does not say how many it has
	for _, r := range all {
		begun[r.Study] += len(r.Trials())
	}
	all = slices.DeleteFunc(all, func(r *record.Run) bool { return r.Study != "" })
	for _, r := range all {
		if r.Config.Study != nil && r.Planned == 0 {
			r.Planned = begun[r.ID]
		}
	}
	return all, err
}

func records(ctx context.Context, store *cache.Store) ([]*record.Run, error) {
	var runs []*record.Run
	for e, err := range store.Runs(ctx) {
		if errors.Is(err, cache.ErrCorrupt) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if r, err := record.UnmarshalRun(e.Data); err == nil {
			runs = append(runs, r)
		}
	}
	slices.SortFunc(runs, func(a, b *record.Run) int {
		if c := b.Created.Compare(a.Created); c != 0 {
			return c
		}
		return strings.Compare(b.ID, a.ID)
	})
	return runs, nil
}

// FindRun returns the run or the study that name stands for: an id, the beginning of one
// if only one has it, or "last", which is never a cell of a study.
func FindRun(ctx context.Context, store *cache.Store, name string) (*record.Run, error) {
	raw, err := store.Run(ctx, name)
	if err == nil {
		return record.UnmarshalRun(raw)
	}
	if !errors.Is(err, cache.ErrNotFound) {
		return nil, err
	}
	runs, err := records(ctx, store)
	if err != nil {
		return nil, err
	}
	var found []*record.Run
	for _, r := range runs {
		if name == "last" && r.Study == "" || strings.HasPrefix(r.ID, name) {
			found = append(found, r)
		}
	}
	switch {
	case len(found) == 0:
		return nil, Misused(fmt.Errorf("find run %q: no such run: \"noema runs list\" lists all runs", name))
	case len(found) > 1 && name != "last":
		return nil, Misused(fmt.Errorf("find run %q: %d runs begin with this: give more of the id", name, len(found)))
	}
	return found[0], nil
}

// Trial reads a trial of a run; it is nil if its record is missing or damaged.
func Trial(ctx context.Context, store *cache.Store, run string, id record.TrialID) (*record.Trial, error) {
	raw, err := store.Trial(ctx, run, id.String())
	if errors.Is(err, cache.ErrNotFound) || errors.Is(err, cache.ErrCorrupt) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return record.UnmarshalTrial(raw)
}

// Trials reads the trials of a run in canonical order, one at a time, without those
// whose records are missing or damaged. An error is the last that it yields.
func Trials(ctx context.Context, store *cache.Store, run *record.Run) iter.Seq2[*record.Trial, error] {
	return func(yield func(*record.Trial, error) bool) {
		for _, id := range run.Trials() {
			t, err := Trial(ctx, store, run.ID, id)
			if (t != nil || err != nil) && !yield(t, err) || err != nil {
				return
			}
		}
	}
}

// storedTrials reads the trials that a run has, in canonical order. Of known ones, those are
// read again alone that a later execution makes anew.
func storedTrials(ctx context.Context, store *cache.Store, run *record.Run, light bool, known []*record.Trial) (trials []*record.Trial, err error) {
	if light {
		if trials, err = loadLight(ctx, store, run); len(trials) > 0 || err != nil {
			return trials, err
		}
	}
	have := make(map[record.TrialID]*record.Trial, len(known))
	for _, t := range known {
		if !t.Infra && t.Ungraded == "" {
			have[t.ID] = t
		}
	}
	for _, id := range run.Trials() {
		t := have[id]
		if t == nil {
			if t, err = Trial(ctx, store, run.ID, id); err != nil {
				return nil, err
			}
		}
		if t == nil {
			continue
		}
		if light {
			t = t.Light()
		}
		trials = append(trials, t)
	}
	return trials, nil
}

// LoadResult returns a stored run with the trials that it has, and the calls of
// all executions that made it. Light trials are enough for tables. Known ones were read
// before, and are taken as they are unless a later execution makes them anew.
func LoadResult(ctx context.Context, store *cache.Store, run *record.Run, light bool, known ...*record.Trial) (*Result, error) {
	return loadResult(ctx, store, run, light, LoadTask, known...)
}

// taskLoader is [LoadTask], or what knows some tasks already.
type taskLoader func(context.Context, *cache.Store, *record.Run) (*task.Task, error)

func loadResult(ctx context.Context, store *cache.Store, run *record.Run, light bool, load taskLoader, known ...*record.Trial) (*Result, error) {
	r, err := loadHead(ctx, store, run, load)
	if err != nil {
		return nil, err
	}
	trials, err := storedTrials(ctx, store, run, light, known)
	if err != nil {
		return nil, err
	}
	r.Trials = contiguous(run, trials)
	calls := r.counted()
	r.NewCalls, r.CachedCalls = calls.Provider, calls.Cached
	return r, nil
}

// counted are the calls of all executions that made r.
func (r *Result) counted() record.Calls {
	calls := r.Run.Calls
	for _, t := range r.Trials {
		calls = calls.Plus(uncounted(r.Run, t))
	}
	return calls
}

// uncounted are the calls of a trial that its run's record does not count yet, which it does
// when an execution ends: the one that made the trial was killed, or is under way. What a kill
// leaves of a trial that was not finished is answered by the store when it runs again, and
// counts as that.
func uncounted(run *record.Run, t *record.Trial) record.Calls {
	if run.Status == record.Finished || !t.Started.After(run.Ended) || t.Started.Before(run.Created) { // or copied from another run
		return record.Calls{}
	}
	return record.Calls{Provider: t.Provider, Cached: max(0, t.Usage.Calls+t.Facts().Grading.Calls-t.Provider)}
}

// wholeOf reads trials of a run from the store.
func wholeOf(ctx context.Context, store *cache.Store, run string) func(record.TrialID) (*record.Trial, error) {
	return func(id record.TrialID) (*record.Trial, error) { return Trial(ctx, store, run, id) }
}

// LoadHead returns a stored run with none of its trials, which its Whole reads one at a
// time.
func LoadHead(ctx context.Context, store *cache.Store, run *record.Run) (*Result, error) {
	return loadHead(ctx, store, run, LoadTask)
}

func loadHead(ctx context.Context, store *cache.Store, run *record.Run, load taskLoader) (*Result, error) {
	if err := run.StudyError(); err != nil {
		return nil, Misused(err)
	}
	t, err := load(ctx, store, run)
	if err != nil {
		return nil, err
	}
	labels, err := ReadLabels(store, run.ID)
	if err != nil {
		return nil, err
	}
	return &Result{
		Recorded: compare.Recorded{Run: run, Task: t, Labels: labels},
		read:     wholeOf(ctx, store, run.ID),
		NewCalls: run.Calls.Provider, ToolRuns: run.Calls.Tools, CachedCalls: run.Calls.Cached, FailedAttempts: run.Calls.Failed,
	}, nil
}

// Remove removes a run with its transcripts; the answers that it used stay in the
// store. A run that is under way stays: it would come back at its end, without the
// trials that were finished before.
func Remove(ctx context.Context, store *cache.Store, id string) error {
	unlock, err := lockRun(store.Dir(), id)
	if errors.Is(err, errLocked) {
		return fmt.Errorf("remove run %q: it is still running: stop it first", id)
	}
	if err != nil {
		return err
	}
	defer unlock()
	return errors.Join(store.DeleteRun(ctx, id), removeTags(store, id))
}
