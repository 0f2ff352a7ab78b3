package sim_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"noema/kernel/task"
	"noema/kernel/task/arithmetic"
	"noema/kernel/task/booking"
	"noema/kernel/task/cafes"
	"noema/kernel/task/logs"
	"noema/kernel/task/multihop"
	"noema/kernel/task/policy"
	"noema/methods"
	"noema/methods/anot"
	"noema/methods/aot"
	"noema/methods/baseline"
	"noema/methods/engineplanner"
	"noema/methods/generalanot"
	"noema/methods/researchtree"
)

// watched is a host that keeps what was said, over a world whose names are others than
// the generator's.
type watched struct {
	*host
	to, from *strings.Replacer // between the names of the generator and those that are shown

	mu      sync.Mutex
	asked   []methods.Request
	said    []string
	results []string
}

func (w *watched) Complete(ctx context.Context, r methods.Request) (methods.Completion, error) {
	c, err := w.host.Complete(ctx, r)
	w.mu.Lock()
	defer w.mu.Unlock()
	said := c.Text
	for _, call := range c.ToolCalls {
		said += string(call.Arguments)
	}
	w.asked, w.said = append(w.asked, r), append(w.said, said)
	return c, err
}

func (w *watched) CallTool(ctx context.Context, c methods.ToolCall) (methods.ToolResult, error) {
	c.Arguments = json.RawMessage(w.from.Replace(string(c.Arguments)))
	r, err := w.host.CallTool(ctx, c)
	r.Content = w.to.Replace(r.Content)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.results = append(w.results, r.Content)
	return r, err
}

// watch runs a trial without errors in a world with the given names for the generator's.
func watch(t *testing.T, m methods.Method, made *task.Task, s task.Sample, names map[string]string) (methods.Answer, *watched) {
	t.Helper()
	problem, _, err := s.Present(5, true)
	if err != nil {
		t.Fatal(err)
	}
	env, _, err := task.EnvironmentOf(made.Environment, "", problem)
	if err != nil {
		t.Fatal(err)
	}
	if env != nil {
		problem.Tools = env.Tools()
	}
	if problem, err = made.Shown(problem, m.(methods.Describer).Describe()); err != nil {
		t.Fatal(err)
	}
	var there, back []string
	for name, other := range names {
		there, back = append(there, name, other), append(back, other, name)
	}
	w := &watched{host: &host{Provider: model(t, "error=0"), Environment: env}, to: strings.NewReplacer(there...), from: strings.NewReplacer(back...)}
	a, err := m.Solve(t.Context(), problem, w)
	if err != nil {
		t.Fatal(err)
	}
	return a, w
}

// everyTask are the generated tasks, small.
func everyTask(t *testing.T) map[string]*task.Task {
	t.Helper()
	must := func(made *task.Task, err error) *task.Task {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	return map[string]*task.Task{
		"arithmetic": must(arithmetic.New(arithmetic.Options{N: 10})), "booking": must(booking.New(booking.Options{N: 8})), "cafes": must(cafes.New(cafes.Options{Requests: 8})),
		"logs": must(logs.New(logs.Options{Rows: 400, Queries: 12})), "multihop": must(multihop.New(multihop.Options{Questions: 6, Words: 300})),
		"policy": must(policy.New(policy.Options{Restaurants: 1})),
	}
}

// everyMethod are the methods that do a task.
func everyMethod(name string) []methods.Method {
	all := []methods.Method{aot.New(), baseline.Direct(), baseline.CoT(), baseline.ReAct(), baseline.LLMCompiler(), baseline.PlanAndSolve()}
	switch name {
	case "cafes":
		return append(all, anot.New(), generalanot.New(), baseline.Listwise(), baseline.Pairwise())
	case "policy":
		return append(all, anot.New(), generalanot.New())
	case "logs":
		return append(all, engineplanner.New())
	case "multihop":
		return append(all, researchtree.New())
	}
	return all
}

// quoted are the texts in a reply, also those inside of texts.
var quoted = regexp.MustCompile(`"([A-Za-z0-9][^"\\:,{}\[\]]{2,60})\\*"`)

// TestRepliesNameOnlyWhatWasShown has every method do every task, and looks in each reply
// for texts of the world, from the tools' results, the data and the articles: what no
// prompt showed must be in none.
func TestRepliesNameOnlyWhatWasShown(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for name, made := range everyTask(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := map[string]bool{}
			type exchange struct {
				method, said string
				r            methods.Request
			}
			var all []exchange
			for _, m := range everyMethod(name) {
				for _, s := range made.Samples[:min(6, len(made.Samples))] {
					_, w := watch(t, m, made, s, nil)
					for _, text := range append(w.results, string(s.Problem.Context), string(s.Target)) {
						for _, q := range quoted.FindAllStringSubmatch(text, -1) {
							world[q[1]] = true
						}
					}
					for i, r := range w.asked {
						all = append(all, exchange{m.(methods.Describer).Describe().Name, w.said[i], r})
					}
				}
			}
			held, told := 0, map[string]bool{}
			for _, e := range all {
				shown := fmt.Sprintf("%+v", e.r.Messages)
				if e.r.Schema != nil {
					shown += string(e.r.Schema.JSON)
				}
				plain := strings.ToLower(strings.ReplaceAll(shown, "_", " "))
				for _, q := range quoted.FindAllStringSubmatch(e.said, -1) {
					if !world[q[1]] || told[e.method+q[1]] {
						continue
					}
					if held++; !strings.Contains(plain, strings.ToLower(strings.ReplaceAll(q[1], "_", " "))) {
						told[e.method+q[1]] = true
						t.Errorf("%s at %s names %q, which its prompt does not show:\n%.400s", e.method, e.r.Path, q[1], e.said)
					}
				}
			}
			if held == 0 && name != "arithmetic" {
				t.Error("no reply names anything of the world")
			}
		})
	}
}

