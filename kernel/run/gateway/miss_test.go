package gateway

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"noema/cache"
	"noema/kernel/model/provider"
	"noema/kernel/model/provider/none"
	"noema/kernel/result/record"
	"noema/methods"
)

// TestMissIsExplained: the error names the call and where the request first
// departs from the recorded one.
func TestMissIsExplained(t *testing.T) {
	store, m := openStore(t, t.TempDir()), &model{}
	full := methods.Request{
		Messages: []methods.Message{
			{Role: methods.System, Content: "be brief"},
			{Role: methods.User, Content: "first line\nrank the cafes by noise"},
			{Role: methods.Assistant, ToolCalls: []methods.ToolCall{{ID: "1", Name: "look", Arguments: json.RawMessage(`{"a":1}`)}}},
		},
		Schema: &methods.Schema{Name: "s", JSON: json.RawMessage(`{"type":"object"}`)},
		Tools:  []methods.ToolSpec{{Name: "look", Description: "looks", Parameters: json.RawMessage(`{}`)}},
		Path:   "P3/c2",
	}
	h := newGateway(t, Options{Store: store, Provider: m}).Host(trialOf("m", "s", 0))
	mustComplete(t, h, full)
	recorded := sealed(t, h)

	for name, c := range map[string]struct {
		change func(*methods.Request)
		says   string
	}{
		"prompt": {func(r *methods.Request) { r.Messages[1].Content = "first line\nrank the cafes by price" },
			`message 2 (user), line 2, byte 29: recorded "e\nrank the cafes by noise", now "e\nrank the cafes by price"`},
		"messages":   {func(r *methods.Request) { r.Messages = r.Messages[:2] }, "3 messages were recorded, now there are 2"},
		"role":       {func(r *methods.Request) { r.Messages[0].Role = methods.User }, "message 1 is from user, was from system"},
		"tool calls": {func(r *methods.Request) { r.Messages[2].ToolCalls[0].Name = "find" }, `tool calls of message 3, line 2`},
		"sampling":   {func(r *methods.Request) { r.Sampling.MaxTokens = 9 }, "MaxTokens:9"},
		"draw":       {func(r *methods.Request) { r.Draw = 4 }, "draw: recorded 0, now 4"},
		"schema":     {func(r *methods.Request) { r.Schema = nil }, "schema, line 1, byte 0"},
		"tools":      {func(r *methods.Request) { r.Tools[0].Description = "peers" }, `tools, line 2, byte 8: recorded "look {}\nlooks\n", now "look {}\npeers\n"`},
		"path":       {func(r *methods.Request) { r.Path, r.Draw = "P3/c9", 1 }, "the recorded trial has no call P3/c9"},
	} {
		t.Run(name, func(t *testing.T) {
			raw, err := json.Marshal(full)
			if err != nil {
				t.Fatal(err)
			}
			var r methods.Request
			if err := json.Unmarshal(raw, &r); err != nil {
				t.Fatal(err)
			}
			c.change(&r)
			tr := trialOf("m", "s", 0)
			tr.Recorded = recorded
			g := newGateway(t, Options{Store: store, Provider: none.New(m.Info()), Mode: Replay})
			if says := missed(t, g.Host(tr), r); !strings.Contains(says, c.says) {
				t.Error(says)
			}
		})
	}
}

// missed makes a call that has no answer, and returns the reason. The method hears the
// same, whatever the reason, and the record keeps the same.
func missed(t *testing.T, h *Host, r methods.Request) string {
	t.Helper()
	_, err := h.Complete(t.Context(), r)
	if !errors.Is(err, methods.ErrMiss) || err.Error() != "call "+r.Path+": "+errMissed.Error() {
		t.Fatal(err)
	}
	calls := h.Report().Calls
	return calls[len(calls)-1].Missing
}

// TestMissForOtherReasons: another epoch, another model, a damaged transcript.
func TestMissForOtherReasons(t *testing.T) {
	store, m := openStore(t, t.TempDir()), &model{}
	h := newGateway(t, Options{Store: store, Provider: m}).Host(trialOf("m", "s", 0))
	mustComplete(t, h, ask("q", "p"))
	recorded := sealed(t, h)
	miss := func(id methods.ModelID, tr Trial) string {
		g := newGateway(t, Options{Store: store, Provider: none.New(provider.Info{ID: id}), Mode: Replay})
		return missed(t, g.Host(tr), ask("q", "p"))
	}
	tr := trialOf("m", "s", 1)
	if s := miss(m.Info().ID, tr); !strings.Contains(s, "this was never run") {
		t.Error(s)
	}
	tr.Recorded = recorded
	if s := miss(m.Info().ID, tr); !strings.Contains(s, "the request is recorded but its answer is not in the store") {
		t.Error(s)
	}
	if s := miss(methods.ModelID{Provider: "test", Model: "other"}, tr); !strings.Contains(s, "recorded with model test/m, now test/other") {
		t.Error(s)
	}
	damaged := *recorded
	damaged.Calls = []record.Call{{Path: "p", Kind: record.CompletionCall, Key: "zz"}}
	tr.Recorded = &damaged
	if s := miss(m.Info().ID, tr); !strings.Contains(s, "recorded key") {
		t.Error(s)
	}
	damaged.Calls[0].Key = cache.Key{}.String()
	if s := miss(m.Info().ID, tr); !strings.Contains(s, "cannot be read") {
		t.Error(s)
	}
}
