package wire

import (
	"encoding/json"
	"reflect"
	"testing"

	"google.golang.org/protobuf/proto"

	"noema/methods"
)

// TestEveryFieldCrosses fills every field of a request and of its completion:
// one that the conversions forget comes back as zero, and a new one that this
// test leaves at zero fails it.
func TestEveryFieldCrosses(t *testing.T) {
	r := methods.Request{
		Messages: []methods.Message{{
			Role: methods.Assistant, Content: "é", CallID: "c", ToolCalls: []methods.ToolCall{{ID: "c", Name: "f", Arguments: json.RawMessage(`{}`), Path: "p"}},
		}},
		Sampling: methods.Sampling{Temperature: 0.1, TopP: 0.2, TopK: 3, MaxTokens: 4, Stop: []string{"x"}, Seed: 1 << 63, Logprobs: 5},
		Schema:   &methods.Schema{Name: "s", JSON: json.RawMessage(`{}`)},
		Tools:    []methods.ToolSpec{{Name: "f", Description: "d", Parameters: json.RawMessage(`{}`), Result: json.RawMessage(`{}`), Pure: true}},
		Draw:     1, Path: "P1",
	}
	third := -1.0 / 3
	c := methods.Completion{
		Text: "é", ToolCalls: r.Messages[0].ToolCalls, Finish: methods.FinishStop, Model: "m",
		Usage: methods.Usage{
			Calls: 1, ToolCalls: 2, InputTokens: 3, OutputTokens: 4, Cost: 5, Latency: 6, Unpriced: 7, Unmetered: 8,
			CachedTokens: 9, CacheWriteTokens: 10, ReasoningTokens: 11,
		},
		Logprobs: []methods.TokenLogprob{
			{Token: "\uFFFD", Bytes: []byte{0xc3}, Logprob: third, Top: []methods.TokenLogprob{{Token: "a", Logprob: -5e-324}}},
		},
	}
	for _, v := range []any{r, r.Messages[0], r.Sampling, *r.Schema, r.Tools[0], c, c.ToolCalls[0], c.Usage, c.Logprobs[0]} {
		for i, rv := 0, reflect.ValueOf(v); i < rv.NumField(); i++ {
			if rv.Field(i).IsZero() {
				t.Errorf("%T.%s is new: add it to method.proto and fill it here", v, rv.Type().Field(i).Name)
			}
		}
	}
	var request Request
	cross(t, To[Request](r), &request)
	if got := From[methods.Request](&request); !reflect.DeepEqual(got, r) {
		t.Errorf("request:\n got %+v\nwant %+v", got, r)
	}
	var completion Completion
	cross(t, To[Completion](c), &completion)
	if got := From[methods.Completion](&completion); !reflect.DeepEqual(got, c) {
		t.Errorf("completion:\n got %+v\nwant %+v", got, c)
	}
}

func cross(t *testing.T, from, to proto.Message) {
	t.Helper()
	raw, err := proto.Marshal(from)
	if err == nil {
		err = proto.Unmarshal(raw, to)
	}
	if err != nil {
		t.Fatal(err)
	}
}
