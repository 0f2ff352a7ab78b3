package export

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"noema/cache"
	"noema/kernel/model/provider"
	"noema/kernel/result/record"
	"noema/kernel/run/runner"
	"noema/kernel/task/cafes"
	"noema/methods"
)

// detailed is a model that tells all that a provider can tell of a call.
type detailed struct{}

func (detailed) Info() provider.Info {
	return provider.Info{ID: methods.ModelID{Provider: "test", Model: "m"}}
}

func (detailed) Complete(context.Context, methods.Request) (methods.Completion, error) {
	return methods.Completion{
		Text: "3", Finish: methods.FinishStop,
		Usage: methods.Usage{Calls: 1, InputTokens: 100, OutputTokens: 50, Cost: 7, CachedTokens: 60, CacheWriteTokens: 10, ReasoningTokens: 40},
		Logprobs: []methods.TokenLogprob{
			{Token: "3", Logprob: -0.25, Top: []methods.TokenLogprob{{Token: "3", Logprob: -0.25}, {Token: "\uFFFD", Bytes: []byte{0xc3}, Logprob: -2}}},
		},
	}, nil
}

// once asks once.
type once struct{}

func (once) Solve(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
	_, err := h.Complete(ctx, methods.Request{Messages: methods.Ask(p.Query), Path: "P1"})
	return methods.RankingAnswer([]int{3}), err
}

func detailedSource(t *testing.T) Source {
	t.Helper()
	tk, err := cafes.New(cafes.Options{N: 10, Requests: 10})
	if err != nil {
		t.Fatal(err)
	}
	store, err := cache.Open(t.Context(), t.TempDir(), cache.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	setup := runner.Setup{
		Task: tk, Provider: detailed{},
		Methods:    []runner.Method{{Label: "direct", Solver: once{}, Description: methods.Description{Name: "direct", Version: "1"}}},
		Experiment: runner.Experiment{Limit: "1", Sampling: map[string]string{"logprobs": "2"}},
	}
	r, err := setup.Run(t.Context(), store, runner.Quiet{})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(r.Trials[0].Calls); n != 1 {
		t.Fatalf("%d calls", n)
	}
	return Source{Result: r, Read: func(id record.TrialID, c record.Call) (runner.Exchange, error) {
		return runner.ReadExchange(context.WithoutCancel(t.Context()), store, r.Run, id, c)
	}}
}

// TestDetailsLeave: what a provider tells of a call's tokens is in every form
// of export.
func TestDetailsLeave(t *testing.T) {
	s := detailedSource(t)
	rows := s.Calls()
	var lines bytes.Buffer
	if err := rows.JSONL(&lines); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"cached_tokens":60`, `"cache_write_tokens":10`, `"reasoning_tokens":40`,
		`"logprobs":[{"bytes":[51],"logprob":-0.25,"token":"3","top_logprobs":[`, `{"bytes":[195],"logprob":-2,"token":"` + "\uFFFD",
	} {
		if !strings.Contains(lines.String(), want) {
			t.Errorf("%s is not in %s", want, lines.String())
		}
	}
	s.Result.Trials[0].Usage.Unmetered = 1
	lines.Reset()
	if err := s.Trials().JSONL(&lines); err != nil || !strings.Contains(lines.String(), `"cached_tokens":null`) {
		t.Errorf("what is not known is in %s, %v", lines.String(), err)
	}
}

func TestDetailsInSpans(t *testing.T) {
	var file bytes.Buffer
	if err := detailedSource(t).Spans(OTLPFile(&file)); err != nil {
		t.Fatal(err)
	}
	for name, n := range map[string]int{
		"gen_ai.usage.cache_read.input_tokens": 60, "gen_ai.usage.cache_creation.input_tokens": 10, "gen_ai.usage.reasoning.output_tokens": 40,
	} {
		want := fmt.Sprintf(`{"key":%q,"value":{"intValue":"%d"}}`, name, n)
		if strings.Count(file.String(), want) != 2 { // of the trial and of its call
			t.Errorf("%s is not twice in %s", want, file.String())
		}
	}
}

// TestEvalLogLoadsInInspect has Inspect itself read them.
func TestDetailsInEvalLogs(t *testing.T) {
	var file bytes.Buffer
	if err := detailedSource(t).EvalLog(&file, "direct"); err != nil {
		t.Fatal(err)
	}
	var log struct {
		Stats struct {
			Usage map[string]map[string]int `json:"model_usage"`
		}
	}
	if err := json.Unmarshal(file.Bytes(), &log); err != nil {
		t.Fatal(err)
	}
	want := map[string]int{
		"input_tokens": 30, "output_tokens": 50, "total_tokens": 150,
		"input_tokens_cache_read": 60, "input_tokens_cache_write": 10, "reasoning_tokens": 40,
	}
	if got := log.Stats.Usage["test/m"]; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("usage %v, want %v", got, want)
	}
}
