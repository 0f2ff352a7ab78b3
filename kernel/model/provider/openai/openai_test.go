package openai_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"noema/kernel/internal/test/providertest"
	"noema/kernel/model/provider"
	"noema/kernel/model/provider/exchange"
	"noema/kernel/model/provider/openai"
	"noema/methods"
)

const key = "sk-test-0123456789abcdef"

// serve starts a server and a provider for its model "m".
func serve(t *testing.T, c providertest.Config) (*providertest.Server, *exchange.Client) {
	t.Helper()
	s := providertest.New(c)
	t.Cleanup(s.Close)
	p, err := openai.New(exchange.Config{Model: "m", BaseURL: s.URL(), APIKey: key, Price: &provider.Price{Input: 100, Output: 400}}, openai.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.CloseIdleConnections)
	return s, p
}

func ask(text string) methods.Request { return methods.Request{Messages: methods.Ask(text)} }

func TestRequestOnTheWire(t *testing.T) {
	s, p := serve(t, providertest.Config{})
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
	providertest.SameJSON(t, s.Asks()[0].Body, `{"model":"m","temperature":0.5,"top_p":0.9,"top_k":40,"max_tokens":99,"stop":["END"],"seed":1301475120,
		"stream":true,"stream_options":{"include_usage":true},
		"response_format":{"json_schema":{"name":"out","strict":true,"schema":`+closed+`},"type":"json_schema"},
		"tools":[{"function":{"name":"add","description":"adds","parameters":{"type":"object"}},"type":"function"}],
		"messages":[{"content":"sys","role":"system"},{"content":"hi","role":"user"},
			{"role":"assistant","tool_calls":[{"id":"c1","function":{"arguments":"{\"x\":1}","name":"add"},"type":"function"}]},
			{"content":"2","tool_call_id":"c1","role":"tool"}]}`)
}

// Arguments that are not JSON, or missing, reach the method as JSON.
func TestToolCallArguments(t *testing.T) {
	_, p := serve(t, providertest.Config{Answer: func(providertest.Ask) providertest.Answer {
		return providertest.Answer{Calls: []providertest.Call{{ID: "a", Name: "f", Arguments: `{"x":1}`}, {ID: "b", Name: "g", Arguments: `{"x":`}, {ID: "c", Name: "h"}}}
	}})
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
}

// failure is what a test wants of an error.
type failure struct {
	kind   provider.Kind
	status int
	after  time.Duration
	text   string // within the error
}

func TestFaults(t *testing.T) {
	page := "<html><head><title>Bad Gateway</title></head></html>"
	cases := map[string]struct {
		fault providertest.Response
		want  failure
	}{
		"429 seconds":    {providertest.Status(429, "Rate limit", "Retry-After", "2"), failure{provider.RateLimited, 429, 2 * time.Second, "Rate limit"}},
		"429 none":       {providertest.Status(429, "Rate limit"), failure{provider.RateLimited, 429, 0, ""}},
		"429 negative":   {providertest.Status(429, "", "Retry-After", "-5"), failure{provider.RateLimited, 429, 0, ""}},
		"429 absurd":     {providertest.Status(429, "", "Retry-After", "1e300"), failure{provider.RateLimited, 429, 24 * time.Hour, ""}},
		"429 as date":    {providertest.Status(429, "", "Retry-After", "Wed, 21 Oct 2026 07:28:30 GMT", "Date", "Wed, 21 Oct 2026 07:28:00 GMT"), failure{provider.RateLimited, 429, 30 * time.Second, ""}},
		"429 both":       {providertest.Status(429, "", "Retry-After-Ms", "1500", "Retry-After", "9"), failure{provider.RateLimited, 429, 1500 * time.Millisecond, ""}},
		"429 past":       {providertest.Status(429, "", "Retry-After", "Wed, 21 Oct 2020 07:28:30 GMT", "Date", "Wed, 21 Oct 2026 07:28:00 GMT"), failure{provider.RateLimited, 429, 0, ""}},
		"429 nonsense":   {providertest.Status(429, "", "Retry-After", "soon"), failure{provider.RateLimited, 429, 0, ""}},
		"429 no credit":  {providertest.Raw(429, "application/json", `{"error":{"message":"You exceeded your quota.","code":"insufficient_quota"}}`), failure{provider.Exhausted, 429, 0, "no credit"}},
		"500":            {providertest.Status(500, "The server had an error."), failure{provider.Unavailable, 500, 0, "server had an error"}},
		"502 page":       {providertest.Raw(502, "text/html", page), failure{provider.Unavailable, 502, 0, "HTML page"}},
		"200 page":       {providertest.Raw(200, "text/html", page), failure{provider.Malformed, 0, 0, "HTML page"}},
		"404":            {providertest.Status(404, "The model does not exist"), failure{provider.Rejected, 404, 0, "check the model's name"}},
		"too long":       {providertest.Status(400, "This model's maximum context length is 8192 tokens."), failure{provider.ContextLength, 400, 0, "8192"}},
		"other 400":      {providertest.Status(400, "bad messages"), failure{provider.Rejected, 400, 0, "bad messages"}},
		"ollama's form":  {providertest.Raw(404, "application/json", `{"error":"model \"m\" not found"}`), failure{provider.Rejected, 404, 0, `model "m" not found`}},
		"malformed":      {providertest.Fail(providertest.Malformed), failure{provider.Malformed, 0, 0, "decode reply"}},
		"empty body":     {providertest.Fail(providertest.Empty), failure{provider.Malformed, 0, 0, "decode reply"}},
		"no choices":     {providertest.Raw(200, "application/json", `{"choices":[]}`), failure{provider.Malformed, 0, 0, "no choices"}},
		"error with 200": {providertest.Raw(200, "application/json", `{"error":{"message":"upstream busy","code":429}}`), failure{provider.RateLimited, 429, 0, "upstream busy"}},
		"error, no code": {providertest.Raw(200, "application/json", `{"error":"out of order"}`), failure{provider.Malformed, 0, 0, "out of order"}},
		"huge":           {providertest.Raw(200, "application/json", `{"choices":"`+strings.Repeat("a", 33<<20)+`"}`), failure{provider.Malformed, 0, 0, "larger than 32 MiB"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s, p := serve(t, providertest.Config{Respond: func(a providertest.Ask) providertest.Response {
				if a.Number == 1 {
					return c.fault
				}
				return nil
			}})
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

func TestURLSecretsStaySecret(t *testing.T) {
	s := providertest.New(providertest.Config{})
	address := strings.TrimSuffix(strings.TrimPrefix(s.URL(), "http://"), "/v1")
	s.Close() // so that the connection is refused
	p, err := openai.New(exchange.Config{Model: "m", BaseURL: "http://name:hunter2@" + address + "/v1?token=hunter3"}, openai.Options{})
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

func TestManyCallsInFlight(t *testing.T) {
	const calls = 300
	var together sync.WaitGroup
	together.Add(calls)
	s, p := serve(t, providertest.Config{Arrived: func(r providertest.Ask) {
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
	if s.MostInFlight() != calls {
		t.Errorf("%d in flight, want %d", s.MostInFlight(), calls)
	}
	if n := s.Connections(); n > calls+calls/10 {
		t.Errorf("%d connections for %d calls at once: they are not reused", n, calls)
	}
}
