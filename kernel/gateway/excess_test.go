package gateway

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"noema/kernel/record"
	"noema/methods"
)

// TestCallsOfATrialAreBounded: a method that never stops to call is refused,
// told on, and takes no more memory.
func TestCallsOfATrialAreBounded(t *testing.T) {
	h := newGateway(t, Options{Store: openStore(t, t.TempDir()), Provider: &model{}}).Host(trialOf("m", "s", 0))
	h.calls = make([]record.Call, MaxCalls-2)
	mustComplete(t, h, ask("?", "p"))
	if _, err := h.Seed(t.Context(), formula, func(context.Context) ([]byte, error) { return []byte("x"), nil }); err != nil {
		t.Fatal(err)
	}
	if r := h.Report(); r.Excess != "" || len(r.Calls) != MaxCalls {
		t.Fatalf("at the bound: %q, %d calls", r.Excess, len(r.Calls))
	}
	for range 3 {
		if _, err := h.Complete(t.Context(), ask("?", "p")); !errors.Is(err, methods.ErrBudget) || !strings.Contains(err.Error(), "may make 100000 calls") {
			t.Errorf("beyond the bound: %v", err)
		}
		if _, err := h.Seed(t.Context(), formula, nil); err != nil { // it is there
			t.Error(err)
		}
	}
	if r := h.Report(); r.Excess != "the method made more than 100000 calls" || len(r.Calls) != MaxCalls {
		t.Errorf("beyond the bound: %q, %d calls", r.Excess, len(r.Calls))
	}
}

// TestFailingBuildIsCharged: the run pays for each call of a method seed's
// build when it is made, so that one that never succeeds meets the run's limit;
// a build that succeeds is not paid for twice.
func TestFailingBuildIsCharged(t *testing.T) {
	m := &model{}
	g := newGateway(t, Options{Store: openStore(t, t.TempDir()), Provider: m, RunLimits: record.Limits{Calls: 5}})
	h, broken := g.Host(trialOf("m", "s", 0)), errors.New("it does not parse")
	_, err := h.Seed(t.Context(), formula, func(ctx context.Context) ([]byte, error) {
		for i := range 200 {
			if _, err := h.Complete(ctx, ask(fmt.Sprint("build ", i), "build")); err != nil {
				return nil, err
			}
		}
		return nil, broken
	})
	if !errors.Is(err, ErrRunLimit) || m.calls.Load() != 5 {
		t.Errorf("%v after %d calls", err, m.calls.Load())
	}
	if u := h.Report().Usage; u.Calls != 0 {
		t.Errorf("the trial is charged %+v", u)
	}

	g = newGateway(t, Options{Store: openStore(t, t.TempDir()), Provider: m})
	h = g.Host(trialOf("m", "s", 0))
	if _, err := h.Seed(t.Context(), formula, compile(h)); err != nil {
		t.Fatal(err)
	}
	if g.spent.Calls != 2 || len(g.Seeds()) != 1 || g.Seeds()[0].Usage.Calls != 2 {
		t.Errorf("the run is charged %+v for seeds %+v", g.spent, g.Seeds())
	}
}

// TestAbandonedAnswerIsCharged: an answer that came when nobody waited any more
// was paid for, and counts against the run's limit.
func TestAbandonedAnswerIsCharged(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	m := &model{answer: func(_ context.Context, n int64, _ methods.Request) (methods.Completion, error) {
		leave()
		return numbered(n), nil // it was under way
	}}
	store := openStore(t, t.TempDir())
	g := newGateway(t, Options{Store: store, Provider: m, RunLimits: record.Limits{Calls: 1}})
	h := g.Host(trialOf("m", "s", 0))
	c, err := h.Complete(ctx, ask("?", "p"))
	g.running.Wait()
	if g.spent.Calls != 1 || !errors.Is(g.Fatal(), ErrRunLimit) {
		t.Errorf("%q, %v: the run is charged %+v", c.Text, err, g.spent)
	}
	if n := entries(t, store, "completions"); n != 1 {
		t.Errorf("%d answers are kept", n)
	}
}