// hidden are the names that tools show under these keys.
var hidden = regexp.MustCompile(`"(?:title|offer|cm_mac|rpdname|md_id)":(?:"([^"]+)"|\[("[^\]]+")\])`)

// TestAnotherWorldBehindThePrompt renames what the tools would show and the problem does
// not: the first reply stays as it is, and the answer is the one of the other world.
func TestAnotherWorldBehindThePrompt(t *testing.T) {
	tasks, renamed := everyTask(t), 0
	for _, name := range []string{"multihop", "logs", "booking"} {
		made := tasks[name]
		for _, m := range everyMethod(name)[:5] {
			for _, s := range made.Samples {
				a, w := watch(t, m, made, s, nil)
				names := map[string]string{}
				for _, found := range hidden.FindAllStringSubmatch(strings.Join(w.results, "\n"), -1) {
					for _, h := range strings.Split(strings.ReplaceAll(found[1]+found[2], `"`, ""), ",") {
						if !strings.Contains(s.Problem.Query+string(s.Problem.Context), h) {
							names[h] = other(h)
						}
					}
				}
				if len(names) == 0 {
					continue
				}
				renamed++
				b, v := watch(t, m, made, s, names)
				want := v.to.Replace(string(a.Value))
				if v.said[0] != w.said[0] || !sameSet(string(b.Value), want) || a.Outcome != b.Outcome {
					t.Errorf("%s on %s: %s %s, want %s; the first reply %.300s, then %.300s", m.(methods.Describer).Describe().Name, s.ID, b.Value, b.Reason, want, w.said[0], v.said[0])
				}
			}
		}
	}
	if renamed < 30 {
		t.Errorf("only %d trials met another world", renamed)
	}
}

// other is a name of the same form: its last letter or digit is another, and it is longer.
func other(name string) string { return name + "x" }

// sameSet compares JSON texts, lists without their order.
func sameSet(a, b string) bool {
	var x, y []string
	if json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil {
		slices.Sort(x)
		slices.Sort(y)
		return slices.Equal(x, y)
	}
	return a == b
}

// TestMethodsErrAlike gives methods the same kind of error on the same samples: what they
// all do with the model goes wrong for all in the same places.
func TestMethodsErrAlike(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	tasks := everyTask(t)
	d, c, r := baseline.Direct(), baseline.CoT(), baseline.ReAct()
	for name, group := range map[string]struct {
		rates  string
		alike  []methods.Method
		differ int // answers that are not those without errors, at least
	}{
		"cafes request":      {"error.request=0.3", []methods.Method{d, c, r, anot.New(), baseline.Listwise()}, 3},
		"cafes judge":        {"error.judge=0.1", []methods.Method{d, c, anot.New()}, 3},
		"cafes compute":      {"error.compute=0.3", []methods.Method{d, c, anot.New()}, 3},
		"policy request":     {"error.request=0.1", []methods.Method{d, c, generalanot.New(), aot.New()}, 2},
		"policy judge":       {"error.judge=0.1", []methods.Method{d, c}, 3},
		"policy filtered":    {"error.judge=0.1", []methods.Method{generalanot.New(), aot.New()}, 3}, // they read fewer reviews
		"arithmetic request": {"error.request=0.3", []methods.Method{d, c, r, aot.New(), baseline.LLMCompiler()}, 3},
		"arithmetic compute": {"error.compute=0.3", []methods.Method{d, c}, 3},
		"arithmetic machine": {"error.compute=1", []methods.Method{r, aot.New(), baseline.LLMCompiler()}, 0},
		"multihop request":   {"error.request=0.3", []methods.Method{d, c, r, aot.New(), researchtree.New()}, 1},
		"multihop judge":     {"error.judge=0.3", []methods.Method{d, c}, 1},
		"logs request":       {"error.request=0.5", []methods.Method{r, aot.New(), baseline.LLMCompiler()}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			made := tasks[strings.Fields(name)[0]]
			differ := 0
			for i, s := range made.Samples {
				var first methods.Answer
				for at, m := range group.alike {
					a, _, _ := attempt(t, m, model(t, "error=0&"+group.rates), made.Environment, s, uint64(i), "")
					if at == 0 {
						first = a
						right, _, _ := attempt(t, m, model(t, "error=0"), made.Environment, s, uint64(i), "")
						if string(right.Value) != string(a.Value) {
							differ++
						}
					} else if a.Outcome == methods.Answered && !sameFields(a.Value, first.Value) && string(a.Value) != string(first.Value) {
						t.Errorf("%s on %s: %s, but %s: %s", group.alike[0].(methods.Describer).Describe().Name, s.ID, first.Value, m.(methods.Describer).Describe().Name, a.Value)
					}
				}
			}
			if differ < group.differ {
				t.Errorf("only %d of %d answers are wrong", differ, len(made.Samples))
			}
		})
	}
}
