package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"noema/kernel/model/provider"
	"noema/kernel/result/record"
	"noema/kernel/run/gateway"
	"noema/methods"
	"noema/methods/baseline"
)

// TestWarmRunIsTheSame: the second run asks nobody and proves with one hash
// that it is the first, however many trials run at once.
func TestWarmRunIsTheSame(t *testing.T) {
	store, m := openStore(t, t.TempDir()), newMeter(simModel(t, ""))
	e := Setup{Task: cafesTask(t, 20), Methods: builtins(), Provider: m, Experiment: Experiment{Seed: 3, MaxSamples: 8}}
	cold := mustRun(t, e, store)
	asked := m.calls
	if cold.NewCalls != asked || asked < 60 || len(cold.Trials) != 60 {
		t.Fatalf("%d new calls of %d, %d trials", cold.NewCalls, asked, len(cold.Trials))
	}
	for _, atOnce := range []int{1, 64} {
		e.MaxSamples = atOnce
		warm := mustRun(t, e, store)
		if m.calls != asked || warm.NewCalls != 0 || warm.CachedCalls < asked {
			t.Errorf("%d at once: %d provider calls, %d new, %d cached", atOnce, m.calls-asked, warm.NewCalls, warm.CachedCalls)
		}
		if warm.Run.Root != cold.Run.Root || warm.Run.ID == cold.Run.ID {
			t.Errorf("%d at once: run %s with root %s, was %s with %s", atOnce, warm.Run.ID, warm.Run.Root, cold.Run.ID, cold.Run.Root)
		}
		if a, b := summaryOf(t, cold), summaryOf(t, warm); a != b {
			t.Errorf("%d at once:\n%s\n%s", atOnce, a, b)
		}
	}
	fresh := mustRun(t, e, openStore(t, t.TempDir()))
	if fresh.Run.Root != cold.Run.Root {
		t.Error("another store gives another root")
	}
}

// TestRootDependsOnConfiguration: on the seed, say, though the answers of a
// faultless model are the same.
func TestRootDependsOnConfiguration(t *testing.T) {
	store := openStore(t, t.TempDir())
	e := Setup{Task: cafesTask(t, 10), Methods: []Method{inProcess(baseline.Direct())}, Provider: simModel(t, "error=0")}
	roots := map[string]bool{mustRun(t, e, store).Run.Root: true}
	for _, change := range []func(*Setup){
		func(e *Setup) { e.Seed++ },
		func(e *Setup) { e.Limit = "9" },
		func(e *Setup) { e.CallLimit = 100 },
		func(e *Setup) { e.Methods = []Method{inProcess(baseline.CoT())} },
	} {
		changed := e
		change(&changed)
		roots[mustRun(t, changed, store).Run.Root] = true
	}
	if len(roots) != 5 {
		t.Errorf("5 configurations have %d roots", len(roots))
	}
}

// TestEpochs: with an erring model the epochs of a sample differ, and a rerun
// repeats them.
func TestEpochs(t *testing.T) {
	store, m := openStore(t, t.TempDir()), newMeter(simModel(t, "error=0.2"))
	e := Setup{Task: cafesTask(t, 10), Methods: []Method{inProcess(baseline.Direct()), inProcess(baseline.CoT())}, Provider: m, Experiment: Experiment{Epochs: 5}}
	cold := mustRun(t, e, store)
	answers := map[string]map[string]bool{}
	for _, tr := range cold.Trials {
		of := tr.ID.Method + tr.ID.Sample
		if answers[of] == nil {
			answers[of] = map[string]bool{}
		}
		// Items are shuffled anew in each epoch: compare what it is worth.
		answers[of][fmt.Sprint(tr.Score.Values)] = true
	}
	differ := 0
	for _, of := range answers {
		if len(of) > 1 {
			differ++
		}
	}
	if differ < 5 {
		t.Errorf("only %d of %d samples differ between epochs", differ, len(answers))
	}
	asked := m.calls
	warm := mustRun(t, e, store)
	if warm.Run.Root != cold.Run.Root || m.calls != asked || summaryOf(t, warm) != summaryOf(t, cold) {
		t.Errorf("%d further calls, root %s, was %s", m.calls-asked, warm.Run.Root, cold.Run.Root)
	}
}

