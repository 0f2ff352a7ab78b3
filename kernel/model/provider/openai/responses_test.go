package openai_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"noema/kernel/internal/test/providertest"
	"noema/kernel/model/provider"
	"noema/kernel/model/provider/exchange"
	"noema/kernel/model/provider/openai"
	"noema/methods"
)

// open starts a server that keeps the bodies of its requests, and a provider.
func open(t *testing.T, c providertest.Config, price *provider.Price, o openai.Options) (*[]map[string]any, *exchange.Client) {
	t.Helper()
	var bodies []map[string]any
	refuse := c.Refuse
	c.Refuse = func(a providertest.Ask) string {
		bodies = append(bodies, a.Body)
		if refuse == nil {
			return ""
		}
		return refuse(a)
	}
	s := providertest.New(c)
	t.Cleanup(s.Close)
	p, err := openai.New(exchange.Config{Model: "m", BaseURL: s.URL(), Price: price}, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.CloseIdleConnections)
	return &bodies, p
}

func TestResponsesOnTheWire(t *testing.T) {
	bodies, p := open(t, providertest.Config{Protocol: providertest.Responses}, nil, openai.Options{API: openai.Responses, Options: exchange.Options{Effort: "low"}})
	schema := `{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"],"additionalProperties":false}`
	r := methods.Request{
		Messages: []methods.Message{
			{Role: methods.System, Content: "sys"},
			{Role: methods.User, Content: "hi"},
			{Role: methods.Assistant, Content: "hm", ToolCalls: []methods.ToolCall{{ID: "c1", Name: "add", Arguments: json.RawMessage(`{"x":1}`)}}},
			{Role: methods.Tool, Content: "2", CallID: "c1"},
		},
		Sampling: methods.Sampling{Temperature: 0.5, TopP: 0.9, TopK: 40, MaxTokens: 99, Stop: []string{"END"}, Seed: 7},
		Schema:   &methods.Schema{Name: "out", JSON: json.RawMessage(schema)},
		Tools:    []methods.ToolSpec{{Name: "add", Description: "adds", Parameters: json.RawMessage(schema)}},
	}
	if _, err := providertest.Complete(t.Context(), p, r); err != nil {
		t.Fatal(err)
	}
	want := `{"model":"m","stream":true,"store":false,"temperature":0.5,"top_p":0.9,"max_output_tokens":99,"reasoning":{"effort":"low"},
		"text":{"format":{"type":"json_schema","name":"out","strict":true,"schema":` + schema + `}},
		"tools":[{"type":"function","name":"add","description":"adds","strict":false,"parameters":` + schema + `}],
		"input":[{"role":"system","content":"sys"},{"role":"user","content":"hi"},{"role":"assistant","content":"hm"},
		{"type":"function_call","call_id":"c1","name":"add","arguments":"{\"x\":1}"},
		{"type":"function_call_output","call_id":"c1","output":"2"}]}`
	providertest.SameJSON(t, (*bodies)[0], want)
}

// Where a server knows no stop strings, they are applied here.
func TestStopStringsAreEmulated(t *testing.T) {
	answer := func(providertest.Ask) providertest.Answer {
		return providertest.Answer{Text: "one STOP two", Truncated: true}
	}
	r := methods.Request{Messages: methods.Ask("x"), Sampling: methods.Sampling{Stop: []string{"STOP"}}}
	for _, c := range []struct {
		api      string
		protocol providertest.Protocol
	}{{openai.Responses, providertest.Responses}, {openai.Chat, providertest.Chat}} {
		_, p := open(t, providertest.Config{Protocol: c.protocol, Answer: answer, Refuse: func(a providertest.Ask) string {
			if a.Body["stop"] != nil {
				return "Unsupported parameter: 'stop' is not supported with this model."
			}
			return ""
		}}, nil, openai.Options{API: c.api})
		if got, err := providertest.Complete(t.Context(), p, r); err != nil || got.Text != "one " || got.Finish != methods.FinishStop {
			t.Errorf("%s: %+v, %v", c.api, got, err)
		}
	}
}

// A server that cannot stream, or cannot report usage when it does, is served
// all the same.
func TestStreamingRefused(t *testing.T) {
	for name, requests := range map[string]int{"stream_options": 3, "stream": 3} {
		bodies, p := open(t, providertest.Config{Protocol: providertest.Chat, Refuse: func(a providertest.Ask) string {
			if a.Body[name] != nil {
				return fmt.Sprintf("%s: Extra inputs are not permitted", name)
			}
			return ""
		}}, nil, openai.Options{})
		for range 2 {
			if got, err := providertest.Complete(t.Context(), p, ask("x")); err != nil || got.Text != "ok" {
				t.Errorf("%s: %+v, %v", name, got, err)
			}
		}
		if len(*bodies) != requests || (*bodies)[requests-1][name] != nil {
			t.Errorf("%s: %d requests, want %d", name, len(*bodies), requests)
		}
	}
}
