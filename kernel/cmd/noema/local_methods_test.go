package main

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"noema/kernel/internal/test/localtest"
	"noema/kernel/session/builtin"
	"noema/methods"
	"noema/plugins"
)

// noiseTasks are small tasks with the methods that are put to them: as few
// runs as have a task for every method, each method with few calls.
var noiseTasks = []struct {
	task    string
	methods []string
}{
	{"arithmetic", []string{
		"aot?retries=0", "cot?retries=1", "direct?retries=0", "llm-compiler?retries=0&replans=0", "plan-and-solve?retries=0",
		"react?retries=0&steps=2", "self-consistency?retries=0&draws=2",
	}},
	{"arithmetic", []string{
		"tot?retries=0&depth=2&breadth=1", "mcts?retries=0&simulations=2", "got?retries=0", "self-refine?retries=0", "reflexion?retries=0", "debate?retries=0",
		"mixture-of-agents?retries=0", "best-of-n?retries=0", "escalate?retries=0", "budget-forcing?retries=0",
	}},
	{"arithmetic?python=true", []string{"pal?retries=0"}},
	{"cafes?n=2", []string{"anot?retries=0&iterations=1", "listwise?retries=0", "pairwise?retries=0"}},
	{"policy?restaurants=1&k=25", []string{"general-anot?retries=0&rounds=1"}},
	{"multihop?articles=4&questions=1&words=100", []string{"research-tree?retries=0&steps=2"}},
	{"logs?rows=100&queries=1", []string{"engine-planner"}},
}

// TestEveryMethodOnNoise runs every built-in method on a model with random
// weights, in the process and without a network, to the end. What it writes is
// noise: a value only where a schema made it one. Every trial must have an
// outcome that says so and no fault of the infrastructure, and the run must
// come again from the store without the model.
func TestEveryMethodOnNoise(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	dir := t.TempDir()
	spec := localtest.Spec{Arch: "smollm", Seed: 3, Hidden: 16, Heads: 1, KVHeads: 1, Layers: 1, Context: 1 << 15}
	if err := localtest.Write(dir, spec); err != nil {
		t.Fatal(err)
	}
	user := newCLI(t)
	tried := map[string]bool{}
	outcomes := map[methods.Outcome]int{}
	_, lack := plugins.FindPython()
	for _, n := range noiseTasks {
		if lack != nil && strings.HasSuffix(n.task, "?python=true") {
			t.Logf("%v is not tried: %v", n.methods, lack)
			tried["pal"] = true
			continue
		}
		s := user.summary("compare", "--task", n.task, "--methods", strings.Join(n.methods, ","), "--model", "local/"+dir+"?max_tokens=24", "--limit", "1")
		if s.RootHash == "" || s.ProviderCalls == 0 || s.Simulated {
			t.Errorf("%s: root hash %q after %d calls, simulated: %v", n.task, s.RootHash, s.ProviderCalls, s.Simulated)
		}
		for _, m := range s.Methods {
			name, _, _ := strings.Cut(m.Method, "?")
			tried[name] = true
			if m.Trials != 1 || m.Failed != 0 {
				t.Errorf("%s: %d trials, %d of them failed: %+v", m.Method, m.Trials, m.Failed, m.Causes)
			}
		}
		for _, trial := range user.trials() {
			a := trial.Answer
			outcomes[a.Outcome]++
			t.Logf("%s: %s %s %s", trial.ID.Method, a.Outcome, a.Value, a.Reason)
			honest(t, trial.ID.Method, a)
			if len(trial.Calls) == 0 {
				t.Errorf("%s never asked the model", trial.ID.Method)
			}
		}
		again := user.replay()
		if !again.Same || again.RootHash != s.RootHash || again.ProviderCalls != 0 || again.Skipped != 0 {
			t.Errorf("%s: the replay is the same: %v, %d calls reached a provider, %d trials were skipped; first %+v",
				n.task, again.Same, again.ProviderCalls, again.Skipped, again.First)
		}
	}
	if got, want := slices.Sorted(maps.Keys(tried)), slices.Sorted(maps.Keys(builtin.Methods())); !slices.Equal(got, want) {
		t.Errorf("tried %v, built in are %v", got, want)
	}
	if outcomes[methods.Answered] == len(tried) {
		t.Error("every method took noise for an answer")
	}
}

// honest demands an outcome with what belongs to it.
func honest(t *testing.T, method string, a methods.Answer) {
	t.Helper()
	switch a.Outcome {
	case methods.Answered, methods.Defaulted:
		if len(a.Value) == 0 || string(a.Value) == "null" {
			t.Errorf("%s: %s without a value", method, a.Outcome)
		}
	case methods.Unparsed, methods.Refused, methods.OverBudget:
		if a.Reason == "" {
			t.Errorf("%s: %s without a reason", method, a.Outcome)
		}
	default:
		t.Errorf("%s: outcome %q: %s", method, a.Outcome, a.Reason)
	}
}

// replay replays the last run.
func (c *cli) replay() replaySummary {
	c.t.Helper()
	var s replaySummary
	r := c.run(0, "replay", "last", "--json")
	if err := json.Unmarshal([]byte(r.stdout), &s); err != nil {
		c.t.Fatalf("%v in %s", err, r.stdout)
	}
	return s
}
