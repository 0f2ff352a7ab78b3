package display

import (
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"

	"noema/methods"
)

// The measures of a drawing, in pixels.
const (
	nodeWidth, nodeHeight = 236, 80
	lineHeight            = 17
	spaceX, spaceY        = 22, 44
	margin                = 16
	footer                = 24 // height of a line below the drawing
)

// drawing places nodes and writes SVG.
type drawing struct {
	strings.Builder
	at            map[string]spot
	rows          []level
	width, height int
}

// spot is where a node stands.
type spot struct{ x, row int } // left edge

// level is nodes side by side.
type level struct {
	y    int   // upper edge
	gaps []int // middles of the ways between the nodes and beside them
}

// SVG draws the graph from top to bottom: as attributes alone, without styles,
// on a light ground of its own, so that it can stand in any page; a page that has
// colours of its own finds the parts by class. A node tells its name, what it does
// and what came of it; all of that stands in full in its tooltip.
func (g Graph) SVG() string {
	part, note := g.first()
	d := &drawing{at: map[string]spot{}}
	layers := part.layers()
	states := statesOf(part.Nodes)
	d.place(layers, max(legendWidth(states), 7*Width(note)+2*margin))
	if len(states) > 0 {
		d.height += footer
	}
	if note != "" {
		d.height += footer
	}
	role := "img"
	if g.Link != nil { // a picture has no links
		role = "group"
	}
	d.open(role, g.Kind, len(g.Nodes))
	for _, e := range part.Edges {
		d.edge(e)
	}
	for _, layer := range layers {
		for _, n := range layer {
			d.node(n, g.Link)
		}
	}
	d.foot(states, note)
	d.WriteString("</svg>")
	return d.String()
}

func (d *drawing) open(role, kind string, nodes int) {
	fmt.Fprintf(d, `<svg xmlns="http://www.w3.org/2000/svg" role="%s" viewBox="0 0 %d %d" width="%d" height="%d" font-family="system-ui,sans-serif" font-size="12" fill="#1b1f24">`,
		role, d.width, d.height, d.width, d.height)
	fmt.Fprintf(d, `<title>%s graph of %d nodes</title>`, text(Line(kind, 40)), nodes)
	fmt.Fprintf(d, `<rect class="ground" width="%d" height="%d" rx="6" fill="#ffffff"/>`, d.width, d.height)
}

// place gives each node its corner, each layer centred, in a drawing of at
// least a width.
func (d *drawing) place(layers [][]methods.Node, least int) {
	widest := 1
	for _, layer := range layers {
		_, columns := rowsOf(len(layer))
		widest = max(widest, columns)
	}
	d.width = max(2*margin+widest*(nodeWidth+spaceX)-spaceX, least)
	y := margin
	for _, layer := range layers {
		rows, columns := rowsOf(len(layer))
		left := (d.width - columns*(nodeWidth+spaceX) + spaceX) / 2
		gaps := make([]int, columns+1)
		for i := range gaps {
			gaps[i] = left + i*(nodeWidth+spaceX) - spaceX/2
		}
		for i, n := range layer {
			d.at[n.ID] = spot{x: left + i/rows*(nodeWidth+spaceX), row: len(d.rows) + i%rows}
		}
		for range rows {
			d.rows = append(d.rows, level{y, gaps})
			y += nodeHeight + spaceY
		}
	}
	d.height = max(y-spaceY, margin) + margin
}

// edge draws a curve from a node to one below it, or to one above it where an
// edge leads back. On its way it goes between the nodes, never behind one.
func (d *drawing) edge(e methods.Edge) {
	from, to := d.at[e.From], d.at[e.To]
	x, end := from.x+nodeWidth/2, to.x+nodeWidth/2
	dash := ""
	if e.Kind == linkEdge {
		dash = ` stroke-dasharray="4 3"`
	}
	down, near, far := 1, 0, nodeHeight // the sides of a row at which a way comes in and goes out
	if to.row < from.row {
		down, near, far = -1, nodeHeight, 0
	}
	var path strings.Builder
	y := d.rows[from.row].y + far
	fmt.Fprintf(&path, "M%d %d", x, y)
	if from.row == to.row {
		y = d.rows[to.row].y + nodeHeight
		fmt.Fprintf(&path, "C%d %d %d %d %d %d", x, y+spaceY/2, end, y+spaceY/2, end, y)
		down = -1
	} else {
		for r := from.row + down; r != to.row; r += down {
			way := nearest(d.rows[r].gaps, x, end)
			curve(&path, x, y, way, d.rows[r].y+near)
			x, y = way, d.rows[r].y+far
			fmt.Fprintf(&path, "L%d %d", x, y)
		}
		curve(&path, x, y, end, d.rows[to.row].y+near)
		y = d.rows[to.row].y + near
	}
	fmt.Fprintf(d, `<path class="edge" d="%s" fill="none" stroke="#8a9099"%s/><path class="head" d="M%d %dl-4 %dh8z" fill="#6b727c"/>`,
		path.String(), dash, end, y, -7*down)
}

func curve(path *strings.Builder, x1, y1, x2, y2 int) {
	middle := (y1 + y2) / 2
	fmt.Fprintf(path, "C%d %d %d %d %d %d", x1, middle, x2, middle, x2, y2)
}

// nearest is the gap that makes the way from x to end the shortest.
func nearest(gaps []int, x, end int) int {
	return slices.MinFunc(gaps, func(a, b int) int {
		return abs(a-x) + abs(a-end) - abs(b-x) - abs(b-end)
	})
}

func abs(n int) int { return max(n, -n) }

