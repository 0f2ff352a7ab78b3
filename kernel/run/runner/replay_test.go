package runner

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"noema/cache"
	"noema/kernel/model/provider"
	"noema/kernel/model/provider/none"
	"noema/kernel/result/record"
	"noema/kernel/task"
	"noema/methods"
	"noema/methods/anot"
	"noema/methods/baseline"
)

func replayOf(t *testing.T, store *cache.Store, run *record.Run, ms []Method, p provider.Provider, atOnce int) *ReplayResult {
	t.Helper()
	r, err := Replay{Run: run, Methods: ms, Provider: none.New(p.Info()), MaxSamples: atOnce}.Do(context.Background(), store, Quiet{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestReplay gives the same root with 1 and with 64 trials at once, on a copy
// of the store, with nobody to ask.
func TestReplay(t *testing.T) {
	dir := t.TempDir()
	store, p := openStore(t, dir), simModel(t, "")
	e := Setup{Task: cafesTask(t, 10), Methods: builtins(), Provider: p, Experiment: Experiment{Epochs: 2}}
	run := mustRun(t, e, store)
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	copied := openStore(t, to)
	before, err := copied.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, atOnce := range []int{1, 64} {
		r := replayOf(t, copied, run.Run, e.Methods, p, atOnce)
		if !r.Same() || r.Now != run.Run.Root || r.First != nil || len(r.Changed) != 0 || len(r.Trials) != len(run.Trials) || r.Trials[0].Transcript != nil || r.CachedCalls != run.NewCalls+run.CachedCalls {
			t.Errorf("%d at once: %s, first %v, %d cached calls", atOnce, r.Now, r.First, r.CachedCalls)
		}
	}
	after, err := copied.Stats(t.Context())
	if err != nil || fmt.Sprint(after.Spaces) != fmt.Sprint(before.Spaces) {
		t.Errorf("a replay wrote: %v, was %v", after.Spaces, before.Spaces)
	}
}

// TestReplayUnderLimits: methods that make calls side by side meet their
// limits in a replay where they met them first.
func TestReplayUnderLimits(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	// The limits are what the middle one of the trials uses without them.
	free := mustRun(t, Setup{Task: cafesTask(t, 20), Methods: []Method{inProcess(anot.New())}, Provider: simModel(t, "")}, openStore(t, t.TempDir())).Trials
	slices.SortFunc(free, func(a, b *record.Trial) int { return cmp.Compare(a.Usage.Cost, b.Usage.Cost) })
	u := free[len(free)/2].Usage
	for name, limited := range map[string]Experiment{
		"calls": {CallLimit: u.Calls - 1}, "tokens": {TokenLimit: u.Tokens()}, "cost": {CostLimit: u.Cost.USD()}, "time": {TimeLimit: u.Latency},
	} {
		t.Run(name, func(t *testing.T) {
			limited.MaxSamples = 8
			store, p := openStore(t, t.TempDir()), simModel(t, "")
			e := Setup{Task: cafesTask(t, 20), Methods: []Method{inProcess(anot.New())}, Provider: p, Experiment: limited}
			run := mustRun(t, e, store)
			over := 0
			for _, tr := range run.Trials {
				if tr.Answer.Outcome == methods.OverBudget {
					over++
				}
			}
			if over == 0 || over == len(run.Trials) {
				t.Fatalf("%d of %d trials are over budget: the limit tests nothing", over, len(run.Trials))
			}
			for _, atOnce := range []int{1, 64} {
				if r := replayOf(t, store, run.Run, e.Methods, p, atOnce); !r.Same() {
					t.Errorf("%d at once: %v", atOnce, r.First)
				}
			}
			if again := mustRun(t, e, store); again.Run.Root != run.Run.Root || again.NewCalls != 0 {
				t.Errorf("a warm run has root %s and %d new calls, was %s", again.Run.Root, again.NewCalls, run.Run.Root)
			}
		})
	}
}

// TestReplayOfFailures: a step whose call failed for good fails again in the
// same words, also where the method lived on.
func TestReplayOfFailures(t *testing.T) {
	store, p := openStore(t, t.TempDir()), simModel(t, "")
	failing := &lame{Provider: p}
	e := Setup{Task: cafesTask(t, 10), Methods: []Method{inProcess(anot.New())}, Provider: failing}
	run := mustRun(t, e, store)
	lived := 0
	for _, tr := range run.Trials {
		for _, c := range tr.Calls {
			if c.Fault == record.ProviderFault && !tr.Infra {
				lived++
			}
		}
	}
	if lived == 0 {
		t.Fatal("no method lived on after a failed call")
	}
	if r := replayOf(t, store, run.Run, e.Methods, p, 16); !r.Same() {
		t.Errorf("%v", r.First)
	}
}

// lame refuses the second condition of every problem.
type lame struct{ provider.Provider }

func (l *lame) Complete(ctx context.Context, r methods.Request) (methods.Completion, error) {
	if strings.HasPrefix(r.Messages[0].Content, "Check condition c2") || strings.HasPrefix(r.Messages[0].Content, "Check condition 2") {
		return methods.Completion{}, &provider.Error{Kind: provider.Rejected, Status: 400, Err: errors.New("no more conditions")}
	}
	return l.Provider.Complete(ctx, r)
}

// TestReplayDiverges: after a recorded answer was changed, or a method was,
// the first differing call is named.
func TestReplayDiverges(t *testing.T) {
	store, p := openStore(t, t.TempDir()), simModel(t, "")
	e := Setup{Task: cafesTask(t, 10), Methods: []Method{inProcess(baseline.Direct())}, Provider: p}
	run := mustRun(t, e, store)

	newer := inProcess(rewording{baseline.Direct()})
	newer.Label, newer.Description.PromptVersion = "direct", "99"
	r := replayOf(t, store, run.Run, []Method{newer}, p, 16)
	if r.Same() || r.First == nil || len(r.Changed) != 1 || !strings.Contains(r.Changed[0], "prompts 99") {
		t.Fatalf("another method: %+v", r)
	}
	if s := r.First.String(); r.First.Trial != run.Trials[0].ID || !strings.Contains(s, "differs from the recorded one: message 1 (user), line 1, byte 0") {
		t.Errorf("another prompt: %s", s)
	}

	victim := run.Trials[4]
	key, err := cache.ParseKey(victim.Calls[0].Key)
	if err != nil {
		t.Fatal(err)
	}
	rec, err := store.Completion(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	req, id, err := store.Request(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	rec.Completion.Text = strings.Replace(rec.Completion.Text, "[", "[ ", 1)
	if err := store.ReplaceCompletion(t.Context(), key, req, id, rec); err != nil {
		t.Fatal(err)
	}
	r = replayOf(t, store, run.Run, e.Methods, p, 16)
	if r.Same() || r.First == nil || r.First.Trial != victim.ID || r.First.Path != "answer" || !strings.Contains(r.First.What, "same request, different reply") {
		t.Errorf("one byte more: %+v", r.First)
	}
}

// rewording changes every prompt a little.
type rewording struct{ methods.Method }

func (r rewording) Describe() methods.Description {
	return r.Method.(methods.Describer).Describe()
}

func (r rewording) Solve(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
	return r.Method.Solve(ctx, p, rewordingHost{h})
}

type rewordingHost struct{ methods.Host }

func (h rewordingHost) Complete(ctx context.Context, r methods.Request) (methods.Completion, error) {
	r.Messages = methods.Ask("Please. " + r.Messages[0].Content)
	return h.Host.Complete(ctx, r)
}

func TestReplayRefuses(t *testing.T) {
	store, p := openStore(t, t.TempDir()), simModel(t, "")
	e := Setup{Task: cafesTask(t, 10), Methods: builtins()[:2], Provider: p}
	run := mustRun(t, e, store)
	do := func(r Replay) string {
		t.Helper()
		_, err := r.Do(context.Background(), store, Quiet{})
		if err == nil {
			t.Fatal("no error")
		}
		return err.Error()
	}
	if s := do(Replay{Run: run.Run, Methods: e.Methods[:1], Provider: p}); !strings.Contains(s, "it has 2 methods, not 1") {
		t.Error(s)
	}
	unfinished := *run.Run
	unfinished.Status = record.Unfinished
	if s := do(Replay{Run: &unfinished, Methods: e.Methods, Provider: p}); !strings.Contains(s, "not finished") {
		t.Error(s)
	}
	blobless := *run.Run
	blobless.Blob = cache.Key{}.String()
	if s := do(Replay{Run: &blobless, Methods: e.Methods, Provider: p}); !strings.Contains(s, "load task") {
		t.Error(s)
	}
	if err := store.DeleteRun(t.Context(), run.Run.ID); err != nil {
		t.Fatal(err)
	}
	if s := do(Replay{Run: run.Run, Methods: e.Methods, Provider: p}); !strings.Contains(s, "the record of trial ") || !strings.Contains(s, "is missing") {
		t.Error(s) // whichever trial ended first
	}
}

// dice is an environment whose tool never gives the same result twice.
type dice struct{ rolls atomic.Int64 }

func (d *dice) Tools() []methods.ToolSpec {
	return []methods.ToolSpec{{Name: "roll", Description: "rolls", Parameters: json.RawMessage(`{"type":"object"}`)}}
}

func (d *dice) Call(context.Context, methods.ToolCall) (methods.ToolResult, error) {
	return methods.ToolResult{Content: fmt.Sprint(d.rolls.Add(1))}, nil
}

var _ task.Environment = (*dice)(nil)

// TestReplayOfTools needs no environment: the tools that a problem lists and
// their results come from the store.
func TestReplayOfTools(t *testing.T) {
	store, p, env := openStore(t, t.TempDir()), simModel(t, ""), &dice{}
	solve := solver(func(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
		r, err := h.CallTool(ctx, methods.ToolCall{Name: p.Tools[0].Name, Arguments: json.RawMessage(`{}`), Path: "roll"})
		if err != nil {
			return methods.Answer{}, err
		}
		return methods.TextAnswer(p.Tools[0].Description + " " + r.Content), nil
	})
	e := Setup{Task: sampleTask(methods.AnswerSpec{Kind: methods.Text}, `"rolls 1"`, "s"), Methods: []Method{inProcess(solve)}, Provider: p, Experiment: Experiment{Epochs: 3}}
	e.Task.Environment = env
	run := mustRun(t, e, store)
	if r := replayOf(t, store, run.Run, e.Methods, p, 1); !r.Same() || env.rolls.Load() != 3 {
		t.Errorf("%v after %d rolls", r.First, env.rolls.Load())
	}
}
