package gemini_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"noema/kernel/internal/test/providertest"
	"noema/kernel/model/provider/exchange"
	"noema/kernel/model/provider/gemini"
	"noema/methods"
)

const closed = `{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"],"additionalProperties":false}`

// serve starts a server that keeps the bodies of its requests, and a provider.
func serve(t *testing.T, c providertest.Config) (*[]map[string]any, *exchange.Client) {
	t.Helper()
	var bodies []map[string]any
	refuse := c.Refuse
	c.Protocol = providertest.Gemini
	c.Refuse = func(a providertest.Ask) string {
		bodies = append(bodies, a.Body)
		if refuse == nil {
			return ""
		}
		return refuse(a)
	}
	s := providertest.New(c)
	t.Cleanup(s.Close)
	p, err := gemini.New(exchange.Config{Model: "models/m", BaseURL: s.URL()}, exchange.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.CloseIdleConnections)
	return &bodies, p
}

func encode(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestRequestOnTheWire(t *testing.T) {
	bodies, p := serve(t, providertest.Config{})
	r := methods.Request{
		Messages: []methods.Message{
			{Role: methods.System, Content: "sys"},
			{Role: methods.User, Content: "hi"},
			{Role: methods.Assistant, ToolCalls: []methods.ToolCall{
				{ID: "call_1~c2ln", Name: "add", Arguments: json.RawMessage(`{"x":1}`)}, {ID: "own", Name: "now"},
			}},
			{Role: methods.Tool, Content: "2", CallID: "call_1~c2ln"},
			{Role: methods.Tool, Content: `{"time":3}`, CallID: "own"},
		},
		Sampling: methods.Sampling{Temperature: 0.5, TopP: 0.25, TopK: 40, MaxTokens: 99, Stop: []string{"END"}, Seed: 7},
		Schema:   &methods.Schema{Name: "out", JSON: json.RawMessage(closed)},
		Tools:    []methods.ToolSpec{{Name: "add", Description: "adds", Parameters: json.RawMessage(closed)}, {Name: "now"}},
	}
	if _, err := providertest.Complete(t.Context(), p, r); err != nil {
		t.Fatal(err)
	}
	providertest.SameJSON(t, (*bodies)[0], fmt.Sprintf(`{
		"generationConfig":{"temperature":0.5,"topP":0.25,"topK":40,"maxOutputTokens":99,"stopSequences":["END"],"seed":%d,
			"responseMimeType":"application/json","responseJsonSchema":%s},
		"systemInstruction":{"role":"user","parts":[{"text":"sys"}]},
		"tools":[{"functionDeclarations":[{"name":"add","description":"adds","parametersJsonSchema":%s},{"name":"now"}]}],
		"contents":[{"role":"user","parts":[{"text":"hi"}]},
		{"role":"model","parts":[{"functionCall":{"name":"add","args":{"x":1}},"thoughtSignature":"c2ln"},
			{"functionCall":{"id":"own","name":"now"}}]},
		{"role":"user","parts":[{"functionResponse":{"name":"add","response":{"output":"2"}}},
			{"functionResponse":{"id":"own","name":"now","response":{"time":3}}}]}]}`, 1301475120, closed, closed))
}

// The signature of a call goes back with it, by way of its id.
func TestSignaturesGoBack(t *testing.T) {
	bodies, p := serve(t, providertest.Config{Answer: func(a providertest.Ask) providertest.Answer {
		if len(a.Results) > 0 {
			return providertest.Answer{Text: "done"}
		}
		return providertest.Answer{Calls: []providertest.Call{{Name: "f", Arguments: `{}`}}}
	}})
	r := methods.Request{Messages: methods.Ask("x"), Tools: []methods.ToolSpec{{Name: "f"}}}
	c, err := providertest.Complete(t.Context(), p, r)
	if err != nil {
		t.Fatal(err)
	}
	r.Messages = append(r.Messages, methods.Message{Role: methods.Assistant, ToolCalls: c.ToolCalls},
		methods.Message{Role: methods.Tool, CallID: c.ToolCalls[0].ID, Content: "ok"})
	if _, err := providertest.Complete(t.Context(), p, r); err != nil {
		t.Fatal(err)
	}
	if sent := encode(t, (*bodies)[1]["contents"]); !strings.Contains(sent, encode(t, []byte("signed f"))) {
		t.Errorf("the signature did not go back: %s", sent)
	}
}

func TestWhatModelsRefuse(t *testing.T) {
	for name, c := range map[string]struct {
		refuse func(providertest.Ask) string
		gone   string // of the generation config
	}{
		"schema": {func(a providertest.Ask) string {
			if a.Schema {
				return "JSON mode is not enabled for this model"
			}
			return ""
		}, "responseJsonSchema"},
		"schema beside tools": {func(a providertest.Ask) string {
			if a.Schema && len(a.Tools) > 0 {
				return "Function calling with a response mime type: 'application/json' is unsupported"
			}
			return ""
		}, "responseJsonSchema"},
		"unknown field": {func(a providertest.Ask) string {
			if config(a.Body)["seed"] != nil {
				return `Invalid JSON payload received. Unknown name "seed" at 'generation_config': Cannot find field.`
			}
			return ""
		}, "seed"},
		"snake": {func(a providertest.Ask) string {
			if config(a.Body)["topK"] != nil {
				return "top_k is not supported by this model"
			}
			return ""
		}, "topK"},
	} {
		t.Run(name, func(t *testing.T) {
			askTwice(t, c.refuse, c.gone)
		})
	}
}

// askTwice asks with all that can be refused, two times, so that what the
// first call learned shows in the second.
func askTwice(t *testing.T, refuse func(providertest.Ask) string, gone string) {
	t.Helper()
	bodies, p := serve(t, providertest.Config{Refuse: refuse})
	r := methods.Request{
		Messages: methods.Ask("give"), Sampling: methods.Sampling{TopK: 4}, Tools: []methods.ToolSpec{{Name: "f"}},
		Schema: &methods.Schema{Name: "out", JSON: json.RawMessage(closed)},
	}
	for range 2 {
		if _, err := providertest.Complete(t.Context(), p, r); err != nil {
			t.Fatal(err)
		}
	}
	if len(*bodies) != 3 {
		t.Fatalf("%d requests, want 3", len(*bodies))
	}
	if config((*bodies)[2])[gone] != nil {
		t.Errorf("%s was sent again", gone)
	}
	if words := strings.Contains(encode(t, (*bodies)[2]["contents"]), "JSON Schema"); words != (gone == "responseJsonSchema") {
		t.Errorf("asked in words: %v", words)
	}
}

func config(body map[string]any) map[string]any {
	m, _ := body["generationConfig"].(map[string]any)
	return m
}

func TestNew(t *testing.T) {
	for want, c := range map[string]exchange.Config{
		"no model":        {APIKey: "k", Model: " models/ "},
		"GEMINI_API_KEY":  {Model: "m"},
		"GEMINI_BASE_URL": {Model: "m", BaseURL: "host"},
	} {
		if _, err := gemini.New(c, exchange.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want an error that names %s", c, err, want)
		}
	}
}
