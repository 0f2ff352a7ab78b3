package gateway

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"noema/cache"
	"noema/kernel/result/record"
	"noema/methods"
)

// clerk is an environment with a pure and an impure tool; what the impure one
// says changes with every call.
func clerk() *tools {
	return &tools{
		specs: []methods.ToolSpec{{Name: "look", Pure: true}, {Name: "roll"}, {Name: "fail"}},
		run: func(_ context.Context, n int64, c methods.ToolCall) (methods.ToolResult, error) {
			switch c.Name {
			case "fail":
				return methods.ToolResult{Content: "no such file \xff", IsError: true}, nil
			case "roll":
				return methods.ToolResult{Content: fmt.Sprint(n)}, nil
			}
			return methods.ToolResult{Content: "found"}, nil
		},
	}
}

func hostWith(g *Gateway, env *tools, epoch int) *Host {
	tr := trialOf("m", "s", epoch)
	tr.Environment, tr.EnvironmentID = env, "env"
	return g.Host(tr)
}

func mustCall(t *testing.T, h *Host, c methods.ToolCall) methods.ToolResult {
	t.Helper()
	r, err := h.CallTool(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestUnknownTool(t *testing.T) {
	g := newGateway(t, Options{Store: openStore(t, t.TempDir()), Provider: &model{}})
	for name, h := range map[string]*Host{"look roll fail": hostWith(g, clerk(), 0), "": g.Host(trialOf("m", "s", 0))} {
		_, err := h.CallTool(t.Context(), toolCall("lok", "{}", "p"))
		if !errors.Is(err, methods.ErrUnknownTool) || !strings.Contains(err.Error(), "the tools ["+name+"]") || !strings.Contains(err.Error(), "call p") {
			t.Errorf("%v", err)
		}
		if calls := h.Report().Calls; len(calls) != 0 {
			t.Errorf("transcript %+v", calls)
		}
	}
}

// TestPureToolsAreShared: over epochs, trials and the order of arguments;
// others are run once an epoch.
func TestPureToolsAreShared(t *testing.T) {
	store, env := openStore(t, t.TempDir()), clerk()
	g := newGateway(t, Options{Store: store, Provider: &model{}})
	for epoch := range 3 {
		h := hostWith(g, env, epoch)
		mustCall(t, h, toolCall("look", `{"a":1,"b":2}`, "p1"))
		mustCall(t, h, toolCall("look", `{"b": 2, "a": 1}`, "p2"))
		u := h.Report().Usage
		if u.ToolCalls != 2 || u.Calls != 0 || h.Report().Provider != 0 {
			t.Errorf("charged %+v", u)
		}
	}
	if n := env.calls.Load(); n != 1 {
		t.Errorf("the pure tool ran %d times", n)
	}
	for _, epoch := range []int{0, 1, 1, 0} {
		if r := mustCall(t, hostWith(g, env, epoch), toolCall("roll", "{}", "p")); r.Content != fmt.Sprint(epoch+2) {
			t.Errorf("epoch %d rolled %s", epoch, r.Content)
		}
	}
}

// TestToolsAreReplayed: without the environment, errors for the model
// included, and with the same hash.
func TestToolsAreReplayed(t *testing.T) {
	store := openStore(t, t.TempDir())
	run := func(mode Mode, env *tools) *record.Trial {
		h := hostWith(newGateway(t, Options{Store: store, Provider: &model{}, Mode: mode}), env, 0)
		for i, name := range []string{"look", "roll", "fail"} {
			r := mustCall(t, h, toolCall(name, "{}", fmt.Sprint("p", i)))
			if r.IsError != (name == "fail") || strings.Contains(r.Content, "\xff") {
				t.Errorf("%s: %+v", name, r)
			}
		}
		return sealed(t, h)
	}
	cold, gone := run(Auto, clerk()), clerk()
	gone.run = func(context.Context, int64, methods.ToolCall) (methods.ToolResult, error) {
		return methods.ToolResult{}, errors.New("the environment is gone")
	}
	for _, mode := range []Mode{Auto, Replay, Verify} {
		now := run(mode, gone)
		if d := record.FirstDivergence(cold, now); d != nil || now.Usage != cold.Usage {
			t.Errorf("%s: %v", mode, d)
		}
	}
	h := hostWith(newGateway(t, Options{Store: store, Provider: &model{}, Mode: Replay}), gone, 0)
	if _, err := h.CallTool(t.Context(), toolCall("look", `{"new":1}`, "p9")); !errors.Is(err, methods.ErrMiss) {
		t.Errorf("a tool call that is not recorded: %v", err)
	}
	if calls := h.Report().Calls; !strings.Contains(calls[len(calls)-1].Missing, `tool "look" with arguments`) {
		t.Errorf("a tool call that is not recorded: %+v", calls)
	}
}

// TestToolModes: refresh runs a tool once more, off keeps nothing.
func TestToolModes(t *testing.T) {
	store, env := openStore(t, t.TempDir()), clerk()
	roll := func(g *Gateway) string { return mustCall(t, hostWith(g, env, 0), toolCall("roll", "{}", "p")).Content }
	roll(newGateway(t, Options{Store: store, Provider: &model{}}))
	refresh := newGateway(t, Options{Store: store, Provider: &model{}, Mode: Refresh})
	if a, b := roll(refresh), roll(refresh); a != "2" || b != "2" {
		t.Errorf("refreshed to %s, then %s", a, b)
	}
	off := newGateway(t, Options{Store: store, Provider: &model{}, Mode: Off})
	if a, b := roll(off), roll(off); a != "3" || b != "4" || entries(t, store, cache.ToolResults) != 1 {
		t.Errorf("off: %s, %s, %d results kept", a, b, entries(t, store, cache.ToolResults))
	}
	if a := roll(newGateway(t, Options{Store: store, Provider: &model{}})); a != "2" {
		t.Errorf("afterwards %s", a)
	}
}

func TestIdenticalToolCallsRunOnce(t *testing.T) {
	release := make(chan struct{})
	env := clerk()
	env.run = func(context.Context, int64, methods.ToolCall) (methods.ToolResult, error) {
		<-release
		return methods.ToolResult{Content: "once"}, nil
	}
	g := newGateway(t, Options{Store: openStore(t, t.TempDir()), Provider: &model{}})
	c := toolCall("look", "{}", "p")
	key := cache.ToolKey("env", "1", 0, c)
	var wg sync.WaitGroup
	for epoch := range 50 {
		wg.Go(func() {
			if r := mustCall(t, hostWith(g, env, epoch), c); r.Content != "once" {
				t.Errorf("%+v", r)
			}
		})
	}
	eventually(t, "50 waiters", func() bool { return waiting(&g.tools, key) == 50 })
	close(release)
	wg.Wait()
	if env.calls.Load() != 1 {
		t.Errorf("ran %d times", env.calls.Load())
	}
}

// TestToolFailureIsNotKept: the environment's own failure is the trial's, and
// not the answer of the tool.
func TestToolFailureIsNotKept(t *testing.T) {
	env := clerk()
	env.run = func(_ context.Context, n int64, _ methods.ToolCall) (methods.ToolResult, error) {
		if n == 1 {
			return methods.ToolResult{}, context.DeadlineExceeded // its own, not the trial's
		}
		return methods.ToolResult{Content: "back"}, nil
	}
	g := newGateway(t, Options{Store: openStore(t, t.TempDir()), Provider: &model{}})
	h := hostWith(g, env, 0)
	if _, err := h.CallTool(t.Context(), toolCall("look", "{}", "p1")); err == nil || !strings.Contains(err.Error(), `run tool "look"`) {
		t.Errorf("error %v", err)
	}
	if r := mustCall(t, h, toolCall("look", "{}", "p2")); r.Content != "back" {
		t.Errorf("%+v", r)
	}
	if c := h.Report().Calls; len(c) != 2 || c[0].Fault != record.ToolFault || c[1].Fault != "" {
		t.Errorf("transcript %+v", c)
	}
}
