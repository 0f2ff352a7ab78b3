package runner

import (
	"context"
	"sync/atomic"
	"testing"

	"noema/kernel/base/score"
	"noema/kernel/task"
	"noema/kernel/task/booking"
	"noema/methods"
	"noema/methods/aot"
	"noema/methods/baseline"
)

func bookingSetup(t *testing.T, model string) Setup {
	t.Helper()
	made, err := booking.New(booking.Options{N: 20, Fail: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	return Setup{
		Task: made, Methods: []Method{inProcess(aot.New()), inProcess(baseline.ReAct()), inProcess(baseline.LLMCompiler())},
		Provider: simModel(t, model), Experiment: Experiment{MaxSamples: 1},
	}
}

// TestBookingsAreExact: how many trials run at once, a rerun and a replay leave no
// trace, though tools fail, calls of one trial run at the same time, and the
// scores come from what the tools did.
func TestBookingsAreExact(t *testing.T) {
	setup, store := bookingSetup(t, ""), openStore(t, t.TempDir())
	cold := mustRun(t, setup, store)
	scores := map[string]int{}
	for _, tr := range cold.Trials {
		for _, name := range []string{score.Success, score.Clean, score.Balanced, score.Accuracy} {
			v, ok := tr.Score.Get(name)
			if !ok {
				t.Fatalf("%s has no %s", tr.ID, name)
			}
			scores[tr.ID.Method+" "+name] += int(v)
		}
	}
	if scores["aot "+score.Balanced] != 20 || scores["aot "+score.Success] < 15 || scores["llm-compiler "+score.Balanced] == 20 {
		t.Errorf("scores %v", scores)
	}
	setup.MaxSamples = 64
	if again := mustRun(t, setup, openStore(t, t.TempDir())); again.Run.Root != cold.Run.Root {
		t.Errorf("64 at once: root %s, want %s", again.Run.Root, cold.Run.Root)
	}
	if replay := replayOf(t, store, cold.Run, setup.Methods, setup.Provider, 16); !replay.Same() {
		t.Errorf("replay: %v", replay.First)
	}
}

// cutting is an environment that interrupts the run at its n-th call.
type cutting struct {
	task.PerTrial
	left *atomic.Int64
	cut  context.CancelFunc
}

func (c cutting) Of(p methods.Problem) (task.Environment, error) {
	e, err := c.PerTrial.Of(p)
	return cutTrial{e.(task.Stateful), c}, err
}

type cutTrial struct {
	task.Stateful
	cutting
}

func (c cutTrial) Tools() []methods.ToolSpec { return c.Stateful.Tools() }

func (c cutTrial) Call(ctx context.Context, call methods.ToolCall) (methods.ToolResult, error) {
	r, err := c.Stateful.Call(ctx, call)
	if c.left.Add(-1) == 0 {
		c.cut()
	}
	return r, err
}

func (c cutTrial) Restore(call methods.ToolCall, r methods.ToolResult) error {
	return c.Stateful.Restore(call, r)
}

// TestBookingsGoOn: a run that is interrupted anywhere, again and again, comes to
// the root of one that is not: trials find the state that they left, and no effect
// happens twice.
func TestBookingsGoOn(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	setup := bookingSetup(t, "error=0.02")
	want := mustRun(t, setup, openStore(t, t.TempDir()))
	store, stops := openStore(t, t.TempDir()), 0
	made := setup.Task.Environment.(task.PerTrial)
	for n := int64(1); ; n = n*3/2 + 7 {
		ctx, cancel := context.WithCancel(t.Context())
		left := &atomic.Int64{}
		left.Store(n)
		copied := *setup.Task
		copied.Environment = cutting{made, left, cancel}
		setup.Task, setup.MaxSamples = &copied, 1+int(n)%8
		result, err := setup.Run(ctx, store, Quiet{})
		cancel()
		if left.Load() > 0 {
			if err != nil || result.Run.Root != want.Run.Root {
				t.Errorf("after %d interruptions: %v, root %s, want %s", stops, err, result.Run.Root, want.Run.Root)
			}
			break
		}
		stops++
	}
	if stops < 4 {
		t.Errorf("interrupted %d times only", stops)
	}
}
