package generalanot

import (
	"fmt"
	"slices"

	"noema/methods"
	"noema/methods/generalanot/pyexpr"
)

// Graph is the seed as a graph: what is extracted, looked up or read of the reviews,
// the steps that use it, and which of them are outputs. A formula with a fault has
// no edges.
func (s *FormulaSeed) Graph() methods.Graph {
	d := drawing{seed: s, layer: map[string]int{}}
	g := methods.Graph{Kind: "compute"}
	for _, f := range s.ExtractionFields {
		g.Nodes = append(g.Nodes, methods.Node{ID: "field " + f.Name, Label: f.Name, Kind: "input", Text: "extracted: " + f.domain()})
	}
	for _, l := range s.Lookups {
		g.Nodes = append(g.Nodes, methods.Node{ID: "lookup " + l.Name, Label: l.Name, Kind: "input", Text: fmt.Sprintf("looked up by %s in %d rows", l.Field, len(l.Table))})
	}
	uses := make([][]string, len(s.ComputeDAG))
	inputs := map[string]bool{}
	for i, step := range s.ComputeDAG {
		uses[i] = d.uses(step)
		for _, id := range uses[i] {
			inputs[id] = true
		}
	}
	for _, name := range []string{extractionsInput, reviewsInput} {
		if inputs[name] {
			g.Nodes = append(g.Nodes, methods.Node{ID: name, Kind: "input"})
		}
	}
	for i, step := range s.ComputeDAG {
		id := "step " + step.Name
		n := methods.Node{ID: id, Label: step.Name, Kind: "formula", Text: step.Formula, Layer: 1}
		if slices.Contains(s.OutputFields, step.Name) {
			n.Kind = "output"
		}
		for _, from := range uses[i] {
			n.Layer = max(n.Layer, d.layer[from]+1)
			g.Edges = append(g.Edges, methods.Edge{From: from, To: id})
		}
		d.layer[id] = n.Layer
		g.Nodes = append(g.Nodes, n)
	}
	return g
}

// drawing finds what the steps of a seed use.
type drawing struct {
	seed  *FormulaSeed
	layer map[string]int // of each node; 0 for inputs
}

// uses are the nodes that a step reads, in a fixed order.
func (d drawing) uses(s ComputeStep) (ids []string) {
	e, err := pyexpr.Compile(s.Formula)
	if err != nil {
		return nil
	}
	for _, name := range e.Names() {
		switch {
		case slices.ContainsFunc(d.seed.ComputeDAG, func(o ComputeStep) bool { return o.Name == name }):
			ids = append(ids, "step "+name)
		case slices.ContainsFunc(d.seed.Lookups, func(l Lookup) bool { return l.Name == name }):
			ids = append(ids, "lookup "+name)
		case name == extractionsInput || name == reviewsInput:
			ids = append(ids, d.read(e, name)...)
		}
	}
	return ids
}

// read are the fields that a formula reads of one of the lists, or the list itself
// where it reads no field or what every review has.
func (d drawing) read(e *pyexpr.Expr, list string) (ids []string) {
	whole := true
	for _, f := range e.Fields(list) {
		id := list
		if list == extractionsInput && slices.ContainsFunc(d.seed.ExtractionFields, func(x ExtractionField) bool { return x.Name == f.Name }) {
			id = "field " + f.Name
		}
		whole = false
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	if whole {
		ids = append(ids, list)
	}
	return ids
}
