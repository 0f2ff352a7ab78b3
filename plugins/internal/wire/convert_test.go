package wire

import (
	"encoding/hex"
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
	r, c := fullRequest(), fullCompletion()
	r.Raw, r.Unordered = &methods.Raw{Wire: "w", Body: json.RawMessage(`{}`), Unread: []string{"a"}, Rules: 1, Noise: []string{"n"}}, true
	r.By = "strong"
	c.Raw = json.RawMessage(`{}`)
	for _, v := range []any{r, *r.Raw, r.Messages[0], r.Sampling, *r.Schema, r.Tools[0], c, c.ToolCalls[0], c.Usage, c.Logprobs[0]} {
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

func fullRequest() methods.Request {
	return methods.Request{
		Messages: []methods.Message{{
			Role: methods.Assistant, Content: "é", CallID: "c", ToolCalls: []methods.ToolCall{{ID: "c", Name: "f", Arguments: json.RawMessage(`{}`), Path: "p"}},
		}},
		Sampling: methods.Sampling{Temperature: 0.1, TopP: 0.2, TopK: 3, MaxTokens: 4, Stop: []string{"x"}, Seed: 1 << 63, Logprobs: 5},
		Schema:   &methods.Schema{Name: "s", JSON: json.RawMessage(`{}`)},
		Tools:    []methods.ToolSpec{{Name: "f", Description: "d", Parameters: json.RawMessage(`{}`), Result: json.RawMessage(`{}`), Pure: true}},
		Draw:     1, Path: "P1",
	}
}

func fullCompletion() methods.Completion {
	third := -1.0 / 3
	return methods.Completion{
		Text: "é", ToolCalls: fullRequest().Messages[0].ToolCalls, Finish: methods.FinishStop, Model: "m",
		Usage: methods.Usage{
			Calls: 1, ToolCalls: 2, InputTokens: 3, OutputTokens: 4, Cost: 5, Latency: 6, Unpriced: 7, Unmetered: 8,
			CachedTokens: 9, CacheWriteTokens: 10, ReasoningTokens: 11,
		},
		Logprobs: []methods.TokenLogprob{
			{Token: "\uFFFD", Bytes: []byte{0xc3}, Logprob: third, Top: []methods.TokenLogprob{{Token: "a", Logprob: -5e-324}}},
		},
	}
}

// TestWireFormIsFixed: plugins that were built with older versions of noema are
// understood, and understand, since the same values travel as the same bytes.
func TestWireFormIsFixed(t *testing.T) {
	for _, sent := range []struct {
		message proto.Message
		hex     string
	}{
		{To[Request](fullRequest()), "0a210a09617373697374616e741202c3a91a0d0a01631201661a027b7d2201702201631226099a9999999999b93f119a9999999999c93f180320042a0178308080808080808080800138051a070a017312027b7d22100a01661201641a027b7d22027b7d2801280132025031"},
		{To[Completion](fullCompletion()), "0a02c3a9120d0a01631201661a027b7d2201701a0473746f7022016d2a16080110021803200428053006380740084809500a580b321f0a03efbfbd1201c319555555555555d5bf220c0a0161190100000000000080"},
	} {
		raw, err := proto.MarshalOptions{Deterministic: true}.Marshal(sent.message)
		if got := hex.EncodeToString(raw); err != nil || got != sent.hex {
			t.Errorf("%T: %s, %v", sent.message, got, err)
		}
	}
}
