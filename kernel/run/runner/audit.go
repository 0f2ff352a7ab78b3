package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"noema/kernel/result/record"
)

// worker is the name of who makes trials at a place, for people.
func worker(at Place) string {
	if named, ok := at.(interface{ Worker() string }); ok {
		return named.Worker()
	}
	return "unknown"
}

// audit computes a share of the trials that each worker made again: on this machine, which
// no worker answers for, from the store alone. Of a worker whose result was false all are,
// and what differs is computed again here. Who is computed again cannot be foreseen.
func (x *execution) audit(ctx context.Context) error {
	made := map[string][]record.TrialID{} // by worker
	for id, who := range x.elsewhere.made {
		waits := slices.ContainsFunc(x.waiting, func(w waiting) bool { return w.now.ID == id })
		if !waits && !x.trials[id].Infra {
			made[who] = append(made[who], id)
		}
	}
	if x.exp.Audit == 0 || len(made) == 0 {
		return nil
	}
	var first, rest []record.TrialID
	for _, who := range slices.Sorted(maps.Keys(made)) {
		ids := made[who]
		rand.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
		first = append(first, ids[:int(math.Ceil(x.exp.Audit*float64(len(ids))))]...)
	}
	wrong, err := x.unlike(ctx, first)
	if err != nil {
		return err
	}
	for id := range wrong {
		for _, other := range made[x.elsewhere.made[id]] {
			if !slices.Contains(first, other) && !slices.Contains(rest, other) {
				rest = append(rest, other)
			}
		}
	}
	more, err := x.unlike(ctx, rest)
	if err != nil {
		return err
	}
	maps.Copy(wrong, more)
	x.run.Notes = append(x.run.Notes, fmt.Sprintf("audit: %d of the %d trials that workers made were computed again on the machine of the run; %d differed", len(first)+len(rest), len(x.elsewhere.made), len(wrong)))
	return x.mendAudited(ctx, made, wrong)
}

// unlike computes trials again from the store alone, and returns those that come out in
// another way. One that cannot be computed here shows nothing.
func (x *execution) unlike(ctx context.Context, ids []record.TrialID) (map[record.TrialID]*record.Divergence, error) {
	wrong := map[record.TrialID]*record.Divergence{}
	if len(ids) == 0 {
		return wrong, nil
	}
	r := Replay{Run: x.run, Methods: x.exp.Methods, Provider: x.exp.Provider, MaxSamples: x.exp.MaxSamples, Redactor: x.exp.Redactor}
	y, err := r.prepare(ctx, x.store, Quiet{})
	if err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	found := r.against(y)
	if err := y.work(ctx, len(ids), nil, (&inTurn{ids: ids}).next, y.runTrial); err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	for id, d := range found {
		if d.hashed != nil && !y.trials[id].Infra {
			wrong[id] = d.hashed
		}
	}
	return wrong, nil
}

// mendAudited makes trials here whose results were false, and says of which worker they are.
func (x *execution) mendAudited(ctx context.Context, made map[string][]record.TrialID, wrong map[record.TrialID]*record.Divergence) error {
	for _, who := range slices.Sorted(maps.Keys(made)) {
		ids := slices.DeleteFunc(slices.Clone(made[who]), func(id record.TrialID) bool { return wrong[id] == nil })
		slices.SortFunc(ids, func(a, b record.TrialID) int { return cmp.Compare(a.String(), b.String()) })
		for _, id := range ids {
			if err := x.runTrial(ctx, id, nil); err != nil {
				return err
			}
		}
		if len(ids) > 0 {
			x.observe.Warn(fmt.Sprintf("audit: worker %s gave %d results that this machine does not compute from the same answers, such as %v: they were made again here. Do not trust this worker, or its method is not deterministic: \"noema plugin replay\"", who, len(ids), wrong[ids[0]]))
		}
	}
	if len(wrong) > 0 && x.run.Config.Design != nil {
		return errors.New("audit: false results decided when the run ended: run its command again to go on from the true ones")
	}
	return nil
}
