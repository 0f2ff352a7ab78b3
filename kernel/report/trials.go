package report

import (
	"encoding/json"
	"fmt"

	"noema/kernel/compare"
	"noema/kernel/display"
	"noema/kernel/record"
	"noema/methods"
)

// TrialTable lists trials with how they ended.
func TrialTable(trials []*record.Trial) display.Table {
	var t display.Table
	t.Add("trial", "outcome", "score", "answer", "target", "calls", "tokens")
	t.Columns[5].Right, t.Columns[6].Right = true, true
	for _, r := range trials {
		score, target := "–", display.Line(string(r.Target), 40)
		if !r.HasTarget() {
			score, target = unscored, "–"
		}
		if name, v, ok := compare.Headline(r); ok {
			score = fmt.Sprintf("%s %.3g", name, v)
		}
		t.Row(r.ID.String(), string(r.Answer.Outcome), score, display.Line(string(r.Answer.Value), 60), target,
			count(len(r.Calls)), count(int(r.Usage.Tokens())))
	}
	if len(trials) == 0 {
		t.Notes = append(t.Notes, "no trials")
	}
	return t
}

// GraphOf returns the last graph that a trial's method drew.
func GraphOf(t *record.Trial) (methods.Graph, bool) {
	for i := len(t.Events) - 1; i >= 0; i-- {
		if t.Events[i].Kind != methods.GraphDrawn {
			continue
		}
		var g methods.Graph
		if err := json.Unmarshal(t.Events[i].Data, &g); err == nil && len(g.Nodes) > 0 {
			return g, true
		}
	}
	return methods.Graph{}, false
}
