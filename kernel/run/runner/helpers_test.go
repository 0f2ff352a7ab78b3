package runner

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"

	"noema/cache"
	"noema/kernel/model/provider"
	"noema/kernel/model/provider/sim"
	"noema/kernel/result/record"
	"noema/kernel/task"
	"noema/kernel/task/cafes"
	"noema/methods"
	"noema/methods/anot"
	"noema/methods/baseline"
)

func openStore(t testing.TB, dir string) *cache.Store {
	t.Helper()
	s, err := cache.Open(context.Background(), dir, cache.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil && !errors.Is(err, cache.ErrClosed) {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

func cafesTask(t testing.TB, requests int) *task.Task {
	t.Helper()
	made, err := cafes.New(cafes.Options{Requests: requests})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func simModel(t testing.TB, query string) sim.Provider {
	t.Helper()
	given := map[string]string{}
	for option := range strings.SplitSeq(query, "&") {
		if name, value, ok := strings.Cut(option, "="); ok {
			given[name] = value
		}
	}
	o, err := sim.ParseOptions(given)
	if err != nil {
		t.Fatal(err)
	}
	p, err := sim.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// inProcess is a method as an experiment takes it.
func inProcess(m methods.Method) Method {
	d := methods.Description{Name: "func", Version: "1"}
	if describer, ok := m.(methods.Describer); ok {
		d = describer.Describe()
	}
	return Method{Label: d.Name, Solver: m, Description: d, Shuffle: true}
}

func builtins() []Method {
	return []Method{inProcess(baseline.Direct()), inProcess(baseline.CoT()), inProcess(anot.New())}
}

// solver is a method made of a function.
type solver func(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error)

func (f solver) Solve(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
	return f(ctx, p, h)
}

// meter counts what a provider answered, by request.
type meter struct {
	provider.Provider
	before func() // called before each call; may be nil

	mu    sync.Mutex
	paid  map[string]int
	calls int
}

func newMeter(p provider.Provider) *meter { return &meter{Provider: p, paid: map[string]int{}} }

func (m *meter) Complete(ctx context.Context, r methods.Request) (methods.Completion, error) {
	m.mu.Lock()
	m.calls++
	m.mu.Unlock()
	if m.before != nil {
		m.before()
	}
	c, err := m.Provider.Complete(ctx, r)
	if err == nil {
		m.mu.Lock()
		m.paid[cache.CompletionKey(m.Info().ID, 0, r).String()]++
		m.mu.Unlock()
	}
	return c, err
}

// paidTwice lists requests that were answered more than once.
func (m *meter) paidTwice() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var twice []string
	for key, n := range m.paid {
		if n > 1 {
			twice = append(twice, key)
		}
	}
	return twice
}

// watcher notes the trials that finish.
type watcher struct {
	Quiet
	onTrial func(*record.Trial)

	mu       sync.Mutex
	trials   []*record.Trial
	warnings []string
}

func (w *watcher) Trial(t *record.Trial, earlier bool) {
	w.mu.Lock()
	w.trials = append(w.trials, t)
	w.mu.Unlock()
	if w.onTrial != nil {
		w.onTrial(t)
	}
}

func (w *watcher) Warn(s string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.warnings = append(w.warnings, s)
}

func mustRun(t testing.TB, e Setup, store *cache.Store) *Result {
	t.Helper()
	r, err := e.Run(context.Background(), store, Quiet{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Run.Status != record.Finished || r.Run.Root == "" {
		t.Fatalf("run %s is %s with root %q", r.Run.ID, r.Run.Status, r.Run.Root)
	}
	return r
}

// summaryOf is a run's summary as JSON, without what differs between
// executions of equal runs.
func summaryOf(t testing.TB, r *Result) string {
	t.Helper()
	s, err := Summarize(r)
	if err != nil {
		t.Fatal(err)
	}
	s.Run, s.ProviderCalls, s.CachedCalls = "", 0, 0
	raw, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// sampleTask is a task with samples of one kind of answer, named by id.
func sampleTask(spec methods.AnswerSpec, target string, ids ...string) *task.Task {
	t := &task.Task{Name: "little", Version: "1", Source: "generated"}
	for _, id := range ids {
		t.Samples = append(t.Samples, task.Sample{
			ID: id, Target: json.RawMessage(target),
			Problem: methods.Problem{Query: "query " + id, Answer: spec, Context: json.RawMessage(`{"items":["a","b","c"]}`)},
		})
	}
	return t
}

var ofThree = methods.AnswerSpec{Kind: methods.Ranking, N: 3, K: 3}

func names(n int) []string {
	var ids []string
	for i := range n {
		ids = append(ids, string(rune('a'+i/26))+string(rune('a'+i%26)))
	}
	return ids
}

// trialKeys lists trials, in the order that they finished in.
func trialKeys(trials []*record.Trial) string {
	var s []string
	for _, t := range trials {
		s = append(s, t.ID.String())
	}
	return strings.Join(s, " ")
}
