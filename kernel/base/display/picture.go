package display

import (
	"cmp"
	"fmt"
	"math"
	"strings"
)

// Measures of a plot, in pixels.
const (
	letterWidth              = 6.7        // of a character, about, in whatever font there is
	textRow                  = 18         // of a line of text beside the axes
	edge                     = 10         // around all
	inset                    = 7          // from the end of an axis to that of its numbers, so that no marker is cut
	slantedLeft, slantedDown = 0.77, 0.64 // how far a slanted text goes, for each of its own pixels
)

// onPaper ends the first tag of a drawing that stands alone: black on white. In a page it has
// the page's colours, which may be light on dark.
const onPaper = ` color="black"><rect class="paper" width="100%" height="100%" fill="white"/>`

// chart is a plot that is being drawn.
type chart struct {
	strings.Builder
	of                       Plot
	places                   []string          // of bars, from left to right
	names                    map[string]string // of series, points and places, cut
	drawn                    [][]Point         // of each series, in pixels; where there is no interval, its ends are the value
	x, y                     scale
	left, right, top, bottom float64 // of the axes
	slanted                  bool    // the names of places, which else had no room
}

// svg draws the plot. The same plot always gives the same bytes.
func (p Plot) svg() []byte {
	c := p.chart()
	fmt.Fprintf(c, `<svg xmlns="http://www.w3.org/2000/svg" class="noema-chart" role="img" aria-label="%s" width="%d" height="%d" viewBox="0 0 %[2]d %[3]d" font-family="sans-serif" font-size="11" fill="currentColor"%s`,
		text(cmp.Or(Line(p.Title, 200), "plot")), c.of.Width, c.of.Height, onPaper)
	c.frame()
	for i, points := range c.drawn {
		if p.Style == Lines && len(points) > 1 { // below all lines
			c.band(i, points)
		}
	}
	for i, points := range c.drawn {
		if len(points) > 0 {
			c.series(i, points)
		}
	}
	if p.Style == Dots {
		c.labels()
	}
	c.legend()
	c.WriteString("</svg>\n")
	return []byte(c.String())
}

func side(n, other int) int {
	if n <= 0 {
		n = other
	}
	return min(max(n, 120), maxSide)
}

// chart finds a place for all that is to be drawn.
func (p Plot) chart() *chart {
	p.Width, p.Height = side(p.Width, 640), side(p.Height, 400)
	if p.Style == Bars {
		p.X, p.Y.Log = Axis{Label: p.X.Label}, false
	}
	c := &chart{of: p}
	var names []string
	at := map[string]int{}
	for _, s := range p.Series {
		names = append(names, s.Name)
		for _, pt := range s.Points[:min(len(s.Points), maxPoints)] {
			if _, ok := at[pt.Label]; !ok {
				at[pt.Label], names, c.places = len(at), append(names, pt.Label), append(c.places, pt.Label)
			}
		}
	}
	c.names = shortNames(names, 24)
	var xs, ys []float64
	for i, s := range p.Series {
		c.drawn = append(c.drawn, c.points(i, s, at))
		for _, pt := range c.drawn[i] {
			xs, ys = append(xs, pt.XLow, pt.XHigh), append(ys, pt.Low, pt.High)
		}
	}
	if p.Style == Bars {
		xs, ys = []float64{-0.6, max(float64(len(c.places))-0.4, 0.6)}, append(ys, 0)
	}
	c.x, c.y = scaleOf(p.X, xs), scaleOf(p.Y, ys)
	c.layout()
	for _, points := range c.drawn {
		for i, pt := range points {
			points[i] = Point{c.x.at(pt.X), c.y.at(pt.Y), c.x.at(pt.XLow), c.x.at(pt.XHigh), c.y.at(pt.Low), c.y.at(pt.High), c.names[pt.Label]}
		}
	}
	return c
}

// points gives the points of a series that have a place, those of bars side by side.
func (c *chart) points(i int, s Series, at map[string]int) (all []Point) {
	for _, pt := range s.Points[:min(len(s.Points), maxPoints)] {
		if c.of.Style == Bars {
			pt.X, pt.XLow, pt.XHigh = float64(at[pt.Label])+(float64(i)-float64(len(c.of.Series)-1)/2)*c.step(), 0, 0
		}
		if drawable(pt.X, c.of.X) && drawable(pt.Y, c.of.Y) {
			pt.XLow, pt.XHigh = reach(pt.X, pt.XLow, pt.XHigh, c.of.X)
			pt.Low, pt.High = reach(pt.Y, pt.Low, pt.High, c.of.Y)
			all = append(all, pt)
		}
	}
	return all
}

