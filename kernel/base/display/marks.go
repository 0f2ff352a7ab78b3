package display

import (
	"fmt"
	"slices"
	"strings"
)

// palette tells series apart also for people who do not see all colours (Okabe
// and Ito 2008).
func palette(i int) string {
	all := []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#808080", "#b8a91e"}
	return all[i%len(all)]
}

// markers are those of a series: circles, squares and triangles, filled and hollow, and
// crosses tell series apart where colours are not to be seen.
func (c *chart) markers(i int, points []Point, r float64) {
	shapes := []string{"m-%[1]g 0a%[1]g %[1]g 0 1 0 %[2]g 0a%[1]g %[1]g 0 1 0-%[2]g 0z", "m-%[1]g-%[1]gh%[2]gv%[2]gh-%[2]gz", "m0-%[1]gl%[1]g %[2]gh-%[2]gz", "m-%[1]g-%[1]gl%[2]g %[2]gm0-%[2]gl-%[2]g %[2]g"}
	shape := shapes[[]int{0, 1, 2, 0, 1, 2, 3}[i%7]]
	fill, stroke := palette(i), "none"
	if i%7 > 2 {
		fill, stroke = stroke, fill
	}
	var d strings.Builder
	for _, pt := range points {
		fmt.Fprintf(&d, "M%.1f %.1f"+fmt.Sprintf(shape, r, 2*r), pt.X, pt.Y)
	}
	fmt.Fprintf(c, `<path d="%s" fill="%s" stroke="%s" stroke-width="1.5"/>`, d.String(), fill, stroke)
}

// series draws one series.
func (c *chart) series(i int, points []Point) {
	r, all := 3.5, points
	switch c.of.Style {
	case Lines:
		c.line(i, points)
		every := int(12*float64(len(all))/(c.right-c.left)) + 1 // markers that touch each other hide the line
		points = nil
		for j := 0; j < len(all); j += every {
			points = append(points, all[j])
		}
	case Bars:
		half := 0.42 * c.step() * (c.x.at(1) - c.x.at(0))
		for _, pt := range points {
			c.bar(i, pt.X-half, pt.X+half, c.y.at(0), pt.Y)
		}
		r = min(r, max(half, 1))
	}
	if c.of.Style != Lines || len(all) == 1 { // else a band shows them
		c.intervals(i, points)
	}
	c.markers(i, points, r)
}

func (c *chart) bar(i int, x, x2, y, y2 float64) {
	fmt.Fprintf(c, `<path d="M%.1f %.1fH%.1fV%.1fH%.1fZ" fill="%s" fill-opacity="0.4"/>`, x, y, x2, y2, x, palette(i))
}

func (c *chart) line(i int, points []Point) {
	fmt.Fprintf(c, `<path d="M%s" fill="none" stroke="%s" stroke-width="1.5" stroke-linejoin="round"/>`, through(points, func(pt Point) float64 { return pt.Y }), palette(i))
}

// band fills the space between the ends of the intervals along a line.
func (c *chart) band(i int, points []Point) {
	if !slices.ContainsFunc(points, func(pt Point) bool { return pt.Low != pt.High }) {
		return
	}
	back := slices.Clone(points)
	slices.Reverse(back)
	upper, lower := through(points, func(pt Point) float64 { return pt.High }), through(back, func(pt Point) float64 { return pt.Low })
	fmt.Fprintf(c, `<path d="M%sL%sZ" fill="%s" fill-opacity="0.18"/>`, upper, lower, palette(i))
}

// through is a path through points at a height of each.
func through(points []Point, y func(Point) float64) string {
	var all []string
	for _, pt := range points {
		all = append(all, fmt.Sprintf("%.1f %.1f", pt.X, y(pt)))
	}
	return strings.Join(all, "L")
}

// intervals draws those of bars and dots.
func (c *chart) intervals(i int, points []Point) {
	var d strings.Builder
	for _, pt := range points {
		if pt.Low != pt.High {
			fmt.Fprintf(&d, "M%.1f %.1fV%.1fm-3 0h6M%.1f %.1fh6", pt.X, pt.Low, pt.High, pt.X-3, pt.Low)
		}
		if pt.XLow != pt.XHigh {
			fmt.Fprintf(&d, "M%.1f %.1fH%.1fm0-3v6M%.1f %.1fv6", pt.XLow, pt.Y, pt.XHigh, pt.XLow, pt.Y-3)
		}
	}
	if d.Len() > 0 {
		fmt.Fprintf(c, `<path d="%s" fill="none" stroke="%s"/>`, d.String(), palette(i))
	}
}

// labels writes those of dots that cover nothing; all of them are in the text form. Of very
// many none could be read.
func (c *chart) labels() {
	const most, away, height = 300, 5, 12
	type box struct{ x, y, x2, y2 float64 }
	points := slices.Concat(c.drawn...)
	var taken []box
	for _, pt := range points {
		taken = append(taken, box{pt.X - away, pt.Y - away, pt.X + away, pt.Y + away}, box{pt.XLow, pt.Y - 3, pt.XHigh, pt.Y + 3}, box{pt.X - 3, pt.High, pt.X + 3, pt.Low})
	}
	for _, pt := range points[:min(len(points), most)] {
		width := wide(pt.Label)
		for _, corner := range [][2]float64{{1, -1}, {1, 1}, {-1, -1}, {-1, 1}} {
			x, y, anchor := pt.X+corner[0]*away, pt.Y+corner[1]*away, "start"
			if corner[0] < 0 {
				anchor = "end"
			}
			b := box{min(x, x+corner[0]*width), min(y, y+corner[1]*height), max(x, x+corner[0]*width), max(y, y+corner[1]*height)}
			covers := func(o box) bool { return b.x < o.x2 && o.x < b.x2 && b.y < o.y2 && o.y < b.y2 }
			if b.x >= c.left && b.x2 <= c.right && b.y >= c.top-inset && b.y2 <= c.bottom && !slices.ContainsFunc(taken, covers) {
				c.write(x, b.y2-2, c.right, anchor, "", pt.Label)
				taken = append(taken, b)
				break
			}
		}
	}
}

// legend explains the series, as many as there is room for.
func (c *chart) legend() {
	x, y := c.right+14, c.top+inset
	for i, s := range c.of.Series {
		if len(c.drawn[i]) == 0 || s.Name == "" {
			continue
		}
		if y > float64(c.of.Height)-2*textRow {
			c.write(x, y+4, textRow, "start", "", "…")
			return
		}
		switch c.of.Style {
		case Lines:
			c.line(i, []Point{{X: x, Y: y}, {X: x + 22, Y: y}})
		case Bars:
			c.bar(i, x+4, x+18, y+7, y)
		}
		c.markers(i, []Point{{X: x + 11, Y: y}}, 3.5)
		name, room := c.names[s.Name], max(int((float64(c.of.Width)-x-28)/letterWidth), 1)
		if Width(name) > room {
			name = middle(Line(s.Name, longestName), room)
		}
		c.write(x+28, y+4, c.right, "start", "", name)
		y += textRow
	}
}
