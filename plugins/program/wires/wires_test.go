package wires

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"noema/methods"
)

const id = "0123456789abcdef01234567"

var texted = []Wire{Chat, Responses, Completions, Messages}

func bodyOf(w Wire) string {
	switch w {
	case Responses:
		return `{"model":"m","input":"hi","max_output_tokens":5}`
	case Completions, Embeddings:
		return `{"model":"m","prompt":"hi","input":"hi","max_tokens":5}`
	}
	return `{"model":"m","messages":[{"role":"user","content":"hi"}],"max_tokens":5}`
}

func someReply(r *rand.Rand, w Wire) methods.Completion {
	texts := []string{"", "ok", "ünï 😀 \u2028 <b>", `{"a":1}`, strings.Repeat("long ", 100)}
	c := methods.Completion{Text: texts[r.IntN(len(texts))], Finish: methods.FinishStop, Model: "m",
		Usage: methods.Usage{Calls: 1, InputTokens: 9, OutputTokens: 7, CachedTokens: 3, ReasoningTokens: 2}}
	if r.IntN(4) == 0 {
		c.Finish = methods.FinishLength
		return c
	}
	for range r.IntN(3) {
		if w != Completions {
			c.ToolCalls = append(c.ToolCalls, methods.ToolCall{Name: "f", Arguments: json.RawMessage(fmt.Sprintf(`{"x":%d}`, r.IntN(9)))})
			c.Finish = methods.FinishTools
		}
	}
	return c
}

// A rendered reply is read as it was, and rendered under other ids from its recording.
func TestWholeAndResult(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 400 {
		w := texted[i%len(texted)]
		want := someReply(r, w)
		if w == Messages { // which does not tell thoughts apart
			want.Usage.ReasoningTokens = 0
		}
		a, err := Read(w, []byte(bodyOf(w)))
		if err != nil {
			t.Fatal(err)
		}
		whole, err := Whole(w, a, []methods.Completion{want}, id)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Result(w, whole)
		if err != nil {
			t.Fatalf("%s: %v", whole, err)
		}
		recorded := got
		got.Raw = nil
		for k, c := range got.ToolCalls {
			if !strings.Contains(c.ID, id) {
				t.Errorf("tool call id %q", c.ID)
			}
			got.ToolCalls[k].ID = ""
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: read %+v\nwant %+v", whole, got, want)
		}
		other := strings.Repeat("f", 24)
		again, err := Whole(w, a, []methods.Completion{recorded}, other)
		if err != nil || strings.Contains(string(again), id) || !strings.Contains(string(again), other) {
			t.Fatalf("renamed to %s, %v\nfrom %s", again, err, whole)
		}
		if twice, err := Result(w, again); err != nil || string(twice.Raw) != string(recorded.Raw) {
			t.Fatalf("%s\nis recorded as %s, %v\nwas %s", again, twice.Raw, err, recorded.Raw)
		}
	}
}

// What a chat program sends back of a reply is read as what the model said.
func TestSentBack(t *testing.T) {
	reply := methods.Completion{Text: "t", Finish: methods.FinishTools, ToolCalls: []methods.ToolCall{{Name: "f", Arguments: json.RawMessage(`{"x":1}`)}}}
	for w, wrap := range map[Wire]func(object) string{
		Chat: func(f object) string {
			return `{"messages":[` + string(encode(objects(f["choices"])[0]["message"])) + `]}`
		},
		Responses: func(f object) string { return `{"input":` + string(encode(f["output"])) + `}` },
		Messages: func(f object) string {
			return `{"messages":[{"role":"assistant","content":` + string(encode(f["content"])) + `}]}`
		},
	} {
		whole, err := Whole(w, Asked{Choices: 1}, []methods.Completion{reply}, id)
		if err != nil {
			t.Fatal(err)
		}
		var tree object
		if err := decode(whole, &tree); err != nil {
			t.Fatal(err)
		}
		a, err := Read(w, []byte(wrap(tree)))
		if err != nil || len(a.Messages) != 1 || len(a.Raw.Unread) != 0 {
			t.Fatalf("%s: %+v %v", w, a, err)
		}
		if m := a.Messages[0]; m.Content != "t" || len(m.ToolCalls) != 1 || string(m.ToolCalls[0].Arguments) != `{"x":1}` {
			t.Errorf("%s: %+v", w, m)
		}
	}
}

