package wires

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"noema/methods"
)

const id = "0123456789abcdef01234567"

func bodyOf(w Wire) string {
	switch w {
	case Responses:
		return `{"model":"m","input":"hi","max_output_tokens":5}`
	case Completions, Embeddings:
		return `{"model":"m","prompt":"hi","input":"hi","max_tokens":5}`
	}
	return `{"model":"m","messages":[{"role":"user","content":"hi"}],"max_tokens":5}`
}

// A provider's reply is rendered under other ids from its recording, and recorded alike again.
func TestRecorded(t *testing.T) {
	reply := methods.Completion{Text: "ünï 😀 \u2028 <b>", Finish: methods.FinishTools, ToolCalls: []methods.ToolCall{{Name: "f", Arguments: json.RawMessage(`{"x":1}`)}}}
	for _, w := range []Wire{Chat, Responses, Completions, Messages} {
		a, err := Read(w, []byte(bodyOf(w)))
		if err != nil {
			t.Fatal(err)
		}
		whole, err := Whole(w, a, []methods.Completion{reply}, id)
		if err != nil || !strings.Contains(string(whole), id) {
			t.Fatalf("%s, %v", whole, err)
		}
		recorded, err := Recorded(whole)
		if err != nil || strings.Contains(string(recorded), id) {
			t.Fatalf("%s is recorded as %s, %v", whole, recorded, err)
		}
		other := strings.Repeat("f", 24)
		again, err := Whole(w, a, []methods.Completion{{Raw: recorded}}, other)
		if err != nil || strings.Contains(string(again), id) || !strings.Contains(string(again), other) {
			t.Fatalf("renamed to %s, %v\nfrom %s", again, err, whole)
		}
		if twice, err := Recorded(again); err != nil || string(twice) != string(recorded) {
			t.Fatalf("%s\nis recorded as %s, %v\nwas %s", again, twice, err, recorded)
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
		a, err := Read(w, []byte(wrap(opened(whole))))
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
	if body := string(a.Raw.Body); !strings.HasPrefix(body, `{"n":1,`) || !strings.Contains(body, `"user":"u"`) || strings.Contains(body, `"model"`) || strings.Contains(body, `"stream"`) {
		t.Errorf("body %s", body)
	}
	for _, w := range []Wire{Embeddings, CountTokens} { // which no request of ours carries
		if a, err := Read(w, []byte(bodyOf(w))); err != nil || len(a.Raw.Unread) == 0 {
			t.Errorf("%s: %+v, %v", w, a, err)
		}
	}
}

func TestArguments(t *testing.T) {
	for text, want := range map[string]string{"": "{}", " \n": "{}", `{"a":1}`: `{"a":1}`, `{"a":`: `"{\"a\":"`} {
		got := Arguments(text)
		if string(got) != want {
			t.Errorf("%q: %s", text, got)
		}
		if back := ArgumentText(got); strings.TrimSpace(text) != "" && back != text {
			t.Errorf("%q comes back as %q", text, back)
		}
	}
	for raw, want := range map[string]string{`"{\"a\":"`: `{"invalid_arguments":"{\"a\":"}`, `{"a":true}`: `{"a":true}`, "": "{}", "null": `{"invalid_arguments":""}`} {
		if got := ObjectArguments(json.RawMessage(raw)); string(got) != want {
			t.Errorf("%s as an object: %s", raw, got)
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
			if recorded, err := Recorded(body); err == nil {
				whole, err := Whole(p, Asked{Choices: 1}, []methods.Completion{{Raw: recorded}}, id)
				if err != nil {
					continue // it is not an object
				} else if _, err := Frames(p, whole, true); err != nil && protocolOf(p).frames != nil {
					t.Error(err)
				}
			}
		}
	})
}
