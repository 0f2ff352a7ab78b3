package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"noema/cache"
	"noema/kernel/base/redact"
	"noema/kernel/model/provider"
	"noema/kernel/result/record"
	"noema/kernel/run/gateway"
	"noema/kernel/task"
	"noema/methods"
)

// Replay computes a finished run again from the store alone.
type Replay struct {
	Run        *record.Run
	Methods    []Method          // as the run names them, in its order
	Provider   provider.Provider // with the identity of the run's model; it is never called
	MaxSamples int               // trials at once; default 16
	Redactor   *redact.Redactor  // as the run had it
	// Beside, if it is set, compares what no hash covers of trials whose hashes are equal.
	Beside func(recorded, now *record.Trial) error
}

// ReplayResult is what a replay found. Its trials are light.
type ReplayResult struct {
	Result
	Recorded string // the root hash of the run
	Now      string // the root hash of the replay
	// Skipped counts the trials that the infrastructure had failed: they
	// have no transcript to repeat, and count with their recorded hash.
	Skipped int
	// Changed names methods that are not what they were, whether or not that
	// made a difference.
	Changed []string
	First   *record.Divergence // in canonical order; nil if the hashes are equal
	Beside  error              // the first that Replay.Beside found, in the same order
}

// Same reports whether the replay proved the run.
func (r *ReplayResult) Same() bool { return r.Recorded == r.Now }

// Do carries the replay out. Nothing of it is recorded.
func (r Replay) Do(ctx context.Context, store *cache.Store, observe Observer) (*ReplayResult, error) {
	if err := errors.Join(r.Run.Replayable(), r.Run.StudyError()); err != nil {
		return nil, Misused(err)
	}
	if r.Run.Status != record.Finished {
		return nil, fmt.Errorf("replay run %q: it is not finished: run its command again to finish it", r.Run.ID)
	}
	if len(r.Methods) != len(r.Run.Config.Methods) {
		return nil, fmt.Errorf("replay run %q: it has %d methods, not %d", r.Run.ID, len(r.Run.Config.Methods), len(r.Methods))
	}
	x, err := r.prepare(ctx, store, observe)
	if err != nil {
		return nil, err
	}
	result := &ReplayResult{Recorded: r.Run.Root}
	config := r.Run.Config
	config.Methods = slices.Clone(config.Methods)
	for i, m := range r.Methods {
		if was, now := config.Methods[i], x.exp.identity(m); !sameCode(was, now) {
			result.Changed = append(result.Changed, fmt.Sprintf("method %q was %s, is now %s", m.Label, describe(was), describe(now)))
			config.Methods[i] = now
		}
	}
	for t, err := range Trials(ctx, store, r.Run) {
		if err != nil {
			return nil, err
		}
		if t.Infra {
			x.trials[t.ID] = t.Light()
		}
	}
	result.Skipped = len(x.trials)
	observe.Start(r.Run, len(x.trials), len(r.Run.Trials()))
	found := r.against(x)
	if err := x.runAll(ctx); err != nil {
		return nil, err
	}
	return result, x.compare(found, config, result)
}

// difference is what sets a replayed trial apart from the recorded one.
type difference struct {
	hashed *record.Divergence
	beside error
}

// against has x compare each trial with the recorded one, and keep of it what tables
// need. It returns where the differences will be.
func (r Replay) against(x *execution) map[record.TrialID]difference {
	found := map[record.TrialID]difference{}
	g, _ := x.exp.Task.Scorer.Grading()
	x.keep = func(ctx context.Context, now *record.Trial) (*record.Trial, error) {
		was, err := Trial(ctx, x.store, r.Run.ID, now.ID)
		if err != nil {
			return nil, err
		}
		if was == nil {
			return nil, fmt.Errorf("replay run %q: the record of trial %s is missing or damaged", r.Run.ID, now.ID)
		}
		d := difference{hashed: record.FirstDivergence(was, now)}
		if r.Beside != nil && d.hashed == nil {
			d.beside = r.Beside(was, now)
		}
		x.mu.Lock()
		defer x.mu.Unlock()
		delete(found, now.ID) // of a trial that its graders have not compared yet
		if d != (difference{}) {
			found[now.ID] = d
		}
		if g.Pairwise {
			return now, nil // its hash changes with what the graders say
		}
		return now.Light(), nil
	}
	return found
}

func sameCode(a, b record.Method) bool {
	return a.Name == b.Name && a.Version == b.Version && a.PromptVersion == b.PromptVersion && a.Code == b.Code && a.Data == b.Data
}

func describe(m record.Method) string {
	s := m.Name + " version " + m.Version
	if m.PromptVersion != "" {
		s += ", prompts " + m.PromptVersion
	}
	if m.Data != "" {
		s += ", " + m.Data
	}
	if m.Code != "" {
		s += fmt.Sprintf(", code %.12s", m.Code)
	}
	return s
}

func (r Replay) prepare(ctx context.Context, store *cache.Store, observe Observer) (*execution, error) {
	t, err := LoadTask(ctx, store, r.Run)
	if err != nil {
		return nil, err
	}
	e, err := Experiment{MaxSamples: r.MaxSamples}.Complete()
	if err != nil {
		return nil, err
	}
	x := newExecution(Setup{Experiment: e, Task: t, Methods: r.Methods, Provider: r.Provider, Graders: recordedGraders(r.Run.Config.Graders), Redactor: r.Redactor}, declared{}, store, observe, t.Samples)
	x.run = r.Run
	for _, m := range r.Methods { // also one whose code has changed since
		x.precedents[m.Label] = []precedent{{r.Run.ID, m.Label}}
	}
	return x, x.openGateways(gateway.Options{
		Store: store, Provider: r.Provider, Mode: gateway.Replay, RunSeed: r.Run.Config.Seed, Warn: observe.Warn, Redactor: r.Redactor,
	})
}

// compare sets the replay's root hash and first divergence.
func (x *execution) compare(found map[record.TrialID]difference, config record.Config, result *ReplayResult) error {
	digest, err := config.Digest()
	if err != nil {
		return err
	}
	var hashes []string
	for _, id := range x.run.Trials() {
		t := x.trials[id].Light()
		hashes = append(hashes, t.Hash)
		result.Trials = append(result.Trials, t)
		if result.First == nil {
			result.First = found[id].hashed
		}
		if result.Beside == nil {
			result.Beside = found[id].beside
		}
	}
	if result.First == nil {
		if err := x.follows(); err != nil {
			return err
		}
	}
	result.Now = record.Root(digest, hashes)
	result.Run, result.Task = x.run, x.exp.Task
	for _, g := range append(x.graders, x.gateway) {
		result.CachedCalls += g.Stats().Cached
	}
	return nil
}

// replayEnvironment stands for the environment of a recorded task: every
// result comes from the store.
type replayEnvironment struct{ tools []methods.ToolSpec }

// Tools implements task.Environment.
func (e replayEnvironment) Tools() []methods.ToolSpec { return e.tools }

// Call implements task.Environment. The gateway never gets here in a replay.
func (e replayEnvironment) Call(context.Context, methods.ToolCall) (methods.ToolResult, error) {
	return methods.ToolResult{}, methods.ErrMiss
}

// replayPerTrial is the same for an environment whose results depend on the
// problem, which their keys tell.
type replayPerTrial struct{ replayEnvironment }

// Of implements task.PerTrial.
func (e replayPerTrial) Of(methods.Problem) (task.Environment, error) { return e, nil }
