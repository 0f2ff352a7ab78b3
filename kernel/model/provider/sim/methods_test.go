package sim_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"

	"noema/kernel/model/provider/sim"
	"noema/kernel/task"
	"noema/kernel/task/cafes"
	"noema/methods"
	"noema/methods/anot"
	"noema/methods/baseline"
	"noema/methods/generalanot"
)

// host runs a method in process on a simulated model, without a cache.
type host struct {
	sim.Provider
	task.Environment // nil if there are no tools

	mu     sync.Mutex
	usage  methods.Usage
	events []methods.Event
}

func (h *host) Complete(ctx context.Context, r methods.Request) (methods.Completion, error) {
	c, err := h.Provider.Complete(ctx, r)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.usage = h.usage.Plus(c.Usage)
	return c, err
}

func (h *host) CallTool(ctx context.Context, c methods.ToolCall) (methods.ToolResult, error) {
	if h.Environment == nil {
		return methods.ToolResult{}, methods.ErrUnknownTool
	}
	return h.Environment.Call(ctx, c)
}

func (h *host) Seed(ctx context.Context, _ methods.SeedKey, build func(context.Context) ([]byte, error)) ([]byte, error) {
	return build(ctx)
}

func (h *host) Emit(e methods.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, e)
}

func builtins() map[string]methods.Method {
	return map[string]methods.Method{"anot": anot.New(), "direct": baseline.Direct(), "cot": baseline.CoT(), "general-anot": generalanot.New()}
}

