package gateway

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"noema/kernel/model/provider/none"
	"noema/kernel/result/record"
	"noema/methods"
)

// run lets a trial ask until it is refused, and returns its transcript. What
// the method says in the end repeats the error, as methods do.
func runToLimit(t *testing.T, g *Gateway, limits record.Limits, recorded *record.Trial) (*record.Trial, error) {
	t.Helper()
	tr := trialOf("m", "s", 0)
	tr.Limits, tr.Recorded = limits, recorded
	tr.Environment = &tools{specs: []methods.ToolSpec{{Name: "look", Pure: true}}, run: lookUp}
	h := g.Host(tr)
	for i := range 20 {
		_, err := h.Complete(t.Context(), ask(fmt.Sprint("q", i), fmt.Sprint("P/", 2*i)))
		if err == nil {
			_, err = h.CallTool(t.Context(), toolCall("look", fmt.Sprint(i), fmt.Sprint("P/", 2*i+1)))
		}
		if err != nil {
			h.Emit(methods.Event{Path: "end", Kind: methods.Fallback, Text: err.Error()})
			return sealed(t, h), err
		}
	}
	return sealed(t, h), nil
}

func lookUp(_ context.Context, _ int64, c methods.ToolCall) (methods.ToolResult, error) {
	return methods.ToolResult{Content: "found " + string(c.Arguments)}, nil
}

// TestLimitsFireAtTheSameCall: cold, warm and in a replay, though the warm
// calls cost nothing and take no time.
func TestLimitsFireAtTheSameCall(t *testing.T) {
	for name, c := range map[string]struct {
		limits record.Limits
		calls  int // model and tool calls until the refused one, included
		says   string
	}{
		"calls":     {record.Limits{Calls: 5}, 6, "limit of 5 calls is reached"},
		"one call":  {record.Limits{Calls: 1}, 2, "limit of 1 calls is reached"},
		"tokens":    {record.Limits{Tokens: 31}, 6, "limit of 31 tokens is reached"},
		"cost":      {record.Limits{Cost: 14}, 4, "limit of $1.4e-08 is reached"},
		"the first": {record.Limits{Cost: 14, Calls: 2}, 3, "limit of 2 calls is reached"},
		"none":      {record.Limits{}, 40, ""},
	} {
		t.Run(name, func(t *testing.T) {
			store, m := openStore(t, t.TempDir()), &model{}
			cold, err := runToLimit(t, newGateway(t, Options{Store: store, Provider: m}), c.limits, nil)
			if (c.says != "") != errors.Is(err, methods.ErrBudget) || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Fatalf("cold: %v", err)
			}
			if len(cold.Calls) != c.calls {
				t.Fatalf("%d calls, want %d", len(cold.Calls), c.calls)
			}
			asked := m.calls.Load()
			warm, _ := runToLimit(t, newGateway(t, Options{Store: store, Provider: m}), c.limits, nil)
			again, _ := runToLimit(t, newGateway(t, Options{Store: store, Provider: m}), c.limits, cold)
			replay, _ := runToLimit(t, newGateway(t, Options{Store: store, Provider: none.New(m.Info()), Mode: Replay}), c.limits, cold)
			for how, now := range map[string]*record.Trial{"warm": warm, "warm with a precedent": again, "replay": replay} {
				if d := record.FirstDivergence(cold, now); d != nil {
					t.Errorf("%s: %v", how, d)
				}
			}
			if m.calls.Load() != asked {
				t.Errorf("%d further provider calls", m.calls.Load()-asked)
			}
		})
	}
}

// TestTimeLimit: the time that counts is the recorded one.
func TestTimeLimit(t *testing.T) {
	store, m := openStore(t, t.TempDir()), &model{}
	limits := record.Limits{Time: 7 * time.Millisecond} // calls take 3 ms each
	transcript := func() *record.Trial {
		tr := trialOf("m", "s", 0)
		tr.Limits = limits
		h := newGateway(t, Options{Store: store, Provider: m}).Host(tr)
		for i := range 4 {
			_, err := h.Complete(t.Context(), ask(fmt.Sprint(i), fmt.Sprint(i)))
			if (i >= 3) != errors.Is(err, methods.ErrBudget) {
				t.Errorf("call %d: %v", i, err)
			}
		}
		return sealed(t, h)
	}
	if cold, warm := transcript(), transcript(); cold.Hash != warm.Hash || cold.Usage != warm.Usage {
		t.Errorf("%v", record.FirstDivergence(cold, warm))
	}
}

// together asks n questions at once under limits.
func together(t *testing.T, g *Gateway, n int, limits record.Limits, recorded *record.Trial) *record.Trial {
	tr := trialOf("m", "s", 0)
	tr.Limits, tr.Recorded = limits, recorded
	h := g.Host(tr)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			path := fmt.Sprint("P3/c", i)
			if _, err := h.Complete(context.Background(), ask(path, path)); err != nil {
				h.Emit(methods.Event{Path: path, Kind: methods.StepError, Text: err.Error()})
			}
		})
	}
	wg.Wait()
	return sealed(t, h)
}

