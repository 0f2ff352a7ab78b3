package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"noema/kernel/lab"
	"noema/kernel/model/provider/scripted"
	"noema/kernel/session/builtin"
	"noema/methods"
	"noema/methods/methodtest"
	"noema/plugins"
)

// realTrial is a trial of a method on a generated task with what a language model
// replied, by call path, and what the method made of it.
type realTrial struct {
	Method   string              `json:"method"`
	Task     string              `json:"task"`
	Sample   string              `json:"sample"`
	Options  json.RawMessage     `json:"options,omitempty"`
	Replies  map[string]string   `json:"replies"`
	Outcome  methods.Outcome     `json:"outcome"`
	Value    json.RawMessage     `json:"value,omitempty"`
	Repaired bool                `json:"repaired,omitempty"` // the answer was read from another form than the one asked for
	Events   []methods.EventKind `json:"events,omitempty"`   // the kinds that tell of faults, each once
}

// TestRealReplies replays what SmolLM2-135M-Instruct (Apache-2.0) said to every
// method, greedily and cut off at 100 to 160 tokens, so that readers of replies meet
// the text of a language model without one. Replies are found by call path: they
// stay what they are when a prompt changes. New ones come from "noema runs export
// RUN --rows calls"; -update writes what the methods make of them, to be read by eye.
func TestRealReplies(t *testing.T) {
	t.Parallel()
	file := filepath.Join("testdata", "real", "smollm2.json")
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var trials []realTrial
	if err := json.Unmarshal(raw, &trials); err != nil {
		t.Fatal(err)
	}
	met := map[string]bool{}
	_, lack := plugins.FindPython()
	for i, want := range trials {
		if lack != nil && strings.HasSuffix(want.Task, "?python=true") {
			t.Logf("%s is not replayed: %v", want.Method, lack)
			met[want.Method] = true
			continue
		}
		got := replayReal(t, want)
		a, _ := json.Marshal(got)
		b, _ := json.Marshal(want)
		if string(a) != string(b) && !*update {
			t.Errorf("%s on %s, %s:\n got %s\nwant %s", want.Method, want.Task, want.Sample, a, b)
		}
		trials[i], met[want.Method] = got, true
	}
	for name := range builtin.Methods() {
		if !met[name] {
			t.Errorf("no reply to %s is recorded", name)
		}
	}
	if *update {
		raw, err := json.MarshalIndent(trials, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, append(raw, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// replayReal solves the sample of a trial with its replies.
func replayReal(t *testing.T, r realTrial) realTrial {
	t.Helper()
	tk, err := lab.Open(lab.Options{Catalog: builtin.Catalog{}}).Task(r.Task, nil)
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(tk.Samples, func(s lab.Sample) bool { return s.ID == r.Sample })
	if at < 0 {
		t.Fatalf("%s has no sample %s", r.Task, r.Sample)
	}
	var script scripted.Script
	for path, text := range r.Replies {
		script.Rules = append(script.Rules, scripted.Rule{Path: path, Replies: []any{text}})
	}
	model, err := scripted.New(script)
	if err != nil {
		t.Fatal(err)
	}
	p := presented(t, tk.Samples[at])
	p.Options = r.Options
	var tools methods.Toolbox
	if tk.Environment != nil {
		p.Tools, tools = tk.Environment.Tools(), environmentTools{tk.Environment}
	}
	host := methodtest.NewHost(model, methodtest.WithTools(tools))
	a, err := builtin.Methods()[r.Method].Solve(t.Context(), p, host)
	if err != nil {
		t.Fatalf("%s on %s, %s: %v", r.Method, r.Task, r.Sample, err)
	}
	r.Outcome, r.Value, r.Repaired, r.Events = a.Outcome, a.Value, false, nil
	for _, e := range host.Transcript().Events {
		switch e.Kind {
		case methods.AnswerRepaired:
			r.Repaired = true
		case methods.Repair, methods.Retry, methods.Dropped, methods.Fallback, methods.StepError:
			if !slices.Contains(r.Events, e.Kind) {
				r.Events = append(r.Events, e.Kind)
			}
		}
	}
	slices.Sort(r.Events)
	return r
}
