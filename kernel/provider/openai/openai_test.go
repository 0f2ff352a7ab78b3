package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"noema/kernel/provider"
	"noema/kernel/provider/openai"
	"noema/kernel/provider/openai/openaitest"
	"noema/methods"
)

const key = "sk-test-0123456789abcdef"

// serve starts a server and a provider for its model "m".
func serve(t *testing.T, c openaitest.Config) (*openaitest.Server, *openai.Provider) {
	t.Helper()
	c.Record = true
	s := openaitest.NewServer(c)
	t.Cleanup(s.Close)
	p, err := openai.New(openai.Config{Model: "m", BaseURL: s.URL(), APIKey: key, Price: &provider.Price{Input: 100, Output: 400}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.CloseIdleConnections)
	return s, p
}

func ask(text string) methods.Request { return methods.Request{Messages: methods.Ask(text)} }

func TestComplete(t *testing.T) {
	s, p := serve(t, openaitest.Config{Key: key, Reply: func(r openaitest.Request) openaitest.Reply {
		return openaitest.Reply{Text: "re: " + r.Prompt(), Model: "m-2026", Input: 10, Output: 5, Finish: "length"}
	}})
	got, err := p.Complete(t.Context(), ask("héllo \x00 <&>"))
	if err != nil {
		t.Fatal(err)
	}
	want := methods.Completion{
		Text: "re: héllo \x00 <&>", Finish: methods.FinishLength, Model: "m-2026",
		Usage: methods.Usage{Calls: 1, InputTokens: 10, OutputTokens: 5, Cost: 3000},
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	if n := s.Requests(); n != 1 {
		t.Errorf("%d requests, want 1", n)
	}
}

func TestRequestOnTheWire(t *testing.T) {
	s, p := serve(t, openaitest.Config{})
	closed := `{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"],"additionalProperties":false}`
	r := methods.Request{
		Messages: []methods.Message{
			{Role: methods.System, Content: "sys"},
			{Role: methods.User, Content: "hi"},
			{Role: methods.Assistant, ToolCalls: []methods.ToolCall{{ID: "c1", Name: "add", Arguments: json.RawMessage(`{"x":1}`)}}},
			{Role: methods.Tool, Content: "2", CallID: "c1"},
		},
		Sampling: methods.Sampling{Temperature: 0.5, TopP: 0.9, TopK: 40, MaxTokens: 99, Stop: []string{"END"}, Seed: 7},
		Schema:   &methods.Schema{Name: "out", JSON: json.RawMessage(closed)},
		Tools:    []methods.ToolSpec{{Name: "add", Description: "adds", Parameters: json.RawMessage(`{"type":"object"}`)}},
	}
	if _, err := p.Complete(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	fields := s.Recorded()[0].Fields
	for name, want := range map[string]string{
		"model": `"m"`, "temperature": "0.5", "top_p": "0.9", "top_k": "40", "max_tokens": "99", "stop": `["END"]`,
		"seed":            fmt.Sprint(openai.WireSeed(7, 0)),
		"response_format": `{"json_schema":{"name":"out","strict":true,"schema":` + closed + `},"type":"json_schema"}`,
		"tools":           `[{"function":{"name":"add","description":"adds","parameters":{"type":"object"}},"type":"function"}]`,
		"messages": `[{"content":"sys","role":"system"},{"content":"hi","role":"user"},` +
			`{"role":"assistant","tool_calls":[{"id":"c1","function":{"arguments":"{\"x\":1}","name":"add"},"type":"function"}]},` +
			`{"content":"2","tool_call_id":"c1","role":"tool"}]`,
	} {
		if !sameJSON(t, fields[name], want) {
			t.Errorf("%s: sent %s, want %s", name, fields[name], want)
		}
	}
	if _, sent := fields["max_completion_tokens"]; sent {
		t.Error("max_completion_tokens was sent to a compatible server")
	}
}

func sameJSON(t *testing.T, got json.RawMessage, want string) bool {
	t.Helper()
	var g, w any
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		t.Fatal(err)
	}
	return json.Unmarshal(got, &g) == nil && fmt.Sprint(g) == fmt.Sprint(w)
}

func TestToolCallsAndRefusals(t *testing.T) {
	replies := map[string]openaitest.Reply{
		"call":    {ToolCalls: []openaitest.ToolCall{{ID: "a", Name: "f", Arguments: `{"x":1}`}, {ID: "b", Name: "g", Arguments: `{"x":`}, {ID: "c", Name: "h"}}},
		"refusal": {Refusal: "I will not."},
	}
	_, p := serve(t, openaitest.Config{Reply: func(r openaitest.Request) openaitest.Reply { return replies[r.Prompt()] }})

	got, err := p.Complete(t.Context(), ask("call"))
	if err != nil {
		t.Fatal(err)
	}
	var args []string
	for _, c := range got.ToolCalls {
		args = append(args, c.Name+string(c.Arguments))
	}
	if want := []string{`f{"x":1}`, `g"{\"x\":"`, `h{}`}; !slices.Equal(args, want) || got.Finish != methods.FinishTools {
		t.Errorf("tool calls %q (finish %s), want %q", args, got.Finish, want)
	}

	got, err = p.Complete(t.Context(), ask("refusal"))
	if err != nil || got.Text != "I will not." || got.Finish != methods.FinishFilter {
		t.Errorf("refusal: %+v, %v", got, err)
	}
}

// failure is what a test wants of an error.
type failure struct {
	kind   provider.Kind
	status int
	after  time.Duration
	text   string // within the error
}

func TestFaults(t *testing.T) {
	cases := map[string]struct {
		fault openaitest.Fault
		want  failure
	}{
		"429 seconds":    {openaitest.RateLimit("2"), failure{provider.RateLimited, 429, 2 * time.Second, "Rate limit"}},
		"429 none":       {openaitest.RateLimit(""), failure{provider.RateLimited, 429, 0, ""}},
		"429 negative":   {openaitest.RateLimit("-5"), failure{provider.RateLimited, 429, 0, ""}},
		"429 absurd":     {openaitest.RateLimit("1e300"), failure{provider.RateLimited, 429, 24 * time.Hour, ""}},
		"429 no credit":  {openaitest.Status(429, "You exceeded your quota.", "", "insufficient_quota"), failure{provider.Exhausted, 429, 0, "no credit"}},
		"500":            {openaitest.ServerError(), failure{provider.Unavailable, 500, 0, "server had an error"}},
		"502 page":       {openaitest.HTML(502), failure{provider.Unavailable, 502, 0, "HTML page"}},
		"200 page":       {openaitest.HTML(200), failure{provider.Malformed, 0, 0, "HTML page"}},
		"404":            {openaitest.Status(404, "The model does not exist", "model", "model_not_found"), failure{provider.Rejected, 404, 0, "check the model's name"}},
		"too long":       {openaitest.Status(400, "This model's maximum context length is 8192 tokens.", "messages", "context_length_exceeded"), failure{provider.ContextLength, 400, 0, "8192"}},
		"other 400":      {openaitest.Status(400, "bad messages", "messages", ""), failure{provider.Rejected, 400, 0, "bad messages"}},
		"ollama's form":  {openaitest.Raw(404, "application/json", `{"error":"model \"m\" not found"}`), failure{provider.Rejected, 404, 0, `model "m" not found`}},
		"cut":            {openaitest.Cut(), failure{provider.Network, 0, 0, "EOF"}},
		"dropped":        {openaitest.Drop(), failure{provider.Network, 0, 0, "EOF"}},
		"malformed":      {openaitest.MalformedJSON(), failure{provider.Malformed, 0, 0, "decode reply"}},
		"empty body":     {openaitest.Raw(200, "application/json", ""), failure{provider.Malformed, 0, 0, "decode reply"}},
		"no choices":     {openaitest.EmptyChoices(), failure{provider.Malformed, 0, 0, "no choices"}},
		"error with 200": {openaitest.Raw(200, "application/json", `{"error":{"message":"upstream busy","code":429}}`), failure{provider.RateLimited, 429, 0, "upstream busy"}},
		"error, no code": {openaitest.Raw(200, "application/json", `{"error":"out of order"}`), failure{provider.Malformed, 0, 0, "out of order"}},
		"huge":           {openaitest.Huge(33 << 20), failure{provider.Malformed, 0, 0, "larger than 32 MiB"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s, p := serve(t, openaitest.Config{Faults: map[int]openaitest.Fault{1: c.fault}})
			_, err := p.Complete(t.Context(), ask("x"))
			var e *provider.Error
			if !errors.As(err, &e) {
				t.Fatalf("got %T %v, want a *provider.Error", err, err)
			}
			if got := (failure{e.Kind, e.Status, e.RetryAfter, c.want.text}); got != c.want || !strings.Contains(e.Error(), c.want.text) {
				t.Errorf("got %+v (%v), want %+v", got, e, c.want)
			}
			if n := s.Requests(); n != 1 {
				t.Errorf("%d requests for one attempt", n)
			}
			if _, err := p.Complete(t.Context(), ask("x")); err != nil {
				t.Errorf("the next attempt failed: %v", err)
			}
		})
	}
}

func TestRetryAfterAsDateAndMilliseconds(t *testing.T) {
	headers := []http.Header{
		{"Retry-After": {"Wed, 21 Oct 2026 07:28:30 GMT"}, "Date": {"Wed, 21 Oct 2026 07:28:00 GMT"}},
		{"Retry-After-Ms": {"1500"}, "Retry-After": {"9"}},
		{"Retry-After": {"Wed, 21 Oct 2020 07:28:30 GMT"}},
		{"Retry-After": {"soon"}},
	}
	want := []time.Duration{30 * time.Second, 1500 * time.Millisecond, 0, 0}
	_, p := serve(t, openaitest.Config{Fault: func(r openaitest.Request) openaitest.Fault {
		return func(w http.ResponseWriter, _ *http.Request, _ []byte) {
			for name, v := range headers[r.Number-1] {
				w.Header()[name] = v
			}
			w.WriteHeader(http.StatusTooManyRequests)
		}
	}})
	for i := range headers {
		_, err := p.Complete(t.Context(), ask("x"))
		var e *provider.Error
		if !errors.As(err, &e) || e.RetryAfter != want[i] {
			t.Errorf("%v: got %v, want to wait %v", headers[i], err, want[i])
		}
	}
}

func TestWrongKeyStaysSecret(t *testing.T) {
	_, p := serve(t, openaitest.Config{Key: "another"})
	_, err := p.Complete(t.Context(), ask("x"))
	var e *provider.Error
	if !errors.As(err, &e) || e.Kind != provider.Unauthorized || e.Retryable() {
		t.Fatalf("got %v, want a final unauthorized", err)
	}
	if text := fmt.Sprintf("%v %+v %#v", err, e, e.Err); strings.Contains(text, "0123456789") || !strings.Contains(text, "check OPENAI_API_KEY") {
		t.Errorf("error holds the key or no hint: %s", text)
	}
}

func TestURLSecretsStaySecret(t *testing.T) {
	s := openaitest.NewServer(openaitest.Config{})
	address := strings.TrimSuffix(strings.TrimPrefix(s.URL(), "http://"), "/v1")
	s.Close() // so that the connection is refused
	p, err := openai.New(openai.Config{Model: "m", BaseURL: "http://name:hunter2@" + address + "/v1?token=hunter3"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Complete(t.Context(), ask("x"))
	var e *provider.Error
	if !errors.As(err, &e) || e.Kind != provider.Network {
		t.Fatalf("got %v, want a network error", err)
	}
	if text := fmt.Sprintf("%v %#v", err, p.Info()); strings.Contains(text, "hunter") || strings.Contains(text, "name:") {
		t.Errorf("credentials shown: %s", text)
	}
}

func TestContextEndsACall(t *testing.T) {
	arrived := make(chan struct{}, 2)
	_, p := serve(t, openaitest.Config{
		OnCall: func(openaitest.Request) { arrived <- struct{}{} },
		Fault:  func(openaitest.Request) openaitest.Fault { return openaitest.Hang() },
	})
	t.Run("deadline", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if _, err := p.Complete(ctx, ask("x")); !errors.Is(err, context.DeadlineExceeded) || provider.Retryable(err) {
			t.Errorf("got %v, want a deadline that is not retried", err)
		}
		<-arrived
	})
	t.Run("cancel", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-arrived; cancel() }()
		if _, err := p.Complete(ctx, ask("x")); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want context.Canceled", err)
		}
	})
}

