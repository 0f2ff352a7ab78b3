package runner

import (
	"context"
	"fmt"
	"testing"

	"noema/kernel/model/provider"
	"noema/methods"
)

// unsure is a model whose probabilities no short decimal holds.
type unsure struct{}

func (unsure) Info() provider.Info {
	return provider.Info{ID: methods.ModelID{Provider: "test", Model: "unsure"}}
}

func (unsure) Complete(_ context.Context, r methods.Request) (methods.Completion, error) {
	c := methods.Completion{Text: "a", Finish: methods.FinishStop, Usage: methods.Usage{Calls: 1, InputTokens: 9, OutputTokens: 1, CachedTokens: 5}}
	if r.Sampling.Logprobs > 0 {
		c.Logprobs = []methods.TokenLogprob{{Token: "a", Logprob: -1.0 / float64(3+len(r.Messages[0].Content))}}
	}
	return c, nil
}

// weigh is a method that goes by log probabilities, to the last bit.
func weigh(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
	for i := range 2 {
		c, err := h.Complete(ctx, methods.Request{
			Path: fmt.Sprintf("P%d", i+1), Messages: methods.Ask(p.Query), Sampling: methods.Sampling{Logprobs: 3}, Draw: i,
		})
		if err != nil {
			return methods.Answer{}, err
		}
		text := "none"
		if len(c.Logprobs) > 0 {
			text = fmt.Sprintf("%x", c.Logprobs[0].Logprob)
		}
		h.Emit(methods.Event{Path: fmt.Sprintf("P%d", i+1), Kind: methods.StepResult, Text: text})
	}
	return methods.RankingAnswer([]int{1}), nil
}

// TestLogprobsReplay: what a method made of probabilities comes back in a
// replay, usage included, and a reply by hand has none.
func TestLogprobsReplay(t *testing.T) {
	store := openStore(t, t.TempDir())
	e := Setup{Task: sampleTask(ofThree, "[1]", names(3)...), Methods: []Method{inProcess(solver(weigh))}, Provider: unsure{}}
	run := mustRun(t, e, store)
	tr := run.Trials[0]
	if tr.Usage.CachedTokens != 10 || tr.Events[0].Text == "none" {
		t.Fatalf("charged %+v, events %+v", tr.Usage, tr.Events)
	}
	r := replayOf(t, store, run.Run, e.Methods, unsure{}, 1)
	if !r.Same() || r.Trials[0].Usage != tr.Usage {
		t.Errorf("replayed: first divergence %v, charged %+v, want %+v", r.First, r.Trials[0].Usage, tr.Usage)
	}
	fork := Fork{Parent: run, Setup: e, Call: tr.Calls[0], Trial: tr.ID, Reply: "b"}
	forked, err := fork.Do(t.Context(), store, Quiet{})
	if err != nil {
		t.Fatal(err)
	}
	if events := forked.Trials[0].Events; events[0].Text != "none" || events[1].Text == "none" {
		t.Errorf("forked: %+v", events)
	}
	// For a whole run, the same wish is a part of its configuration.
	over := e
	over.Sampling = map[string]string{"logprobs": "3"}
	if again := mustRun(t, over, store); again.Run.Root == run.Run.Root || again.Trials[0].Hash != tr.Hash {
		t.Errorf("root %.8s and %.8s, trial %.8s and %.8s", again.Run.Root, run.Run.Root, again.Trials[0].Hash, tr.Hash)
	}
}
