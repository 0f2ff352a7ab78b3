package provider_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"
	"time"

	"noema/kernel/internal/test/providertest"
	"noema/kernel/model/provider"
	"noema/kernel/model/provider/anthropic"
	"noema/kernel/model/provider/exchange"
	"noema/kernel/model/provider/gemini"
	"noema/kernel/model/provider/ollama"
	"noema/kernel/model/provider/openai"
	"noema/methods"
)

// effortOf opens a model of each protocol at an effort.
func effortOf(protocol providertest.Protocol, effort string) func(exchange.Config) (*exchange.Client, error) {
	o := exchange.Options{Effort: effort}
	return func(c exchange.Config) (*exchange.Client, error) {
		switch protocol {
		case providertest.Chat:
			return openai.New(c, openai.Options{Options: o})
		case providertest.Responses:
			return openai.New(c, openai.Options{API: openai.Responses, Options: o})
		case providertest.Anthropic:
			return anthropic.New(c, o)
		case providertest.Gemini:
			return gemini.New(c, o)
		}
		return ollama.New(c, ollama.Options{Options: o})
	}
}

// TestEffortOnTheWire: an effort adds what the protocol has for it, and nothing else; without
// one, the request and the model's identity are those of before.
func TestEffortOnTheWire(t *testing.T) {
	for _, c := range []struct {
		protocol providertest.Protocol
		effort   string
		more     string // the fields that it adds or changes
		identity string
	}{
		{providertest.Chat, "low", `{"reasoning_effort":"low"}`, "effort=low"},
		{providertest.Responses, "high", `{"reasoning":{"effort":"high"}}`, "api=responses&effort=high"},
		{providertest.Anthropic, "medium", `{"output_config":{"effort":"medium"},"thinking":{"type":"adaptive"}}`, "effort=medium"},
		{providertest.Anthropic, "4000", `{"max_tokens":12192,"thinking":{"type":"enabled","budget_tokens":4000}}`, "effort=4000"},
		{providertest.Anthropic, "none", `{"thinking":{"type":"disabled"}}`, "effort=none"},
		{providertest.Gemini, "high", `{"generationConfig":{"temperature":0,"seed":7,"thinkingConfig":{"thinkingLevel":"high"}}}`, "effort=high"},
		{providertest.Gemini, "512", `{"generationConfig":{"temperature":0,"seed":7,"thinkingConfig":{"thinkingBudget":512}}}`, "effort=512"},
		{providertest.Gemini, "none", `{"generationConfig":{"temperature":0,"seed":7,"thinkingConfig":{"thinkingBudget":0}}}`, "effort=none"},
		{providertest.Ollama, "low", `{"think":"low"}`, "effort=low"},
		{providertest.Ollama, "none", `{"think":false}`, "effort=none"},
	} {
		var bodies []map[string]any
		for _, effort := range []string{"", c.effort} {
			s, p := service{Protocol: c.protocol, open: effortOf(c.protocol, effort)}.serve(t, providertest.Config{}, time.Second)
			r := ask("x")
			r.Sampling.Seed = 7
			if _, err := p.Complete(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			bodies = append(bodies, s.Asks()[0].Body)
			want := map[string]string{"": strings.TrimSuffix(strings.TrimSuffix(c.identity, "effort="+c.effort), "&"), c.effort: c.identity}[effort]
			if got := p.Info().ID.Config; got != want {
				t.Errorf("%v at %q: identity %q, want %q", c.protocol, effort, got, want)
			}
		}
		want := maps.Clone(bodies[0])
		if c.protocol == providertest.Gemini { // whose seed is the request's own
			c.more = strings.Replace(c.more, `"seed":7`, `"seed":`+encoded(t, bodies[0]["generationConfig"].(map[string]any)["seed"]), 1)
		}
		if err := json.Unmarshal([]byte(c.more), &want); err != nil {
			t.Fatal(err)
		}
		if got := encoded(t, bodies[1]); got != encoded(t, want) {
			t.Errorf("%v at %s:\n%s, want\n%s", c.protocol, c.effort, got, encoded(t, want))
		}
	}
}

func encoded(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TestEffortRefused: what a protocol has no word for is refused before a call, by name.
func TestEffortRefused(t *testing.T) {
	for _, c := range []struct {
		protocol     providertest.Protocol
		effort, want string
	}{
		{providertest.Chat, "2000", `openai: effort "2000": the protocol has no budget`},
		{providertest.Responses, "2000", `openai: effort "2000": the protocol has no budget`},
		{providertest.Ollama, "2000", `ollama: effort "2000": the protocol has no budget`},
		{providertest.Anthropic, "100", `anthropic: effort "100": the smallest budget is 1024 tokens`},
		{providertest.Gemini, "-1", `gemini: effort "-1": the smallest budget is 1 tokens`},
		{providertest.Gemini, "low&api=x", `gemini: effort "low&api=x": use none, a level`},
		{providertest.Chat, "LOW", `openai: effort "LOW": use none, a level`},
	} {
		_, err := effortOf(c.protocol, c.effort)(exchange.Config{Model: "m", APIKey: key})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// TestEffortOfPrograms: a program's own request is sent at the model's effort, unless it says
// itself how much to think.
func TestEffortOfPrograms(t *testing.T) {
	for body, want := range map[string]string{
		`{"max_tokens":9,"messages":[]}`:                                  `{"max_tokens":9,"messages":[],"model":"m","output_config":{"effort":"low"},"thinking":{"type":"adaptive"}}`,
		`{"max_tokens":9,"messages":[],"thinking":{"type":"disabled"}}`:   `{"max_tokens":9,"messages":[],"model":"m","thinking":{"type":"disabled"}}`,
		`{"max_tokens":9,"messages":[],"output_config":{"effort":"max"}}`: `{"max_tokens":9,"messages":[],"model":"m","output_config":{"effort":"max"}}`,
	} {
		s, p := service{Protocol: providertest.Anthropic, open: effortOf(providertest.Anthropic, "low")}.serve(t, providertest.Config{}, time.Second)
		if _, err := p.Complete(t.Context(), methods.Request{Raw: &methods.Raw{Wire: "anthropic.messages", Body: json.RawMessage(body)}}); err != nil {
			t.Fatal(err)
		}
		if got := encoded(t, s.Asks()[0].Body); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

// TestThinkingBesideToolCalls: thoughts are no part of a reply and are not sent back, which a
// budget needs after a tool call, and a level does not.
func TestThinkingBesideToolCalls(t *testing.T) {
	const reply = `{"type":"message","stop_reason":"tool_use","usage":{"input_tokens":9,"output_tokens":8,"output_tokens_details":{"thinking_tokens":6}},"content":[
		{"type":"thinking","thinking":"hm","signature":"s1"},{"type":"redacted_thinking","data":"xx"},{"type":"text","text":"look"},{"type":"tool_use","id":"t1","name":"add","input":{"x":1}}]}`
	p, err := effortOf(providertest.Anthropic, "low")(exchange.Config{Model: "m", APIKey: key, HTTPClient: providertest.Says(reply)})
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.Complete(t.Context(), ask("x"))
	if err != nil || got.Text != "look" || got.Usage.ReasoningTokens != 6 || got.Usage.OutputTokens != 8 {
		t.Fatalf("%+v, %v", got, err)
	}
	next := ask("x")
	next.Messages = append(next.Messages, methods.Message{Role: methods.Assistant, ToolCalls: got.ToolCalls}, methods.Message{Role: methods.Tool, Content: "3", CallID: "t1"})
	for effort, requests := range map[string]int{"low": 1, "2000": 0} {
		s, p := service{Protocol: providertest.Anthropic, open: effortOf(providertest.Anthropic, effort)}.serve(t, providertest.Config{}, time.Second)
		_, err := p.Complete(t.Context(), next)
		if s.Requests() != requests || (err == nil) != (requests == 1) || err != nil && !strings.Contains(err.Error(), "use a level, such as effort=low") {
			t.Errorf("effort %s: %d requests, %v", effort, s.Requests(), err)
		}
	}
}

// TestThinkingTakesNoTemperature: the temperature that a model that thinks refuses is not
// sent again, and a schema that cannot be enforced is asked for in words, not as a tool that
// must be called.
func TestThinkingTakesNoTemperature(t *testing.T) {
	s, p := service{Protocol: providertest.Anthropic, open: effortOf(providertest.Anthropic, "high")}.serve(t, providertest.Config{Refuse: func(a providertest.Ask) string {
		switch {
		case a.Body["temperature"] != nil:
			return "`temperature` may only be set to 1 when thinking is enabled or in adaptive mode."
		case a.Schema:
			return "output_config.format: Extra inputs are not permitted"
		case a.Body["tool_choice"] != nil:
			return "Thinking may not be enabled when tool_choice forces tool use."
		}
		return ""
	}}, time.Second)
	r := ask("x")
	r.Schema = &methods.Schema{Name: "out", JSON: json.RawMessage(`{"type":"object"}`)}
	if _, err := providertest.Complete(t.Context(), p, r); err != nil {
		t.Fatal(err)
	}
	last := s.Asks()[len(s.Asks())-1]
	if !strings.Contains(last.Prompt, "JSON Schema") || last.Body["temperature"] != nil || encoded(t, last.Body["output_config"]) != `{"effort":"high"}` || len(s.Asks()) != 3 {
		t.Errorf("after %d requests: %v", len(s.Asks()), last.Body)
	}

	_, p = service{Protocol: providertest.Anthropic, open: effortOf(providertest.Anthropic, "high")}.serve(t, providertest.Config{Refuse: func(a providertest.Ask) string {
		if a.Body["thinking"] != nil {
			return "adaptive thinking is not supported on this model"
		}
		return ""
	}}, time.Second)
	_, err := providertest.Complete(t.Context(), p, ask("x"))
	wantKind(t, err, provider.Rejected)
	if !strings.Contains(err.Error(), "adaptive thinking") {
		t.Error(err)
	}
}
