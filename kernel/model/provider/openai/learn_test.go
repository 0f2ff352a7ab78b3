package openai_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"noema/kernel/internal/test/providertest"
	"noema/kernel/model/provider"
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
			s, p := serve(t, providertest.Config{Rejects: []string{name}})
			for range 2 {
				if _, err := providertest.Complete(t.Context(), p, fullRequest()); err != nil {
					t.Fatal(err)
				}
			}
			sent := s.Asks()
			if len(sent) != 3 {
				t.Fatalf("%d requests for two calls, want 3: one to learn", len(sent))
			}
			if sent[2].Body[name] != nil {
				t.Errorf("%s was sent again", name)
			}
		})
	}
}

func TestEverythingRefused(t *testing.T) {
	s, p := serve(t, providertest.Config{Rejects: []string{"temperature", "seed", "top_p", "top_k", "stop", "max_tokens", "response_format"}})
	if _, err := providertest.Complete(t.Context(), p, fullRequest()); err != nil {
		t.Fatal(err)
	}
	if n := s.Requests(); n != 8 {
		t.Errorf("%d requests, want 8: one for each refusal and one that passes", n)
	}
}

func TestBothTokenLimitsRefused(t *testing.T) {
	s, p := serve(t, providertest.Config{Rejects: []string{"max_tokens", "max_completion_tokens"}})
	_, err := providertest.Complete(t.Context(), p, fullRequest())
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
			s, p := serve(t, providertest.Config{Respond: func(a providertest.Ask) providertest.Response {
				if a.Schema {
					return providertest.Raw(http.StatusBadRequest, "application/json", body)
				}
				return nil
			}})
			r := methods.Request{Messages: methods.Ask("give me JSON"), Schema: openSchema}
			if _, err := providertest.Complete(t.Context(), p, r); err != nil {
				t.Fatal(err)
			}
			prompt := s.Asks()[1].Prompt
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
	s, p := serve(t, providertest.Config{Refuse: func(a providertest.Ask) string {
		if strings.Contains(fmt.Sprint(a.Body["response_format"]), "array") {
			return "Invalid schema for response_format 'list': schema must be of type object"
		}
		return ""
	}})
	list := &methods.Schema{Name: "list", JSON: json.RawMessage(`{"type":"array"}`)}
	for _, schema := range []*methods.Schema{list, list, openSchema} {
		if _, err := providertest.Complete(t.Context(), p, methods.Request{Messages: methods.Ask("x"), Schema: schema}); err != nil {
			t.Fatal(err)
		}
	}
	sent := s.Asks()
	if len(sent) != 4 || sent[2].Schema || !sent[3].Schema {
		t.Errorf("%d requests; the refusal of one schema must not touch the others", len(sent))
	}
}

// A value out of range is the caller's fault: nothing is dropped for it.
func TestValueOutOfRangeIsAnError(t *testing.T) {
	s, p := serve(t, providertest.Config{Refuse: func(providertest.Ask) string {
		return "max_tokens is too large: 10. This model has at most 5 output tokens."
	}})
	if _, err := providertest.Complete(t.Context(), p, fullRequest()); err == nil || s.Requests() != 1 {
		t.Errorf("got %v after %d requests, want an error after 1", err, s.Requests())
	}
	_, _ = providertest.Complete(t.Context(), p, fullRequest())
	if sent := s.Asks(); sent[len(sent)-1].Body["max_tokens"] == nil {
		t.Error("max_tokens was dropped")
	}
}

func TestLearningIsSafeForConcurrentUse(t *testing.T) {
	s, p := serve(t, providertest.Config{Rejects: []string{"temperature", "max_tokens", "response_format"}})
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			if _, err := providertest.Complete(t.Context(), p, fullRequest()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	before := s.Requests()
	if _, err := providertest.Complete(t.Context(), p, fullRequest()); err != nil || s.Requests() != before+1 {
		t.Errorf("got %v after %d more requests, want success after 1", err, s.Requests()-before)
	}
}
