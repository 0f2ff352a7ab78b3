package exchange

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"noema/kernel/model/provider"
	"noema/kernel/model/provider/prices"
	"noema/methods"
)

// open makes a client of a server whose replies are texts.
func open(t testing.TB, c Config, answering string) *Client {
	t.Helper()
	c.Model = "m"
	x, err := New(Service{Kind: "test", BaseURL: "http://own.invalid", URLVariable: "TEST_URL", KeyVariable: []string{"TEST_KEY"}, KeyOptional: true}, Protocol{
		Answering: answering,
		Encode:    func(Draft) (string, any, error) { return "/", struct{}{}, nil },
		Decode: func(body []byte, _ Draft) (Reply, error) {
			if !bytes.HasSuffix(body, []byte("[DONE]\n\n")) {
				return Reply{}, Short()
			}
			return Reply{Completion: methods.Completion{Text: string(body)}}, nil
		},
	}, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(x.CloseIdleConnections)
	return x
}

// serve answers all requests with h, and returns what makes one.
func serve(t *testing.T, c Config, answering string, h http.HandlerFunc) func() (methods.Completion, error) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	c.BaseURL, c.APIKey = s.URL, "secret-key"
	x := open(t, c, answering)
	return func() (methods.Completion, error) { return x.Complete(t.Context(), methods.Request{}) }
}

func kindOf(t *testing.T, err error) provider.Kind {
	t.Helper()
	var e *provider.Error
	if !errors.As(err, &e) {
		t.Fatalf("%v is not a provider error", err)
	}
	return e.Kind
}

func write(w http.ResponseWriter, text string) {
	_, _ = io.WriteString(w, text)
	w.(http.Flusher).Flush()
}

// hang says nothing more until the client leaves.
func hang(r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // else the server does not see the client leave
	<-r.Context().Done()
}

func TestStallsAreNoticed(t *testing.T) {
	const soon, late = 50 * time.Millisecond, time.Hour
	cases := map[string]struct {
		first, idle time.Duration
		answering   string
		serve       func(w http.ResponseWriter)
		want        string // in the error; empty if there is none
	}{
		"before the first byte": {soon, late, "", func(http.ResponseWriter) {}, "no byte of a reply for 50ms"},
		"after the headers":     {soon, late, "", func(w http.ResponseWriter) { w.(http.Flusher).Flush() }, "no byte of a reply for 50ms"},
		"in its middle":         {late, soon, "", func(w http.ResponseWriter) { write(w, "data: 1\n\n") }, "stops in its middle"},
		"while it thinks":       {soon, late, "delta", func(w http.ResponseWriter) { write(w, "data: begun\n\n") }, "no byte of a reply"},
		"in its answer":         {late, soon, "delta", func(w http.ResponseWriter) { write(w, "data: del"); write(w, "ta\n\n") }, "stops in its middle"},
		"after its end":         {late, soon, "", func(w http.ResponseWriter) { write(w, "data: [DONE]\n\n") }, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			do := serve(t, Config{FirstTimeout: c.first, IdleTimeout: c.idle}, c.answering, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				c.serve(w)
				hang(r)
			})
			got, err := do()
			if c.want == "" {
				if err != nil || got.Text == "" {
					t.Errorf("a whole reply was lost: %+v, %v", got, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || kindOf(t, err) != provider.Network {
				t.Errorf("got %v, want a network error with %q", err, c.want)
			}
		})
	}
}

// A reply may take long as long as it goes on.
func TestSlowIsNotStalled(t *testing.T) {
	do := serve(t, Config{FirstTimeout: time.Second, IdleTimeout: 200 * time.Millisecond}, "", func(w http.ResponseWriter, r *http.Request) {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for range 15 {
			<-tick.C
			write(w, "x")
		}
		write(w, "[DONE]\n\n")
	})
	if got, err := do(); err != nil || !strings.HasPrefix(got.Text, strings.Repeat("x", 15)) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	stolen := false
	thief := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { stolen = true }))
	defer thief.Close()
	do := serve(t, Config{}, "", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, thief.URL, http.StatusTemporaryRedirect)
	})
	_, err := do()
	if kindOf(t, err) != provider.Rejected || stolen {
		t.Errorf("got %v; the key went elsewhere: %v", err, stolen)
	}
	if !strings.Contains(err.Error(), "redirects") {
		t.Errorf("%q does not name the cure", err)
	}
}

