package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/goccy/go-yaml"

	"noema/kernel/base/display"
	"noema/kernel/base/score"
	"noema/kernel/lab"
	"noema/kernel/model/provider/sim"
	"noema/kernel/session/builtin"
	"noema/kernel/task"
	"noema/methods"
	"noema/methods/deliberate"
	"noema/methods/methodtest"
	"noema/plugins"
)

// smallTasks are the generated tasks in sizes that a test can run, and puzzles.
func smallTasks() []string {
	game24 := filepath.Join("..", "..", "..", "experiments", "grid", "game24.csv")
	return []string{"cafes?n=3", "policy?restaurants=2", "arithmetic", game24 + "?", "multihop?articles=4&questions=6&words=100", "logs?rows=300&queries=6", "booking?n=5"}
}

// nameOf is a task's name in the table.
func nameOf(text string) string {
	name, _, _ := strings.Cut(filepath.Base(text), "?")
	return strings.TrimSuffix(name, ".csv")
}

// worksByPython reports whether a method needs the tool python.
func worksByPython(m methods.Method) bool {
	return slices.Contains(m.(methods.Describer).Describe().Tools, "python")
}

// opener returns a task as a method is given it: with the tool python if the method works by it. Methods
// share it, since a world can take seconds to make.
func opener(text string) func(*testing.T, methods.Method) *task.Task {
	open := func(text string) func() (*task.Task, error) {
		return sync.OnceValues(func() (*task.Task, error) {
			return lab.Open(lab.Options{Catalog: builtin.Catalog{}}).Task(strings.TrimRight(text, "?&"), nil)
		})
	}
	before, options, _ := strings.Cut(text, "?")
	plain, python := open(text), open(before+"?python=true&"+options)
	return func(t *testing.T, m methods.Method) *task.Task {
		t.Helper()
		which := plain
		if worksByPython(m) {
			which = python
		}
		tk, err := which()
		if err != nil {
			t.Fatal(err)
		}
		return tk
	}
}

// caseOf is a sample of a task as a method meets it.
func caseOf(t *testing.T, tk *task.Task, s task.Sample, model sim.Provider, method string) methodtest.Case {
	t.Helper()
	c := methodtest.Case{Name: s.ID, Problem: presented(t, s), Model: model, Sampled: sampled(method)}
	p := c.Problem
	fresh := func() task.Environment {
		env, _, err := task.EnvironmentOf(tk.Environment, "", p)
		if err != nil {
			t.Fatal(err)
		}
		return env
	}
	if env := fresh(); env != nil {
		c.Problem.Tools = env.Tools()
		c.NewTools = func() methods.Toolbox { return environmentTools{fresh()} }
	}
	return c
}

// supports reports whether a method says that it can do a task: it answers the
// kinds that the samples ask for, and the tools that it needs are there. How well
// a model lets it answer is another matter.
func supports(tk *task.Task, m methods.Method) bool {
	d := m.(methods.Describer).Describe()
	for _, s := range tk.Samples {
		if !d.CanAnswer(s.Problem.Answer) {
			return false
		}
	}
	return tk.Environment == nil && len(d.Lacks(nil)) == 0 || tk.Environment != nil && len(d.Lacks(tk.Environment.Tools())) == 0
}

// spread takes n samples evenly.
func spread(all []task.Sample, n int) []task.Sample {
	n = min(n, len(all))
	out := make([]task.Sample, n)
	for i := range out {
		out[i] = all[i*len(all)/n]
	}
	return out
}

// shortfalls say why a method does not do all of a task that it can do, though the model
// makes no errors. The table marks them.
func shortfalls() (marks map[string]string, why string) {
	marks = map[string]string{"anot/policy": "a", "llm-compiler/multihop": "b", "react/booking": "c", "aot/booking": "d"}
	for _, method := range append([]string{"direct", "cot", "plan-and-solve", "self-consistency"}, slices.Collect(maps.Keys(deliberate.All()))...) {
		marks[method+"/logs"], marks[method+"/booking"] = "e", "e"
	}
	return marks, `
With a simulated model that makes no errors (` + "`sim?error=0`" + `) every pair scores 1.00, but for those with a letter: (a) it gives the
verdict alone; (b) a hop takes two plans, and one more than the first is the default: 1.00 with ` + "`replans=8`" + `; (c) 12 turns, the
default, do not suffice for the longest errands: 1.00 with ` + "`steps=40`" + `; (d) every errand ends as it should, but a plan that must
be undone gives no answer; (e) without tools it sees the beginning of the log alone, and can book nothing. ` + "`game24` are puzzles of the\nGame of 24; `pal` needs `?python=true`" + ` behind the task.
`
}