// TestInterruptedRun is stopped after some calls and carried on with: what is
// finished stays, what is paid for is not paid again, and the root is that of
// an undisturbed run.
func TestInterruptedRun(t *testing.T) {
	base := Setup{Task: cafesTask(t, 10), Methods: builtins(), Provider: simModel(t, ""), Experiment: Experiment{MaxSamples: 4}}
	undisturbed := mustRun(t, base, openStore(t, t.TempDir()))
	for _, stopAfter := range []int64{1, 2, 13, 40, 77} {
		t.Run(fmt.Sprint(stopAfter), func(t *testing.T) {
			store, e := openStore(t, t.TempDir()), base
			ctx, cancel := context.WithCancel(context.Background())
			m := newMeter(base.Provider)
			var begun atomic.Int64
			m.before = func() {
				if begun.Add(1) == stopAfter {
					cancel()
				}
			}
			e.Provider = m
			w := &watcher{}
			first, err := e.Run(ctx, store, w)
			if !errors.Is(err, context.Canceled) || first.Run.Status != record.Unfinished || first.Run.Root != "" {
				t.Fatalf("interrupted: %v, %s", err, first.Run.Status)
			}
			if len(first.Trials) != len(w.trials) {
				t.Errorf("%d trials in the result, %d were finished", len(first.Trials), len(w.trials))
			}
			again := &watcher{}
			second, err := e.Run(context.Background(), store, again)
			if err != nil {
				t.Fatal(err)
			}
			if second.Run.ID != first.Run.ID || second.Run.Root != undisturbed.Run.Root {
				t.Errorf("run %s with root %s, want %s with %s", second.Run.ID, second.Run.Root, first.Run.ID, undisturbed.Run.Root)
			}
			if len(w.trials)+len(again.trials) != 30 {
				t.Errorf("%d trials, then %d", len(w.trials), len(again.trials))
			}
			if twice := m.paidTwice(); len(twice) > 0 {
				t.Errorf("%d calls were paid twice", len(twice))
			}
			if a, b := summaryOf(t, second), summaryOf(t, undisturbed); a != b {
				t.Errorf("summaries differ:\n%s\n%s", a, b)
			}
			if second.Run.Calls.Provider != undisturbed.NewCalls {
				t.Errorf("%d provider calls in all, want %d", second.Run.Calls.Provider, undisturbed.NewCalls)
			}
		})
	}
}

// picky answers a ranking that depends on how many it has given before.
type picky struct{ n atomic.Int64 }

func (p *picky) Info() provider.Info {
	return provider.Info{ID: methods.ModelID{Provider: "test", Model: "picky"}}
}

func (p *picky) Complete(context.Context, methods.Request) (methods.Completion, error) {
	text := fmt.Sprintf(`{"answer":[%d]}`, p.n.Add(1)%3+1)
	return methods.Completion{Text: text, Finish: methods.FinishStop, Usage: methods.Usage{Calls: 1, InputTokens: 1, OutputTokens: 1}}, nil
}

// TestTwoAtOnce: two executions of one configuration on one store, each with
// the store open on its own, end with one root, though the model never says
// the same twice.
func TestTwoAtOnce(t *testing.T) {
	dir := t.TempDir()
	stores := []func() *Result{}
	e := Setup{Task: sampleTask(ofThree, "[1]", names(60)...), Methods: []Method{inProcess(baseline.Direct())}, Provider: &picky{}}
	for range 2 {
		store := openStore(t, dir)
		stores = append(stores, func() *Result { return mustRun(t, e, store) })
	}
	results := make([]*Result, 6)
	var wg sync.WaitGroup
	for i := range results {
		wg.Go(func() { results[i] = stores[i%2]() })
	}
	wg.Wait()
	ids := map[string]bool{}
	for _, r := range results {
		ids[r.Run.ID] = true
		if r.Run.Root != results[0].Run.Root {
			t.Errorf("run %s has root %s, want %s", r.Run.ID, r.Run.Root, results[0].Run.Root)
		}
	}
	if len(ids) != len(results) {
		t.Errorf("%d executions at once made the runs %v", len(results), ids)
	}
	runs, err := Runs(context.Background(), openStore(t, dir))
	if err != nil || len(runs) != len(results) {
		t.Fatalf("%d runs in the store, %v", len(runs), err)
	}
	for _, r := range runs {
		if r.Status != record.Finished || r.Root != results[0].Run.Root {
			t.Errorf("run %s is %s", r.ID, r.Status)
		}
	}
}

