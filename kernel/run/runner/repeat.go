package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"noema/kernel/base/score"
	"noema/kernel/result/record"
	"noema/plugins"
)

// repeats is how many trials of a method are repeated at most. Whatever changes its
// answers with what it did before differs in nearly every trial, since a process
// serves many.
const repeats = 4

// fresh is a method that can solve a problem in a process that has solved none; see
// [plugins.Alone].
type fresh interface{ Fresh() bool }

// repeat has some trials of each third party's method solved once more, from the store
// and each in a fresh process, and notes in the run where the method then does something
// else: it keeps a state between trials, or depends on what no trial contains. It costs
// no call and changes no hash. A run that varies another has that one's methods.
func (x *execution) repeat(ctx context.Context) {
	if !x.origin.repeats() {
		return
	}
	for i, m := range x.exp.Methods {
		solver, can := m.Solver.(fresh)
		if m.Plugin.Builtin || !can || i >= len(x.run.Plugins) {
			continue
		}
		p := &x.run.Plugins[i]
		if !solver.Fresh() {
			p.State = "was not repeated in a fresh process, because a person attaches to each"
			continue
		}
		ids := x.sampleOf(m.Label)
		if len(ids) == 0 {
			continue
		}
		differ, err := x.repeatAll(ctx, ids)
		p.Repeated, p.State = len(ids), ""
		switch {
		case err != nil:
			p.Repeated, p.State = 0, fmt.Sprintf("could not be repeated in a fresh process: %v", err)
		case len(differ) > 0:
			why := "keeps a state between trials, or depends on what no trial contains"
			if slices.ContainsFunc(differ, func(d record.Divergence) bool { return x.trials[d.Trial].Facts().Unordered }) {
				why = "is order-dependent: equal requests were under way at once, and nothing numbers them"
			}
			p.State = fmt.Sprintf("%s: %d of %d trials that were repeated in a fresh process differ; %v", why, len(differ), len(ids), differ[0])
		}
	}
}

// sampleOf chooses trials of a method, by the run's seed.
func (x *execution) sampleOf(label string) []record.TrialID {
	var ids []record.TrialID
	for _, id := range x.run.Trials() {
		if t := x.trials[id]; id.Method == label && t != nil && !t.Infra {
			ids = append(ids, id)
		}
	}
	random := rand.New(rand.NewPCG(x.run.Config.Seed, uint64(len(ids))))
	random.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	return ids[:min(repeats, len(ids))]
}

// repeatAll returns where trials differ, in canonical order.
func (x *execution) repeatAll(ctx context.Context, ids []record.TrialID) ([]record.Divergence, error) {
	ctx = plugins.Alone(ctx)
	again, err := Replay{Run: x.run, Methods: x.exp.Methods, Provider: x.exp.Provider, Redactor: x.exp.Redactor}.prepare(ctx, x.store, Quiet{})
	if err != nil {
		return nil, err
	}
	again.exp.TrialTimeout = x.exp.TrialTimeout
	var mu sync.Mutex
	var differ []record.Divergence
	var faults []error
	var repeating sync.WaitGroup
	for _, id := range ids {
		repeating.Go(func() {
			d, err := x.repeatOne(ctx, again, id)
			mu.Lock()
			defer mu.Unlock()
			if d != nil {
				differ = append(differ, *d)
			}
			faults = append(faults, err)
		})
	}
	repeating.Wait()
	slices.SortFunc(differ, func(a, b record.Divergence) int { return cmp.Compare(a.Trial.String(), b.Trial.String()) })
	return differ, errors.Join(faults...)
}

// repeatOne returns where a trial differs; nil if it does not.
func (x *execution) repeatOne(ctx context.Context, again *execution, id record.TrialID) (*record.Divergence, error) {
	was, err := Trial(ctx, x.store, x.run.ID, id)
	if err != nil || was == nil {
		return nil, err
	}
	now, err := again.trial(ctx, id, nil)
	if err != nil {
		return nil, err
	}
	if now.Infra {
		return nil, errors.New(now.Failure)
	}
	for _, t := range []*record.Trial{was, now} { // what graders said is not the method's
		t.Score, t.Grading, t.Pairs = score.Score{}, nil, nil
	}
	if err := errors.Join(was.Seal(), now.Seal()); err != nil {
		return nil, err
	}
	return record.FirstDivergence(was, now), nil
}
