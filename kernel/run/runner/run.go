package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"noema/cache"
	"noema/kernel/result/compare"
	"noema/kernel/result/record"
	"noema/kernel/run/gateway"
	"noema/kernel/task"
	"noema/methods"
)

// Observer is told what happens while a run is carried out. Its methods are
// called from many goroutines, and must not block for long.
type Observer interface {
	Start(run *record.Run, done, total int)                                     // done: finished in an earlier execution
	Event(id record.TrialID, e methods.Event)                                   // as it comes
	Call(id record.TrialID, r methods.Request, c methods.Completion, err error) // a model call that ended
	Trial(t *record.Trial, recordedEarlier bool)                                // a finished, durable trial
	Warn(message string)                                                        // what a user should know
}

// Quiet is an Observer that ignores all events.
type Quiet struct{}

// Start implements Observer.
func (Quiet) Start(*record.Run, int, int) {}

// Event implements Observer.
func (Quiet) Event(record.TrialID, methods.Event) {}

// Call implements Observer.
func (Quiet) Call(record.TrialID, methods.Request, methods.Completion, error) {}

// Trial implements Observer.
func (Quiet) Trial(*record.Trial, bool) {}

// Warn implements Observer.
func (Quiet) Warn(string) {}

// Result is a run with its trials, in canonical order, and its task.
type Result struct {
	compare.Recorded                 // its labels are those of [LabelFile]
	Drifts           []gateway.Drift // of mode verify
	// NewCalls, ToolRuns, CachedCalls and FailedAttempts count this execution
	// alone.
	NewCalls, ToolRuns, CachedCalls, FailedAttempts int

	read func(record.TrialID) (*record.Trial, error) // from the store, if the trials are light
}

// Whole returns a trial of r with its transcript, which that of a light one is read again for.
func (r *Result) Whole(t *record.Trial) (*record.Trial, error) {
	if t.Transcript != nil {
		return t, nil
	}
	whole, err := r.read(t.ID)
	if whole == nil && err == nil {
		err = fmt.Errorf("read trial %s of run %q: its record is missing or damaged", t.ID, r.Run.ID)
	}
	return whole, err
}

// execution is one attempt to carry out a run.
type execution struct {
	exp     Setup
	store   *cache.Store
	gateway *gateway.Gateway
	graders []*gateway.Gateway // in the order of the scorer's models
	tests   tester
	observe Observer
	run     *record.Run
	methods map[string]Method
	samples map[string]task.Sample

	// keep makes a trial durable and returns what of it stays in memory.
	keep       func(context.Context, *record.Trial) (*record.Trial, error)
	precedents map[string][]precedent // by method: earlier executions tell which calls limits refuse
	origin     origin
	order      order                                      // set when trials begin
	begun      func(ctx context.Context, id string) error // told of the run's id before its first trial; may be nil

	presentations presentations

	mu      sync.Mutex
	trials  map[record.TrialID]*record.Trial
	waiting []waiting // trials that are not durable yet

	elsewhere elsewhere
	board     *board // nil while nobody may look on
}

// Run carries out e. If the store holds an unfinished run of the same
// configuration, it goes on with that one: trials that are finished stay, and
// calls that were answered are not made again. When ctx ends, the run stays
// unfinished.
func (e Setup) Run(ctx context.Context, store *cache.Store, observe Observer) (*Result, error) {
	config, samples, err := e.resolve()
	if err != nil {
		return nil, err
	}
	return newExecution(e, declared{}, store, observe, samples).carryOut(ctx, config)
}

// carryOut runs what is open of a configuration.
func (x *execution) carryOut(ctx context.Context, config record.Config) (*Result, error) {
	e := x.exp
	if err := x.checkTests(); err != nil {
		return nil, err
	}
	unlock, err := x.adopt(ctx, config)
	if err != nil {
		return nil, err
	}
	defer unlock()
	x.board = newBoard(x.store.Dir(), x.run.ID)
	defer x.board.close()
	if x.begun != nil {
		if err := x.begun(ctx, x.run.ID); err != nil {
			return nil, err
		}
	}
	if err = x.openGateways(gateway.Options{
		Store: x.store, Provider: e.Provider, Mode: e.mode(), MaxConnections: e.MaxConnections, Begin: e.MaxConnections, Retry: e.retry(e.Retry),
		RunLimits: e.RunLimits(), Spent: x.spent().Plus(e.Before), Seeds: x.run.Seeds, Since: x.run.Created, RunSeed: config.Seed, Warn: x.observe.Warn,
		Redactor: e.Redactor,
	}); err != nil {
		return nil, err
	}
	x.observe.Start(x.run, len(x.trials), config.Size())
	x.order = &inTurn{ids: x.pending()}
	if config.Design != nil {
		x.order = newSequence(x)
	}
	runErr := x.prepare(ctx)
	if runErr == nil {
		runErr = x.runTrials(ctx)
	}
	if runErr == nil {
		x.repeat(ctx)
	}
	for _, g := range append(x.graders, x.gateway) {
		g.Wait(lastCalls)
	}
	x.run.Stopped = gateway.LimitOf(runErr)
	result, err := x.finish(context.WithoutCancel(ctx))
	return result, errors.Join(runErr, err)
}

