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

// DOT draws the plan in Graphviz's language: an arrow leads from each atom to
// those that need it. Tools are boxes, decisions diamonds, the final atom has
// a double border. A plan with faults can be drawn, too; duplicate ids share a
// node.
func (p Plan) DOT() string {
	shapes := map[Kind]string{Tool: "box", Decision: "diamond", Final: "doublecircle"}
	quote := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	var b strings.Builder
	b.WriteString("digraph plan {\n")
	for _, a := range p.Atoms {
		shape, ok := shapes[a.Kind]
		if !ok {
			shape = "plain"
		}
		fmt.Fprintf(&b, "  n%d [shape=%s, label=\"%s\"];\n", a.node(), shape, quote.Replace(a.label()))
	}
	p.edges(func(from, to int) { fmt.Fprintf(&b, "  n%d -> n%d;\n", from, to) })
	b.WriteString("}\n")
	return b.String()
}

// Mermaid draws the plan as a Mermaid flowchart, with the shapes of [Plan.DOT].
func (p Plan) Mermaid() string {
	shapes := map[Kind][2]string{Tool: {"[", "]"}, Decision: {"{", "}"}, Final: {"(((", ")))"}}
	quote := strings.NewReplacer(`"`, "#quot;", "#", "#35;", "<", "#lt;", ">", "#gt;", "`", "#96;")
	var b strings.Builder
	b.WriteString("flowchart TD\n")
	for _, a := range p.Atoms {
		shape, ok := shapes[a.Kind]
		if !ok {
			shape = [2]string{">", "]"}
		}
		fmt.Fprintf(&b, "  n%d%s\"%s\"%s\n", a.node(), shape[0], quote.Replace(a.label()), shape[1])
	}
	p.edges(func(from, to int) { fmt.Fprintf(&b, "  n%d --> n%d\n", from, to) })
	return b.String()
}

// node is the number in the name of an atom's node. Ids below 0 are faults.
func (a Atom) node() int { return max(a.ID, 0) }

// edges calls f for each dependency, by position of the atom that has it.
func (p Plan) edges(f func(from, to int)) {
	g := newGraph(p)
	for i, needs := range g.needs {
		for _, need := range needs {
			f(p.Atoms[need].node(), p.Atoms[i].node())
		}
	}
}

// drawn is the plan with what came of each atom.
func (p *program) drawn(state State) methods.Graph {
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
