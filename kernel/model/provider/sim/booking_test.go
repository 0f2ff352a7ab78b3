package sim_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"

	"noema/kernel/base/score"
	"noema/kernel/model/provider/sim"
	"noema/kernel/task"
	"noema/kernel/task/booking"
	"noema/methods"
	"noema/methods/aot"
	"noema/methods/baseline"
)

// ledger is a host that keeps what the tools did.
type ledger struct {
	*host
	mu      sync.Mutex
	effects []methods.ToolResult
}

func (l *ledger) CallTool(ctx context.Context, c methods.ToolCall) (methods.ToolResult, error) {
	r, err := l.host.CallTool(ctx, c)
	if err == nil && !r.IsError {
		l.mu.Lock()
		l.effects = append(l.effects, r)
		l.mu.Unlock()
	}
	return r, err
}

// book runs a method on every request and adds up the scores, and the trials that
// did not answer.
func book(t *testing.T, m methods.Method, options string, p sim.Provider, made *task.Task) map[string]int {
	t.Helper()
	var mu sync.Mutex
	sums := map[string]int{}
	trials(func(s task.Sample) {
		problem, target, err := s.Present(5, true)
		if err != nil {
			t.Error(err)
			return
		}
		env, _, err := task.EnvironmentOf(made.Environment, "", problem)
		if err != nil {
			t.Error(err)
			return
		}
		problem.Tools, problem.Options = env.Tools(), json.RawMessage(options)
		l := &ledger{host: &host{Provider: p, Environment: env}}
		a, err := m.Solve(context.Background(), problem, l)
		if err != nil {
			t.Errorf("%s: %v", s.ID, err)
			return
		}
		by, err := made.Scorer.For(s.Problem.Answer)
		if err != nil {
			t.Error(err)
			return
		}
		got, err := score.Trial(by, s.Problem.Answer, a, target, l.effects)
		if err != nil {
			t.Errorf("%s: %v", s.ID, err)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		for name, v := range got.Values {
			sums[name] += int(v)
		}
		sums[string(a.Outcome)]++
		sums["effects"] += len(l.effects)
	}, made.Samples)
	return sums
}

func bookingTask(t *testing.T, fail float64) *task.Task {
	t.Helper()
	made, err := booking.New(booking.Options{N: 60, Fail: fail})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// TestBookingsWithoutErrors end as they should; a plan of AoT that must be undone
// gives no answer.
func TestBookingsWithoutErrors(t *testing.T) {
	p, made := model(t, "error=0"), bookingTask(t, 0)
	got := book(t, aot.New(), "", p, made)
	if got[score.Success] != 60 || got["answered"] != 30 || got["error"] != 30 {
		t.Errorf("aot: %v", got)
	}
	if got = book(t, baseline.ReAct(), `{"steps":40}`, p, made); got[score.Success] != 60 || got[score.Accuracy] != 60 {
		t.Errorf("react: %v", got)
	}
	if got = book(t, baseline.LLMCompiler(), "", p, made); got[score.Success] < 55 || got[score.Success] > 60 {
		t.Errorf("llm-compiler: %v", got)
	}
}

// TestBookingsWithFailingTools: retries carry AoT and ReAct through, and AoT leaves
// nothing behind where they do not.
func TestBookingsWithFailingTools(t *testing.T) {
	p, made := model(t, "error=0"), bookingTask(t, 0.2)
	if got := book(t, aot.New(), "", p, made); got[score.Clean] != 60 || got[score.Balanced] != 60 || got[score.Success] == 60 || got[score.Success] < 45 {
		t.Errorf("aot: %v", got)
	}
	if got := book(t, baseline.ReAct(), `{"steps":60}`, p, made); got[score.Success] != 60 {
		t.Errorf("react: %v", got)
	}
	if got := book(t, baseline.ReAct(), `{"steps":8}`, p, made); got[score.Balanced] == 60 || got["budget"] == 0 {
		t.Errorf("react in 8 steps: %v", got)
	}
}

// TestForgottenUndoing: AoT asks again for what a plan forgot, and does nothing
// without it. ReAct has nobody who asks.
func TestForgottenUndoing(t *testing.T) {
	p, made := model(t, "error=0&error.write=1&error.judge=1"), bookingTask(t, 0)
	if got := book(t, aot.New(), "", p, made); got["refused"] != 60 || got["effects"] != 0 {
		t.Errorf("aot: %v", got)
	}
	if got := book(t, baseline.ReAct(), `{"steps":40}`, p, made); got[score.Clean] == 60 || got[score.Success] < 30 || got[score.Accuracy] != 60 {
		t.Errorf("react: %v", got)
	}
	if got := book(t, aot.New(), "", model(t, "error=0&error.write=0.3"), made); got[score.Success] < 50 || got[score.Balanced] != 60 {
		t.Errorf("aot with some plans that forget: %v", got)
	}
}

// TestMisreadBookings are wrong, and AoT undoes what it must all the same.
func TestMisreadBookings(t *testing.T) {
	got := book(t, aot.New(), "", model(t, "error=0&error.request=0.3"), bookingTask(t, 0))
	if got[score.Success] > 55 || got[score.Success] < 20 || got[score.Balanced] != 60 || got[score.Clean] == 60 {
		t.Errorf("aot: %v", got)
	}
}
