package main

import (
	"net/http/httptest"
	"strings"
	"testing"

	"noema/kernel"
	"noema/kernel/builtin"
	"noema/kernel/provider/sim"
	"noema/kernel/record"
	"noema/kernel/task"
	"noema/kernel/task/multihop"
	"noema/methods"
	"noema/methods/methodtest"
)

// TestResearchTreeOnSeedsExample answers seed 003's question by sections alone,
// in at most 12 steps.
func TestResearchTreeOnSeedsExample(t *testing.T) {
	tk := openTask(t, "multihop?questions=1")
	a, calls, tools := solveOne(t, "research-tree", tk, 0)
	if string(a.Value) != `"London"` || a.Outcome != methods.Answered {
		t.Errorf("the capital of the birthplace of the director of Inception is %s (%s)", a.Value, a.Outcome)
	}
	if calls > 12 {
		t.Errorf("%d steps", calls)
	}
	if len(a.Evidence) != 3 {
		t.Errorf("evidence %+v", a.Evidence)
	}
	for _, name := range tools {
		if name != "search" && name != "inspect" && name != "read_section" {
			t.Errorf("it used %s", name)
		}
	}
}

// TestResearchTreeReadsAFifth sets its tokens against those of a baseline that
// reads the full articles.
func TestResearchTreeReadsAFifth(t *testing.T) {
	tk := openTask(t, "multihop?questions=9")
	used := map[string]int64{}
	for _, name := range []string{"research-tree", "direct"} {
		for i := range tk.Samples {
			host := hostOf(t, tk)
			if _, err := builtin.Methods()[name].Solve(t.Context(), problemOf(t, tk, i), host); err != nil {
				t.Fatal(err)
			}
			for _, c := range host.Transcript().Calls {
				used[name] += c.Completion.Usage.Tokens()
			}
		}
	}
	if used["research-tree"]*5 > used["direct"] {
		t.Errorf("research-tree used %d tokens, reading everything %d: more than a fifth", used["research-tree"], used["direct"])
	}
	t.Logf("research-tree used %d tokens, reading everything %d", used["research-tree"], used["direct"])
}

// TestEnginePlannerOnSeedsQueries answers seed 004's three queries with one model
// call each.
func TestEnginePlannerOnSeedsQueries(t *testing.T) {
	tk := openTask(t, "logs")
	for i, want := range []string{"2115", `["1c:93:7c:2a:72:c3","28:7a:ee:c9:66:4a"]`, "3"} {
		a, calls, _ := solveOne(t, "engine-planner", tk, i)
		if string(a.Value) != want || a.Outcome != methods.Answered || calls != 1 {
			t.Errorf("%q: %s (%s) after %d calls, want %s", tk.Samples[i].Problem.Query, a.Value, a.Outcome, calls, want)
		}
	}
}

// TestAFetchedArticleIsFetchedOnce runs over a MediaWiki server, and replays when
// the server is gone.
func TestAFetchedArticleIsFetchedOnce(t *testing.T) {
	handler, err := multihop.Handler(multihop.Options{Words: 100})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	lab := kernel.Open(kernel.Options{Home: t.TempDir(), Catalog: builtin.Catalog{}})
	defer lab.Close()
	result, err := lab.Run(kernel.Experiment{Task: "multihop?questions=2&words=100&wikipedia=" + server.URL, Methods: []string{"research-tree"}, Model: "sim?error=0"})
	server.Close()
	if err != nil {
		t.Fatal(err)
	}
	replayed, err := result.Replay()
	if err != nil || !replayed.Same() {
		t.Errorf("without the server the replay is another: %v", err)
	}
	for _, trial := range result.Trials {
		if !strings.Contains(string(trial.Answer.Outcome), "answered") || trial.Usage.ToolCalls == 0 || trial.Calls[0].Fault == record.ToolFault {
			t.Errorf("trial %s: %s after %d tool calls", trial.ID, trial.Answer.Outcome, trial.Usage.ToolCalls)
		}
	}
}

func openTask(t *testing.T, text string) *task.Task {
	t.Helper()
	tk, err := kernel.Open(kernel.Options{Catalog: builtin.Catalog{}}).Task(text, nil)
	if err != nil {
		t.Fatal(err)
	}
	return tk
}

func problemOf(t *testing.T, tk *task.Task, i int) methods.Problem {
	p := presented(t, tk.Samples[i])
	p.Tools = tk.Environment.Tools()
	return p
}

func hostOf(t *testing.T, tk *task.Task) *methodtest.Host {
	t.Helper()
	model, err := sim.New(sim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return methodtest.NewHost(model, methodtest.WithTools(environmentTools{tk.Environment}))
}

// solveOne returns the answer to one sample, the number of model calls, and the
// tools that were used.
func solveOne(t *testing.T, method string, tk *task.Task, i int) (methods.Answer, int, []string) {
	t.Helper()
	host := hostOf(t, tk)
	a, err := builtin.Methods()[method].Solve(t.Context(), problemOf(t, tk, i), host)
	if err != nil {
		t.Fatal(err)
	}
	var tools []string
	for _, c := range host.Transcript().Tools {
		tools = append(tools, c.Call.Name)
	}
	return a, len(host.Transcript().Calls), tools
}