func TestEvents(t *testing.T) {
	cases := map[string]struct {
		body string
		want string // the events, joined by |
		done bool
		ok   bool
	}{
		"plain JSON":    {`{"a":1}`, "", false, false},
		"empty":         {"", "", false, false},
		"two":           {"data: 1\n\ndata:2\n\n", "1|2", false, true},
		"named":         {"event: x\ndata: 1\n\n", "1", false, true},
		"comments":      {": hi\n\ndata: 1\n\n: bye\n\n", "1", false, true},
		"end mark":      {"data: 1\n\ndata: [DONE]\n\n", "1", true, true},
		"carriage":      {"data: 1\r\n\r\ndata: 2\r\n\r\n", "1|2", false, true},
		"lines":         {"data: 1\ndata: 2\n\n", "1\n2", false, true},
		"cut":           {"data: 1\n\ndata: {\"a", "1", false, true},
		"no last empty": {"data: 1\n\ndata: 2\n", "1|2", false, true},
	}
	for name, c := range cases {
		events, done, ok := Events([]byte(c.body))
		if got := string(bytes.Join(events, []byte("|"))); got != c.want || done != c.done || ok != c.ok {
			t.Errorf("%s: %q, %v, %v", name, got, done, ok)
		}
	}
}

func TestCount(t *testing.T) {
	for raw, want := range map[string]Count{
		"0": {0, true, ""}, "12": {12, true, ""}, "12.0": {12, true, ""}, "1e3": {1000, true, ""},
		"-1": {Wrong: "-1"}, "1.5": {Wrong: "1.5"}, "1e30": {Wrong: "1e30"}, "1e999": {Wrong: "1e999"}, "100000001": {Wrong: "100000001"},
		"null": {}, `"12"`: {}, "[]": {}, "{}": {}, "true": {},
	} {
		var c Count
		if err := json.Unmarshal([]byte(raw), &c); err != nil || c != want {
			t.Errorf("%s: %+v, %v, want %+v", raw, c, err, want)
		}
	}
}

func known(n int64) Count { return Count{N: n, Known: true} }

func TestUsageThatCannotBeIsUnknown(t *testing.T) {
	price := &provider.Price{Input: 2, Output: 3}
	unknown := methods.Usage{Calls: 1, Unmetered: 1, Unpriced: 1}
	for _, c := range []struct {
		in, out Count
		said    bool
		want    methods.Usage
	}{
		{known(10), known(5), true, methods.Usage{Calls: 1, InputTokens: 10, OutputTokens: 5, Cost: 35}},
		{known(10), known(0), false, methods.Usage{Calls: 1, InputTokens: 10, Cost: 20}},
		{known(10), known(0), true, unknown},
		{known(0), known(5), true, unknown},
		{Count{}, known(5), true, unknown},
		{known(5), Count{}, true, unknown},
		{known(5), Count{Wrong: "-1"}, true, unknown},
		{known(provider.MaxTokens + 1), known(5), true, unknown},
	} {
		if got := (Counts{Input: c.in, Output: c.out}).usage(prices.Tariff{Price: price}, c.said); got != c.want {
			t.Errorf("%+v: %+v, want %+v", c, got, c.want)
		}
	}
}

func TestRefusalsOfAllServers(t *testing.T) {
	cases := map[string]struct {
		status int
		body   string
		kind   provider.Kind
		after  time.Duration
	}{
		"anthropic overloaded": {529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, provider.Unavailable, 0},
		"anthropic too long":   {400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`, provider.ContextLength, 0},
		"anthropic no credit":  {400, `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the API."}}`, provider.Exhausted, 0},
		"gemini no credit":     {429, `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"Your prepayment credits are depleted."}}`, provider.Exhausted, 0},
		"gemini too fast":      {429, `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"You exceeded your current quota, please check your plan and billing details."}}`, provider.RateLimited, 0},
		"payment required":     {402, `{"error":{"message":"Insufficient Balance"}}`, provider.Exhausted, 0},
		"gemini rate": {429, `{"error":{"code":429,"message":"Quota","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure"},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"1.5s"}]}}`,
			provider.RateLimited, 1500 * time.Millisecond},
		"gemini list":     {503, `[{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}]`, provider.Unavailable, 0},
		"gemini key":      {400, `{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}`, provider.Unauthorized, 0},
		"gemini too long": {400, `{"error":{"code":400,"message":"The input token count (1100000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}`, provider.ContextLength, 0},
		"ollama too long": {400, `{"error":"the input length exceeds the context length"}`, provider.ContextLength, 0},
		"rate not length": {429, `{"error":{"message":"too many tokens per minute"}}`, provider.RateLimited, 0},
		"empty":           {500, ``, provider.Unavailable, 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			do := serve(t, Config{}, "", func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(c.status)
				write(w, c.body)
			})
			_, err := do()
			var e *provider.Error
			if !errors.As(err, &e) || e.Kind != c.kind || e.RetryAfter != c.after || e.Status != c.status {
				t.Errorf("%+v, want %s after %v", e, c.kind, c.after)
			}
		})
	}
}

func TestCutAtStop(t *testing.T) {
	c := methods.Completion{Text: "one END two STOP", Finish: methods.FinishLength}
	cutAtStop(&c, []string{"STOP", "", "END"})
	if c.Text != "one " || c.Finish != methods.FinishStop {
		t.Errorf("%+v", c)
	}
	cutAtStop(&c, []string{"END"})
	if c.Text != "one " {
		t.Errorf("%+v", c)
	}
}

