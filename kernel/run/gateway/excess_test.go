package gateway

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"noema/kernel/model/provider"
	"noema/kernel/result/record"
	"noema/methods"
)

// TestCallsOfATrialAreBounded: a method that never stops to call is refused,
// told on, and takes no more memory.
func TestCallsOfATrialAreBounded(t *testing.T) {
	h := newGateway(t, Options{Store: openStore(t, t.TempDir()), Provider: &model{}}).Host(trialOf("m", "s", 0))
	h.calls = make([]record.Call, maxCalls-2)
	mustComplete(t, h, ask("?", "p"))
	if _, err := h.Seed(t.Context(), formula, func(context.Context) ([]byte, error) { return []byte("x"), nil }); err != nil {
		t.Fatal(err)
	}
	if r := h.Report(); r.Excess != "" || len(r.Calls) != maxCalls {
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
	if r := h.Report(); r.Excess != "the method made more than 100000 calls" || len(r.Calls) != maxCalls {
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

// TestLimitsOfWhatIsUnknown: a limit on a cost or on tokens that nobody knows
// stops the run; one on something else does not, and neither does a rerun.
func TestLimitsOfWhatIsUnknown(t *testing.T) {
	cost, tokens, calls := record.Limits{Cost: 1000}, record.Limits{Tokens: 1000}, record.Limits{Calls: 1000}
	unpriced, unmetered := methods.Usage{Calls: 1, Unpriced: 1, InputTokens: 5}, methods.Usage{Calls: 1, Unmetered: 1, Cost: 5}
	for _, c := range []struct {
		name       string
		trial, run record.Limits
		usage      methods.Usage
		want       string // of the error that stops the run
	}{
		{"cost of a trial", cost, record.Limits{}, unpriced, "set price_input and price_output, or use --token-limit"},
		{"cost of the run", record.Limits{}, cost, unpriced, "set price_input and price_output, or use --token-limit"},
		{"tokens of a trial", tokens, record.Limits{}, unmetered, "limit calls or time"},
		{"tokens of the run", record.Limits{}, tokens, unmetered, "limit calls or time"},
		{"tokens, which are known", tokens, tokens, unpriced, ""},
		{"cost, which is known", cost, cost, unmetered, ""},
		{"calls", calls, calls, methods.Usage{Calls: 1, Unpriced: 1, Unmetered: 1}, ""},
	} {
		m := &model{answer: func(context.Context, int64, methods.Request) (methods.Completion, error) {
			return methods.Completion{Text: "x", Finish: methods.FinishStop, Usage: c.usage}, nil
		}}
		store := openStore(t, t.TempDir())
		for _, mode := range []Mode{Refresh, Auto, Replay} {
			g := newGateway(t, Options{Store: store, Provider: m, Mode: mode, RunLimits: c.run})
			tr := trialOf("m", "s", 0)
			tr.Limits = c.trial
			mustComplete(t, g.Host(tr), ask("?", "p"))
			err := g.Fatal()
			if stops := c.want != "" && mode == Refresh; stops != (err != nil) || stops && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s, %s: %v", c.name, mode, err)
			}
		}
	}
}

// TestTooLongIsTheMethodsDoing: a prompt that does not fit is no failure of the
// provider, and says so in the transcript and in its replay.
func TestTooLongIsTheMethodsDoing(t *testing.T) {
	m := &model{answer: func(context.Context, int64, methods.Request) (methods.Completion, error) {
		return methods.Completion{}, &provider.Error{Kind: provider.ContextLength, Err: errors.New("600 tokens, the model takes 512")}
	}}
	store := openStore(t, t.TempDir())
	g := newGateway(t, Options{Store: store, Provider: m})
	h := g.Host(trialOf("m", "s", 0))
	_, err := h.Complete(t.Context(), ask("?", "p"))
	cold := sealed(t, h)
	if !errors.Is(err, methods.ErrProvider) || len(cold.Calls) != 1 || cold.Calls[0].Fault != record.LengthFault || g.Fatal() != nil {
		t.Errorf("%v: %+v", err, cold.Calls)
	}
	tr := trialOf("m", "s", 0)
	tr.Recorded = cold
	h = newGateway(t, Options{Store: store, Provider: m, Mode: Replay}).Host(tr)
	if _, again := h.Complete(t.Context(), ask("?", "p")); again == nil || again.Error() != err.Error() {
		t.Errorf("replay: %v, was %v", again, err)
	}
	if d := record.FirstDivergence(cold, sealed(t, h)); d != nil {
		t.Errorf("replay diverges: %v", d)
	}
}