func (d *drawing) node(n methods.Node, link func(methods.Node) string) {
	at := d.at[n.ID]
	x, y := at.x, d.rows[at.row].y
	c, weight := coloursOf(n.State), 1.5
	if n.Kind == "final" || n.Kind == "output" {
		weight = 3
	}
	to := ""
	if link != nil {
		to = link(n)
	}
	if to != "" {
		fmt.Fprintf(d, `<a href="%s">`, html.EscapeString(to))
	}
	fmt.Fprintf(d, `<g class="node %s"><title>%s</title><rect x="%d" y="%d" width="%d" height="%d" rx="6" fill="%s" stroke="%s" stroke-width="%g"/>`,
		outcomeOf(n.State), html.EscapeString(tooltip(n)), x, y, nodeWidth, nodeHeight, c.ground, c.border, weight)
	lines := said(n)
	for i, line := range lines {
		weight := ""
		if i == 0 {
			weight = ` font-weight="600"`
		}
		fmt.Fprintf(d, `<text x="%d" y="%d" text-anchor="middle"%s>%s</text>`,
			x+nodeWidth/2, y+nodeHeight/2+4+lineHeight*i-lineHeight*(len(lines)-1)/2, weight, html.EscapeString(line))
	}
	d.WriteString("</g>")
	if to != "" {
		d.WriteString("</a>")
	}
}

// said are the lines of a node: its name, what it does on up to two, and what came of it.
func said(n methods.Node) []string {
	const most = 33 // characters of a line
	lines := []string{clip(Line(title(n), 0), most-3)}
	if about := About(n); about != title(n) {
		first := clip(about, most)
		if len(first) < len(about) { // it goes on in a second line
			cut := string([]rune(about)[:min(most-1, len([]rune(about)))])
			if at := strings.LastIndexAny(cut, " ,("); at > most/3 {
				cut = cut[:at+1]
			} else if at := strings.LastIndexByte(cut, '.'); at > most/4 {
				cut = cut[:at+1]
			}
			lines = append(lines, strings.TrimSpace(cut), clip(strings.TrimSpace(strings.TrimPrefix(about, cut)), most))
		} else {
			lines = append(lines, first)
		}
	}
	if value := clip(Line(n.Value, 0), most); value != "" {
		lines = append(lines, value)
	}
	return lines
}

// numbered is what stands before the condition of a step: its number and its type.
var numbered = regexp.MustCompile(`^([A-Za-z ]{0,40}\d+[:.] *)?(\[[A-Z_]+\] *)?`)

// About is what a node does in one line, such as the condition that it checks: the first
// line of its text without its number, else its label or its ID.
func About(n methods.Node) string {
	line, _, _ := strings.Cut(strings.TrimSpace(n.Text), "\n")
	if line = Line(numbered.ReplaceAllString(line, ""), 0); line == "" {
		return Line(title(n), 0)
	}
	return line
}

// foot explains the colours and says what is missing.
func (d *drawing) foot(states []string, note string) {
	y := d.height - 10
	if note != "" {
		fmt.Fprintf(d, `<text x="%d" y="%d">%s</text>`, margin, y, note)
		y -= footer
	}
	x := margin
	for _, s := range states {
		c := coloursOf(s)
		fmt.Fprintf(d, `<rect x="%d" y="%d" width="11" height="11" rx="2" fill="%s" stroke="%s"/>`, x, y-10, c.ground, c.border)
		fmt.Fprintf(d, `<text x="%d" y="%d">%s</text>`, x+17, y, html.EscapeString(stateLabel(s)))
		x += stateWidth(s)
	}
}

func stateLabel(state string) string { return clip(Line(state, 0), 16) }

func stateWidth(state string) int { return 32 + 7*Width(stateLabel(state)) }

func legendWidth(states []string) int {
	w := 2 * margin
	for _, s := range states {
		w += stateWidth(s)
	}
	return w
}

// statesOf lists the first states of nodes, in order.
func statesOf(nodes []methods.Node) []string {
	var states []string
	for _, n := range nodes {
		if n.State != "" && !slices.Contains(states, n.State) {
			states = append(states, n.State)
		}
	}
	slices.Sort(states)
	return states[:min(len(states), 8)]
}

// colours are those of a node. They are apart also for people who do not see
// all colours (Okabe and Ito 2008).
type colours struct{ ground, border string }

func coloursOf(state string) colours {
	switch outcomeOf(state) {
	case "plain":
		return colours{"#f4f5f7", "#57606a"}
	case "done":
		return colours{"#e3f0f8", "#0072b2"}
	case "failed":
		return colours{"#fbe9dd", "#d55e00"}
	case "none":
		return colours{"#f0f0f0", "#808080"}
	case "open":
		return colours{"#fdf3dc", "#b87f00"}
	}
	return colours{"#e0f3ed", "#009e73"}
}

// Differs is the state of a node of which another trial has another value.
const Differs = "differs"

// outcomeOf is the class of a state: states that mean the same look the same.
func outcomeOf(state string) string {
	switch state {
	case "":
		return "plain"
	case "done":
		return "done"
	case "failed", "error", "harms", Differs:
		return "failed"
	case "undefined", "skipped", "undecided":
		return "none"
	case "open", "pending":
		return "open"
	}
	return "other"
}

// tooltip says all of a node.
func tooltip(n methods.Node) string {
	parts := []string{Visible(n.ID)}
	for _, part := range []struct{ name, text string }{{"", n.Label}, {"", n.Kind}, {"state: ", n.State}, {"", n.Text}, {"= ", n.Value}} {
		if part.text != "" && part.text != n.ID {
			parts = append(parts, part.name+Visible(part.text))
		}
	}
	return strings.Join(parts, "\n")
}
