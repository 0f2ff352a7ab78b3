package gateway

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"noema/cache"
	"noema/kernel/model/provider/none"
	"noema/kernel/result/record"
	"noema/methods"
)

var formula = methods.SeedKey{Kind: "formula", Content: "text"}

// compile is a build that asks the model twice and names what it was told.
func compile(h *Host) func(context.Context) ([]byte, error) {
	return func(ctx context.Context) ([]byte, error) {
		var out []byte
		for i := range 2 {
			c, err := h.Complete(ctx, ask(fmt.Sprint("compile step ", i), fmt.Sprint("build/", i)))
			if err != nil {
				return nil, err
			}
			out = append(out, c.Text...)
		}
		return out, nil
	}
}

// TestSeedIsBuiltOnce: of many trials one builds and is not charged; the run
// is, once, and warm as cold.
func TestSeedIsBuiltOnce(t *testing.T) {
	store := openStore(t, t.TempDir())
	var mu sync.Mutex
	seeds := map[uint64]bool{}
	m := &model{answer: func(_ context.Context, n int64, r methods.Request) (methods.Completion, error) {
		mu.Lock()
		seeds[r.Sampling.Seed] = true
		mu.Unlock()
		return numbered(n), nil
	}}
	var hashes []string
	for _, when := range []string{"cold", "warm"} {
		g := newGateway(t, Options{Store: store, Provider: m, RunSeed: 9})
		check := noNewGoroutines(t)
		hosts := make([]*Host, 50)
		var wg sync.WaitGroup
		for i := range hosts {
			hosts[i] = g.Host(trialOf("m", fmt.Sprint(i), i%3))
			wg.Go(func() {
				data, err := hosts[i].Seed(context.Background(), formula, compile(hosts[i]))
				if err != nil || string(data) != "answer 1answer 2" {
					t.Errorf("%s: %q, %v", when, data, err)
				}
			})
		}
		wg.Wait()
		check()
		for _, h := range hosts {
			if u := h.Report().Usage; u != (methods.Usage{}) || len(h.Report().Calls) != 1 {
				t.Errorf("%s: a trial is charged %+v for %+v", when, u, h.Report().Calls)
			}
			h.trial.ID = record.TrialID{} // compare what happened alone
			hashes = append(hashes, sealed(t, h).Hash)
		}
		used := g.Seeds()
		if len(used) != 1 || used[0].Usage.Calls != 2 || used[0].Usage.Cost != 14 || used[0].Kind != "formula" || used[0].Method != "m" {
			t.Errorf("%s: seeds %+v", when, used)
		}
		if g.spent != used[0].Usage {
			t.Errorf("%s: the run is charged %+v", when, g.spent)
		}
	}
	for _, h := range hashes {
		if h != hashes[0] {
			t.Fatal("it shows in the transcript who built")
		}
	}
	id := cache.SeedKey("m", m.Info().ID, formula, 9)
	if m.calls.Load() != 2 || len(seeds) != 1 || !seeds[record.SeedSeed(9, id.String())] {
		t.Errorf("%d calls under random seeds %v", m.calls.Load(), seeds)
	}
}

// TestFailedBuild: the next trial builds, and a cancelled wait ends.
func TestFailedBuild(t *testing.T) {
	g := newGateway(t, Options{Store: openStore(t, t.TempDir()), Provider: &model{}})
	building, fail := make(chan struct{}), make(chan struct{})
	first, second, third := g.Host(trialOf("m", "1", 0)), g.Host(trialOf("m", "2", 0)), g.Host(trialOf("m", "3", 0))
	var wg sync.WaitGroup
	wg.Go(func() {
		_, err := first.Seed(context.Background(), formula, func(context.Context) ([]byte, error) {
			close(building)
			<-fail
			return nil, errors.New("no formula in it")
		})
		if err == nil || !strings.Contains(err.Error(), "call seed/formula: no formula in it") {
			t.Errorf("the failing build: %v", err)
		}
	})
	<-building
	ctx, cancel := context.WithCancel(context.Background())
	wg.Go(func() {
		if _, err := third.Seed(ctx, formula, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("the cancelled wait: %v", err)
		}
	})
	wg.Go(func() {
		data, err := second.Seed(context.Background(), formula, compile(second))
		if err != nil || string(data) != "answer 1answer 2" {
			t.Errorf("the next build: %q, %v", data, err)
		}
	})
	cancel()
	close(fail)
	wg.Wait()
	if c := first.Report().Calls; len(c) != 1 || c[0].Fault != record.BuildFault {
		t.Errorf("transcript of the failing build %+v", c)
	}
	if c := third.Report().Calls; len(c) != 0 {
		t.Errorf("transcript of the cancelled wait %+v", c)
	}
}

