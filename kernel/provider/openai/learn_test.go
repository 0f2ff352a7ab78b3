package openai_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"

	"noema/kernel/provider"
	"noema/kernel/provider/openai"
	"noema/kernel/provider/openai/openaitest"
	"noema/methods"
)

var openSchema = &methods.Schema{Name: "out", JSON: json.RawMessage(`{"type":"object","properties":{"a":{"type":"integer"}}}`)}

func fullRequest() methods.Request {
	return methods.Request{
		Messages: methods.Ask("give me JSON"),
		Sampling: methods.Sampling{TopP: 0.9, TopK: 5, MaxTokens: 10, Stop: []string{"x"}},
		Schema:   openSchema,
	}
}

func TestRefusedParametersAreDroppedAndRemembered(t *testing.T) {
	for _, name := range []string{"temperature", "seed", "top_p", "top_k", "stop", "max_tokens", "response_format"} {
		t.Run(name, func(t *testing.T) {
			s, p := serve(t, openaitest.Config{Rejects: []string{name}})
			for range 2 {
				if _, err := p.Complete(t.Context(), fullRequest()); err != nil {
					t.Fatal(err)
				}
			}
			sent := s.Recorded()
			if len(sent) != 3 {
				t.Fatalf("%d requests for two calls, want 3: one to learn", len(sent))
			}
			if sent[2].Has(name) {
				t.Errorf("%s was sent again", name)
			}
			if got := p.Adaptations(); len(got) != 1 {
				t.Errorf("adaptations %q, want one", got)
			}
		})
	}
}

func TestEverythingRefused(t *testing.T) {
	s, p := serve(t, openaitest.Config{Rejects: []string{"temperature", "seed", "top_p", "top_k", "stop", "max_tokens", "response_format"}})
	if _, err := p.Complete(t.Context(), fullRequest()); err != nil {
		t.Fatal(err)
	}
	if n := s.Requests(); n != 8 {
		t.Errorf("%d requests, want 8: one for each refusal and one that passes", n)
	}
}

func TestBothTokenLimitsRefused(t *testing.T) {
	s, p := serve(t, openaitest.Config{Rejects: []string{"max_tokens", "max_completion_tokens"}})
	_, err := p.Complete(t.Context(), fullRequest())
	var e *provider.Error
	if !errors.As(err, &e) || e.Kind != provider.Rejected || s.Requests() != 2 {
		t.Errorf("got %v after %d requests, want a refusal after 2", err, s.Requests())
	}
}

func TestSchemaFallsBackOnAnInstruction(t *testing.T) {
	messages := map[string]string{
		"deepseek": `{"error":{"message":"This response_format type is unavailable now","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}`,
		"groq":     "{\"error\":{\"message\":\"This model does not support response format `json_schema`.\"}}",
		"fastapi":  `{"detail":[{"type":"extra_forbidden","loc":["body","response_format","json_schema"],"msg":"Extra inputs are not permitted"}]}`,
	}
	for name, body := range messages {
		t.Run(name, func(t *testing.T) {
			s, p := serve(t, openaitest.Config{Fault: func(r openaitest.Request) openaitest.Fault {
				if r.Has("response_format") {
					return openaitest.Raw(http.StatusBadRequest, "application/json", body)
				}
				return nil
			}})
			r := methods.Request{Messages: methods.Ask("give me JSON"), Schema: openSchema}
			if _, err := p.Complete(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			prompt := s.Recorded()[1].Prompt()
			if !strings.HasPrefix(prompt, "give me JSON\n\n") || !strings.Contains(prompt, string(openSchema.JSON)) {
				t.Errorf("the schema is not in the prompt: %q", prompt)
			}
			if r.Messages[0].Content != "give me JSON" {
				t.Error("the caller's request was changed")
			}
		})
	}
}

// A server that refuses one schema still enforces the others.
func TestOneSchemaRefused(t *testing.T) {
	s, p := serve(t, openaitest.Config{Fault: func(r openaitest.Request) openaitest.Fault {
		if strings.Contains(string(r.Fields["response_format"]), "array") {
			return openaitest.Status(400, "Invalid schema for response_format 'list': schema must be of type object", "response_format", "")
		}
		return nil
	}})
	list := &methods.Schema{Name: "list", JSON: json.RawMessage(`{"type":"array"}`)}
	for _, schema := range []*methods.Schema{list, list, openSchema} {
		if _, err := p.Complete(t.Context(), methods.Request{Messages: methods.Ask("x"), Schema: schema}); err != nil {
			t.Fatal(err)
		}
	}
	sent := s.Recorded()
	if len(sent) != 4 || sent[2].Has("response_format") || !sent[3].Has("response_format") {
		t.Errorf("%d requests; the refusal of one schema must not touch the others", len(sent))
	}
}

// A value out of range is the caller's fault: nothing is dropped for it.
func TestValueOutOfRangeIsAnError(t *testing.T) {
	s, p := serve(t, openaitest.Config{Fault: func(openaitest.Request) openaitest.Fault {
		return openaitest.Status(400, "max_tokens is too large: 10. This model has at most 5 output tokens.", "max_tokens", "invalid_value")
	}})
	if _, err := p.Complete(t.Context(), fullRequest()); err == nil || s.Requests() != 1 {
		t.Errorf("got %v after %d requests, want an error after 1", err, s.Requests())
	}
	if got := p.Adaptations(); len(got) != 0 {
		t.Errorf("adaptations %q, want none", got)
	}
}

func TestLearningIsSafeForConcurrentUse(t *testing.T) {
	s, p := serve(t, openaitest.Config{Rejects: []string{"temperature", "max_tokens", "response_format"}})
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			if _, err := p.Complete(t.Context(), fullRequest()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	before := s.Requests()
	if _, err := p.Complete(t.Context(), fullRequest()); err != nil || s.Requests() != before+1 {
		t.Errorf("got %v after %d more requests, want success after 1", err, s.Requests()-before)
	}
}

func TestWireSeedDependsOnTheDraw(t *testing.T) {
	seen := map[int64]bool{}
	for seed := range uint64(50) {
		for draw := range 20 {
			s := openai.WireSeed(seed, draw)
			if s < 0 || s >= 1<<31 || seen[s] {
				t.Fatalf("seed %d draw %d: %d is out of range or taken", seed, draw, s)
			}
			seen[s] = true
		}
	}
}