// remedies are the options under which a shortfall ends.
func remedies() map[string]string {
	return map[string]string{"b": `{"replans":8}`, "c": `{"steps":40}`}
}

// TestPairsWithoutErrors has every method do every task that it supports with a model
// that makes no errors: all is right, or the table says why not, and what helps helps.
func TestPairsWithoutErrors(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	model, err := sim.New(sim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	marks, _ := shortfalls()
	for _, text := range smallTasks() {
		name := nameOf(text)
		larger := strings.NewReplacer("booking?n=5", "booking?n=12", "articles=4&questions=6&words=100", "questions=12") // errands of all lengths; articles that no prompt can show
		open := opener(larger.Replace(text))
		for method, m := range builtin.Methods() {
			t.Run(method+"/"+name, func(t *testing.T) {
				t.Parallel()
				tk := open(t, m)
				if !supports(tk, m) {
					t.Skip("it cannot")
				}
				if worksByPython(m) {
					needPython(t)
				}
				mark := marks[method+"/"+name]
				if got := allRight(t, tk, model, m, ""); got != (mark == "") {
					t.Errorf("all right: %v, but the table marks it %q", got, mark)
				}
				if options := remedies()[mark]; options != "" && !allRight(t, tk, model, m, options) {
					t.Errorf("not all is right with %s", options)
				}
			})
		}
	}
}

// allRight reports whether a method answers samples of a task as the target is.
func allRight(t *testing.T, tk *task.Task, model sim.Provider, m methods.Method, options string) bool {
	t.Helper()
	for _, s := range spread(tk.Samples, 12) {
		p, target, err := s.Present(7, true)
		if err != nil {
			t.Fatal(err)
		}
		p.Options = json.RawMessage(options)
		env, _, err := task.EnvironmentOf(tk.Environment, "", p)
		if err != nil {
			t.Fatal(err)
		}
		var effects []methods.ToolResult
		var mu sync.Mutex
		box := methodtest.ToolFunc(func(ctx context.Context, c methods.ToolCall) (methods.ToolResult, error) {
			r, err := env.Call(ctx, c)
			mu.Lock()
			defer mu.Unlock()
			if err == nil && !r.IsError {
				effects = append(effects, r)
			}
			return r, err
		})
		host := methodtest.NewHost(model)
		if env != nil {
			p.Tools, host = env.Tools(), methodtest.NewHost(model, methodtest.WithTools(box))
		}
		if p, err = tk.Shown(p, m.(methods.Describer).Describe()); err != nil {
			t.Fatal(err)
		}
		a, err := m.Solve(t.Context(), p, host)
		if err != nil {
			t.Fatal(err)
		}
		by, err := tk.Scorer.For(p.Answer)
		if err != nil {
			t.Fatal(err)
		}
		got, err := score.Trial(by, p.Answer, a, target, effects)
		if err != nil {
			t.Fatal(err)
		}
		judged := 0
		for _, metric := range []string{score.Accuracy, score.Success, score.VerdictAccuracy, score.PrimitiveAccuracy, "hits@1"} {
			if v, ok := got.Values[metric]; ok {
				if judged++; v < 1 {
					return false
				}
			}
		}
		if judged == 0 {
			t.Fatalf("no metric says whether an answer is right: %v", got.Values)
		}
	}
	return true
}

// TestSupportedPairs has every method, in a process of its own as users meet it, make
// the transcripts that it makes in this process on every task that it supports, and
// puts it through the conformance suite with and without tools; the methods' own tests
// put each kind of answer through it. It holds the table of those pairs in
// methods/README.md to what is so. Run with -update to write it.
func TestSupportedPairs(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	host, err := plugins.NewHost(plugins.HostOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { host.Close() })
	table := display.Table{}
	table.Add("method")
	all := builtin.Methods()
	rows := map[string][]string{}
	type tools struct {
		method string
		has    bool
	}
	suited := map[tools]bool{}
	marks, why := shortfalls()
	for _, text := range smallTasks() {
		name := nameOf(text)
		table.Add(name)
		open := opener(text)
		for _, method := range slices.Sorted(maps.Keys(all)) {
			mark, tk := "", open(t, all[method])
			if supports(tk, all[method]) {
				mark = "yes"
				if letter := marks[method+"/"+name]; letter != "" {
					mark = "yes (" + letter + ")"
				}
				first := tools{method, tk.Environment != nil}
				whole := !suited[first] && !worksByPython(all[method]) // the suite starts a hundred Pythons: its package's own is enough
				suited[first] = true
				t.Run(method+"/"+name, func(t *testing.T) { conforms(t, host, tk, method, all[method], whole) })
			}
			rows[method] = append(rows[method], mark)
		}
	}
	for _, method := range slices.Sorted(maps.Keys(rows)) {
		table.Row(append([]string{method}, rows[method]...)...)
	}
	holdTable(t, filepath.Join("..", "..", "..", "methods", "README.md"), table.Markdown()+why)
}

// conforms compares the method behind a plugin with the one in this process on
// two samples of the task, and, if whole, runs the suite on one.
func conforms(t *testing.T, host *plugins.Host, tk *task.Task, name string, m methods.Method, whole bool) {
	t.Parallel()
	p, err := host.Open(t.Context(), plugins.Source{Name: name, Command: []string{os.Args[0], builtin.ServeVerb, name}, Builtin: true, Path: os.Args[0]})
	if err != nil {
		t.Fatal(err)
	}
	model, err := sim.New(sim.Options{Error: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	var cases []methodtest.Case
	for _, s := range spread(tk.Samples, 2) {
		cases = append(cases, caseOf(t, tk, s, model, name))
	}
	methodtest.Same(t, m, p, cases...)
	if whole {
		methodtest.Run(t, p, cases[0])
	}
}

// The marks between which the README has the table.
const tableBegin, tableEnd = "<!-- pairs -->\n", "<!-- /pairs -->"

func holdTable(t *testing.T, file, want string) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok1 := strings.Cut(string(raw), tableBegin)
	have, after, ok2 := strings.Cut(rest, tableEnd)
	if !ok1 || !ok2 {
		t.Fatalf("%s has no place for the table: %q and %q", file, tableBegin, tableEnd)
	}
	if have == want {
		return
	}
	if !*update {
		t.Fatalf("the table in %s is not what is so: run go test ./kernel/cmd/noema -run SupportedPairs -update\nwant\n%s", file, want)
	}
	if err := os.WriteFile(file, fmt.Appendf(nil, "%s%s%s%s%s", before, tableBegin, want, tableEnd, after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestGrid: the experiments of experiments/grid name every method that can do their task, and the
// study those that can do all of its tasks.
func TestGrid(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("..", "..", "..", "experiments", "grid", "*.yaml"))
	if err != nil || len(paths) < 7 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var file struct {
			Task    any
			Methods []string
		}
		if err := yaml.Unmarshal(raw, &file); err != nil {
			t.Fatal(err)
		}
		tasks, several := file.Task.([]any)
		if !several {
			tasks = []any{file.Task}
		}
		want := slices.Sorted(maps.Keys(builtin.Methods()))
		for _, text := range tasks {
			text, _, _ := strings.Cut(text.(string), "#")
			tk, err := lab.Open(lab.Options{Catalog: builtin.Catalog{}}).Task(strings.Replace(text, "./", filepath.Dir(path)+"/", 1), nil)
			if err != nil {
				t.Fatal(err)
			}
			want = slices.DeleteFunc(want, func(name string) bool { return !supports(tk, builtin.Methods()[name]) })
		}
		if got := slices.Sorted(slices.Values(file.Methods)); !slices.Equal(got, want) {
			t.Errorf("%s has\n%q, want\n%q", path, got, want)
		}
	}
}
