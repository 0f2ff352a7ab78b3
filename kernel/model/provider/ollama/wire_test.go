package ollama_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"noema/kernel/internal/test/providertest"
	"noema/kernel/model/provider/exchange"
	"noema/kernel/model/provider/ollama"
	"noema/methods"
)

const closed = `{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}`

func serve(t *testing.T, c providertest.Config) (*[]map[string]any, *exchange.Client) {
	t.Helper()
	var bodies []map[string]any
	refuse := c.Refuse
	c.Protocol = providertest.Ollama
	c.Refuse = func(a providertest.Ask) string {
		bodies = append(bodies, a.Body)
		if refuse == nil {
			return ""
		}
		return refuse(a)
	}
	s := providertest.New(c)
	t.Cleanup(s.Close)
	p, err := ollama.New(exchange.Config{Model: "m", BaseURL: strings.TrimPrefix(s.URL(), "http://")}, ollama.Options{KeepAlive: "30m", Context: 4096})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.CloseIdleConnections)
	return &bodies, p
}

// TestHost: OLLAMA_HOST is what Ollama's own tools take.
func TestHost(t *testing.T) {
	for raw, want := range map[string]string{
		"":                         "",
		"127.0.0.1":                "http://127.0.0.1:11434",
		":18711":                   "http://127.0.0.1:18711",
		"0.0.0.0":                  "http://127.0.0.1:11434",
		"0.0.0.0:99":               "http://127.0.0.1:99",
		"[::]:99":                  "http://[::1]:99",
		"localhost":                "",
		"http://localhost:11434/":  "",
		"http://box":               "http://box",
		"https://box/v1":           "https://box",
		"box:99/v1/":               "http://box:99",
		"http://box:99/ollama?a=b": "http://box:99/ollama",
	} {
		p, err := ollama.New(exchange.Config{Model: "m", BaseURL: raw}, ollama.Options{})
		if err != nil || p.Info().ID.Endpoint != want {
			t.Errorf("%q: %v, %v, want %q", raw, p, err, want)
		}
	}
}

func TestRequestOnTheWire(t *testing.T) {
	bodies, p := serve(t, providertest.Config{})
	r := methods.Request{
		Messages: []methods.Message{
			{Role: methods.System, Content: "sys"},
			{Role: methods.User, Content: "hi"},
			{Role: methods.Assistant, ToolCalls: []methods.ToolCall{{ID: "c1", Name: "add", Arguments: json.RawMessage(`"{\"x\":"`)}}},
			{Role: methods.Tool, Content: "2", CallID: "c1"},
		},
		Sampling: methods.Sampling{Temperature: 0.5, TopP: 0.9, TopK: 40, MaxTokens: 99, Stop: []string{"END"}, Seed: 7},
		Schema:   &methods.Schema{Name: "out", JSON: json.RawMessage(closed)},
		Tools:    []methods.ToolSpec{{Name: "add", Description: "adds", Parameters: json.RawMessage(closed)}},
		Draw:     2,
	}
	if _, err := providertest.Complete(t.Context(), p, r); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf(`{"model":"m","stream":true,"truncate":false,"shift":false,"keep_alive":"30m","format":%s,
		"options":{"temperature":0.5,"top_p":0.9,"top_k":40,"num_predict":99,"num_ctx":4096,"stop":["END"],"seed":%d},
		"tools":[{"type":"function","function":{"name":"add","description":"adds","parameters":%s}}],
		"messages":[{"role":"system","content":"sys"},{"role":"user","content":"hi"},
		{"role":"assistant","content":"","tool_calls":[{"id":"c1","function":{"name":"add","arguments":{"invalid_arguments":"{\"x\":"}}}]},
		{"role":"tool","content":"2","tool_name":"add","tool_call_id":"c1"}]}`, closed, 781723687, closed)
	providertest.SameJSON(t, (*bodies)[0], want)
}

func TestSchemaFallsBackOnWords(t *testing.T) {
	bodies, p := serve(t, providertest.Config{Refuse: func(a providertest.Ask) string {
		if a.Schema {
			return `invalid JSON schema in format: failed to parse grammar`
		}
		return ""
	}})
	for range 2 {
		r := methods.Request{Messages: methods.Ask("give"), Schema: &methods.Schema{Name: "out", JSON: json.RawMessage(closed)}}
		if _, err := providertest.Complete(t.Context(), p, r); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := json.Marshal((*bodies)[2]["messages"])
	if err != nil || len(*bodies) != 3 || !strings.Contains(string(raw), "JSON Schema") {
		t.Errorf("%d requests, the last %s", len(*bodies), raw)
	}
}

func TestNew(t *testing.T) {
	for want, c := range map[string]exchange.Config{
		"no model":    {},
		"OLLAMA_HOST": {Model: "m", BaseURL: "ftp://x"},
	} {
		if _, err := ollama.New(c, ollama.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want an error that names %s", c, err, want)
		}
	}
	p, err := ollama.New(exchange.Config{Model: "llama3.2"}, ollama.Options{Context: 8192})
	if err != nil || p.Info().ID.String() != "ollama/llama3.2?context=8192" || p.Info().ID.Endpoint != "" {
		t.Errorf("%+v, %v", p.Info().ID, err)
	}
}
