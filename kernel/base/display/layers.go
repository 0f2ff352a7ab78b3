package display

import (
	"cmp"
	"slices"

	"noema/methods"
)

// perRow is how many nodes stand side by side before a layer takes another row.
const perRow = 8

// layers puts each node below all that it uses: as deep as the longest way to
// it, or deeper if it says so itself. Nodes of a cycle, which no method should
// draw, stay where they were when the cycle closed.
func (g Graph) layers() [][]methods.Node {
	depth := g.depths()
	order := make([]int, 0, len(depth))
	for _, d := range depth {
		order = append(order, d)
	}
	slices.Sort(order)
	order = slices.Compact(order)
	layers := make([][]methods.Node, len(order))
	for _, n := range g.Nodes {
		i, _ := slices.BinarySearch(order, depth[n.ID])
		layers[i] = append(layers[i], n)
	}
	return g.untangle(layers)
}

func (g Graph) depths() map[string]int {
	depth := map[string]int{}
	for _, n := range g.Nodes {
		depth[n.ID] = max(n.Layer, 0)
	}
	for range g.Nodes { // a longest way has no more steps than there are nodes
		moved := false
		for _, e := range g.Edges {
			if e.Kind != linkEdge && depth[e.To] <= depth[e.From] && depth[e.From] < len(g.Nodes) {
				depth[e.To], moved = depth[e.From]+1, true
			}
		}
		if !moved {
			break
		}
	}
	return depth
}

// untangle orders each layer by the mean place of the neighbours of its nodes,
// downwards by what they use and upwards by what uses them, which keeps edges
// short: the barycentre heuristic of Sugiyama, Tagawa and Toda (1981), two
// sweeps each way.
func (g Graph) untangle(layers [][]methods.Node) [][]methods.Node {
	place := map[string]float64{}
	for _, layer := range layers {
		settle(layer, place)
	}
	above, _ := g.edgesBy(func(e methods.Edge) (string, string) { return e.To, e.From })
	below, _ := g.edgesBy(func(e methods.Edge) (string, string) { return e.From, e.To })
	for range 2 {
		for _, layer := range slices.Backward(layers) {
			arrange(layer, below, place)
		}
		for _, layer := range layers {
			arrange(layer, above, place)
		}
	}
	return layers
}

// arrange sorts a layer by the mean place of its nodes' neighbours.
func arrange(layer []methods.Node, neighbours map[string][]string, place map[string]float64) {
	want := map[string]float64{}
	for _, n := range layer {
		want[n.ID] = place[n.ID]
		if near := neighbours[n.ID]; len(near) > 0 {
			sum := 0.0
			for _, id := range near {
				sum += place[id]
			}
			want[n.ID] = sum / float64(len(near))
		}
	}
	slices.SortStableFunc(layer, func(a, b methods.Node) int { return cmp.Compare(want[a.ID], want[b.ID]) })
	settle(layer, place)
}

// settle notes where each node of a layer will stand, in columns from the
// middle of the drawing.
func settle(layer []methods.Node, place map[string]float64) {
	_, columns := rowsOf(len(layer))
	for i, n := range layer {
		place[n.ID] = ((float64(i)+0.5)/float64(len(layer)) - 0.5) * float64(columns)
	}
}

// rowsOf is how many rows and columns a layer of n nodes takes. It is filled
// column by column, so that what belongs together stands together.
func rowsOf(n int) (rows, columns int) {
	rows = max((n+perRow-1)/perRow, 1)
	return rows, (n + rows - 1) / rows
}
