package display

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"noema/methods"
)

// maxNodes bounds a drawing; of a larger graph the first nodes are drawn.
const maxNodes = 300

// Graph is a method's graph, to be shown as a drawing or as text.
type Graph struct{ methods.Graph }

// Draw prepares g to be shown. Edges to nodes that it does not have are left
// out, and equal graphs are drawn equally.
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
	return Graph{clean}
}

// Display implements [Displayer].
func (g Graph) Display() Bundle {
	return Bundle{PlainText: []byte(g.Text()), SVG: []byte(g.SVG())}
}

// Text lists the nodes layer by layer, each with what it uses and its value.
func (g Graph) Text() string {
	var b strings.Builder
	uses := map[string][]string{}
	for _, e := range g.Edges {
		uses[e.To] = append(uses[e.To], e.From)
	}
	fmt.Fprintf(&b, "%s graph: %d nodes, %d edges\n", Line(g.Kind, 40), len(g.Nodes), len(g.Edges))
	for i, layer := range g.layers() {
		for _, n := range layer {
			line := fmt.Sprintf("%2d  %s", i, Line(title(n), 40))
			if from := uses[n.ID]; len(from) > 0 {
				line += " ← " + Line(strings.Join(from, ", "), 40)
			}
			if n.State != "" && n.State != "done" {
				line += " [" + Line(n.State, 20) + "]"
			}
			if n.Value != "" {
				line += " = " + Line(n.Value, 60)
			}
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

func title(n methods.Node) string {
	if n.Label != "" {
		return n.Label
	}
	return n.ID
}

// layers puts each node below all that it uses: as deep as the longest way to
// it, or deeper if it says so itself. Nodes of a cycle, which no method should
// draw, stay where they were when the cycle closed.
func (g Graph) layers() [][]methods.Node {
	depth := map[string]int{}
	for _, n := range g.Nodes {
		depth[n.ID] = max(n.Layer, 0)
	}
	for range min(len(g.Nodes), 2*maxNodes) {
		moved := false
		for _, e := range g.Edges {
			if e.Kind != "link" && depth[e.To] < depth[e.From]+1 && depth[e.From] < len(g.Nodes) {
				depth[e.To], moved = depth[e.From]+1, true
			}
		}
		if !moved {
			break
		}
	}
	used := map[int]bool{}
	for _, d := range depth {
		used[d] = true
	}
	order := make([]int, 0, len(used))
	for d := range used {
		order = append(order, d)
	}
	slices.Sort(order)
	layers := make([][]methods.Node, len(order))
	for _, n := range g.Nodes {
		i, _ := slices.BinarySearch(order, depth[n.ID])
		layers[i] = append(layers[i], n)
	}
	return g.untangle(layers)
}

// untangle orders each layer by the mean place of what its nodes use, which
// keeps edges short (the barycentre heuristic of Sugiyama, Tagawa and Toda 1981,
// one sweep down).
func (g Graph) untangle(layers [][]methods.Node) [][]methods.Node {
	place := map[string]float64{}
	before := map[string][]string{}
	for _, e := range g.Edges {
		before[e.To] = append(before[e.To], e.From)
	}
	for _, layer := range layers {
		want := map[string]float64{}
		for i, n := range layer {
			want[n.ID] = float64(i)
			if from := before[n.ID]; len(from) > 0 {
				sum := 0.0
				for _, id := range from {
					sum += place[id]
				}
				want[n.ID] = sum / float64(len(from))
			}
		}
		slices.SortStableFunc(layer, func(a, b methods.Node) int { return cmp.Compare(want[a.ID], want[b.ID]) })
		for i, n := range layer {
			place[n.ID] = float64(i)
		}
	}
	return layers
}

// Mermaid is the graph in Mermaid's language, for documents.
func (g Graph) Mermaid() string {
	var b strings.Builder
	b.WriteString("flowchart TD\n")
	index := map[string]int{}
	for i, n := range g.Nodes {
		index[n.ID] = i
		fmt.Fprintf(&b, "  n%d[\"%s\"]\n", i, quoted(title(n), n.Value))
	}
	for _, e := range g.Edges {
		arrow := "-->"
		if e.Kind == "link" {
			arrow = "-.->"
		}
		fmt.Fprintf(&b, "  n%d %s n%d\n", index[e.From], arrow, index[e.To])
	}
	return b.String()
}

// DOT is the graph in Graphviz's language.
func (g Graph) DOT() string {
	var b strings.Builder
	b.WriteString("digraph {\n")
	index := map[string]int{}
	for i, n := range g.Nodes {
		index[n.ID] = i
		fmt.Fprintf(&b, "  n%d [label=\"%s\"];\n", i, strings.ReplaceAll(quoted(title(n), n.Value), "#quot;", `\"`))
	}
	for _, e := range g.Edges {
		style := ""
		if e.Kind == "link" {
			style = " [style=dashed]"
		}
		fmt.Fprintf(&b, "  n%d -> n%d%s;\n", index[e.From], index[e.To], style)
	}
	b.WriteString("}\n")
	return b.String()
}

// quoted is a node's text within quotes.
func quoted(title, value string) string {
	s := Line(title, 40)
	if value != "" {
		s += ": " + Line(value, 40)
	}
	return strings.NewReplacer(`"`, "#quot;", `\`, "/", "<", "‹", ">", "›").Replace(s)
}
