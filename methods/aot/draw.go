package aot

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"noema/methods"
	"noema/methods/reply"
)

// label shows an atom in a graph: its id, name and input.
func (a Atom) label() string {
	var args []string
	for _, key := range slices.Sorted(maps.Keys(a.Input)) {
		args = append(args, key+"="+string(a.Input[key]))
	}
	return reply.OneLine(fmt.Sprintf("%d: %s(%s)", a.ID, a.Name, strings.Join(args, ", ")), 80)
}

// Graph is a plan that was not run, to be drawn. A plan with faults can be
// drawn, too.
func (p Plan) Graph() methods.Graph {
	g := newGraph(p).drawn(State{})
	for i := range g.Nodes {
		g.Nodes[i].Label, g.Nodes[i].State = p.Atoms[i].label(), ""
	}
	return g
}

// drawn is the plan with what came of each atom.
func (p *graph) drawn(state State) methods.Graph {
	came := map[int]AtomState{}
	for _, a := range state.Atoms {
		came[a.ID] = a
	}
	g := methods.Graph{Kind: "atoms"}
	id := func(i int) string { return fmt.Sprintf("a%d", p.plan.Atoms[i].ID) }
	for i, a := range p.plan.Atoms {
		n := methods.Node{
			ID: id(i), Label: fmt.Sprintf("%d: %s", a.ID, a.Name), Kind: string(a.Kind), Text: a.label(),
			State: "pending", Path: fmt.Sprintf("atom/%d", a.ID),
		}
		if s, ok := came[a.ID]; ok {
			n.State, n.Value = string(s.Status), string(s.Result)
			if s.Error != "" {
				n.Value = s.Error
			}
		}
		g.Nodes = append(g.Nodes, n)
		for _, need := range p.needs[i] {
			g.Edges = append(g.Edges, methods.Edge{From: id(need), To: id(i)})
		}
	}
	return g
}