func defaultTask(t testing.TB) *task.Task {
	t.Helper()
	made, err := cafes.New(cafes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// attempt runs one trial and returns the answer and what would be right.
func attempt(t testing.TB, m methods.Method, p sim.Provider, env task.Environment, s task.Sample, seed uint64, options string) (methods.Answer, json.RawMessage, *host) {
	t.Helper()
	problem, target, err := s.Present(seed, true)
	if err != nil {
		t.Fatal(err)
	}
	problem.Options = json.RawMessage(options)
	if env, _, err = task.EnvironmentOf(env, "", problem); err != nil {
		t.Fatal(err)
	}
	if env != nil {
		problem.Tools = env.Tools()
	}
	h := &host{Provider: p, Environment: env}
	a, err := m.Solve(t.Context(), problem, h)
	if err != nil {
		t.Fatalf("%s: %v", s.ID, err)
	}
	return a, target, h
}

// solve runs one trial of a ranking and reports the answer and whether its
// first item is the right one.
func solve(t testing.TB, m methods.Method, p sim.Provider, s task.Sample, seed uint64, options string) (methods.Answer, bool, *host) {
	t.Helper()
	a, target, h := attempt(t, m, p, nil, s, seed, options)
	var gold []int
	if err := json.Unmarshal(target, &gold); err != nil {
		t.Fatal(err)
	}
	order, err := a.Ranking()
	return a, err == nil && len(order) > 0 && slices.Contains(gold, order[0]), h
}

// smooth reports an answer that took a detour: without errors none does.
func smooth(t testing.TB, id string, a methods.Answer, h *host) {
	t.Helper()
	if a.Outcome != methods.Answered {
		t.Errorf("%s: outcome %s: %s", id, a.Outcome, a.Reason)
	}
	for _, e := range h.events {
		switch e.Kind {
		case methods.Repair, methods.Retry, methods.Fallback, methods.StepError, methods.Dropped:
			t.Errorf("%s: event %s at %s: %s", id, e.Kind, e.Path, e.Text)
		}
	}
}

// trials runs f for every sample, four at a time.
func trials(f func(task.Sample), samples []task.Sample) {
	var wg sync.WaitGroup
	gate := make(chan struct{}, 4)
	for _, s := range samples {
		wg.Go(func() {
			gate <- struct{}{}
			defer func() { <-gate }()
			f(s)
		})
	}
	wg.Wait()
}

// Without errors the model understands every request, so every method that
// asks it the right questions finds every right item.
func TestWithoutErrorsEveryMethodIsRight(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	samples, p := defaultTask(t).Samples, model(t, "error=0")
	variants := []struct{ method, options string }{{"direct", ""}, {"cot", ""}, {"anot", ""}, {"anot", `{"builder":"compiled"}`},
		{"general-anot", ""}, {"general-anot", `{"compile":"three","passes":2}`}}
	for _, v := range variants {
		t.Run(v.method+v.options, func(t *testing.T) {
			m := builtins()[v.method]
			trials(func(s task.Sample) {
				a, right, h := solve(t, m, p, s, 7, v.options)
				if !right {
					t.Errorf("%s (%s) %q: answer %s, wanted %s", s.ID, s.Group, s.Problem.Query, a.Value, s.Metadata["condition"])
				}
				smooth(t, s.ID, a, h)
			}, samples)
		})
	}
}

// With errors the scores fall but stay above chance, and another seed errs
// elsewhere.
func TestErrorsTravelThroughMethods(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	var samples []task.Sample // half of them, of all groups
	for i, s := range defaultTask(t).Samples {
		if i/10%2 == i%2 {
			samples = append(samples, s)
		}
	}
	p := model(t, "")
	for name, m := range builtins() {
		t.Run(name, func(t *testing.T) {
			var hits, flipped int
			var mu sync.Mutex
			trials(func(s task.Sample) {
				a, rightA, h := solve(t, m, p, s, 1, "")
				_, rightB, _ := solve(t, m, p, s, 2, "")
				mu.Lock()
				defer mu.Unlock()
				if a.Outcome != methods.Answered {
					t.Errorf("%s: outcome %s: %s", s.ID, a.Outcome, a.Reason)
				}
				if u := h.usage; u.InputTokens == 0 || u.Latency == 0 || u.Unpriced != 0 {
					t.Errorf("%s: usage %+v", s.ID, u)
				}
				if rightA {
					hits++
				}
				if rightA != rightB {
					flipped++
				}
			}, samples)
			t.Logf("hits@1 %d of %d; another seed flips %d", hits, len(samples), flipped)
			if hits < 15 || hits > 48 {
				t.Errorf("hits@1 of %d in 50 is not between chance (5) and certainty", hits)
			}
			if flipped < 3 {
				t.Errorf("another seed flips only %d of 50 verdicts", flipped)
			}
		})
	}
}

// The same trial gives the same answer, events and usage, however its calls
// are scheduled.
func TestTrialsRepeatExactly(t *testing.T) {
	samples, p := defaultTask(t).Samples[95:], model(t, "error=0.2")
	for name, m := range builtins() {
		for _, s := range samples {
			a, _, first := solve(t, m, p, s, 3, "")
			b, _, second := solve(t, m, p, s, 3, "")
			if fmt.Sprint(a) != fmt.Sprint(b) || first.usage != second.usage {
				t.Errorf("%s on %s: %v %+v, then %v %+v", name, s.ID, a, first.usage, b, second.usage)
			}
		}
	}
}

func BenchmarkComplete(b *testing.B) {
	s, p := defaultTask(b).Samples[99], model(b, "")
	for name, m := range builtins() {
		var requests []methods.Request
		r := &recorder{host: &host{Provider: p}, requests: &requests}
		problem, _, err := s.Present(1, true)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := m.Solve(b.Context(), problem, r); err != nil {
			b.Fatal(err)
		}
		for _, req := range requests {
			size := len(req.Messages[0].Content)
			b.Run(fmt.Sprintf("%s/%s/%dB", name, req.Path, size), func(b *testing.B) {
				for b.Loop() {
					_, _ = p.Complete(b.Context(), req)
				}
			})
		}
	}
}

// recorder keeps the requests that a method makes.
type recorder struct {
	*host
	requests *[]methods.Request
}

func (r *recorder) Complete(ctx context.Context, req methods.Request) (methods.Completion, error) {
	r.mu.Lock()
	*r.requests = append(*r.requests, req)
	r.mu.Unlock()
	return r.host.Complete(ctx, req)
}
