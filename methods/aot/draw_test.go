package aot_test

import (
	"encoding/json"
	"fmt"
	"strings"
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

func TestDrawsItsAtoms(t *testing.T) {
	for _, c := range []struct {
		name, reply, want string
	}{
		{"all is well", seedPlan, `a1 done 22; a2 done 66; a3 done 56; a4 done 56; a1-a2 a2-a3 a3-a4`},
		{"an atom fails", strings.Replace(strings.Replace(seedPlan, `"add"`, `"divide"`, 1), `"b": 7`, `"b": 0`, 1),
			"a1 failed division by zero; a2 skipped atom 1 has no result; a3 skipped atom 2 has no result; a4 skipped atom 3 has no result; a1-a2 a2-a3 a3-a4"},
	} {
		_, log := solve(t, problem(methods.Number, `{"retries":0}`), methodtest.Reply(c.reply), &desk{})
		g := drawn(t, log)
		var nodes, edges []string
		for _, n := range g.Nodes {
			nodes = append(nodes, fmt.Sprintf("%s %s %s", n.ID, n.State, n.Value))
			if n.Path != "atom/"+n.ID[1:] || n.Text == "" || n.Kind == "" {
				t.Errorf("%s: node %+v", c.name, n)
			}
		}
		for _, e := range g.Edges {
			edges = append(edges, e.From+"-"+e.To)
		}
		if got := strings.Join(nodes, "; ") + "; " + strings.Join(edges, " "); g.Kind != "atoms" || got != c.want {
			t.Errorf("%s: %s graph %s, want %s", c.name, g.Kind, got, c.want)
		}
	}
}