// lastCalls is how long a run that ends early waits for the calls under way,
// which were cancelled with it, so that no answer that came is lost.
const lastCalls = time.Second

func newExecution(e Setup, from origin, store *cache.Store, observe Observer, samples []task.Sample) *execution {
	x := &execution{
		exp: e, origin: from, store: store, observe: observe,
		methods: map[string]Method{}, samples: map[string]task.Sample{}, trials: map[record.TrialID]*record.Trial{},
		precedents: map[string][]precedent{}, elsewhere: newElsewhere(), tests: newTester(),
		presentations: presentations{made: map[presentation]func() (presented, error){}},
	}
	x.keep = func(ctx context.Context, t *record.Trial) (*record.Trial, error) {
		return x.held(t), x.saveTrial(ctx, t)
	}
	for _, m := range e.Methods {
		x.methods[m.Label] = m
	}
	for _, s := range samples {
		x.samples[s.ID] = s
	}
	return x
}

// held is what of a durable trial stays in memory. One that pairs of answers are graded for
// is written again, and stays whole.
func (x *execution) held(t *record.Trial) *record.Trial {
	if g, _ := x.exp.Task.Scorer.Grading(); !x.exp.Light || g.Pairwise {
		return t
	}
	return t.Light()
}

// patience is how long a user waits without a word.
const patience = 5 * time.Second

// prepare has the environment do what it does once, so that no trial pays for
// it. A run without a trial to run needs none of it.
func (x *execution) prepare(ctx context.Context) error {
	p, ok := x.exp.Task.Environment.(task.Preparer)
	if !ok || len(x.pending()) == 0 {
		return nil
	}
	last := time.Now()
	err := p.Prepare(ctx, func(done, total int) {
		if time.Since(last) >= patience {
			last = time.Now()
			x.observe.Warn(fmt.Sprintf("the tools are being prepared: %d of %d", done, total))
		}
	})
	if err != nil {
		return fmt.Errorf("prepare the tools of task %q: %w", x.exp.Task.Name, err)
	}
	return nil
}

// runAll runs all that is not finished, one trial after the other.
func (x *execution) runAll(ctx context.Context) error {
	x.order = &inTurn{ids: x.pending()}
	return x.runTrials(ctx)
}

// runTrials runs what is not finished, MaxSamples at a time. Trials are begun
// sample by sample, all methods of a sample next to each other, so that
// methods advance together whatever the limits and interruptions.
func (x *execution) runTrials(ctx context.Context) error {
	pending := x.pending()
	if err := x.order.ended(); err != nil { // over what an earlier execution left
		return undecided(err)
	}
	err := x.work(ctx, len(pending), x.exp.Crew, x.order.next, func(ctx context.Context, id record.TrialID, at Place) error {
		if err := x.runTrial(ctx, id, at); err != nil {
			return err
		}
		return x.order.ended()
	})
	if err = undecided(err); err == nil {
		err = x.audit(ctx)
	}
	if err == nil {
		err = x.runPairs(ctx)
	}
	return x.settle(ctx, err)
}

// undecided is err, unless it says that the comparison is decided.
func undecided(err error) error {
	if errors.Is(err, errDecided) {
		return nil
	}
	return err
}

// work does what next hands out: here MaxSamples at a time, and beside it whatever the
// crew takes. The first error stops all.
func (x *execution) work(ctx context.Context, n int, crew Crew, next func(context.Context) (record.TrialID, bool), do func(context.Context, record.TrialID, Place) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	deal := NewDeal(next)
	here := x.exp.MaxSamples
	var workers sync.WaitGroup
	if crew != nil && n > 0 {
		here = crew.Here(here)
		workers.Go(func() {
			if err := crew.Work(ctx, x.exp.Methods, deal, do); err != nil {
				stop(err)
			}
		})
	}
	for range min(here, n) {
		workers.Go(func() {
			for id, ok := deal.Take(ctx, nil); ok; id, ok = deal.Take(ctx, nil) {
				if err := do(ctx, id, nil); err != nil {
					stop(err)
					return
				}
				deal.Done()
			}
		})
	}
	workers.Wait()
	return context.Cause(ctx)
}