// TestLimitAmongConcurrentCalls: it is chance which call a limit refuses, but
// only the first time.
func TestLimitAmongConcurrentCalls(t *testing.T) {
	for name, limits := range map[string]record.Limits{"calls": {Calls: 5}, "tokens": {Tokens: 60}} {
		t.Run(name, func(t *testing.T) {
			store, m := openStore(t, t.TempDir()), &model{}
			const n = 12
			cold := together(t, newGateway(t, Options{Store: store, Provider: m}), n, limits, nil)
			refused := 0
			for _, c := range cold.Calls {
				if c.Fault == record.BudgetFault {
					refused++
				}
			}
			if len(cold.Calls) != n || name == "calls" && refused != n-5 {
				t.Fatalf("%d calls, %d refused", len(cold.Calls), refused)
			}
			// Fill the store with what was refused, so that a wrong decision
			// would find an answer.
			together(t, newGateway(t, Options{Store: store, Provider: m}), n, record.Limits{}, nil)
			for _, mode := range []Mode{Auto, Replay, Replay, Replay} {
				g := newGateway(t, Options{Store: store, Provider: none.New(m.Info()), Mode: mode})
				if d := record.FirstDivergence(cold, together(t, g, n, limits, cold)); d != nil {
					t.Errorf("%s: %v", mode, d)
				}
			}
		})
	}
}

// TestSameCallTwiceAtTheLimit: the first is answered and the second refused,
// also where the transcript cannot tell them apart.
func TestSameCallTwiceAtTheLimit(t *testing.T) {
	store, m := openStore(t, t.TempDir()), &model{}
	run := func(mode Mode, recorded *record.Trial) *record.Trial {
		tr := trialOf("m", "s", 0)
		tr.Limits, tr.Recorded = record.Limits{Calls: 1}, recorded
		h := newGateway(t, Options{Store: store, Provider: m, Mode: mode}).Host(tr)
		for i := range 2 {
			if _, err := h.Complete(t.Context(), ask("q", "p")); (i == 1) != errors.Is(err, methods.ErrBudget) {
				t.Errorf("%s, call %d: %v", mode, i+1, err)
			}
		}
		return sealed(t, h)
	}
	cold := run(Auto, nil)
	if d := record.FirstDivergence(cold, run(Replay, cold)); d != nil {
		t.Error(d)
	}
}

// TestFailureIsReplayed: a call that failed for good fails again in a replay,
// in the same words, for models and tools.
func TestFailureIsReplayed(t *testing.T) {
	store := openStore(t, t.TempDir())
	broken := errors.New("the cable is cut at port 41234")
	m := &model{answer: func(context.Context, int64, methods.Request) (methods.Completion, error) {
		return methods.Completion{}, broken
	}}
	env := &tools{specs: []methods.ToolSpec{{Name: "look"}}, run: func(context.Context, int64, methods.ToolCall) (methods.ToolResult, error) {
		return methods.ToolResult{}, broken
	}}
	run := func(mode Mode, recorded *record.Trial) *record.Trial {
		tr := trialOf("m", "s", 0)
		tr.Recorded, tr.Environment = recorded, env
		h := newGateway(t, Options{Store: store, Provider: m, Mode: mode}).Host(tr)
		_, errModel := h.Complete(t.Context(), ask("q", "p1"))
		_, errTool := h.CallTool(t.Context(), toolCall("look", "{}", "p2"))
		if !errors.Is(errModel, methods.ErrProvider) || errTool == nil || errors.Is(errTool, methods.ErrMiss) {
			t.Errorf("%s: %v; %v", mode, errModel, errTool)
		}
		h.Emit(methods.Event{Path: "end", Text: fmt.Sprint(errModel, errTool)})
		return sealed(t, h)
	}
	recorded := run(Auto, nil)
	if d := record.FirstDivergence(recorded, run(Replay, recorded)); d != nil {
		t.Error(d)
	}
	if m.calls.Load() != 1 || env.calls.Load() != 1 {
		t.Errorf("%d model calls and %d tool calls: a replay asked", m.calls.Load(), env.calls.Load())
	}
}

// TestRunLimit: the run stops at its limit, over all trials, and goes on with
// a higher one from what it has spent.
func TestRunLimit(t *testing.T) {
	store, m := openStore(t, t.TempDir()), &model{}
	g := newGateway(t, Options{Store: store, Provider: m, RunLimits: record.Limits{Calls: 3}})
	for i := range 3 {
		mustComplete(t, g.Host(trialOf("m", fmt.Sprint(i), 0)), ask(fmt.Sprint(i), "p"))
	}
	h := g.Host(trialOf("m", "3", 0))
	if _, err := h.Complete(t.Context(), ask("3", "p")); !errors.Is(err, ErrRunLimit) || !strings.Contains(err.Error(), "raise the limit") {
		t.Errorf("beyond the limit: %v", err)
	}
	if _, err := h.Seed(t.Context(), methods.SeedKey{Kind: "k"}, nil); !errors.Is(err, ErrRunLimit) {
		t.Errorf("a seed beyond the limit: %v", err)
	}
	if !errors.Is(g.Fatal(), ErrRunLimit) || m.calls.Load() != 3 {
		t.Errorf("fatal %v after %d calls", g.Fatal(), m.calls.Load())
	}
	g = newGateway(t, Options{Store: store, Provider: m, RunLimits: record.Limits{Calls: 5}, Spent: methods.Usage{Calls: 3}})
	for i := 3; i < 5; i++ {
		mustComplete(t, g.Host(trialOf("m", fmt.Sprint(i), 0)), ask(fmt.Sprint(i), "p"))
	}
	if !errors.Is(g.Fatal(), ErrRunLimit) || m.calls.Load() != 5 {
		t.Errorf("resumed: fatal %v after %d calls", g.Fatal(), m.calls.Load())
	}
}
