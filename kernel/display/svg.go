package display

import (
	"fmt"
	"html"
	"strings"

	"noema/methods"
)

// The measures of a drawing, in pixels.
const (
	nodeWidth, nodeHeight = 168, 46
	spaceX, spaceY        = 22, 44
	margin                = 12
	perRow                = 8 // nodes side by side before a layer takes another row
)

// drawing places nodes and writes SVG.
type drawing struct {
	strings.Builder
	at            map[string][2]int // upper left corner of each node
	width, height int
}

// SVG draws the graph from top to bottom. Its colours come from the page where
// it stands, so it reads on light and on dark ground; what a node says and what
// came of it stand in full in its tooltip.
func (g Graph) SVG() string {
	note := ""
	if more := len(g.Nodes) - maxNodes; more > 0 {
		note = fmt.Sprintf("the first %d of %d nodes", maxNodes, len(g.Nodes))
		g = Draw(methods.Graph{Kind: g.Kind, Nodes: g.Nodes[:maxNodes], Edges: g.Edges})
	}
	d := &drawing{at: map[string][2]int{}}
	layers := g.layers()
	d.place(layers)
	fmt.Fprintf(d, `<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 %d %d" width="%d" height="%d" font-family="system-ui,sans-serif" font-size="12">`,
		d.width, d.height, d.width, d.height)
	fmt.Fprintf(d, `<title>%s graph of %d nodes</title>`, html.EscapeString(Visible(g.Kind)), len(g.Nodes))
	for _, e := range g.Edges {
		d.edge(e)
	}
	for _, layer := range layers {
		for _, n := range layer {
			d.node(n)
		}
	}
	if note != "" {
		fmt.Fprintf(d, `<text x="%d" y="%d" fill="currentColor">%s</text>`, margin, d.height-4, note)
	}
	d.WriteString("</svg>")
	return d.String()
}

// place gives each node its corner, each layer centred.
func (d *drawing) place(layers [][]methods.Node) {
	widest := 1
	for _, layer := range layers {
		widest = max(widest, min(len(layer), perRow))
	}
	d.width = 2*margin + widest*(nodeWidth+spaceX) - spaceX
	y := margin
	for _, layer := range layers {
		for start := 0; start < len(layer); start += perRow {
			row := layer[start:min(start+perRow, len(layer))]
			x := (d.width - len(row)*(nodeWidth+spaceX) + spaceX) / 2
			for _, n := range row {
				d.at[n.ID] = [2]int{x, y}
				x += nodeWidth + spaceX
			}
			y += nodeHeight + spaceY
		}
	}
	d.height = y - spaceY + margin + 8
}

func (d *drawing) edge(e methods.Edge) {
	from, to := d.at[e.From], d.at[e.To]
	x1, y1, x2, y2 := from[0]+nodeWidth/2, from[1]+nodeHeight, to[0]+nodeWidth/2, to[1]
	dash := ""
	if e.Kind == "link" {
		dash = ` stroke-dasharray="4 3"`
	}
	bend := max((y2-y1)/2, 16)
	fmt.Fprintf(d, `<path d="M%d %dC%d %d %d %d %d %d" fill="none" stroke="currentColor" stroke-opacity=".45"%s/>`,
		x1, y1, x1, y1+bend, x2, y2-bend, x2, y2, dash)
	fmt.Fprintf(d, `<path d="M%d %dl-4 -7h8z" fill="currentColor" fill-opacity=".6"/>`, x2, y2)
}

// stateColours are the borders of nodes, apart for people who do not see all
// colours (Okabe and Ito 2008).
func stateColour(state string) string {
	switch state {
	case "", "done":
		return "#0072B2"
	case "failed", "error":
		return "#D55E00"
	case "undefined", "skipped":
		return "#999999"
	case "open", "pending":
		return "#E69F00"
	}
	return "#009E73"
}

func (d *drawing) node(n methods.Node) {
	at := d.at[n.ID]
	colour := stateColour(n.State)
	fmt.Fprintf(d, `<g><title>%s</title>`, html.EscapeString(tooltip(n)))
	fmt.Fprintf(d, `<rect x="%d" y="%d" width="%d" height="%d" rx="6" fill="%s" fill-opacity=".12" stroke="%s" stroke-width="1.5"/>`,
		at[0], at[1], nodeWidth, nodeHeight, colour, colour)
	lines := []string{Line(title(n), 24), Line(n.Value, 26)}
	y := at[1] + 19
	if lines[1] == "" {
		y = at[1] + nodeHeight/2 + 4
	}
	fmt.Fprintf(d, `<text x="%d" y="%d" text-anchor="middle" font-weight="600" fill="currentColor">%s</text>`,
		at[0]+nodeWidth/2, y, html.EscapeString(lines[0]))
	if lines[1] != "" {
		fmt.Fprintf(d, `<text x="%d" y="%d" text-anchor="middle" fill="currentColor">%s</text>`,
			at[0]+nodeWidth/2, y+17, html.EscapeString(lines[1]))
	}
	d.WriteString("</g>")
}

// tooltip says all of a node.
func tooltip(n methods.Node) string {
	parts := []string{n.ID}
	for _, part := range []struct{ name, text string }{{"", n.Label}, {"", n.Kind}, {"state: ", n.State}, {"", n.Text}, {"= ", n.Value}} {
		if part.text != "" && part.text != n.ID {
			parts = append(parts, part.name+Visible(part.text))
		}
	}
	return strings.Join(parts, "\n")
}
