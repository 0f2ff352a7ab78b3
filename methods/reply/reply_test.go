package reply_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"noema/methods"
	"noema/methods/methodtest"
	"noema/methods/reply"
)

func ExampleRanking() {
	fmt.Println(reply.Ranking("Top-5: [3, 1]", 10).Items)
	fmt.Println(reply.Ranking("All things weighed:\n3 > 1 > 2", 10).Items)
	// Output:
	// [3 1]
	// [3 1 2]
}

func TestRanking(t *testing.T) {
	for _, c := range []struct {
		text    string
		items   []int
		dropped []string
		line    bool
	}{
		{"[3, 1]", []int{3, 1}, nil, false},
		{`{"answer": [3, "1",]}`, []int{3, 1}, nil, false},
		{"Top-5: [3, 1] and [2]", nil, nil, false}, {"Given c1=[2, 7, 8] and more, the top-5 is [8, 2, 7, 5, 6]", []int{8, 2, 7, 5, 6}, nil, false},
		{"Top-5: [3, 1], given c1=[1, 3]", []int{3, 1}, nil, false}, {"Not [3, 1] but [1, 3]", []int{1, 3}, nil, false}, {"[3, 1] rather than [1, 3]", []int{3, 1}, nil, false},
		{"[best] then [ 4 ,\n5 ]", []int{4, 5}, nil, false},
		{"[0, 3, 3, 11, -2, 99999999999999999999, 1]", []int{3, 1}, []string{"0", "3", "11", "-2", "99999999999999999999"}, false},
		{"[12]", nil, []string{"12"}, false},
		{"[1.5, 2]\n4, 5", []int{4, 5}, nil, true},
		{"I checked 9 items.\nTop-5: 3, 1", []int{3, 1}, nil, true},
		{"#3, **1**, 2.", []int{3, 1, 2}, nil, true},
		{"3, then 1\n\n", []int{3, 1}, nil, true},
		{"item 3, item 1", []int{3, 1}, nil, true},
		{"none of the 3 items fits", nil, nil, true},
		{"Top-5 of 4.5 stars", nil, nil, true},
		{"[]", nil, nil, true},
		{"", nil, nil, true},
		{"\x00\xff", nil, nil, true},
	} {
		got := reply.Ranking(c.text, 10)
		want := reply.Ranked{Items: c.items, Dropped: c.dropped, FromLine: c.line}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("Ranking(%q) = %+v, want %+v", c.text, got, want)
		}
	}
}

func TestExtract(t *testing.T) {
	positive := func(raw json.RawMessage) error {
		var v struct{ A int }
		if err := json.Unmarshal(raw, &v); err != nil || v.A <= 0 {
			return errors.New("want a positive a")
		}
		return nil
	}
	for _, c := range []struct {
		text, want string
		rung       reply.Rung
		fault      string
	}{
		{` {"a":1} `, `{"a":1}`, reply.Strict, ""},
		{"Sure:\n```json\n{\"a\":2}\n```\n", `{"a":2}`, reply.Fenced, ""},
		{"```{\"a\":2}```", `{"a":2}`, reply.Fenced, ""},
		{"```\nnothing\n``` and ```\n{\"a\":3}\n", `{"a":3}`, reply.Fenced, ""},
		{`See {x} [1]: {"a":4, "s":"}{"} {"a":5}`, `{"a":4, "s":"}{"}`, reply.Balanced, ""},
		{`{"a":-1} or {"a":6}`, `{"a":6}`, reply.Balanced, ""},
		{`{"a":-1}`, "", "", "want a positive a"},
		{`"just text"`, "", "", "want a positive a"},
		{"just text", "", "", "no JSON value"},
		{`{"a":1`, "", "", "no JSON value"},
		{strings.Repeat("[", 1_000_000), "", "", "no JSON value"},
		{strings.Repeat("```", 500_000), "", "", "no JSON value"},
	} {
		var got []byte
		var rung reply.Rung
		var err error
		took := methodtest.CPU(func() { got, rung, err = reply.Extract(c.text, positive) })
		if string(got) != c.want || rung != c.rung || (err == nil) != (c.fault == "") {
			t.Errorf("Extract(%.60q) = %s, %q, %v", c.text, got, rung, err)
		}
		if err != nil && !strings.Contains(err.Error(), c.fault) {
			t.Errorf("Extract(%.60q): %v, want %q", c.text, err, c.fault)
		}
		if took > 3*time.Second {
			t.Errorf("Extract(%.60q) took %v", c.text, took)
		}
	}
}

