package exchange_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"noema/kernel/model/provider/anthropic"
	"noema/kernel/model/provider/exchange"
	"noema/kernel/model/provider/openai"
	"noema/methods"
	"noema/plugins/program/wires"
)

// speakers are clients of a server, by the wires that they pass on.
func speakers(t *testing.T, url string) map[wires.Wire]*exchange.Client {
	t.Helper()
	chat, err := openai.New(exchange.Config{Model: "m", BaseURL: url + "/v1"}, openai.Options{})
	if err != nil {
		t.Fatal(err)
	}
	messages, err := anthropic.New(exchange.Config{Model: "m", BaseURL: url}, exchange.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return map[wires.Wire]*exchange.Client{
		wires.Chat: chat, wires.Responses: chat, wires.Completions: chat, wires.Embeddings: chat, wires.Messages: messages, wires.CountTokens: messages,
	}
}

// someReply is a reply that a wire can carry.
func someReply(r *rand.Rand, w wires.Wire) methods.Completion {
	texts := []string{"", "ok", "ünï 😀 \u2028 <b>", `{"a":1}`, strings.Repeat("long ", 100)}
	c := methods.Completion{Text: texts[r.IntN(len(texts))], Finish: methods.FinishStop, Model: "m",
		Usage: methods.Usage{Calls: 1, InputTokens: 9, OutputTokens: 7, CachedTokens: 3, Unpriced: 1}}
	if w != wires.Messages { // which does not tell thoughts apart
		c.Usage.ReasoningTokens = 2
	}
	if r.IntN(4) == 0 {
		c.Finish = methods.FinishLength
		return c
	}
	for range r.IntN(3) {
		if w != wires.Completions {
			c.ToolCalls = append(c.ToolCalls, methods.ToolCall{Name: "f", Arguments: json.RawMessage(fmt.Sprintf(`{"x":%d}`, r.IntN(9)))})
			c.Finish = methods.FinishTools
		}
	}
	return c
}

// A reply to a program's request is read as the same reply to a request of our own, and kept whole.
func TestRaw(t *testing.T) {
	const id = "0123456789abcdef01234567"
	var reply []byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(reply) }))
	t.Cleanup(server.Close)
	r := rand.New(rand.NewPCG(1, 2))
	body := `{"messages":[{"role":"user","content":"hi"}],"input":"hi","prompt":"hi","max_tokens":5}`
	for w, client := range speakers(t, server.URL) {
		a, err := wires.Read(w, []byte(body))
		if err != nil {
			t.Fatal(err)
		}
		for range 100 {
			want := someReply(r, w)
			switch w {
			case wires.Embeddings:
				want = methods.Completion{Finish: methods.FinishStop, Model: "m", Usage: methods.Usage{Calls: 1, InputTokens: 9, Unpriced: 1}}
				reply = []byte(`{"object":"list","data":[],"model":"m","usage":{"prompt_tokens":9,"total_tokens":9}}`)
			case wires.CountTokens:
				want = methods.Completion{Finish: methods.FinishStop, Usage: methods.Usage{Calls: 1, InputTokens: 9, Unpriced: 1}}
				reply = []byte(`{"input_tokens":9}`)
			default:
				if reply, err = wires.Whole(w, a, []methods.Completion{want}, id); err != nil {
					t.Fatal(err)
				}
			}
			got, err := client.Complete(t.Context(), a.Request)
			if err != nil {
				t.Fatalf("%s: %v", reply, err)
			}
			if want.Raw, err = wires.Recorded(reply); err != nil {
				t.Fatal(err)
			}
			for k, c := range got.ToolCalls {
				if !strings.Contains(c.ID, id) {
					t.Errorf("tool call id %q", c.ID)
				}
				got.ToolCalls[k].ID = ""
			}
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("%s %s: read %+v\nwant %+v", w, reply, got, want)
			}
		}
	}
}
