package anthropic_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"noema/kernel/internal/test/providertest"
	"noema/kernel/model/provider"
	"noema/kernel/model/provider/anthropic"
	"noema/kernel/model/provider/exchange"
	"noema/methods"
)

const closed = `{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"],"additionalProperties":false}`

// serve starts a server that keeps the bodies of its requests, and a provider.
func serve(t *testing.T, c providertest.Config) (*[]map[string]any, *exchange.Client) {
	t.Helper()
	var bodies []map[string]any
	refuse := c.Refuse
	c.Protocol = providertest.Anthropic
	c.Refuse = func(a providertest.Ask) string {
		bodies = append(bodies, a.Body)
		if refuse == nil {
			return ""
		}
		return refuse(a)
	}
	s := providertest.New(c)
	t.Cleanup(s.Close)
	p, err := anthropic.New(exchange.Config{Model: "m", BaseURL: s.URL()}, exchange.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.CloseIdleConnections)
	return &bodies, p
}

func TestRequestOnTheWire(t *testing.T) {
	bodies, p := serve(t, providertest.Config{})
	r := methods.Request{
		Messages: []methods.Message{
			{Role: methods.System, Content: "sys"},
			{Role: methods.User, Content: "hi"},
			{Role: methods.User, Content: ""},
			{Role: methods.Assistant, ToolCalls: []methods.ToolCall{
				{ID: "c1", Name: "add", Arguments: json.RawMessage(`{"x":1}`)}, {ID: "c2", Name: "add", Arguments: json.RawMessage(`"{\"x\":"`)},
			}},
			{Role: methods.Tool, Content: "2", CallID: "c1"},
			{Role: methods.Tool, CallID: "c2"},
			{Role: methods.System, Content: "more"},
		},
		Sampling: methods.Sampling{Temperature: 0.5, TopP: 0.9, TopK: 40, MaxTokens: 99, Stop: []string{"END"}, Seed: 7},
		Schema:   &methods.Schema{Name: "out", JSON: json.RawMessage(closed)},
		Tools:    []methods.ToolSpec{{Name: "add", Description: "adds", Parameters: json.RawMessage(closed)}},
	}
	if _, err := providertest.Complete(t.Context(), p, r); err != nil {
		t.Fatal(err)
	}
	providertest.SameJSON(t, (*bodies)[0], `{"model":"m","max_tokens":99,"stream":true,"temperature":0.5,"top_p":0.9,"top_k":40,
		"stop_sequences":["END"],"system":[{"type":"text","text":"sys"},{"type":"text","text":"more"}],
		"output_config":{"format":{"type":"json_schema","schema":`+closed+`}},
		"tools":[{"name":"add","description":"adds","input_schema":`+closed+`}],
		"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]},
		{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"add","input":{"x":1}},
			{"type":"tool_use","id":"c2","name":"add","input":{"invalid_arguments":"{\"x\":"}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"2"}]},
			{"type":"tool_result","tool_use_id":"c2"}]}]}`)
}

// A schema that the server does not enforce becomes a tool, and one that no
// tool can be becomes words.
func TestSchemaDegrades(t *testing.T) {
	asTool := func(a providertest.Ask) string {
		if a.Schema {
			return "output_config: Extra inputs are not permitted"
		}
		return ""
	}
	inWords := func(a providertest.Ask) string {
		if text := asTool(a); text != "" {
			return text
		}
		if a.Body["tool_choice"] != nil {
			return "tool_choice: forcing a tool is not supported with this model"
		}
		return ""
	}
	for name, c := range map[string]struct {
		refuse   func(providertest.Ask) string
		schema   string
		tools    bool
		want     string
		requests int // for two calls
		words    bool
	}{
		"enforced":    {nil, closed, false, `{"a":1}`, 2, false},
		"tool":        {asTool, closed, false, `{"a": 12345678901234567890}`, 3, false},
		"beside tool": {asTool, closed, true, `{"a":1}`, 3, true},
		"no object":   {asTool, `{"type":"array"}`, false, `{"a":1}`, 3, true},
		"words":       {inWords, closed, false, `{"a":1}`, 4, true},
	} {
		t.Run(name, func(t *testing.T) {
			bodies, p := serve(t, providertest.Config{Refuse: c.refuse, Answer: answerJSON})
			askTwice(t, p, c.schema, c.tools, c.want)
			if len(*bodies) != c.requests {
				t.Errorf("%d requests, want %d", len(*bodies), c.requests)
			}
			last, err := json.Marshal((*bodies)[len(*bodies)-1]["messages"])
			if err != nil || strings.Contains(string(last), "JSON Schema") != c.words {
				t.Errorf("in words: %s", last)
			}
		})
	}
}

func answerJSON(a providertest.Ask) providertest.Answer {
	if a.Body["tool_choice"] != nil {
		return providertest.Answer{Calls: []providertest.Call{{Name: "out", Arguments: `{"a": 12345678901234567890}`}}}
	}
	return providertest.Answer{Text: `{"a":1}`}
}