// replies answers the calls in turn.
func replies(list ...string) methods.Model {
	n := -1
	return methodtest.ModelFunc(func(context.Context, methods.Request) (methods.Completion, error) {
		n++
		finish := methods.FinishStop
		if strings.HasSuffix(list[n], "…") {
			finish = methods.FinishLength
		}
		return methods.Completion{Text: list[n], Finish: finish}, nil
	})
}

func request() methods.Request {
	return methods.Request{
		Messages: methods.Ask("give a"),
		Path:     "P1/x",
		Schema:   &methods.Schema{Name: "a", JSON: json.RawMessage(`{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}`)},
	}
}

func TestJSONAsksAgainWithTheFault(t *testing.T) {
	h := methodtest.NewHost(replies(`{"a":"x"}`, "", "ok: {\"a\":4}"))
	check := func(raw json.RawMessage) error { return nil }
	got, c, err := reply.JSON(t.Context(), h, request(), check, reply.Options{Retries: 2})
	if err != nil || string(got) != `{"a":4}` || c.Text != "ok: {\"a\":4}" {
		t.Fatalf("got %s, %q, %v", got, c.Text, err)
	}
	log := h.Transcript()
	var paths []string
	for _, call := range log.Calls {
		paths = append(paths, call.Request.Path)
	}
	if want := []string{"P1/x", "P1/x/r1", "P1/x/r2"}; !reflect.DeepEqual(paths, want) {
		t.Errorf("paths %v, want %v", paths, want)
	}
	talk := log.Calls[2].Request.Messages
	if len(talk) != 5 || talk[1].Content != `{"a":"x"}` || talk[3].Content != "(empty reply)" ||
		!strings.Contains(talk[2].Content, "string") || !strings.Contains(talk[4].Content, "no JSON value") {
		t.Errorf("conversation %+v", talk)
	}
	var kinds []string
	for _, e := range log.Events {
		kinds = append(kinds, e.Path+" "+e.Phase+" "+string(e.Kind))
	}
	if want := []string{"P1/x/r1 P1 retry", "P1/x/r2 P1 retry", "P1/x/r2 P1 repair"}; !reflect.DeepEqual(kinds, want) {
		t.Errorf("events %v, want %v", kinds, want)
	}
}

// A re-ask repeats the form that ends the prompt, and says what is wrong in words
// that are not Go's.
func TestReaskRepeatsTheForm(t *testing.T) {
	for prompt, want := range map[string]string{
		"How many?\n\nReply with one JSON object only: {\"a\": number}\n":                 "\nReply with one JSON object only: {\"a\": number}",
		"How many?\n\nThink, then end with one last line of this form:\nAnswer: number\n": "\nThink, then end with one last line of this form:\nAnswer: number",
		"How many?": "\nReply again, in exactly the form that was asked for.",
		"Reply with " + strings.Repeat("é", 1000): "\nReply again, in exactly the form that was asked for.",
	} {
		h := methodtest.NewHost(replies(`{"a": {"b": "x"}}`, `{"a": {"b": 1}}`))
		req := methods.Request{Messages: methods.Ask(prompt), Path: "P1"}
		check := func(raw json.RawMessage) error {
			var v struct {
				A struct {
					B int `json:"b"`
				} `json:"a"`
			}
			return json.Unmarshal(raw, &v)
		}
		if _, _, err := reply.JSON(t.Context(), h, req, check, reply.Options{Retries: 1}); err != nil {
			t.Fatal(err)
		}
		if got := h.Transcript().Calls[1].Request.Messages[2].Content; got != `That reply cannot be used: "a.b" must be a whole number, not a text`+want {
			t.Errorf("after %.60q: %s", prompt, got)
		}
	}
}

