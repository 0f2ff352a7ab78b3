package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"noema/kernel/result/record"
	"noema/kernel/run/gateway"
	"noema/kernel/task/table"
	"noema/methods"
	"noema/methods/baseline"
)

// decoded is a summary as a script sees it.
func decoded(t *testing.T, r *Result) map[string]any {
	t.Helper()
	s, err := Summarize(r)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// at follows names and numbers into decoded JSON.
func at(t *testing.T, v any, path ...any) any {
	t.Helper()
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, ok := v.(map[string]any)
			if !ok {
				t.Fatalf("%v of %v", p, v)
			}
			if v, ok = m[p]; !ok {
				t.Fatalf("there is no %q in %v", p, m)
			}
		case int:
			v = v.([]any)[p]
		}
	}
	return v
}

// TestSummary of a whole run: chance, sharing, order and totals.
func TestSummary(t *testing.T) {
	store := openStore(t, t.TempDir())
	again := inProcess(baseline.Direct())
	again.Label = "direct again"
	e := Setup{
		Task: cafesTask(t, 10), Methods: []Method{inProcess(baseline.CoT()), inProcess(baseline.Direct()), again},
		Provider:   simModel(t, "error=0"),
		Experiment: Experiment{Epochs: 2, Name: "n"},
	}
	run := mustRun(t, e, store)
	m := decoded(t, run)
	for _, c := range []struct {
		want any
		path []any
	}{
		{"sim?error=0&v=2", []any{"model"}}, {true, []any{"simulated"}}, {"finished", []any{"status"}},
		{"cafes?n=10&requests=10&seed=0", []any{"task"}}, {10.0, []any{"samples"}}, {2.0, []any{"epochs"}},
		{run.Run.Root, []any{"root_hash"}},
		{0.1, []any{"chance", "hits@1"}}, {0.5, []any{"chance", "hits@5"}},
		{20.0, []any{"shared_calls"}}, // both directs, in each epoch of each sample
		{"cot", []any{"methods", 0, "method"}}, {"direct again", []any{"methods", 2, "method"}},
		{10.0, []any{"methods", 0, "n"}}, {20.0, []any{"methods", 0, "trials"}},
		{20.0, []any{"methods", 1, "outcomes", "answered"}},
		{1.0, []any{"methods", 1, "metrics", "hits@1", "value"}}, {1.0, []any{"methods", 1, "metrics", "hits@1", "high"}},
		{20.0, []any{"methods", 2, "usage", "calls"}},
	} {
		got := at(t, m, c.path...)
		x, isNumber := got.(float64)
		y, wantNumber := c.want.(float64)
		if got != c.want && !(isNumber && wantNumber && math.Abs(x-y) < 1e-12) {
			t.Errorf("%v: %v, want %v", c.path, got, c.want)
		}
	}
	if _, there := m["method_seeds"]; there {
		t.Error("seeds of methods that have none")
	}
	if a, b := at(t, m, "methods", 1, "usage"), at(t, m, "methods", 2, "usage"); fmt.Sprint(a) != fmt.Sprint(b) {
		t.Errorf("who came second pays differently: %v, %v", a, b)
	}
}

// TestUnknownIsNull: what is not known for every call is null and never 0,
// and so is an interval that does not exist.
func TestUnknownIsNull(t *testing.T) {
	store := openStore(t, t.TempDir())
	p := solverModel(func(_ context.Context, r methods.Request) (methods.Completion, error) {
		u := methods.Usage{Calls: 1, InputTokens: 5, OutputTokens: 1, Cost: 1e9}
		if strings.Contains(r.Messages[0].Content, "query b") {
			u = methods.Usage{Calls: 1, Unpriced: 1, Unmetered: 1}
		}
		return methods.Completion{Text: `{"answer":"x"}`, Finish: methods.FinishStop, Usage: u}, nil
	})
	e := Setup{Task: sampleTask(methods.AnswerSpec{Kind: methods.Text}, `"x"`, "a", "b"), Methods: []Method{inProcess(baseline.Direct())}, Provider: p}
	m := decoded(t, mustRun(t, e, store))
	usage := at(t, m, "methods", 0, "usage")
	if at(t, usage, "calls") != 2.0 || at(t, usage, "cost_usd") != nil || at(t, usage, "input_tokens") != nil || at(t, usage, "output_tokens") != nil {
		t.Errorf("usage %v", usage)
	}
	if c := at(t, m, "chance").(map[string]any); len(c) != 0 {
		t.Errorf("chance of a text: %v", c)
	}
	e.Limit = "1"
	m = decoded(t, mustRun(t, e, store))
	if usage := at(t, m, "methods", 0, "usage"); at(t, usage, "cost_usd") != 1.0 || at(t, usage, "input_tokens") != 5.0 {
		t.Errorf("usage %v", usage)
	}
	if f1 := at(t, m, "methods", 0, "metrics", "f1"); at(t, f1, "value") != 1.0 {
		t.Errorf("f1 %v", f1)
	}
}

