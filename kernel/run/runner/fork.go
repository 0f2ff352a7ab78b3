package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"noema/cache"
	"noema/kernel/result/record"
	"noema/kernel/run/gateway"
	"noema/kernel/task"
	"noema/methods"
)

// Fork runs one trial of a run again with one recorded reply replaced. All other
// trials stay as they are, since nothing of theirs depends on it. Calls before
// the replaced one come from the store; what the method asks after it may be new.
type Fork struct {
	Parent *Result
	Setup  Setup // the parent's task, methods and provider, and how to carry it out
	Call   record.Call
	Trial  record.TrialID
	Reply  string // the text that takes the place of the recorded one
}

// FindCall finds the model call that a text such as "anot/R07/P3/c2" names:
// METHOD/SAMPLE/PATH, with the epoch after the sample if need be, and without the
// method if the run has only one.
func FindCall(r *Result, text string) (*record.Trial, record.Call, error) {
	for _, t := range r.Trials {
		for _, prefix := range trialNames(r.Run, t.ID) {
			path, ok := strings.CutPrefix(text, prefix+"/")
			if !ok {
				continue
			}
			for _, c := range t.Calls {
				if c.Path == path && c.Kind == record.CompletionCall && c.Fault == "" {
					return t, c, nil
				}
			}
		}
	}
	return nil, record.Call{}, fmt.Errorf("find call %q: run %s has no answered model call of that name: use METHOD/SAMPLE/PATH, as in %s",
		text, r.Run.ID, exampleCall(r))
}

func exampleCall(r *Result) string {
	for _, t := range r.Trials {
		for _, c := range t.Calls {
			if c.Kind == record.CompletionCall {
				return t.ID.String() + "/" + c.Path
			}
		}
	}
	return "anot/R07/P3/c2"
}

// trialNames lists how a trial may be written.
func trialNames(run *record.Run, id record.TrialID) []string {
	short := id.Method + "/" + id.Sample
	names := []string{id.String(), short}
	if len(run.Config.Methods) == 1 {
		names = append(names, id.Sample+"/"+strconv.Itoa(id.Epoch+1), id.Sample)
	}
	return names
}

// Do carries the fork out and returns the new run. A reply equal to what the
// store has for the call gives the run without that replacement, down to the
// root hash.
func (f Fork) Do(ctx context.Context, store *cache.Store, observe Observer) (*Result, error) {
	parent := f.Parent.Run
	if parent.Status != record.Finished {
		return nil, fmt.Errorf("fork run %q: it is not finished: run its command again to finish it", parent.ID)
	}
	if parent.Config.Varied() {
		return nil, fmt.Errorf("fork run %q: interventions answer some of its calls: fork the run that they vary", parent.ID)
	}
	replaced, err := f.replacements(ctx, store)
	if err != nil {
		return nil, err
	}
	e := f.Setup
	if e.Experiment, err = e.Complete(); err != nil {
		return nil, err
	}
	x := newExecution(e, derived{parent, replaced}, store, observe, e.Task.Samples)
	x.follow(parent)
	unlock, err := x.create(ctx, parent.Config, parent.Digest, nil)
	if err != nil {
		return nil, err
	}
	defer unlock()
	for _, t := range f.Parent.Trials {
		if t.ID == f.Trial {
			continue
		}
		if t, err = withoutPairs(t, f.Trial); err != nil {
			return nil, err
		}
		if err := x.saveTrial(ctx, t); err != nil {
			return nil, err
		}
		x.trials[t.ID] = t
	}
	if err = x.openGateways(gateway.Options{
		Store: store, Provider: e.Provider, Mode: e.mode(), MaxConnections: e.MaxConnections, Begin: e.MaxConnections, Retry: e.retry(e.Retry),
		Seeds: parent.Seeds, Since: x.run.Created, RunSeed: parent.Config.Seed, Warn: observe.Warn,
		Redactor: e.Redactor,
	}); err != nil {
		return nil, err
	}
	observe.Start(x.run, len(x.trials), len(parent.Trials()))
	if err := x.runAll(ctx); err != nil {
		return nil, err
	}
	x.run.Seeds = mergeSeeds(parent.Seeds, nil)
	return x.finish(context.WithoutCancel(ctx))
}

// replacements are the parent's with f's in its place. What equals the store's
// own answer replaces nothing.
func (f Fork) replacements(ctx context.Context, store *cache.Store) ([]record.Replacement, error) {
	list := slices.Clone(f.Parent.Run.Replaced)
	list = slices.DeleteFunc(list, func(r record.Replacement) bool {
		return r.Trial == f.Trial && r.Path == f.Call.Path && r.Key == f.Call.Key && r.Draw == f.Call.Draw
	})
	key, err := cache.ParseKey(f.Call.Key)
	if err != nil {
		return nil, err
	}
	recorded, err := store.Completion(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("fork: read the recorded reply of call %s: %w", f.Call.Path, err)
	}
	if recorded.Completion.Text == f.Reply {
		return list, nil
	}
	// It is charged what the recorded one was: a reply by hand has no price. It
	// has no log probabilities, either: those of the recorded one are of its words.
	c := recorded.Completion
	c.Text, c.ToolCalls, c.Logprobs = f.Reply, nil, nil
	raw, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("fork: encode the reply: %w", err)
	}
	blob, err := store.PutBlob(ctx, raw)
	if err != nil {
		return nil, err
	}
	return append(list, record.Replacement{
		Trial: f.Trial, Path: f.Call.Path, Draw: f.Call.Draw, Key: f.Call.Key, Blob: blob.String(),
	}), nil
}

// replaced reads the replies by hand of one trial.
func (x *execution) replaced(ctx context.Context, id record.TrialID) (map[gateway.CallID]methods.Completion, error) {
	var found map[gateway.CallID]methods.Completion
	for _, r := range x.run.Replaced {
		if r.Trial != id {
			continue
		}
		c, err := ReplacedReply(ctx, x.store, r)
		if err != nil {
			return nil, err
		}
		if found == nil {
			found = map[gateway.CallID]methods.Completion{}
		}
		found[gateway.CallID{Path: r.Path, Key: r.Key, Draw: r.Draw}] = c
	}
	return found, nil
}

// ReplacedReply reads the reply that a run has in the place of a recorded one.
func ReplacedReply(ctx context.Context, store *cache.Store, r record.Replacement) (c methods.Completion, err error) {
	if err = getJSON(ctx, store, r.Blob, &c); err != nil {
		err = fmt.Errorf("read the replaced reply of call %s: %w", r.Path, err)
	}
	return c, err
}

// SameTask returns the live task if it is the one that the run was over, and
// else the stored one, whose tools know only what is recorded.
func SameTask(run *record.Run, stored, live *task.Task) (t *task.Task, isLive bool) {
	if live == nil {
		return stored, false
	}
	digest, err := live.Digest()
	if err != nil || digest != run.Config.Task.Digest {
		return stored, false
	}
	return live, true
}