// TestSeedsAreReplayed: from the store, without a build; a build that failed
// fails again in the same words.
func TestSeedsAreReplayed(t *testing.T) {
	store, m := openStore(t, t.TempDir()), &model{}
	failed := methods.SeedKey{Kind: "failed"}
	run := func(g *Gateway, recorded *record.Trial, build bool) *record.Trial {
		tr := trialOf("m", "s", 0)
		tr.Recorded = recorded
		h := g.Host(tr)
		never := func(context.Context) ([]byte, error) {
			t.Error("a replay builds")
			return nil, nil
		}
		good, bad := never, never
		if build {
			good = compile(h)
			bad = func(context.Context) ([]byte, error) { return nil, errors.New("no formula in it") }
		}
		data, err := h.Seed(t.Context(), formula, good)
		_, errBad := h.Seed(t.Context(), failed, bad)
		h.Emit(methods.Event{Text: fmt.Sprintf("%s, %v, %v", data, err, errBad)})
		return sealed(t, h)
	}
	cold := run(newGateway(t, Options{Store: store, Provider: m}), nil, true)
	if len(cold.Calls) != 2 {
		t.Fatalf("transcript %+v", cold.Calls)
	}
	replay := newGateway(t, Options{Store: store, Provider: none.New(m.Info()), Mode: Replay})
	if d := record.FirstDivergence(cold, run(replay, cold, false)); d != nil {
		t.Error(d)
	}
	empty := newGateway(t, Options{Store: openStore(t, t.TempDir()), Provider: none.New(m.Info()), Mode: Replay})
	if _, err := empty.Host(trialOf("m", "s", 0)).Seed(t.Context(), formula, nil); !errors.Is(err, methods.ErrMiss) {
		t.Errorf("a seed that is not recorded: %v", err)
	}
}

// TestSeedsWithoutStore: mode off reads and keeps nothing, and still builds
// once for all trials of the execution.
func TestSeedsWithoutStore(t *testing.T) {
	store, m := openStore(t, t.TempDir()), &model{}
	h := newGateway(t, Options{Store: store, Provider: m}).Host(trialOf("m", "s", 0))
	if _, err := h.Seed(t.Context(), formula, compile(h)); err != nil {
		t.Fatal(err)
	}
	g := newGateway(t, Options{Store: store, Provider: m, Mode: Off})
	for i := range 3 {
		h := g.Host(trialOf("m", fmt.Sprint(i), 0))
		if data, err := h.Seed(t.Context(), formula, compile(h)); err != nil || string(data) != "answer 3answer 4" {
			t.Errorf("%q, %v", data, err)
		}
	}
	if n := entries(t, store, cache.Seeds); n != 1 {
		t.Errorf("%d seeds stored", n)
	}
}

// TestSeedOfAResumedRun is charged by the execution that met it first.
func TestSeedOfAResumedRun(t *testing.T) {
	store, m := openStore(t, t.TempDir()), &model{}
	g := newGateway(t, Options{Store: store, Provider: m})
	h := g.Host(trialOf("m", "s", 0))
	if _, err := h.Seed(t.Context(), formula, compile(h)); err != nil {
		t.Fatal(err)
	}
	resumed := newGateway(t, Options{Store: store, Provider: m, Spent: g.spent, Seeds: g.Seeds()})
	if _, err := resumed.Host(trialOf("m", "t", 0)).Seed(t.Context(), formula, nil); err != nil {
		t.Fatal(err)
	}
	if resumed.spent != g.spent || len(resumed.Seeds()) != 1 {
		t.Errorf("charged %+v, was %+v; seeds %+v", resumed.spent, g.spent, resumed.Seeds())
	}
}

// TestBuildOfABuild: what a build asks for is no part of any trial: neither a
// seed of its own nor the result of a tool.
func TestBuildOfABuild(t *testing.T) {
	store, env := openStore(t, t.TempDir()), clerk()
	transcript := func(epoch int) *record.Trial {
		h := hostWith(newGateway(t, Options{Store: store, Provider: &model{}}), env, epoch)
		data, err := h.Seed(t.Context(), formula, func(ctx context.Context) ([]byte, error) {
			inner, err := h.Seed(ctx, methods.SeedKey{Kind: "inner"}, compile(h))
			if err != nil {
				return nil, err
			}
			rolled, err := h.CallTool(ctx, toolCall("roll", "{}", "roll"))
			return append(inner, rolled.Content...), err
		})
		if err != nil || string(data) != "answer 1answer 21" {
			t.Errorf("%q, %v", data, err)
		}
		h.trial.ID = record.TrialID{}
		return sealed(t, h)
	}
	if built, used := transcript(2), transcript(0); built.Hash != used.Hash || len(built.Calls) != 1 {
		t.Errorf("transcripts %+v, %+v", built.Calls, used.Calls)
	}
	if r := mustCall(t, hostWith(newGateway(t, Options{Store: store, Provider: &model{}}), env, 0), toolCall("roll", "{}", "p")); r.Content != "2" {
		t.Errorf("a trial's own call of a tool with effects got the build's result: %q", r.Content)
	}
}
