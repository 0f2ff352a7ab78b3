package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"noema/cache"
	"noema/kernel/model/provider"
	"noema/kernel/result/record"
	"noema/kernel/task"
	"noema/methods"
)

// openStore opens the store in dir until the test ends.
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

// model is a provider made of a function. It never gives the same answer
// twice unless the function does.
type model struct {
	calls  atomic.Int64
	answer func(ctx context.Context, n int64, r methods.Request) (methods.Completion, error)
}

func (m *model) Info() provider.Info {
	return provider.Info{ID: methods.ModelID{Provider: "test", Model: "m"}}
}

func (m *model) Complete(ctx context.Context, r methods.Request) (methods.Completion, error) {
	n := m.calls.Add(1)
	if m.answer == nil {
		return numbered(n), nil
	}
	return m.answer(ctx, n, r)
}

// numbered is the n-th answer, at a fixed price.
func numbered(n int64) methods.Completion {
	return methods.Completion{
		Text: fmt.Sprintf("answer %d", n), Finish: methods.FinishStop,
		Usage: methods.Usage{Calls: 1, InputTokens: 10, OutputTokens: 5, Cost: 7, Latency: 3 * time.Millisecond},
	}
}

func newGateway(t testing.TB, o Options) *Gateway {
	t.Helper()
	g, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func trialOf(method, sample string, epoch int) Trial {
	return Trial{ID: record.TrialID{Method: method, Sample: sample, Epoch: epoch}, Method: method}
}

func ask(prompt, path string) methods.Request {
	return methods.Request{Messages: methods.Ask(prompt), Path: path}
}

func mustComplete(t testing.TB, h *Host, r methods.Request) methods.Completion {
	t.Helper()
	c, err := h.Complete(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// sealed is the trial that a host's calls make.
func sealed(t testing.TB, h *Host) *record.Trial {
	t.Helper()
	r := h.Report()
	tr := &record.Trial{ID: h.trial.ID, Transcript: &record.Transcript{Calls: r.Calls, Events: r.Events}, Usage: r.Usage, Provider: r.Provider}
	if err := tr.Seal(); err != nil {
		t.Fatal(err)
	}
	raw, err := record.Marshal(tr)
	if err != nil {
		t.Fatal(err)
	}
	// As it comes back from the store.
	if tr, err = record.UnmarshalTrial(raw); err != nil {
		t.Fatal(err)
	}
	return tr
}

// eventually polls until ok, for things that other goroutines bring about.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !ok(); runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for: %s", what)
		}
	}
}

// noNewGoroutines fails the test if there are more goroutines than now when
// the returned function is called.
func noNewGoroutines(t testing.TB) func() {
	t.Helper()
	before := runtime.NumGoroutine()
	return func() {
		t.Helper()
		deadline := time.Now().Add(2 * time.Minute)
		for runtime.NumGoroutine() > before {
			if time.Now().After(deadline) {
				stacks := make([]byte, 1<<20)
				t.Fatalf("%d goroutines, were %d:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
			}
			runtime.Gosched()
		}
	}
}

// tools is an environment made of functions.
type tools struct {
	specs []methods.ToolSpec
	calls atomic.Int64
	run   func(ctx context.Context, n int64, c methods.ToolCall) (methods.ToolResult, error)
}

var _ task.Environment = (*tools)(nil)

func (e *tools) Tools() []methods.ToolSpec { return e.specs }

func (e *tools) Call(ctx context.Context, c methods.ToolCall) (methods.ToolResult, error) {
	return e.run(ctx, e.calls.Add(1), c)
}

func toolCall(name, arguments, path string) methods.ToolCall {
	return methods.ToolCall{Name: name, Arguments: json.RawMessage(arguments), Path: path}
}

// entries counts the records of a space.
func entries(t testing.TB, s *cache.Store, space cache.Space) int {
	t.Helper()
	st, err := s.Stats(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, sp := range st.Spaces {
		if sp.Space == space {
			return sp.Entries
		}
	}
	t.Fatalf("no space %q", space)
	return 0
}
