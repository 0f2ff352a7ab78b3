package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"noema/kernel/task"
	"noema/methods"
)

// till is an environment with state: each call of "take" takes one coin.
type till struct {
	mu    sync.Mutex
	taken map[string]bool // by path
	runs  int
	begun chan struct{} // if not nil, take closes it once it has taken
	gate  chan struct{} // and waits for this one
}

var _ task.Stateful = (*till)(nil)

func (*till) Tools() []methods.ToolSpec {
	return []methods.ToolSpec{{Name: "take"}, {Name: "price", Pure: true}}
}

func (e *till) Call(_ context.Context, c methods.ToolCall) (methods.ToolResult, error) {
	if c.Name == "price" {
		return methods.ToolResult{Content: "1"}, nil
	}
	e.mu.Lock()
	e.taken[c.Path] = true
	e.runs++
	r := methods.ToolResult{Content: fmt.Sprintf(`{"taken":%q,"sum":%d}`, c.Path, len(e.taken))}
	e.mu.Unlock()
	if e.gate != nil {
		close(e.begun)
		<-e.gate
	}
	return r, nil
}

func (e *till) Restore(_ methods.ToolCall, r methods.ToolResult) error {
	var done struct{ Taken string }
	if json.Unmarshal([]byte(r.Content), &done) != nil || done.Taken == "" {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.taken[done.Taken] = true
	return nil
}

func tillHost(g *Gateway) (*Host, *till) {
	env, tr := &till{taken: map[string]bool{}}, trialOf("m", "s", 0)
	tr.Environment, tr.EnvironmentID, tr.Effects = env, "till", true
	return g.Host(tr), env
}

// TestStateComesBack: an execution that goes on after an interruption finds what
// the earlier one did, and runs no effect again.
func TestStateComesBack(t *testing.T) {
	store := openStore(t, t.TempDir())
	first, before := tillHost(newGateway(t, Options{Store: store, Provider: &model{}}))
	mustCall(t, first, toolCall("take", "{}", "a"))
	mustCall(t, first, toolCall("take", "{}", "b"))
	again, now := tillHost(newGateway(t, Options{Store: store, Provider: &model{}}))
	for i, path := range []string{"a", "b", "c"} {
		r := mustCall(t, again, toolCall("take", "{}", path))
		if want := fmt.Sprintf(`"sum":%d`, i+1); !strings.Contains(r.Content, want) {
			t.Errorf("%s: %s, want %s", path, r.Content, want)
		}
	}
	if before.runs != 2 || now.runs != 1 || len(now.taken) != 3 {
		t.Errorf("%d and %d calls, %d taken", before.runs, now.runs, len(now.taken))
	}
	mustCall(t, again, toolCall("price", "{}", "d"))
	if n := len(again.Report().Effects); n != 3 {
		t.Errorf("%d effects reported, want those of the impure tool", n)
	}
}

// TestStateOfAFlight: an execution that joins a call of an earlier one, whose
// environment is another, learns what it did.
func TestStateOfAFlight(t *testing.T) {
	g := newGateway(t, Options{Store: openStore(t, t.TempDir()), Provider: &model{}})
	for i := range 50 {
		path := fmt.Sprint("p", i)
		first, before := tillHost(g)
		before.begun, before.gate = make(chan struct{}), make(chan struct{})
		again, now := tillHost(g)
		var all sync.WaitGroup
		all.Go(func() { mustCall(t, first, toolCall("take", "{}", path)) })
		<-before.begun
		all.Go(func() { mustCall(t, again, toolCall("take", "{}", path)) })
		runtime.Gosched()
		close(before.gate)
		all.Wait()
		if !now.taken[path] || now.runs != 0 {
			t.Fatalf("the second environment has %v after %d calls", now.taken, now.runs)
		}
	}
}

// TestEffectsAreCounted also if the method turns away while the tool works, and no
// call is made that could not be counted any more.
func TestEffectsAreCounted(t *testing.T) {
	h, env := tillHost(newGateway(t, Options{Store: openStore(t, t.TempDir()), Provider: &model{}}))
	env.begun, env.gate = make(chan struct{}), make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() {
		if _, err := h.CallTool(ctx, toolCall("take", "{}", "a")); err != nil {
			t.Error(err)
		}
	})
	<-env.begun
	cancel()
	close(env.gate)
	all.Wait()
	if r := h.Report(); len(r.Effects) != 1 || len(r.Calls) != 1 || r.Calls[0].Fault != "" {
		t.Errorf("report %+v", r)
	}
	h.effected = maxEffectBytes + 1
	if _, err := h.CallTool(t.Context(), toolCall("take", "{}", "b")); !errors.Is(err, methods.ErrBudget) || env.runs != 1 {
		t.Errorf("%v, %d calls", err, env.runs)
	}
}

// TestSeedsHaveNoEffects: a method seed is built once for many trials, and what its
// build did would be counted for none.
func TestSeedsHaveNoEffects(t *testing.T) {
	h, env := tillHost(newGateway(t, Options{Store: openStore(t, t.TempDir()), Provider: &model{}}))
	_, err := h.Seed(t.Context(), methods.SeedKey{Kind: "k", Content: "c"}, func(ctx context.Context) ([]byte, error) {
		if _, err := h.CallTool(ctx, toolCall("price", "{}", "p")); err != nil {
			t.Error(err)
		}
		_, err := h.CallTool(ctx, toolCall("take", "{}", "q"))
		return nil, err
	})
	if err == nil || !strings.Contains(err.Error(), "outside of the build of a method seed") || env.runs != 0 {
		t.Errorf("%v, %d calls", err, env.runs)
	}
}
