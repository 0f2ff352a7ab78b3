package display

import (
	"fmt"
	"strings"

	"noema/methods"
)

// What is shown of a larger graph: its first nodes and edges. DOT and Mermaid
// have all of it.
const (
	maxNodes = 500
	maxEdges = 2000
)

// linkEdge is the kind of edges that refer across a graph. They place nothing.
const linkEdge = "link"

// Graph is a method's graph, to be shown as a drawing or as text.
type Graph struct {
	methods.Graph
	// Link gives where a click on a node of a drawing leads, such as to its call on the same
	// page; empty is nowhere. It may be nil.
	Link func(methods.Node) string
}

// Draw prepares g to be shown. Nodes without an ID or with one that was there
// before, edges to nodes that are not there and edges from a node to itself
// are left out. Equal graphs are drawn equally.
func Draw(g methods.Graph) Graph {
	known := map[string]bool{}
	clean := methods.Graph{Kind: g.Kind}
	for _, n := range g.Nodes {
		if n.ID != "" && !known[n.ID] {
			known[n.ID] = true
			clean.Nodes = append(clean.Nodes, n)
		}
	}
	for _, e := range g.Edges {
		if known[e.From] && known[e.To] && e.From != e.To {
			clean.Edges = append(clean.Edges, e)
		}
	}
	return Graph{Graph: clean}
}

// Display implements [Displayer].
func (g Graph) Display() Bundle {
	return Bundle{PlainText: []byte(g.Text()), SVG: []byte(g.SVG())}
}

// first is the part of the graph that is shown, and what to say about the rest.
func (g Graph) first() (Graph, string) {
	if len(g.Nodes) <= maxNodes && len(g.Edges) <= maxEdges {
		return g, ""
	}
	part := methods.Graph{Kind: g.Kind, Nodes: g.Nodes[:min(len(g.Nodes), maxNodes)], Edges: g.Edges}
	part = Draw(part).Graph // without the edges that lead out of it
	part.Edges = part.Edges[:min(len(part.Edges), maxEdges)]
	return Graph{part, g.Link}, fmt.Sprintf("the first %d of %d nodes and %d of %d edges",
		len(part.Nodes), len(g.Nodes), len(part.Edges), len(g.Edges))
}

// Text lists the nodes layer by layer, each with what it uses and its value; a
// tree is indented.
func (g Graph) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s graph: %d nodes, %d edges\n", Line(g.Kind, 40), len(g.Nodes), len(g.Edges))
	part, note := g.first()
	if g.Kind == "tree" {
		part.writeTree(&b)
	} else {
		part.writeLayers(&b)
	}
	if note != "" {
		fmt.Fprintf(&b, "… %s\n", note)
	}
	return b.String()
}

func (g Graph) writeLayers(b *strings.Builder) {
	uses, links := g.edgesBy(func(e methods.Edge) (string, string) { return e.To, e.From })
	for i, layer := range g.layers() {
		for _, n := range layer {
			line := fmt.Sprintf("%2d  %s", i, Line(title(n), 40))
			if from := uses[n.ID]; len(from) > 0 {
				line += " ← " + Line(strings.Join(from, ", "), 40)
			}
			b.WriteString(line + outcome(n, links[n.ID]) + "\n")
		}
	}
}

// writeTree indents each node below its parent. Nodes that no root leads to,
// because they stand in a cycle, come last.
func (g Graph) writeTree(b *strings.Builder) {
	const deepest = 20 // levels further down are not indented more
	children, links := g.edgesBy(func(e methods.Edge) (string, string) { return e.From, e.To })
	node, hasParent, done := map[string]methods.Node{}, map[string]bool{}, map[string]bool{}
	for _, n := range g.Nodes {
		node[n.ID] = n
		for _, child := range children[n.ID] {
			hasParent[child] = true
		}
	}
	var write func(id string, depth int)
	write = func(id string, depth int) {
		if done[id] {
			return
		}
		done[id] = true
		n := node[id]
		b.WriteString(strings.Repeat("  ", min(depth, deepest)) + Line(title(n), 60) + outcome(n, links[id]) + "\n")
		for _, child := range children[id] {
			write(child, depth+1)
		}
	}
	for _, n := range g.Nodes {
		if !hasParent[n.ID] {
			write(n.ID, 0)
		}
	}
	for _, n := range g.Nodes {
		write(n.ID, 0)
	}
}

// edgesBy groups the ends of edges, as ends gives them, by the first of the
// two. Where a link leads is always grouped by where it comes from.
func (g Graph) edgesBy(ends func(methods.Edge) (by, other string)) (edges, links map[string][]string) {
	edges, links = map[string][]string{}, map[string][]string{}
	for _, e := range g.Edges {
		if e.Kind == linkEdge {
			links[e.From] = append(links[e.From], e.To)
			continue
		}
		by, other := ends(e)
		edges[by] = append(edges[by], other)
	}
	return edges, links
}

// outcome is the end of a node's line: its state unless all is well, what came
// of it, and what it refers to.
func outcome(n methods.Node, links []string) string {
	var s string
	if n.State != "" && n.State != "done" {
		s += " [" + Line(n.State, 20) + "]"
	}
	if n.Value != "" {
		s += " = " + Line(n.Value, 60)
	}
	if len(links) > 0 {
		s += " ⇢ " + Line(strings.Join(links, ", "), 40)
	}
	return s
}

func title(n methods.Node) string {
	if n.Label != "" {
		return n.Label
	}
	return n.ID
}

// Mermaid is the graph in Mermaid's language, for documents.
func (g Graph) Mermaid() string {
	quote := strings.NewReplacer(`"`, "#quot;", "#", "#35;", "<", "#lt;", ">", "#gt;", "`", "#96;")
	var b strings.Builder
	b.WriteString("flowchart TD\n")
	index := map[string]int{}
	for i, n := range g.Nodes {
		index[n.ID] = i
		shape, ok := map[string][2]string{"decision": {"{", "}"}, "final": {"(((", ")))"}}[n.Kind]
		if !ok {
			shape = [2]string{"[", "]"}
		}
		fmt.Fprintf(&b, "  n%d%s\"%s\"%s\n", i, shape[0], quote.Replace(caption(n)), shape[1])
	}
	for _, e := range g.Edges {
		arrow := "-->"
		if e.Kind == linkEdge {
			arrow = "-.->"
		}
		fmt.Fprintf(&b, "  n%d %s n%d\n", index[e.From], arrow, index[e.To])
	}
	return b.String()
}

// DOT is the graph in Graphviz's language.
func (g Graph) DOT() string {
	quote := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	var b strings.Builder
	b.WriteString("digraph {\n")
	index := map[string]int{}
	for i, n := range g.Nodes {
		index[n.ID] = i
		shape := map[string]string{"tool": "shape=box, ", "decision": "shape=diamond, ", "final": "shape=doublecircle, "}[n.Kind]
		fmt.Fprintf(&b, "  n%d [%slabel=\"%s\"];\n", i, shape, quote.Replace(caption(n)))
	}
	for _, e := range g.Edges {
		style := ""
		if e.Kind == linkEdge {
			style = " [style=dashed, constraint=false]"
		}
		fmt.Fprintf(&b, "  n%d -> n%d%s;\n", index[e.From], index[e.To], style)
	}
	b.WriteString("}\n")
	return b.String()
}

// caption is what a node says on one line.
func caption(n methods.Node) string {
	s := Line(title(n), 80)
	if n.Value != "" {
		s += ": " + Line(n.Value, 40)
	}
	return s
}
