package builtin

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"noema/kernel/lab"
	"noema/kernel/run/gateway"
	"noema/methods"
	"noema/methods/reply"
)

// TestThoughtsOfEveryWire sends a thought that guesses 7 and a statement of 5 in all the ways in
// which servers do: in fields and parts of their own, and in the text. A method gets the
// statement, the store the reply as it came, and both read the same answer.
func TestThoughtsOfEveryWire(t *testing.T) {
	const thought, said = "Answer: 7\nNo.", "The answer is 5."
	events := func(frames ...string) string { return "data: " + strings.Join(frames, "\n\ndata: ") + "\n\n" }
	chat := func(deltas ...string) string {
		var frames []string
		for _, d := range deltas {
			frames = append(frames, `{"id":"x","model":"m","choices":[{"index":0,"delta":{`+d+`}}]}`)
		}
		frames = append(frames, `{"id":"x","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":9}}`, "[DONE]")
		return events(frames...)
	}
	inText := func(open, end string) string { return chat(fmt.Sprintf(`"content":%q`, open+thought+end+said)) }
	for name, server := range map[string]struct{ model, variable, body string }{
		"reasoning_content": {"openai/m", "OPENAI_BASE_URL", chat(fmt.Sprintf(`"reasoning_content":%q`, thought), fmt.Sprintf(`"content":%q`, said))},
		"reasoning":         {"openai/m", "OPENAI_BASE_URL", chat(fmt.Sprintf(`"reasoning":%q`, thought), fmt.Sprintf(`"content":%q`, said))},
		"think":             {"openai/m", "OPENAI_BASE_URL", inText("<think>\n", "\n</think>\n\n")},
		"template":          {"openai/m", "OPENAI_BASE_URL", inText("", "\n</think>\n\n")},
		"magistral":         {"openai/m", "OPENAI_BASE_URL", inText("[THINK]", "[/THINK]")},
		"harmony":           {"openai/m", "OPENAI_BASE_URL", inText("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>")},
		"bare harmony":      {"openai/m", "OPENAI_BASE_URL", inText("analysis", "assistantfinal")},
		"own marks":         {"openai/m?thoughts=%3Chm%3E,%3C/hm%3E", "OPENAI_BASE_URL", inText("<hm>", "</hm>")},
		"anthropic": {"anthropic/m", "ANTHROPIC_BASE_URL", "event: message_start\n" + events(`{"type":"message_start","message":{"id":"x","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":9,"output_tokens":1}}}`) +
			"event: content_block_start\n" + events(`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}`) +
			"event: content_block_delta\n" + events(fmt.Sprintf(`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":%q}}`, thought)) +
			"event: content_block_stop\n" + events(`{"type":"content_block_stop","index":0}`) +
			"event: content_block_start\n" + events(`{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}`) +
			"event: content_block_delta\n" + events(fmt.Sprintf(`{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":%q}}`, said)) +
			"event: content_block_stop\n" + events(`{"type":"content_block_stop","index":1}`) +
			"event: message_delta\n" + events(`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":9}}`) + "event: message_stop\n" + events(`{"type":"message_stop"}`)},
		"gemini": {"gemini/m", "GEMINI_BASE_URL", events(fmt.Sprintf(`{"candidates":[{"content":{"role":"model","parts":[{"text":%q,"thought":true}]}}],"modelVersion":"m"}`, thought),
			fmt.Sprintf(`{"candidates":[{"content":{"role":"model","parts":[{"text":%q}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":5,"thoughtsTokenCount":4,"totalTokenCount":18},"modelVersion":"m"}`, said))},
		"ollama": {"ollama/m", "OLLAMA_HOST", fmt.Sprintf(`{"model":"m","message":{"role":"assistant","content":"","thinking":%q},"done":false}`+"\n"+`{"model":"m","message":{"role":"assistant","content":%q},"done":true,"done_reason":"stop","prompt_eval_count":9,"eval_count":9}`+"\n", thought, said)},
	} {
		t.Run(name, func(t *testing.T) {
			at := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodPost {
					w.WriteHeader(http.StatusNotFound)
					return
				}
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, server.body)
			}))
			defer at.Close()
			t.Setenv(server.variable, at.URL)
			for _, key := range []string{"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"} {
				t.Setenv(key, "sk-test")
			}
			spec, err := lab.ParseSpec(server.model)
			if err != nil {
				t.Fatal(err)
			}
			p, err := Catalog{Home: t.TempDir()}.Model(spec, false, 1)
			if err != nil {
				t.Fatal(err)
			}
			g, err := gateway.New(gateway.Options{Provider: p, Mode: gateway.Off, Retry: gateway.Retry{Attempts: 1}, Patience: time.Second})
			if err != nil {
				t.Fatal(err)
			}
			var kept string
			h := g.Host(gateway.Trial{OnCall: func(_ methods.Request, c methods.Completion, _ error) { kept = c.Text }})
			c, err := h.Complete(t.Context(), methods.Request{Messages: methods.Ask("How many?"), Path: "ask"})
			if err != nil || c.Text != said {
				t.Fatalf("a method got %q, %v", c.Text, err)
			}
			own, _ := reply.ParseMarks(p.Info().Thoughts)
			if a := reply.Conclude(reply.Split(kept, own).Said, false, methods.AnswerSpec{Kind: methods.Number}); string(a.Value) != "5" {
				t.Errorf("the reply as it came, %q, is read as %s (%s)", kept, a.Value, a.Reason)
			}
		})
	}
}