func TestUnread(t *testing.T) {
	a, err := Read(Chat, []byte(`{"model":"m","n":1,"tool_choice":"required","stream":true,"seed":-1,"presence_penalty":0.0,"user":"u","big":1e999,
		"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"x"}}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"big", "messages[0].content[1] (image_url)", "tool_choice"}
	if !slices.Equal(a.Raw.Unread, want) || !a.Stream || a.Messages[0].Content != "a" {
		t.Errorf("unread %q, want %q: %+v", a.Raw.Unread, want, a)
	}
	if body := string(a.Raw.Body); !strings.HasPrefix(body, `{"big":1e999,`) || strings.Contains(body, `"user":"u"`) || strings.Contains(body, `"model"`) {
		t.Errorf("body %s", body)
	}
	for _, w := range []Wire{Embeddings, CountTokens} { // which no request of ours carries
		if a, err := Read(w, []byte(bodyOf(w))); err != nil || len(a.Raw.Unread) == 0 {
			t.Errorf("%s: %+v, %v", w, a, err)
		}
	}
}

func TestPaths(t *testing.T) {
	for _, p := range all() {
		if w, ok := At("/t/1/v1" + p.Path()); !ok || w != p {
			t.Errorf("%s is %s", p.Path(), w)
		}
	}
	if w, ok := At("/v1/models"); ok {
		t.Errorf("models is %s", w)
	}
}

// The events of a stream hold the texts of the reply, and end it.
func TestFrames(t *testing.T) {
	for w, last := range map[Wire]string{Chat: "[DONE]", Completions: "[DONE]", Responses: "response.completed", Messages: "message_stop"} {
		whole, err := Whole(w, Asked{Choices: 1}, []methods.Completion{{Text: "hello", Finish: methods.FinishStop}}, id)
		if err != nil {
			t.Fatal(err)
		}
		frames, err := Frames(w, whole, true)
		if err != nil || !strings.Contains(string(frames[len(frames)-1]), last) || !strings.Contains(string(slices.Concat(frames...)), `"hello"`) {
			t.Errorf("%s: %s %v", w, frames, err)
		}
	}
	if _, err := Frames(Embeddings, []byte("{}"), false); err == nil {
		t.Error("embeddings have streams")
	}
}

func TestRefusal(t *testing.T) {
	_, err := Read(Chat, []byte(`{"messages":[{"role":"user","content":7}]}`))
	var r *Refused
	if !errors.As(err, &r) || r.Param != "messages[0].content" {
		t.Fatalf("%v", err)
	}
	for _, w := range []Wire{Chat, Messages} {
		if body := string(Refusal(w, *r)); !strings.Contains(body, "invalid_request_error") || !strings.Contains(body, "messages[0].content") {
			t.Errorf("%s", body)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, p := range all() {
		f.Add([]byte(bodyOf(p)))
		f.Add([]byte(`{"messages":[[]],"input":[{"type":"message","content":{}}],"prompt":[1],"choices":[{}],"output":[{}],"content":[{}],"n":1e999}`))
		f.Add([]byte(strings.Repeat(`{"a":`, 300) + "1" + strings.Repeat("}", 300)))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, p := range all() {
			if _, err := Read(p, body); err != nil && !errors.As(err, new(*Refused)) {
				t.Error(err)
			}
			if c, err := Result(p, body); err == nil {
				whole, err := Whole(p, Asked{Choices: 1}, []methods.Completion{c}, id)
				if err != nil {
					t.Error(err)
				} else if _, err := Frames(p, whole, true); err != nil && protocolOf(p).frames != nil {
					t.Error(err)
				}
			}
		}
	})
}
