package phases

import (
	"cmp"
	"fmt"
	"slices"

	"noema/methods"
	"noema/methods/reply"
)

// Best are the places of the k largest values, the largest first; of equal ones the
// first.
func Best[N cmp.Ordered](values []N, k int) []int {
	order := reply.InOrder(len(values))
	for i := range order {
		order[i]--
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[b], values[a]) })
	return order[:min(k, len(order))]
}

// Graph is what a method draws of its work. Nodes are added in an order that does not
// depend on which call was faster.
type Graph struct{ drawn methods.Graph }

// NewGraph is an empty graph of a kind, such as "tree".
func NewGraph(kind string) *Graph { return &Graph{methods.Graph{Kind: kind}} }

// Add adds a node that uses those named, and returns its ID, which is its place.
func (g *Graph) Add(n methods.Node, from ...string) string {
	n.ID = fmt.Sprint(len(g.drawn.Nodes) + 1)
	for _, id := range from {
		g.drawn.Edges = append(g.drawn.Edges, methods.Edge{From: id, To: n.ID})
	}
	g.drawn.Nodes = append(g.drawn.Nodes, n)
	return n.ID
}

// Drafts adds a node for each draft and returns their IDs.
func (g *Graph) Drafts(label string, layer int, drafts []Draft, from ...string) []string {
	ids := make([]string, len(drafts))
	for i, d := range drafts {
		ids[i] = g.Add(methods.Node{Label: label, Kind: "draft", Layer: layer, Text: d.Text, Value: string(d.Answer.Value), State: "done", Path: d.Path}, from...)
	}
	return ids
}

// Mark gives a node a state.
func (g *Graph) Mark(id, state string) {
	for i := range g.drawn.Nodes {
		if g.drawn.Nodes[i].ID == id {
			g.drawn.Nodes[i].State = state
		}
	}
}

// Draw shows the graph as it is now, as work of a phase.
func (g *Graph) Draw(t *Trial, phase string) { t.Host.Emit(methods.GraphEvent(phase, g.drawn)) }