// askTwice asks for a schema two times, so that what the first call learned
// shows in the second.
func askTwice(t *testing.T, p *exchange.Client, schema string, tools bool, want string) {
	t.Helper()
	for range 2 {
		r := methods.Request{Messages: methods.Ask("give"), Schema: &methods.Schema{Name: "out", JSON: json.RawMessage(schema)}}
		if tools {
			r.Tools = []methods.ToolSpec{{Name: "other"}}
		}
		got, err := providertest.Complete(t.Context(), p, r)
		if err != nil || got.Text != want || len(got.ToolCalls) != 0 || got.Finish != methods.FinishStop {
			t.Fatalf("%+v, %v, want %s", got, err, want)
		}
		if r.Messages[0].Content != "give" {
			t.Error("the caller's request was changed")
		}
	}
}

// A schema at fault itself leaves the others enforced.
func TestOneSchemaRefused(t *testing.T) {
	open := `{"type":"object","properties":{}}`
	bodies, p := serve(t, providertest.Config{Refuse: func(a providertest.Ask) string {
		raw, _ := json.Marshal(a.Body["output_config"])
		if a.Schema && !strings.Contains(string(raw), "additionalProperties") {
			return "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false"
		}
		return ""
	}})
	for _, schema := range []string{open, open, closed} {
		r := methods.Request{Messages: methods.Ask("x"), Schema: &methods.Schema{Name: "out", JSON: json.RawMessage(schema)}}
		if _, err := providertest.Complete(t.Context(), p, r); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(*bodies); n != 4 || (*bodies)[2]["output_config"] != nil || (*bodies)[3]["output_config"] == nil {
		t.Errorf("%d requests; the refusal of one schema must not touch the others", n)
	}
}

func TestParametersThatModelsRefuse(t *testing.T) {
	full := methods.Request{Messages: methods.Ask("x"), Sampling: methods.Sampling{TopP: 0.9, TopK: 3}}
	for name, c := range map[string]struct {
		refuse  func(providertest.Ask) string
		without []string
	}{
		"both": {func(a providertest.Ask) string {
			if a.Body["top_p"] != nil && a.Body["temperature"] != nil {
				return "`temperature` and `top_p` cannot both be specified for this model. Please use only one."
			}
			return ""
		}, []string{"top_p"}},
		"deprecated": {func(a providertest.Ask) string {
			for _, name := range []string{"temperature", "top_p", "top_k"} {
				if a.Body[name] != nil {
					return "`" + name + "` is deprecated for this model."
				}
			}
			return ""
		}, []string{"temperature", "top_p", "top_k"}},
	} {
		t.Run(name, func(t *testing.T) {
			bodies, p := serve(t, providertest.Config{Refuse: c.refuse})
			for range 2 {
				if _, err := providertest.Complete(t.Context(), p, full); err != nil {
					t.Fatal(err)
				}
			}
			if n, want := len(*bodies), 2+len(c.without); n != want {
				t.Errorf("%d requests, want %d", n, want)
			}
			last := (*bodies)[len(*bodies)-1]
			for _, name := range c.without {
				if last[name] != nil {
					t.Errorf("%s was sent again", name)
				}
			}
			if len(c.without) == 1 && last["temperature"] == nil {
				t.Error("temperature was given up for top_p")
			}
		})
	}
}

func TestLimitOfOutputTokens(t *testing.T) {
	bodies, p := serve(t, providertest.Config{Refuse: func(a providertest.Ask) string {
		if n, _ := a.Body["max_tokens"].(float64); n > 4096 {
			return "max_tokens: 8192 > 4096, which is the maximum allowed number of output tokens for m"
		}
		return ""
	}})
	for range 2 {
		if _, err := providertest.Complete(t.Context(), p, methods.Request{Messages: methods.Ask("x")}); err != nil {
			t.Fatal(err)
		}
	}
	if len(*bodies) != 3 || (*bodies)[2]["max_tokens"] != 4096.0 {
		t.Errorf("%d requests, the last with %v", len(*bodies), (*bodies)[len(*bodies)-1]["max_tokens"])
	}
	_, err := providertest.Complete(t.Context(), p, methods.Request{Messages: methods.Ask("x"), Sampling: methods.Sampling{MaxTokens: 5000}})
	var e *provider.Error
	if !errors.As(err, &e) || e.Kind != provider.Rejected {
		t.Errorf("a limit that the caller set was changed: %v", err)
	}
}

func TestNew(t *testing.T) {
	for want, c := range map[string]exchange.Config{
		"no model":           {APIKey: "k"},
		"ANTHROPIC_API_KEY":  {Model: "m"},
		"ANTHROPIC_BASE_URL": {Model: "m", BaseURL: "http:///v1"},
	} {
		if _, err := anthropic.New(c, exchange.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want an error that names %s", c, err, want)
		}
	}
	p, err := anthropic.New(exchange.Config{Model: "m", APIKey: "k", BaseURL: "HTTPS://api.anthropic.com:443/"}, exchange.Options{})
	if err != nil || p.Info().ID.Endpoint != "" {
		t.Errorf("the default spelled out: %+v, %v", p.Info(), err)
	}
}

// People copy a base URL with the version of another protocol at its end.
func TestVersionInBaseURL(t *testing.T) {
	for raw, want := range map[string]string{"http://box:8/v1/": "http://box:8", "http://box:8/v1": "http://box:8", anthropic.Service().BaseURL + "/v1": ""} {
		p, err := anthropic.New(exchange.Config{Model: "m", BaseURL: raw, APIKey: "k"}, exchange.Options{})
		if err != nil || p.Info().ID.Endpoint != want {
			t.Errorf("%s: %v, %v, want endpoint %q", raw, p, err, want)
		}
	}
}