// TestRunLimit: the run stops, can be resumed with a higher limit, and is
// then the run that it would have been.
func TestRunLimit(t *testing.T) {
	store, m := openStore(t, t.TempDir()), newMeter(simModel(t, ""))
	e := Setup{Task: cafesTask(t, 10), Methods: builtins(), Provider: m, Experiment: Experiment{MaxSamples: 2, RunCallLimit: 25}}
	first, err := e.Run(context.Background(), store, Quiet{})
	if !errors.Is(err, gateway.ErrRunLimit) || !strings.Contains(err.Error(), "25 calls") || first.Run.Status != record.Unfinished {
		t.Fatalf("%v, %s", err, first.Run.Status)
	}
	if m.calls < 25 || m.calls > 25+2*10 { // calls under way may land
		t.Errorf("%d calls", m.calls)
	}
	if _, err := e.Run(context.Background(), store, Quiet{}); !errors.Is(err, gateway.ErrRunLimit) {
		t.Errorf("the same limit again: %v", err)
	}
	e.RunCallLimit = 10000
	second := mustRun(t, e, store)
	want := mustRun(t, Setup{Task: e.Task, Methods: e.Methods, Provider: e.Provider}, openStore(t, t.TempDir()))
	if second.Run.ID != first.Run.ID || second.Run.Root != want.Run.Root {
		t.Errorf("run %s with root %s, want %s with %s", second.Run.ID, second.Run.Root, first.Run.ID, want.Run.Root)
	}
}

// TestFresh leaves the unfinished run alone.
func TestFresh(t *testing.T) {
	store := openStore(t, t.TempDir())
	e := Setup{Task: cafesTask(t, 10), Methods: builtins()[:1], Provider: simModel(t, ""), Experiment: Experiment{RunCallLimit: 3, MaxSamples: 1}}
	first, err := e.Run(context.Background(), store, Quiet{})
	if !errors.Is(err, gateway.ErrRunLimit) {
		t.Fatal(err)
	}
	e.RunCallLimit, e.Fresh = 0, true
	if second := mustRun(t, e, store); second.Run.ID == first.Run.ID {
		t.Error("a fresh run went on with the old one")
	}
	left, err := FindRun(t.Context(), store, first.Run.ID)
	if err != nil || left.Status != record.Unfinished {
		t.Errorf("%+v, %v", left, err)
	}
}

// TestFatalErrorStopsTheRun: one error, no second attempt, and no trial.
func TestFatalErrorStopsTheRun(t *testing.T) {
	store := openStore(t, t.TempDir())
	refusing := solverModel(func(context.Context, methods.Request) (methods.Completion, error) {
		return methods.Completion{}, &provider.Error{Kind: provider.Unauthorized, Status: 401, Hint: "check the key"}
	})
	m := newMeter(refusing)
	e := Setup{Task: sampleTask(ofThree, "[1]", names(20)...), Methods: []Method{inProcess(baseline.Direct())}, Provider: m, Experiment: Experiment{MaxSamples: 1}}
	r, err := e.Run(context.Background(), store, Quiet{})
	if !errors.Is(err, methods.ErrProvider) || strings.Count(err.Error(), "check the key") != 1 {
		t.Errorf("error %v", err)
	}
	if m.calls != 10 || len(r.Trials) != 0 || r.Run.Status != record.Unfinished {
		t.Errorf("%d calls, %d trials, run %s", m.calls, len(r.Trials), r.Run.Status)
	}
}

// solverModel is a provider made of a function.
type solverModel func(context.Context, methods.Request) (methods.Completion, error)

func (f solverModel) Info() provider.Info {
	return provider.Info{ID: methods.ModelID{Provider: "test", Model: "func"}}
}

func (f solverModel) Complete(ctx context.Context, r methods.Request) (methods.Completion, error) {
	return f(ctx, r)
}
