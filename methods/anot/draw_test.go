package anot_test

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

func TestDrawsItsProgram(t *testing.T) {
	for _, c := range []struct {
		name  string
		model script
		want  string
	}{
		{"all is well", working(), "c1 done [2]; c2 done [1, 2]; final done Best are [2, 1].; c1-final c2-final"},
		{"the final step fails", with(script{final: "-"}), "c1 done [2]; c2 done [1, 2]; final failed ; c1-final c2-final"},
	} {
		_, log, err := solve(t, problem(""), c.model)
		if err != nil {
			t.Fatal(err)
		}
		g := drawn(t, log)
		var nodes, edges []string
		for _, n := range g.Nodes {
			nodes = append(nodes, fmt.Sprintf("%s %s %s", n.ID, n.State, n.Value))
			if n.Path != "P3/"+n.ID || n.Text == "" || (n.Kind == "final") != (n.ID == "final") {
				t.Errorf("%s: node %+v", c.name, n)
			}
		}
		for _, e := range g.Edges {
			edges = append(edges, e.From+"-"+e.To)
		}
		if got := strings.Join(nodes, "; ") + "; " + strings.Join(edges, " "); g.Kind != "lwt" || got != c.want {
			t.Errorf("%s: %s graph %s, want %s", c.name, g.Kind, got, c.want)
		}
	}
}
