package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"noema/kernel/task"
	"noema/methods"
)

// shelf is an environment whose one tool tells the item at a place, in the order
// of the trial. Its schema has characters that JSON writers like to escape.
type shelf struct {
	items []string
	calls *atomic.Int64
}

func (shelf) Tools() []methods.ToolSpec {
	return []methods.ToolSpec{{Name: "item", Pure: true, Description: "a < b & c",
		Parameters: json.RawMessage(`{"type":"object","properties":{"place":{"type":"integer"},"op":{"enum":["<",">","&"]}}}`)}}
}

func (s shelf) Call(_ context.Context, c methods.ToolCall) (methods.ToolResult, error) {
	var args struct{ Place int }
	if err := json.Unmarshal(c.Arguments, &args); err != nil || args.Place >= len(s.items) {
		return methods.ToolResult{}, fmt.Errorf("call %s: %v", c.Arguments, err)
	}
	s.calls.Add(1)
	return methods.ToolResult{Content: s.items[args.Place]}, nil
}

func (s shelf) Of(p methods.Problem) (task.Environment, error) {
	var context struct{ Items []string }
	err := json.Unmarshal(p.Context, &context)
	return shelf{context.Items, s.calls}, err
}

var _ task.PerTrial = shelf{}

// asksFirst ranks by what the tool says of the first place, and quotes the tools
// as they reach it, as the prompts of planning methods do.
func asksFirst() Method {
	return Method{Label: "first", Description: methods.Description{Name: "first", Version: "1"}, Shuffle: true,
		Solver: solver(func(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
			r, err := h.CallTool(ctx, methods.ToolCall{Name: "item", Arguments: json.RawMessage(`{"place":0}`), Path: "look"})
			if err != nil {
				return methods.Answer{}, err
			}
			var context struct{ Items []string }
			if err := json.Unmarshal(p.Context, &context); err != nil {
				return methods.Answer{}, err
			}
			if r.Content != context.Items[0] {
				return methods.Answer{}, fmt.Errorf("the tool says %q of the items %v", r.Content, context.Items)
			}
			_, err = h.Complete(ctx, methods.Request{Messages: methods.Ask(string(p.Tools[0].Parameters)), Path: "quote"})
			return methods.RankingAnswer([]int{slices.Index(context.Items, "gold") + 1}), err
		})}
}

// TestToolsOfOneTrial runs tools that read the presented problem: a warm rerun
// and a replay come to the root of the cold run, without calling them again, and
// no trial is told what holds for another order of the items.
func TestToolsOfOneTrial(t *testing.T) {
	var calls atomic.Int64
	made := &task.Task{Name: "shelf", Version: "1", Environment: shelf{calls: &calls}}
	for i := range 2 {
		made.Samples = append(made.Samples, task.Sample{ID: fmt.Sprint("S", i), Target: json.RawMessage(`[1]`), Problem: methods.Problem{
			Query: "which?", Context: json.RawMessage(`{"items":["gold","tin","lead"]}`), Answer: methods.AnswerSpec{Kind: methods.Ranking, N: 3, K: 1}}})
	}
	store := openStore(t, t.TempDir())
	setup := Setup{Task: made, Methods: []Method{asksFirst()}, Provider: simModel(t, ""), Experiment: Experiment{Epochs: 8}}
	cold := mustRun(t, setup, store)
	orders := calls.Load() // at most the six orders of three items
	if orders < 2 || orders > 6 {
		t.Errorf("%d calls of the tool for 16 trials, want one for each order of the items", orders)
	}
	for _, trial := range cold.Trials {
		if trial.Answer.Outcome != methods.Answered {
			t.Fatalf("%s: %s %s", trial.ID, trial.Answer.Outcome, trial.Answer.Reason)
		}
	}
	warm := mustRun(t, setup, store)
	if warm.Run.Root != cold.Run.Root || calls.Load() != orders {
		t.Errorf("warm rerun: root %s and %d calls, want %s and %d", warm.Run.Root, calls.Load(), cold.Run.Root, orders)
	}
	again := replayOf(t, store, cold.Run, setup.Methods, setup.Provider, 4)
	if !again.Same() || calls.Load() != orders {
		t.Errorf("replay: root %s, %v, %d calls", again.Now, again.First, calls.Load())
	}
}
