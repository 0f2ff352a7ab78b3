package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"noema/kernel/lab"
	"noema/kernel/model/provider/sim"
	"noema/kernel/session/builtin"
	"noema/kernel/task"
	"noema/methods"
	"noema/methods/methodtest"
	"noema/plugins"
)

// taskFor is the task that a built-in method is for.
func taskFor(method string) string {
	switch method {
	case "aot", "react", "llm-compiler", "plan-and-solve", "self-consistency",
		"tot", "got", "mcts", "self-refine", "reflexion", "debate", "mixture-of-agents", "best-of-n", "escalate", "budget-forcing":
		return "arithmetic"
	case "pal":
		return "arithmetic?python=true"
	case "general-anot":
		return "policy?restaurants=2"
	case "research-tree":
		return "multihop?articles=4&questions=10&words=100"
	case "engine-planner":
		return "logs?rows=300&queries=12"
	}
	return "cafes?n=4"
}

// sampled reports whether a built-in method asks for temperatures above 0.
func sampled(method string) bool {
	options := builtin.Methods()[method].(methods.Describer).Describe().Options
	return slices.ContainsFunc(options, func(o methods.Option) bool { return o.Name == "temperature" })
}

// builtinCases are problems of the task that a built-in method is for,
// answered by a simulated model that errs now and then.
func builtinCases(t *testing.T, method string, n int) []methodtest.Case {
	t.Helper()
	tk, err := lab.Open(lab.Options{Catalog: builtin.Catalog{}}).Task(taskFor(method), nil)
	if _, missing := plugins.FindPython(); method == "pal" && missing != nil {
		t.Skip(missing)
	}
	if err != nil {
		t.Fatal(err)
	}
	model, err := sim.New(sim.Options{Error: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	var cases []methodtest.Case
	for i := range n {
		s := tk.Samples[i*len(tk.Samples)/n]
		c := methodtest.Case{Name: s.ID, Problem: presented(t, s), Model: model, Sampled: sampled(method)}
		if tk.Environment != nil {
			c.Problem.Tools, c.Tools = tk.Environment.Tools(), environmentTools{tk.Environment}
		}
		cases = append(cases, c)
	}
	return cases
}

func presented(t *testing.T, s task.Sample) methods.Problem {
	t.Helper()
	p, _, err := s.Present(7, true)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var update = flag.Bool("update", false, "write the golden transcripts anew")

// golden is what a version of a method did once: its requests with the
// replies it got, and its answers.
type golden struct {
	Version       string            `json:"version"`
	PromptVersion string            `json:"prompt_version"`
	Replies       map[string]string `json:"replies"` // by the digest of the request
	Answers       []string          `json:"answers"` // outcome, value and reason of each problem
	Events        []string          `json:"events"`  // digests, one for each problem
}

// TestVersionsStandForBehaviour holds the promise that a built-in method's
// version identifies what it does, which is what run hashes rely on. It
// replays recorded replies: a request that was not recorded, another event or
// another answer means that the method has changed, and then its Version or
// PromptVersion must change, too. Run with -update after that.
func TestVersionsStandForBehaviour(t *testing.T) {
	t.Parallel()
	for name, m := range builtin.Methods() {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join("testdata", "golden", name+".json")
			d := m.(methods.Describer).Describe()
			if *update {
				writeGolden(t, file, m, d)
			}
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var want golden
			if err := json.Unmarshal(raw, &want); err != nil {
				t.Fatal(err)
			}
			if d.Version != want.Version || d.PromptVersion != want.PromptVersion {
				t.Fatalf("version is %s, prompts %s; recorded %s, %s: run go test with -update", d.Version, d.PromptVersion, want.Version, want.PromptVersion)
			}
			got := behave(t, name, m, want.Replies)
			for i := range want.Answers {
				if a, b := got.Answers[i], want.Answers[i]; a != b {
					t.Errorf("problem %d: answer %s, recorded %s: change the method's version and run go test with -update", i, a, b)
				}
				if got.Events[i] != want.Events[i] {
					t.Errorf("problem %d: other events than recorded: change the method's version and run go test with -update", i)
				}
			}
		})
	}
}

const goldenProblems = 10

// behave lets m solve the golden problems with recorded replies.
func behave(t *testing.T, name string, m methods.Method, replies map[string]string) golden {
	t.Helper()
	return solveGolden(t, name, m, methodtest.ModelFunc(func(_ context.Context, r methods.Request) (methods.Completion, error) {
		text, ok := replies[requestDigest(r)]
		if !ok {
			return methods.Completion{}, fmt.Errorf("%w: call %s sends a request that was not recorded: change the method's prompt version and run go test with -update",
				methods.ErrMiss, r.Path)
		}
		return methods.Completion{Text: text, Finish: methods.FinishStop}, nil
	}))
}

func solveGolden(t *testing.T, name string, m methods.Method, model methods.Model) golden {
	t.Helper()
	var out golden
	for _, c := range builtinCases(t, name, goldenProblems) {
		host := methodtest.NewHost(model, methodtest.WithTools(c.Tools))
		a, err := m.Solve(t.Context(), c.Problem, host)
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		out.Answers = append(out.Answers, fmt.Sprintf("%s %s %s %v", a.Outcome, a.Value, a.Reason, a.Evidence))
		out.Events = append(out.Events, digest(t, host.Transcript().Events))
	}
	return out
}

// writeGolden records m with the simulated model as it is now.
func writeGolden(t *testing.T, file string, m methods.Method, d methods.Description) {
	t.Helper()
	simulated, err := sim.New(sim.Options{Error: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	replies := map[string]string{}
	for _, c := range builtinCases(t, d.Name, goldenProblems) {
		host := methodtest.NewHost(simulated, methodtest.WithTools(c.Tools))
		if _, err := m.Solve(t.Context(), c.Problem, host); err != nil {
			t.Fatal(err)
		}
		for _, call := range host.Transcript().Calls {
			replies[requestDigest(call.Request)] = call.Completion.Text
		}
	}
	g := behave(t, d.Name, m, replies)
	g.Version, g.PromptVersion, g.Replies = d.Version, d.PromptVersion, replies
	raw, err := json.MarshalIndent(g, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, append(raw, '\n'), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func requestDigest(r methods.Request) string {
	raw, err := json.Marshal(r)
	if err != nil {
		panic(err)
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:8])
}

func digest(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:8])
}
