package openai_test

import (
	"fmt"
	"net/http"
	"testing"

	"noema/kernel/internal/test/providertest"
	"noema/kernel/model/provider"
	"noema/kernel/model/provider/exchange"
	"noema/kernel/model/provider/openai"
	"noema/methods"
)

// answering is a model whose server says one thing.
func answering(t *testing.T, body string) provider.Provider {
	t.Helper()
	p, err := openai.New(exchange.Config{Model: "m", BaseURL: "http://loopback.invalid/v1", HTTPClient: providertest.Says(body)}, openai.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Servers stray from the protocol; what they mean is understood.
func TestOddReplies(t *testing.T) {
	call := func(id, name, arguments string) string { return id + " " + name + " " + arguments }
	cases := map[string]struct {
		body   string
		text   string
		calls  []string
		finish methods.FinishReason
	}{
		"parts for a string": {`{"choices":[{"message":{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}}]}`, "ab", nil, methods.FinishStop},
		"null content":       {`{"choices":[{"finish_reason":"stop","message":{"content":null}}]}`, "", nil, methods.FinishStop},
		"arguments as object": {
			`{"choices":[{"finish_reason":"stop","message":{"tool_calls":[{"function":{"name":"f","arguments":{"a":1}}}]}}]}`,
			"", []string{call("call_1", "f", `{"a":1}`)}, methods.FinishTools,
		},
		"calls without index": {
			"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"id\":\"x\",\"function\":{\"name\":\"f\",\"arguments\":\"{\"}}]}}]}\n\n" +
				"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"function\":{\"arguments\":\"}\"}}]}}]}\n\n" +
				"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"id\":\"y\",\"function\":{\"name\":\"g\"}}]}}]}\n\n" +
				"data: [DONE]\n\n",
			"", []string{call("x", "f", "{}"), call("y", "g", "{}")}, methods.FinishTools,
		},
		"no end mark":   {"data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\n", "a", nil, methods.FinishStop},
		"other choices": {`{"choices":[{"index":0,"message":{"content":"a"}},{"index":1,"message":{"content":"b"}}]}`, "a", nil, methods.FinishStop},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := answering(t, c.body).Complete(t.Context(), ask("x"))
			var calls []string
			for _, tc := range got.ToolCalls {
				calls = append(calls, call(tc.ID, tc.Name, string(tc.Arguments)))
			}
			if err != nil || got.Text != c.text || fmt.Sprint(calls) != fmt.Sprint(c.calls) || got.Finish != c.finish {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

// Where a server counts reasoning apart from the answer, both were paid for.
func TestReasoningTokens(t *testing.T) {
	for usage, want := range map[string]int64{
		`{"prompt_tokens":10,"completion_tokens":50,"total_tokens":60,"completion_tokens_details":{"reasoning_tokens":40}}`: 50,
		`{"prompt_tokens":10,"completion_tokens":5,"total_tokens":55,"completion_tokens_details":{"reasoning_tokens":40}}`:  45,
	} {
		got, err := answering(t, `{"choices":[{"message":{"content":"a"}}],"usage":`+usage+`}`).Complete(t.Context(), ask("x"))
		if err != nil || got.Usage.OutputTokens != want {
			t.Errorf("%s: %+v, %v, want %d", usage, got.Usage, err, want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"choices":[{"message":{"content":"a"}}],"usage":{"prompt_tokens":-1}}`))
	f.Add([]byte("data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":7}]}}]}\n\ndata: [DONE]\n\n"))
	f.Add([]byte(`{"choices":[{"message":{"content":"a"},"logprobs":{"content":[{"token":"a","logprob":-1,"bytes":[195],"top_logprobs":[{"token":"b","logprob":-2}]}]}}],` +
		`"usage":{"prompt_tokens":1,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":2}}}`))
	providertest.Fuzz(f, func(h *http.Client) (provider.Provider, error) {
		return openai.New(exchange.Config{Model: "m", APIKey: "secret-key", HTTPClient: h}, openai.Options{API: openai.Chat})
	}, surely(1))
}

func FuzzDecodeResponse(f *testing.F) {
	f.Add([]byte(`{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"a"}]}],"usage":{"input_tokens":1.5}}`))
	f.Add([]byte("data: {\"type\":\"response.failed\",\"response\":{\"status\":\"failed\",\"error\":{\"code\":\"server_error\"}}}\n\n"))
	providertest.Fuzz(f, func(h *http.Client) (provider.Provider, error) {
		return openai.New(exchange.Config{Model: "m", APIKey: "secret-key", HTTPClient: h}, openai.Options{API: openai.Responses})
	}, surely(1))
}