// pending lists the trials to run, interleaved by method.
func (x *execution) pending() []record.TrialID {
	c := x.run.Config
	in := map[record.TrialID]bool{}
	for _, id := range x.run.Trials() {
		in[id] = true
	}
	var ids []record.TrialID
	for _, s := range c.Task.Samples {
		for e := range c.Epochs {
			for _, m := range c.Methods {
				id := record.TrialID{Method: m.Label, Sample: s, Epoch: e}
				if in[id] && x.trials[id] == nil {
					ids = append(ids, id)
				}
			}
		}
	}
	return ids
}

// runTrial runs one trial and makes it durable before it counts.
func (x *execution) runTrial(ctx context.Context, id record.TrialID, at Place) error {
	defer x.board.begin(id)()
	t, err := x.trial(ctx, id, at)
	if err != nil {
		return err
	}
	if at != nil {
		x.elsewhere.add(id, at)
	}
	return x.take(ctx, t)
}

// saveTrial makes a trial durable.
func (x *execution) saveTrial(ctx context.Context, t *record.Trial) error {
	raw, err := record.Marshal(t)
	if err != nil {
		return fmt.Errorf("save trial %s: %w", t.ID, err)
	}
	return x.store.PutTrial(ctx, x.run.ID, t.ID.String(), raw)
}

// finish records how far the run came.
func (x *execution) finish(ctx context.Context) (*Result, error) {
	stats := x.gateway.Stats()
	for _, g := range x.graders {
		grading := g.Stats()
		stats.Provider, stats.Cached, stats.Failed = stats.Provider+grading.Provider, stats.Cached+grading.Cached, stats.Failed+grading.Failed
	}
	x.run.Calls.Provider += stats.Provider
	x.run.Calls.Tools += stats.Tools
	x.run.Calls.Cached += stats.Cached
	x.run.Calls.Failed += stats.Failed
	x.run.Seeds = mergeSeeds(x.run.Seeds, x.gateway.Seeds())
	x.run.Ended = time.Now().UTC()

	result := &Result{
		Recorded: compare.Recorded{Run: x.run, Task: x.exp.Task}, Drifts: x.gateway.Drifts(), NewCalls: stats.Provider, ToolRuns: stats.Tools, CachedCalls: stats.Cached,
		FailedAttempts: stats.Failed, read: wholeOf(ctx, x.store, x.run.ID),
	}
	var err error
	if result.Labels, err = ReadLabels(x.store, x.run.ID); err != nil {
		x.observe.Warn(err.Error())
	}
	x.order.conclude()
	complete := (x.run.Config.Design == nil || x.run.Asked != nil) && len(x.unpaired()) == 0
	var hashes []string
	for _, id := range x.run.Trials() {
		t := x.trials[id]
		if t == nil {
			complete = false
			continue
		}
		result.Trials = append(result.Trials, t)
		hashes = append(hashes, t.Hash)
	}
	result.Trials = contiguous(x.run, result.Trials)
	x.run.Calls.Shared = shared(result.Trials)
	if complete {
		x.run.Status, x.run.Root = record.Finished, record.Root(x.run.Digest, hashes)
		if err := saveLight(ctx, x.store, x.run, result.Trials); err != nil {
			return result, err
		}
	}
	return result, x.save(ctx)
}

// shared counts the completions that more than one method used.
func shared(trials []*record.Trial) int {
	users := map[string]string{}
	count := 0
	for _, t := range trials {
		for _, used := range t.Facts().Completions {
			switch first, seen := users[used[:16]]; {
			case !seen:
				users[used[:16]] = t.ID.Method
			case first != t.ID.Method && first != "":
				count++
				users[used[:16]] = "" // counted
			}
		}
	}
	return count
}

// mergeSeeds joins two lists of seeds, sorted by key.
func mergeSeeds(a, b []record.Seed) []record.Seed {
	byKey := map[string]record.Seed{}
	for _, s := range slices.Concat(a, b) {
		byKey[s.Key] = s
	}
	merged := make([]record.Seed, 0, len(byKey))
	for _, s := range byKey {
		merged = append(merged, s)
	}
	slices.SortFunc(merged, func(a, b record.Seed) int { return record.ComparePaths(a.Key, b.Key) })
	return merged
}