func TestJSONGivesUp(t *testing.T) {
	h := methodtest.NewHost(replies("one", strings.Repeat("é", 10_000)+"…"))
	_, c, err := reply.JSON(t.Context(), h, request(), nil, reply.Options{Retries: 1})
	var invalid *reply.InvalidError
	if !errors.As(err, &invalid) || !errors.Is(err, reply.ErrInvalid) || invalid.Attempts != 2 || invalid.Path != "P1/x/r1" {
		t.Fatalf("got %v", err)
	}
	if !strings.Contains(err.Error(), "cut off at the token limit") || c.Text == "" {
		t.Errorf("got %v and the completion %.20q", err, c.Text)
	}
}

func TestJSONRefusesABadSchema(t *testing.T) {
	req := request()
	for _, raw := range []string{`{`, `{"type":7}`, `{"$ref":"#/nowhere"}`} {
		req.Schema = &methods.Schema{Name: "bad", JSON: json.RawMessage(raw)}
		h := methodtest.NewHost(replies())
		if _, _, err := reply.JSON(t.Context(), h, req, nil, reply.Options{}); err == nil || !strings.Contains(err.Error(), `"bad"`) {
			t.Errorf("schema %s: %v", raw, err)
		}
	}
}

func TestTextRepeatsALongReplyInPart(t *testing.T) {
	long := strings.Repeat("é", 100_000)
	h := methodtest.NewHost(replies(long, "fine"))
	parse := func(s string) error {
		if s != "fine" {
			return errors.New("not fine")
		}
		return nil
	}
	got, _, err := reply.Text(t.Context(), h, request(), parse, reply.Options{Retries: 1})
	if err != nil || got != "fine" {
		t.Fatalf("got %.20q, %v", got, err)
	}
	log := h.Transcript()
	if n := len(log.Calls[1].Request.Messages[1].Content); n > 8100 {
		t.Errorf("%d bytes are repeated", n)
	}
	if k := log.Events[0].Kind; k != methods.Truncated {
		t.Errorf("first event is %s", k)
	}
}

func TestHostErrorsPass(t *testing.T) {
	for _, cause := range []error{methods.ErrBudget, methods.ErrMiss, methods.ErrProvider} {
		h := methodtest.NewHost(methodtest.ModelFunc(func(context.Context, methods.Request) (methods.Completion, error) {
			return methods.Completion{}, cause
		}))
		if _, _, err := reply.Text(t.Context(), h, request(), nil, reply.Options{Retries: 5}); !errors.Is(err, cause) || len(h.Transcript().Calls) != 1 {
			t.Errorf("got %v after %d calls", err, len(h.Transcript().Calls))
		}
	}
}

func TestShortening(t *testing.T) {
	if s, n := reply.Shorten("abcdef", 6); s != "abcdef" || n != 0 {
		t.Errorf("got %q, %d", s, n)
	}
	if s, n := reply.Shorten("ééééé", 5); s != "é\n(cut)\né" || n != 6 {
		t.Errorf("got %q, %d", s, n)
	}
	if s, cut := reply.Head("aé", 2); s != "a" || !cut {
		t.Errorf("got %q, %v", s, cut)
	}
	if s := reply.OneLine(" a\n\tb\xff ", 20); s != "a b\ufffd" {
		t.Errorf("got %q", s)
	}
	if s := reply.OneLine(strings.Repeat("x", 1000), 10); s != "xxxxxxxxxx…" {
		t.Errorf("got %q", s)
	}
}

func FuzzExtract(f *testing.F) {
	for _, s := range []string{`{"a":1}`, "```json\n[1]\n```", "x {\"a\": [1, 2]} y", "[[[", "\xff{}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if raw, _, err := reply.Extract(text, nil); err == nil && !json.Valid(raw) {
			t.Fatalf("Extract(%q) = %q", text, raw)
		}
		seen := map[int]bool{}
		for _, i := range reply.Ranking(text, 9).Items {
			if i < 1 || i > 9 || seen[i] {
				t.Fatalf("Ranking(%q) has %d", text, i)
			}
			seen[i] = true
		}
	})
}
