package gemini_test

import (
	"errors"
	"net/http"
	"testing"

	"noema/kernel/internal/test/providertest"
	"noema/kernel/model/provider"
	"noema/kernel/model/provider/exchange"
	"noema/kernel/model/provider/gemini"
	"noema/methods"
)

func TestRepliesThatAreNone(t *testing.T) {
	cases := map[string]struct {
		body   string
		kind   provider.Kind // empty if there is no error
		finish methods.FinishReason
		usage  methods.Usage
	}{
		"blocked prompt": {
			`{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"usageMetadata":{"promptTokenCount":4}}`, "",
			methods.FinishFilter, methods.Usage{Calls: 1, InputTokens: 4, Cost: 4},
		},
		"thoughts alone": {
			`{"candidates":[{"finishReason":"MAX_TOKENS"}],"usageMetadata":{"promptTokenCount":4,"thoughtsTokenCount":9}}`, "",
			methods.FinishLength, methods.Usage{Calls: 1, InputTokens: 4, OutputTokens: 9, Cost: 22, ReasoningTokens: 9},
		},
		"bad call":       {`{"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL"}]}`, provider.Malformed, "", methods.Usage{}},
		"no candidates":  {`{}`, provider.Malformed, "", methods.Usage{}},
		"no finish":      {`{"candidates":[{"content":{"parts":[{"text":"a"}]}}]}`, provider.Network, "", methods.Usage{}},
		"error in a 200": {`[{"error":{"code":503,"status":"UNAVAILABLE","message":"busy"}}]`, provider.Unavailable, "", methods.Usage{}},
		"nameless call":  {`{"candidates":[{"finishReason":"STOP","content":{"parts":[{"functionCall":{}}]}}]}`, provider.Malformed, "", methods.Usage{}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p, err := gemini.New(exchange.Config{
				Model: "m", APIKey: "k", Price: &provider.Price{Input: 1, Output: 2}, HTTPClient: providertest.Says(c.body),
			}, exchange.Options{})
			if err != nil {
				t.Fatal(err)
			}
			got, err := p.Complete(t.Context(), methods.Request{Messages: methods.Ask("x")})
			var e *provider.Error
			if c.kind != "" {
				if !errors.As(err, &e) || e.Kind != c.kind {
					t.Errorf("%+v, %v, want %s", got, err, c.kind)
				}
				return
			}
			if err != nil || got.Finish != c.finish || got.Usage != c.usage {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`data: {"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":-4}}` + "\n\n"))
	f.Add([]byte(`[{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":[]}}]}}]}]`))
	providertest.Fuzz(f, func(h *http.Client) (provider.Provider, error) {
		return gemini.New(exchange.Config{Model: "m", APIKey: "secret-key", HTTPClient: h}, exchange.Options{})
	}, methods.Request{Messages: methods.Ask("x")})
}
