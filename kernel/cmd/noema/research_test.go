package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"noema/kernel/internal/test/multihoptest"
	"noema/kernel/internal/test/wikitest"
	"noema/kernel/lab"
	"noema/kernel/model/provider/sim"
	"noema/kernel/result/record"
	"noema/kernel/session/builtin"
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

// wikipedia serves the generated wiki as MediaWiki serves articles in a skin, with
// all that stands around them. A redirect is answered with the article itself.
func wikipedia(t *testing.T, skin string, o multihop.Options) *httptest.Server {
	t.Helper()
	wiki, err := multihoptest.Handler(o)
	if err != nil {
		t.Fatal(err)
	}
	get := func(r *http.Request) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		wiki.ServeHTTP(w, r)
		return w
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got, from := get(r), ""
		if to := got.Header().Get("Location"); to != "" {
			from = strings.ReplaceAll(r.PathValue("title"), "_", " ")
			got = get(httptest.NewRequest(http.MethodGet, to, nil))
		}
		page := strings.ReplaceAll(got.Body.String(), `<span class="mw-editsection">[edit]</span>`, "")
		_, rest, isPage := strings.Cut(page, "<h1")
		_, rest, _ = strings.Cut(rest, ">")
		title, rest, _ := strings.Cut(rest, "</h1>")
		_, body, _ := strings.Cut(rest, `<div class="mw-parser-output">`)
		if !isPage || got.Code != http.StatusOK {
			w.WriteHeader(got.Code)
			fmt.Fprint(w, page)
			return
		}
		fmt.Fprint(w, wikitest.Render(skin, wikitest.Article{Title: title, RedirectedFrom: from, Body: strings.TrimSuffix(strings.TrimSpace(body), "</div></body></html>")}))
	}))
	t.Cleanup(server.Close)
	return server
}

// TestResearchTreeInWikipediasLayout answers seed 003's question over HTTP from
// pages as each skin has them, within 15 turns, and ReAct does.
func TestResearchTreeInWikipediasLayout(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, skin := range wikitest.Skins() {
		t.Run(skin, func(t *testing.T) {
			t.Parallel()
			server := wikipedia(t, skin, multihop.Options{Words: 400})
			l := lab.Open(lab.Options{Home: t.TempDir(), Catalog: builtin.Catalog{}})
			defer l.Close()
			result, err := l.Run(lab.Experiment{Task: "multihop?questions=1&words=400&wikipedia=" + server.URL, Methods: []string{"research-tree", "react"}, Model: "sim?error=0"})
			if err != nil {
				t.Fatal(err)
			}
			for _, trial := range result.Trials {
				if string(trial.Answer.Value) != `"London"` || trial.Answer.Outcome != methods.Answered || trial.Usage.Calls > 15 {
					t.Errorf("%s: %s %s after %d turns", trial.ID.Method, trial.Answer.Outcome, trial.Answer.Value, trial.Usage.Calls)
				}
			}
		})
	}
}

// TestWhoSearchesGetsTheQuestionAlone runs methods that read and methods that
// search, and looks at their prompts, at the summary and at the run's record.
func TestWhoSearchesGetsTheQuestionAlone(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	l := lab.Open(lab.Options{Home: t.TempDir(), Catalog: builtin.Catalog{}})
	defer l.Close()
	result, err := l.Run(lab.Experiment{Task: "multihop?questions=3&words=100", Methods: []string{"direct", "cot", "react", "llm-compiler?replans=8", "research-tree"}, Model: "sim?error=0"})
	if err != nil {
		t.Fatal(err)
	}
	for _, trial := range result.Trials {
		searches := trial.ID.Method != "direct" && trial.ID.Method != "cot"
		if first := trial.Calls()[0].Usage.InputTokens; searches != (first < 1500) {
			t.Errorf("%s: its first call has %d tokens", trial.ID, first)
		}
		if trial.Score.Values["accuracy"] != 1 || searches != (trial.Usage.ToolCalls > 0) {
			t.Errorf("%s: accuracy %v after %d tool calls", trial.ID, trial.Score.Values["accuracy"], trial.Usage.ToolCalls)
		}
	}
	for i, want := range []string{"reads 12 articles", "reads 12 articles", "searches", "searches", "searches"} {
		if got := result.Run.Config.Methods[i].Data; got != want {
			t.Errorf("method %d %q, want %q", i, got, want)
		}
	}
	summary, err := result.Summary()
	if err != nil {
		t.Fatal(err)
	}
	if want := "data: direct, cot (read 12 articles); react, llm-compiler?replans=8, research-tree (search)"; !slices.Contains(summary.Remarks, want) {
		t.Errorf("the remarks are %q, want %q among them", summary.Remarks, want)
	}
	if replayed, err := result.Replay(); err != nil || !replayed.Same() {
		t.Errorf("the replay is another: %v", err)
	}
}

// TestResearchTreeReadsAFifth sets its tokens against those of a baseline that
// reads the full articles.
func TestResearchTreeReadsAFifth(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
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
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	handler, err := multihoptest.Handler(multihop.Options{Words: 100})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	l := lab.Open(lab.Options{Home: t.TempDir(), Catalog: builtin.Catalog{}})
	defer l.Close()
	result, err := l.Run(lab.Experiment{Task: "multihop?questions=2&words=100&wikipedia=" + server.URL, Methods: []string{"research-tree"}, Model: "sim?error=0"})
	server.Close()
	if err != nil {
		t.Fatal(err)
	}
	replayed, err := result.Replay()
	if err != nil || !replayed.Same() {
		t.Errorf("without the server the replay is another: %v", err)
	}
	for _, trial := range result.Trials {
		if !strings.Contains(string(trial.Answer.Outcome), "answered") || trial.Usage.ToolCalls == 0 || trial.Calls()[0].Fault == record.ToolFault {
			t.Errorf("trial %s: %s after %d tool calls", trial.ID, trial.Answer.Outcome, trial.Usage.ToolCalls)
		}
	}
}

func openTask(t *testing.T, text string) *task.Task {
	t.Helper()
	tk, err := lab.Open(lab.Options{Catalog: builtin.Catalog{}}).Task(text, nil)
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
