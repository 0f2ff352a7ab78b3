package openai

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"unicode/utf8"

	"noema/kernel/provider"
	"noema/methods"
)

// Servers stray from the protocol; what they mean is understood.
func TestOddReplies(t *testing.T) {
	p, err := New(Config{Model: "m", BaseURL: "http://localhost/v1"})
	if err != nil {
		t.Fatal(err)
	}
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
			got, err := p.decodeChat([]byte(c.body))
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
	p, err := New(Config{Model: "m", BaseURL: "http://localhost/v1"})
	if err != nil {
		t.Fatal(err)
	}
	for usage, want := range map[string]int64{
		`{"prompt_tokens":10,"completion_tokens":50,"total_tokens":60,"completion_tokens_details":{"reasoning_tokens":40}}`: 50,
		`{"prompt_tokens":10,"completion_tokens":5,"total_tokens":55,"completion_tokens_details":{"reasoning_tokens":40}}`:  45,
	} {
		got, err := p.decodeChat([]byte(`{"choices":[{"message":{"content":"a"}}],"usage":` + usage + `}`))
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
	p, err := New(Config{Model: "m", APIKey: "secret-key"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		c, err := p.decodeChat(body)
		checkFuzzed(t, c, err)
	})
}

func FuzzDecodeResponse(f *testing.F) {
	f.Add([]byte(`{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"a"}]}],"usage":{"input_tokens":1.5}}`))
	f.Add([]byte("data: {\"type\":\"response.failed\",\"response\":{\"status\":\"failed\",\"error\":{\"code\":\"server_error\"}}}\n\n"))
	p, err := New(Config{Model: "m", APIKey: "secret-key"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		c, err := p.decodeResponse(body)
		checkFuzzed(t, c, err)
	})
}

// checkFuzzed holds a reply to what the vocabulary promises of every one.
func checkFuzzed(t *testing.T, c methods.Completion, err error) {
	t.Helper()
	var e *provider.Error
	if err != nil && !errors.As(err, &e) {
		t.Errorf("%v is no provider error", err)
	}
	if u := c.Usage; u.InputTokens < u.CachedTokens+u.CacheWriteTokens || u.OutputTokens < u.ReasoningTokens ||
		min(u.CachedTokens, u.CacheWriteTokens, u.ReasoningTokens) < 0 || u.Cost < 0 {
		t.Errorf("usage %+v", u)
	}
	for _, token := range c.Logprobs {
		if !utf8.ValidString(token.Token) || math.IsNaN(token.Logprob) || math.IsInf(token.Logprob, 0) || token.Bytes != nil && string(token.Bytes) == token.Token {
			t.Errorf("token %+v", token)
		}
	}
}
