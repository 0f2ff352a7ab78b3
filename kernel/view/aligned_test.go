package view

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"noema/kernel/lab"
	"noema/kernel/result/compare"
	"noema/kernel/result/record"
	"noema/kernel/run/runner"
	"noema/methods"
)

// inOrder is a trial that checks conditions in an order of its own, and what came of each.
func inOrder(t *testing.T, r *rand.Rand, came map[string]string) *record.Trial {
	conditions := slices.Sorted(maps.Keys(came))
	r.Shuffle(len(conditions), func(i, j int) { conditions[i], conditions[j] = conditions[j], conditions[i] })
	var g methods.Graph
	trial := &record.Trial{Transcript: &record.Transcript{}}
	for i, c := range conditions {
		path := fmt.Sprintf("P3/c%d", i+1)
		g.Nodes = append(g.Nodes, methods.Node{ID: fmt.Sprint("c", i+1), Text: c, Path: path})
		trial.Calls = append(trial.Calls, record.Call{Path: path, Kind: record.CompletionCall})
		trial.Events = append(trial.Events, methods.Event{Kind: methods.StepResult, Path: path, Text: came[c]})
	}
	data, err := json.Marshal(g)
	if err != nil {
		t.Fatal(err)
	}
	trial.Events = append(trial.Events, methods.Event{Kind: methods.GraphDrawn, Data: data})
	return trial
}

// TestTheSameStepsAreCompared: in whatever order two methods check the same conditions, those
// are marked that came to another value, and no others.
func TestTheSameStepsAreCompared(t *testing.T) {
	r := rand.New(rand.NewPCG(35, 1))
	l := &loaded{Result: &lab.Result{Result: &runner.Result{Recorded: compare.Recorded{Run: &record.Run{ID: "r"}}}}}
	for range 500 {
		first, second, want := map[string]string{}, map[string]string{}, 0
		for i := range 1 + r.IntN(8) {
			c, value := fmt.Sprintf("attributes.Field%d = \"%d\"", i, r.IntN(3)), fmt.Sprintf("[%d,%d]", r.IntN(9), 10+r.IntN(9))
			first[c], second[c] = value, value
			if r.IntN(4) == 0 {
				second[c] = "[100]"
				want++
			}
		}
		d := drawer{Columns: []column{{Method: "a", Class: "good", trial: inOrder(t, r, first)}, {Method: "b", trial: inOrder(t, r, second)}}}
		d.align(l)
		got := 0
		for _, row := range d.Rows {
			for _, cell := range row.Cells {
				if cell.Differs {
					got++
				}
			}
		}
		if got != want {
			t.Fatalf("%v\n%v\nhave %d differences, and %d are marked", first, second, want, got)
		}
	}
}
