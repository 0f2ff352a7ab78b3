package cache

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"noema/methods"
)

// carry copies the record of k to another store and says what became of it.
func carry(t *testing.T, from, to *Store, space Space, k Key) (string, Added) {
	t.Helper()
	text, err := from.Line(t.Context(), space, k)
	if err != nil {
		t.Fatal(err)
	}
	got, added, err := to.AddLine(t.Context(), space, text)
	if err != nil || got != k {
		t.Fatalf("added as %s: %v", got, err)
	}
	return string(text), added
}

func TestLinesCarryRecordsExactly(t *testing.T) {
	from, to := mustOpen(t, t.TempDir()), mustOpen(t, t.TempDir())
	id := methods.ModelID{Provider: "openai", Model: "m"}
	plain := CompletionRecord{Completion: methods.Completion{Text: "a < b, ü", Finish: methods.FinishStop}, At: time.Unix(7, 9).UTC(), Epoch: 2}
	spaced := plain
	spaced.Completion.ToolCalls = []methods.ToolCall{{Name: "hours", Arguments: json.RawMessage(`{"a": 1}`)}}
	for name, c := range map[string]struct {
		record CompletionRecord
		raw    bool
	}{"plain": {plain, false}, "white space": {spaced, true}, "no UTF-8": {fullCompletion(), true}} {
		r := methods.Request{Messages: methods.Ask(name), Draw: c.record.Draw}
		k := CompletionKey(id, c.record.Epoch, r)
		if _, err := from.AddCompletion(t.Context(), k, r, id, c.record); err != nil {
			t.Fatal(err)
		}
		text, added := carry(t, from, to, Completions, k)
		if raw := strings.Contains(text, `"raw":`); raw != c.raw || added != New {
			t.Errorf("%s: raw is %v and it was %s: %s", name, raw, added, text)
		}
		for _, space := range []Space{Completions, Requests} {
			a, _ := from.payload(t.Context(), space, space.key(k[:]))
			b, err := to.payload(t.Context(), space, space.key(k[:]))
			if err != nil || string(a) != string(b) {
				t.Errorf("%s: the %s differ after the journey: %v", name, space, err)
			}
		}
		if _, added := carry(t, from, to, Completions, k); added != Same {
			t.Errorf("%s: the second time it was %s", name, added)
		}
	}
}

func TestLinesOfOtherRecords(t *testing.T) {
	from, to := mustOpen(t, t.TempDir()), mustOpen(t, t.TempDir())
	k := ToolKey("cafes", "1", 0, methods.ToolCall{Name: "hours"})
	tool := ToolRecord{Call: methods.ToolCall{Name: "hours", Arguments: json.RawMessage(`{}`)}, Result: methods.ToolResult{Content: "9-5"}, At: time.Unix(1, 0).UTC()}
	if err := from.PutToolResult(t.Context(), k, tool); err != nil {
		t.Fatal(err)
	}
	if _, added := carry(t, from, to, ToolResults, k); added != New {
		t.Errorf("the tool result was %s", added)
	}
	tool.At = tool.At.Add(time.Hour) // received later: no other result
	if err := from.PutToolResult(t.Context(), k, tool); err != nil {
		t.Fatal(err)
	}
	if _, added := carry(t, from, to, ToolResults, k); added != Same {
		t.Errorf("the later tool result was %s", added)
	}
	tool.Result.Content = "9-6"
	if err := from.PutToolResult(t.Context(), k, tool); err != nil {
		t.Fatal(err)
	}
	if _, added := carry(t, from, to, ToolResults, k); added != Conflict {
		t.Errorf("the other tool result was %s", added)
	}
	if kept, err := to.ToolResult(t.Context(), k); err != nil || kept.Result.Content != "9-5" {
		t.Errorf("after a conflict the store has %q: %v", kept.Result.Content, err)
	}
	seed := SeedKey("anot", methods.ModelID{}, methods.SeedKey{Kind: "formula"}, 1)
	if _, err := from.PutSeed(t.Context(), seed, SeedRecord{Data: []byte{0, 255}}); err != nil {
		t.Fatal(err)
	}
	if _, added := carry(t, from, to, Seeds, seed); added != New {
		t.Errorf("the seed was %s", added)
	}
	blob, err := from.PutBlob(t.Context(), []byte("{}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, added := carry(t, from, to, Blobs, blob); added != New {
		t.Errorf("the blob was %s", added)
	}
}

func TestLinesThatLie(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	r := methods.Request{Messages: methods.Ask("what is 2+2?")}
	id := methods.ModelID{Provider: "openai", Model: "m"}
	text, err := methods.EncodeJSON(line{Key: CompletionKey(id, 0, methods.Request{Messages: methods.Ask("what is 2+3?")}).String(),
		Model: &id, Request: &r, Completion: &CompletionRecord{Completion: methods.Completion{Text: "4"}}})
	if err != nil {
		t.Fatal(err)
	}
	zero := Key{}.String()
	for _, c := range []struct{ line, says string }{
		{string(text), "its key is not that of its request"},
		{`{"key":"` + zero + `"}`, "has none of the completions"},
		{`{"key":"` + zero + `","raw":"AAAA","raw_request":"//8="}`, "has none of the completions"},
		{`{"key":"12"}`, "64 hex digits"},
		{`{"key":`, "unexpected end"},
	} {
		if _, _, err := s.AddLine(t.Context(), Completions, []byte(c.line)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.line, err)
		}
	}
	if _, err := s.Line(t.Context(), Completions, Key{}); !errors.Is(err, ErrNotFound) {
		t.Errorf("the line of nothing: %v", err)
	}
}