// step is the distance between bars at one place.
func (c *chart) step() float64 { return 0.8 / float64(max(len(c.of.Series), 1)) }

// wide is about the width of a text.
func wide(s string) float64 { return letterWidth * float64(Width(s)) }

// layout shares the room between the axes and what stands beside them. The legend covers no
// point; no text takes so much that the axes would have nothing.
func (c *chart) layout() {
	p, width, height, places, legend, numbers := c.of, float64(c.of.Width), float64(c.of.Height), 0.0, 0.0, 0.0
	beside := func(s string) float64 { return textRow * min(wide(s), 1) }
	for i, s := range p.Series {
		if len(c.drawn[i]) > 0 && s.Name != "" {
			legend = max(legend, 46+wide(c.names[s.Name]))
		}
	}
	c.right, c.top, c.bottom = width-edge-min(legend, 0.4*(width-60)), edge+beside(p.Title), height-edge-textRow-beside(p.X.Label)
	for _, name := range c.places {
		places = max(places, wide(c.names[name]))
	}
	if c.slanted = p.Style == Bars && places+letterWidth > (c.right-70)/float64(len(c.places)+1); c.slanted {
		c.bottom -= min(places*slantedDown-edge, height/4)
	}
	if c.y.from, c.y.to = c.bottom-inset, c.top+inset; p.Style == Bars && c.y.low >= 0 {
		c.y.from = c.bottom
	}
	c.y.mark(func(string) float64 { return 36 })
	for _, t := range c.y.ticks {
		numbers = max(numbers, wide(t.label))
	}
	c.left = edge + beside(p.Y.Label) + min(numbers+6, width/4)
	c.x.from, c.x.to = c.left+inset, c.right-inset
	if p.Style != Bars {
		c.x.mark(func(s string) float64 { return wide(s) + 16 })
	}
}

// write writes a text of at most some pixels; more are further attributes.
func (c *chart) write(x, y, room float64, anchor, more, s string) {
	if s = clip(Line(s, longestName), max(int(room/letterWidth), 1)); s != "" {
		fmt.Fprintf(c, `<text x="%.1f" y="%.1f" text-anchor="%s"%s>%s</text>`, x, y, anchor, more, text(s))
	}
}

// frame draws axes, grid and their texts.
func (c *chart) frame() {
	line := func(x1, y1, x2, y2, opacity float64) {
		fmt.Fprintf(c, `<path d="M%.1f %.1fL%.1f %.1f" stroke="currentColor" stroke-opacity="%g" shape-rendering="crispEdges"/>`, x1, y1, x2, y2, opacity)
	}
	for _, t := range c.y.ticks {
		line(c.left, t.at, c.right, t.at, 0.13)
		c.write(c.left-6, t.at+4, c.left-6, "end", "", t.label)
	}
	for _, t := range c.x.ticks {
		line(t.at, c.top, t.at, c.bottom, 0.13)
		c.write(t.at, c.bottom+15, c.right, "middle", "", t.label)
	}
	line(c.left, c.top, c.left, c.bottom, 0.5)
	line(c.left, c.bottom, c.right, c.bottom, 0.5)
	if c.of.Style == Bars {
		c.placeNames()
	}
	middle, turned := (c.top+c.bottom)/2, ` transform="rotate(-90 %.1f %.1f)"`
	c.write(c.left, edge+8, 0.9*(float64(c.of.Width)-c.left-edge), "start", ` class="t1" font-weight="600"`, c.of.Title)
	c.write((c.left+c.right)/2, float64(c.of.Height)-edge, c.right-c.left, "middle", "", c.of.X.Label)
	c.write(edge+8, middle, c.bottom-c.top, "middle", fmt.Sprintf(turned, edge+8.0, middle), c.of.Y.Label)
}

// placeNames writes the names of bars' places; slanted ones as many as can be read.
func (c *chart) placeNames() {
	step, y := c.x.at(1)-c.x.at(0), c.bottom+14
	for i, name := range c.places {
		switch x := c.x.at(float64(i)); {
		case !c.slanted:
			c.write(x, y, step, "middle", "", c.names[name])
		case i%int(math.Ceil(15/max(step, 0.01))) == 0:
			turned := fmt.Sprintf(` transform="rotate(-40 %.1f %.1f)"`, x+4, y)
			c.write(x+4, y, min(x/slantedLeft, float64(c.of.Height)/4/slantedDown), "end", turned, c.names[name])
		}
	}
}
