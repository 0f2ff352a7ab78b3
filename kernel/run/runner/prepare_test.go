package runner

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"noema/kernel/result/record"
	"noema/kernel/task"
	"noema/methods"
)

// workshop is an environment whose tool works only when it is prepared.
type workshop struct {
	dice
	prepared int
	fail     error
}

var _ task.Preparer = (*workshop)(nil)

func (w *workshop) Prepare(ctx context.Context, progress func(done, total int)) error {
	w.prepared++
	progress(w.prepared, 1)
	return errors.Join(ctx.Err(), w.fail)
}

func (w *workshop) Call(ctx context.Context, c methods.ToolCall) (methods.ToolResult, error) {
	if w.prepared == 0 {
		return methods.ToolResult{}, errors.New("nothing is prepared")
	}
	return w.dice.Call(ctx, c)
}

// TestPrepare: the environment is prepared before the first trial, a failure of
// it leaves a run that can go on, and a run with nothing left to do needs none.
func TestPrepare(t *testing.T) {
	store, p, broken := openStore(t, t.TempDir()), simModel(t, ""), errors.New("no memory")
	solve := solver(func(ctx context.Context, _ methods.Problem, h methods.Host) (methods.Answer, error) {
		r, err := h.CallTool(ctx, methods.ToolCall{Name: "roll", Arguments: json.RawMessage(`{}`), Path: "roll"})
		return methods.TextAnswer(r.Content), err
	})
	e := Setup{Task: sampleTask(methods.AnswerSpec{Kind: methods.Text}, `"1"`, "a", "b"), Methods: []Method{inProcess(solve)}, Provider: p}
	env := &workshop{fail: broken}
	e.Task.Environment = env
	failed, err := e.Run(t.Context(), store, Quiet{})
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), `prepare the tools of task "little"`) {
		t.Fatalf("error %v", err)
	}
	if failed.Run.Status != record.Unfinished || len(failed.Trials) != 0 {
		t.Errorf("the run is %s with %d trials", failed.Run.Status, len(failed.Trials))
	}
	env.fail = nil
	run := mustRun(t, e, store)
	if run.Run.ID != failed.Run.ID || env.prepared != 2 || len(run.Trials) != 2 {
		t.Errorf("run %s after %s, prepared %d times, %d trials", run.Run.ID, failed.Run.ID, env.prepared, len(run.Trials))
	}
	if r := replayOf(t, store, run.Run, e.Methods, p, 1); !r.Same() || env.prepared != 2 {
		t.Errorf("replay: %v, prepared %d times", r.First, env.prepared)
	}
}