func FuzzParseRefusal(f *testing.F) {
	for _, s := range []string{`{"error":{"message":"x","param":null,"code":429}}`, `{"error":"x"}`, `{"detail":[1]}`, `<html>`, ``, `[]`, `[{"error":{}}]`, `{"error":null}`, `{"message":"secret-key"}`} {
		f.Add([]byte(s))
	}
	x := open(f, Config{APIKey: "secret-key"}, "")
	f.Fuzz(func(t *testing.T, body []byte) {
		refused := parseRefusal(body)
		refused.Status = 400
		text := x.refused(refused).Error()
		if strings.Contains(text, "secret-key") || strings.Contains(text, "\n") || len([]rune(text)) > 500 {
			t.Errorf("%q gives %q", body, text)
		}
	})
}

func FuzzEvents(f *testing.F) {
	f.Add([]byte("data: 1\n\ndata: [DONE]\n\n"))
	f.Add([]byte("event: x\r\ndata:\r\n\r\n"))
	f.Fuzz(func(t *testing.T, body []byte) {
		events, _, ok := Events(body)
		if !ok && len(events) > 0 {
			t.Error("events of what is no stream")
		}
		for _, line := range Lines(body) {
			if len(line) == 0 {
				t.Error("an empty line")
			}
		}
	})
}

// Servers quote keys in whole, in part and in addresses.
func TestCleanHidesKeys(t *testing.T) {
	x := open(t, Config{APIKey: "topsecret"}, "")
	for text, want := range map[string]string{
		"wrong key topsecret.":                    "wrong key [key].",
		"wrong key sk-abc-123 given":              "wrong key [key] given",
		"wrong key abcd****6789 given":            "wrong key [key] given",
		"Bearer abc refused":                      "[key] refused",
		"GET https://host/v1?key=abc&alt=sse: no": "GET https://host/v1[key]&alt=sse: no",
		"AIzaSyA-1 is not valid":                  "[key] is not valid",
		"two\n\tlines":                            "two lines",
	} {
		if got := x.clean(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

func TestWireSeedDependsOnTheDraw(t *testing.T) {
	seen := map[int64]bool{}
	for seed := range uint64(50) {
		for draw := range 20 {
			s := wireSeed(seed, draw)
			if s < 0 || s >= 1<<31 || seen[s] {
				t.Fatalf("seed %d draw %d: %d is out of range or taken", seed, draw, s)
			}
			seen[s] = true
		}
	}
}

func TestOnlyTheDefaultEndpointHasListPrices(t *testing.T) {
	for name, c := range map[string]struct {
		config Config
		want   *provider.Price
	}{
		"known":     {Config{Model: "gpt-5-nano-2025-08-07", APIKey: "k"}, &provider.Price{Input: 50, Output: 400}},
		"elsewhere": {Config{Model: "gpt-5-nano", BaseURL: "http://localhost/v1"}, nil},
		"unknown":   {Config{Model: "no-such-model", APIKey: "k"}, nil},
	} {
		x, err := New(Service{Kind: "openai", BaseURL: "https://own.invalid", KeyVariable: []string{"KEY"}}, Protocol{}, c.config)
		if err != nil {
			t.Fatal(err)
		}
		if got := x.tariff.Price; (got == nil) != (c.want == nil) || got != nil && (got.Input != c.want.Input || got.Output != c.want.Output) {
			t.Errorf("%s: price %+v, want %+v", name, got, c.want)
		}
	}
}

// A refusal may name the parameter apart from its text.
func TestParameterNamedApart(t *testing.T) {
	l := newLearned(Rules{Temperature: "temperature", TopP: "topP", Schema: []string{"text.format", "json_schema"}}, false)
	schema := methods.Request{Schema: &methods.Schema{JSON: json.RawMessage("{}")}}
	for _, c := range []struct {
		param, text string
		r           methods.Request
		learns      bool
	}{
		{"temperature", "Unsupported value", methods.Request{}, true},
		{"temperature", "Unsupported value", methods.Request{}, false}, // it is not sent any more
		{"TOPP", "unknown", methods.Request{}, false},                  // it was not sent
		{"topp", "unknown", methods.Request{Sampling: methods.Sampling{TopP: 1}}, true},
		{"messages", "unsupported", methods.Request{}, false},
		{"text.format.schema", "wrong", methods.Request{}, false},
		{"text", "wrong", schema, true},
		{"text.format.schema", "wrong", schema, false}, // it is asked for in words already
	} {
		if got := l.adapt(l.form(c.r.Schema), c.r, &Refusal{Status: 400, Param: c.param, Text: c.text}); got != c.learns {
			t.Errorf("%s, %s: %v, want %v", c.param, c.text, got, c.learns)
		}
	}
	if f := l.form(schema.Schema); !f.Without["temperature"] || !f.Without["topP"] || !f.InWords {
		t.Errorf("%+v", f)
	}
}