// TestSummaryOfNothing: an unfinished run has no root and no metrics.
func TestSummaryOfNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	e := Setup{Task: cafesTask(t, 10), Methods: builtins()[:1], Provider: simModel(t, "")}
	store := openStore(t, t.TempDir())
	if r, err := e.Run(ctx, store, Quiet{}); r != nil || !errors.Is(err, context.Canceled) {
		t.Fatalf("a run that was cancelled before it began: %v, %v", r, err)
	}
	e.RunCallLimit = 1
	r, err := e.Run(context.Background(), store, Quiet{})
	if !errors.Is(err, gateway.ErrRunLimit) {
		t.Fatal(err)
	}
	m := decoded(t, r)
	if at(t, m, "root_hash") != "" || at(t, m, "status") != "unfinished" || at(t, m, "methods", 0, "n") != 0.0 || len(at(t, m, "methods", 0, "metrics").(map[string]any)) != 0 {
		t.Errorf("%v", m)
	}
}

// seeded is a method that compiles a seed for all trials and asks with it.
func seeded(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
	data, err := h.Seed(ctx, methods.SeedKey{Kind: "formula", Content: "f"}, func(ctx context.Context) ([]byte, error) {
		c, err := h.Complete(ctx, methods.Request{Messages: methods.Ask("compile"), Sampling: methods.Sampling{Seed: p.Seed}, Path: "build"})
		return []byte(c.Text), err
	})
	if err != nil {
		return methods.Answer{}, err
	}
	c, err := h.Complete(ctx, methods.Request{Messages: methods.Ask(string(data) + " for " + p.Query), Path: "use"})
	return methods.TextAnswer(c.Text), err
}

// TestMethodSeeds: the cost of a seed is counted once a run, cold, warm and
// after a kill that left the run's own list behind.
func TestMethodSeeds(t *testing.T) {
	store, m := openStore(t, t.TempDir()), newMeter(simModel(t, "error=0.3"))
	e := Setup{Task: sampleTask(methods.AnswerSpec{Kind: methods.Text}, `"x"`, names(12)...), Methods: []Method{inProcess(solver(seeded))}, Provider: m, Experiment: Experiment{MaxSamples: 6}}
	cold := mustRun(t, e, store)
	if cold.NewCalls != 13 || len(cold.Run.Seeds) != 1 || cold.Run.Seeds[0].Usage.Calls != 1 {
		t.Fatalf("%d calls, seeds %+v", cold.NewCalls, cold.Run.Seeds)
	}
	s := decoded(t, cold)
	if at(t, s, "methods", 0, "seeds", "total", "calls") != 1.0 || at(t, s, "methods", 0, "usage", "calls") != 13.0 {
		t.Errorf("%v", s)
	}
	warm := mustRun(t, e, store)
	if warm.Run.Root != cold.Run.Root || summaryOf(t, warm) != summaryOf(t, cold) || warm.NewCalls != 0 {
		t.Errorf("warm: %d new calls\n%s\n%s", warm.NewCalls, summaryOf(t, warm), summaryOf(t, cold))
	}
	if r := replayOf(t, store, cold.Run, e.Methods, m, 64); !r.Same() {
		t.Errorf("%v", r.First)
	}

	killed := *warm.Run
	killed.Status, killed.Root, killed.Seeds = record.Unfinished, "", nil
	raw, err := record.Marshal(&killed)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.PutRun(t.Context(), killed.ID, raw); err != nil {
		t.Fatal(err)
	}
	w := &watcher{}
	resumed, err := e.Run(context.Background(), store, w)
	if err != nil || resumed.Run.ID != killed.ID || len(w.trials) != 0 || resumed.Run.Root != cold.Run.Root {
		t.Fatalf("resumed: %v, trials %s", err, trialKeys(w.trials))
	}
	if summaryOf(t, resumed) != summaryOf(t, cold) {
		t.Errorf("\n%s\n%s", summaryOf(t, resumed), summaryOf(t, cold))
	}
}

// Prompts that the simulated model does not understand are counted, in a run and
// in its replay alike.
func TestPromptsNotUnderstoodAreCounted(t *testing.T) {
	file := filepath.Join(t.TempDir(), "own.jsonl")
	if err := os.WriteFile(file, []byte(`{"input": "What is 2+2?", "target": 4}`+"\n"+`{"input": "Ana has 3 pencils. Ana finds 4 more pencils. How many pencils does Ana have now?", "target": 7}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	rows, err := table.Open(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	own, err := table.Load(rows, table.Mapping{})
	if err != nil {
		t.Fatal(err)
	}
	asks := solver(func(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
		c, err := h.Complete(ctx, methods.Request{Messages: methods.Ask("Riddle: " + p.Query + "\nSolution:"), Path: "ask"})
		if err != nil || c.Text != "7" {
			return methods.Answer{Outcome: methods.Unparsed, Reason: c.Text}, err
		}
		return methods.Answer{Outcome: methods.Answered, Value: []byte(c.Text)}, nil
	})
	e := Setup{Task: own, Methods: []Method{inProcess(asks)}, Provider: simModel(t, "error=0")}
	store := openStore(t, t.TempDir())
	for _, run := range []*Result{mustRun(t, e, store), mustRun(t, e, store)} {
		s := decoded(t, run)
		if at(t, s, "prompts") != 2.0 || at(t, s, "not_understood") != 1.0 || at(t, s, "methods", 0, "outcomes", "answered") != 1.0 {
			t.Errorf("%v", s)
		}
	}
	s := decoded(t, mustRun(t, Setup{Task: cafesTask(t, 2), Methods: []Method{inProcess(baseline.Direct())}, Provider: simModel(t, "")}, store))
	if _, told := s["not_understood"]; told {
		t.Errorf("prompts are not understood in %v", s)
	}
}
