package record

import (
	"encoding/json"
	"strings"
	"testing"

	"noema/kernel/base/score"
	"noema/methods"
)

// TestFirstDivergence: each kind of difference is found, at its path and in
// words, in the order calls, events, answer, score.
func TestFirstDivergence(t *testing.T) {
	for name, c := range map[string]struct {
		change     func(*Trial)
		path, says string
	}{
		"answer to a call": {func(t *Trial) { t.Calls[1].Digest, t.Answer.Outcome = "zz", methods.Failed }, "P3/c2",
			"same request, different reply (digest was d2, is now zz)"},
		"request": {func(t *Trial) { t.Calls[1].Key = "zz" }, "P3/c2", "another request: key was bb, is now zz"},
		"draw":    {func(t *Trial) { t.Calls[1].Draw = 0 }, "P3/c2", "another request"},
		"fault": {func(t *Trial) {
			t.Calls[0].Fault, t.Calls[0].Error, t.Calls[0].Missing = MissFault, "not recorded", "not recorded: line 3"
		}, "P1", "failed: not recorded: line 3"},
		"fault, silent":      {func(t *Trial) { t.Calls[0].Fault = MissFault }, "P1", "failed"},
		"no fault":           {func(t *Trial) { t.Calls[3].Fault, t.Calls[3].Digest = "", "d" }, "P3/c10", "recorded as failed (budget), answered now"},
		"a call less":        {func(t *Trial) { t.Calls, t.Failure = t.Calls[1:], "it broke" }, "P1", "recorded but not made now: it broke"},
		"the last call less": {func(t *Trial) { t.Calls = t.Calls[:4] }, "seed/formula", "recorded but not made now"},
		"a call more":        {func(t *Trial) { t.Calls = append(t.Calls, Call{Path: "P2", Error: "why"}) }, "P2", "a call that was not recorded: why"},
		"a last call":        {func(t *Trial) { t.Calls = append(t.Calls, Call{Path: "z"}) }, "z", "a call that was not recorded"},
		"event":              {func(t *Trial) { t.Events[1].Text = "no" }, "P3/c2", `event was step_result "yes"`},
		"event's data":       {func(t *Trial) { t.Events[1].Data = json.RawMessage("2") }, "P3/c2", `is now step_result "yes" "2"`},
		"an event more":      {func(t *Trial) { t.Events = append(t.Events, methods.Event{Path: "z", Kind: "new"}) }, "z", "a new event: new"},
		"an event less":      {func(t *Trial) { t.Events = t.Events[:2] }, "P3/c2", `an event is missing: step_start "step"`},
		"outcome":            {func(t *Trial) { t.Answer.Outcome, t.Failure = methods.Failed, "plugin crashed" }, "", "outcome was defaulted, is now error: plugin crashed"},
		"value":              {func(t *Trial) { t.Answer.Value = json.RawMessage("[1]") }, "", "answer was [3,1], is now [1]"},
		"reason":             {func(t *Trial) { t.Answer.Reason = "x" }, "", `reason was "none better", is now "x"`},
		"score":              {func(t *Trial) { t.Score = score.Score{Values: map[string]float64{"mrr": 1}} }, "", "score was map[hits@1:1 mrr:0.5], is now map[mrr:1]"},
		"evidence":           {func(t *Trial) { t.Answer.Evidence = nil }, "", "other evidence"},
		"seed":               {func(t *Trial) { t.Seed++ }, "", "hash was"},
	} {
		t.Run(name, func(t *testing.T) {
			recorded := stored(t, seal(t, fullTrial()))
			now := fullTrial()
			c.change(now)
			d := FirstDivergence(recorded, seal(t, now))
			if d == nil {
				t.Fatal("no divergence")
			}
			if d.Path != c.path || !strings.Contains(d.What, c.says) || d.Trial != recorded.ID {
				t.Errorf("at %q: %s", d.Path, d.What)
			}
		})
	}
	if d := FirstDivergence(stored(t, seal(t, fullTrial())), seal(t, fullTrial())); d != nil {
		t.Errorf("equal trials diverge: %v", d)
	}
}

func TestDivergenceString(t *testing.T) {
	d := Divergence{Trial: TrialID{"cot", "a", 0}, What: "w"}
	if d.String() != "trial cot/a/1: w" {
		t.Error(d)
	}
	d.Path = "p"
	if d.String() != "trial cot/a/1, call p: w" {
		t.Error(d)
	}
}
