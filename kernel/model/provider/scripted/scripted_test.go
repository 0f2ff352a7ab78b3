package scripted_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"noema/kernel/model/provider"
	"noema/kernel/model/provider/scripted"
	"noema/methods"
)

const script = `
model: toy
rules:
  - match: "phase 1"
    path: "P1*"
    reply: "only at P1"
  - regex: "(?i)RANK \\d+ items"
    replies: ["[1,2]", [2, 1]]
  - match: "limited"
    error: {status: 429, retry_after: 2s}
    fail_times: 2
    reply: {answer: 1}
    latency: 120ms
    usage: {input_tokens: 10, output_tokens: 5, cost_usd: 0.001}
  - match: "broken"
    error: {kind: network, message: "line cut"}
  - match: "tools"
    tool_calls: [{name: add, arguments: {x: 1}}, {name: stop}]
`

func load(t *testing.T, text string) *scripted.Provider {
	t.Helper()
	file := filepath.Join(t.TempDir(), "script.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := scripted.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func ask(prompt string, draw int) methods.Request {
	return methods.Request{Messages: methods.Ask(prompt), Draw: draw}
}

func TestRules(t *testing.T) {
	p := load(t, script)
	for draw, want := range []string{"[1,2]", "[2,1]", "[1,2]"} {
		if c, err := p.Complete(t.Context(), ask("please rank 2 items", draw)); err != nil || c.Text != want {
			t.Errorf("draw %d: %q, %v; want %q", draw, c.Text, err, want)
		}
	}
	at := ask("phase 1", 0)
	at.Path = "P1r1"
	if c, err := p.Complete(t.Context(), at); err != nil || c.Text != "only at P1" {
		t.Errorf("at P1: %q, %v", c.Text, err)
	}
	c, err := p.Complete(t.Context(), ask("tools", 0))
	if err != nil || c.Finish != methods.FinishTools || fmt.Sprintf("%s", c.ToolCalls) != `[{call_1 add {"x":1} } {call_2 stop {} }]` {
		t.Errorf("tools: %s %s, %v", c.Finish, c.ToolCalls, err)
	}
	if _, err := p.Complete(t.Context(), ask("broken", 0)); !provider.Retryable(err) || !strings.Contains(err.Error(), "line cut") {
		t.Errorf("broken: %v", err)
	}
}

func TestNoRuleFits(t *testing.T) {
	_, err := load(t, script).Complete(t.Context(), ask("phase 1 "+strings.Repeat("ä", 200), 0))
	if err == nil || provider.Retryable(err) || !strings.Contains(err.Error(), `"phase 1 `+strings.Repeat("ä", 72)+`…"`) {
		t.Errorf("got %v, want a final error with the first 80 characters", err)
	}
}

func TestDefault(t *testing.T) {
	p := load(t, "default: {reply: fine}")
	if c, err := p.Complete(t.Context(), ask("anything", 0)); err != nil || c.Text != "fine" || c.Usage != (methods.Usage{Calls: 1, InputTokens: 2, OutputTokens: 1}) {
		t.Errorf("%+v, %v", c, err)
	}
}

// Failures are counted for each request apart, in whatever order they come.
func TestFailTimes(t *testing.T) {
	p := load(t, script)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			r := ask(fmt.Sprint("limited ", i/2), i%2)
			for n := range 2 {
				_, err := p.Complete(t.Context(), r)
				var e *provider.Error
				if !errors.As(err, &e) || e.Kind != provider.RateLimited || e.RetryAfter != 2*time.Second {
					t.Errorf("attempt %d: %v, want a rate limit", n+1, err)
				}
			}
			c, err := p.Complete(t.Context(), r)
			want := methods.Usage{Calls: 1, InputTokens: 10, OutputTokens: 5, Cost: 1e6, Latency: 120 * time.Millisecond}
			if err != nil || c.Text != `{"answer":1}` || c.Usage != want {
				t.Errorf("attempt 3: %+v, %v", c, err)
			}
		})
	}
	wg.Wait()
}

func TestIdentityFollowsTheContent(t *testing.T) {
	id := func(text string) methods.ModelID { return load(t, text).Info().ID }
	base := id("default: {reply: a}")
	if other := id("default: {reply: b}"); other == base {
		t.Error("another script has the same identity")
	}
	if same := id(`{"default": {"reply": "a"}} # as JSON`); same != base {
		t.Errorf("the same script as JSON has another identity: %v, %v", same, base)
	}
}

func TestMistakesAreNamed(t *testing.T) {
	for text, want := range map[string]string{
		"":                                                  "no rules",
		"rules: [":                                          "[1:8]",
		"rules: [{macth: a, reply: b}]":                     "macth",
		"rules: [{match: a}]":                               "rule 1",
		"rules: [{regex: '(', reply: b}]":                   "regex",
		"rules: [{path: '[', reply: b}]":                    "path",
		"rules: [{error: {kind: odd}}]":                     `unknown kind "odd"`,
		"rules: [{reply: a, fail_times: 2}]":                "fail_times",
		"rules: [{reply: a, replies: [b]}]":                 "not both",
		"rules: [{replies: []}]":                            "rule 1",
		"rules: [{reply: a, latency: soon}]":                "latency",
		"default: {error: {status: 429, retry_after: -1s}}": "retry_after",
	} {
		file := filepath.Join(t.TempDir(), "s.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := scripted.Load(file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want an error with %q", text, err, want)
		}
	}
	if _, err := scripted.Load("/no/such/file"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file gives %v", err)
	}
}

// A script says nothing of probabilities: a reply without them would look like
// one that has none.
func TestLogprobsAreRefused(t *testing.T) {
	for n, want := range map[int]string{1: "scripted gives no log probabilities", 50: "ask for 1 to 20"} {
		var e *provider.Error
		_, err := load(t, "default: {reply: x}").Complete(t.Context(), methods.Request{Messages: methods.Ask("a"), Sampling: methods.Sampling{Logprobs: n}})
		if !errors.As(err, &e) || e.Kind != provider.Rejected || !strings.Contains(err.Error(), want) {
			t.Errorf("%d: %v", n, err)
		}
	}
}

func TestEndedContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := load(t, script).Complete(ctx, ask("tools", 0)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

func ExampleNew() {
	p, err := scripted.New(scripted.Script{Rules: []scripted.Rule{
		{Match: "capital of France", Reply: "Paris"},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := p.Complete(context.Background(), methods.Request{Messages: methods.Ask("What is the capital of France?")})
	fmt.Println(c.Text, err)
	// Output: Paris <nil>
}
