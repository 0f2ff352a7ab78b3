package generalanot_test

import (
	"encoding/json"
	"testing"

	"noema/methods"
	"noema/methods/methodtest"
)

// drawn is the graph that a method showed, and fails the test unless it showed
// just one.
func drawn(t *testing.T, log methodtest.Transcript) methods.Graph {
	t.Helper()
	var graphs []methods.Graph
	for _, e := range log.Events {
		if e.Kind != methods.GraphDrawn {
			continue
		}
		var g methods.Graph
		if err := json.Unmarshal(e.Data, &g); err != nil {
			t.Fatal(err)
		}
		graphs = append(graphs, g)
	}
	if len(graphs) != 1 {
		t.Fatalf("%d graphs in %v", len(graphs), log.Events)
	}
	return graphs[0]
}

func TestDrawsItsFormulas(t *testing.T) {
	m := working(t)
	_, log := solve(t, problem(""), m)
	g := drawn(t, log)
	if g.Kind != "compute" || len(g.Nodes) != len(seed(t).ComputeDAG)+1 || g.Nodes[0].Kind != "input" || len(g.Edges) == 0 {
		t.Fatalf("graph %+v", g)
	}
	for _, n := range g.Nodes {
		if n.State != "done" || n.Kind != "input" && (n.Value == "" || n.Text == "") {
			t.Errorf("node %+v", n)
		}
	}
	m.compile = []string{broken(t, "n_mild * 2 + n_moderate * 5", "n_mild // n_severe")}
	_, log = solve(t, problem(""), m)
	states := map[string]string{}
	for _, n := range drawn(t, log).Nodes {
		states[n.Label] = n.State
	}
	for label, want := range map[string]string{"n_mild": "done", "incident_score": "undefined", "verdict": "undefined", "recency_decay": "done"} {
		if states[label] != want {
			t.Errorf("%s is %q, want %q, in %v", label, states[label], want, states)
		}
	}
}