func TestUsageAbsent(t *testing.T) {
	_, p := serve(t, openaitest.Config{Reply: func(openaitest.Request) openaitest.Reply {
		return openaitest.Reply{Text: "x", NoUsage: true}
	}})
	c, err := p.Complete(t.Context(), ask("x"))
	if want := (methods.Usage{Calls: 1, Unmetered: 1, Unpriced: 1}); err != nil || c.Usage != want {
		t.Errorf("usage %+v (%v), want %+v", c.Usage, err, want)
	}
}

func TestManyCallsInFlight(t *testing.T) {
	const calls = 300
	var together sync.WaitGroup
	together.Add(calls)
	s, p := serve(t, openaitest.Config{OnCall: func(r openaitest.Request) {
		if r.Number <= calls { // the first wave waits until all of it is here
			together.Done()
			together.Wait()
		}
	}})
	for range 2 {
		var wg sync.WaitGroup
		for range calls {
			wg.Go(func() {
				if _, err := p.Complete(t.Context(), ask("x")); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}
	if s.MaxInFlight() != calls {
		t.Errorf("%d in flight, want %d", s.MaxInFlight(), calls)
	}
	if n := s.Connections(); n > calls+calls/10 {
		t.Errorf("%d connections for %d calls at once: they are not reused", n, calls)
	}
}
