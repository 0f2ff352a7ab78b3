package report

import (
	"fmt"
	"math"
	"strings"

	"noema/kernel/base/display"
	"noema/kernel/base/score"
)

// drawing is a picture whose places from left to right are percent of its width, so that
// texts keep their size at any. Its colours are for white paper, as in a file or a notebook;
// a page has others for its classes.
type drawing struct {
	strings.Builder
	height int
}

// Colours of drawings on paper.
const (
	inkColour    = "#15181c"
	greyColour   = "#626b76"
	lineColour   = "#bcc3cb"
	accentColour = "#0b57b0"
)

// newDrawing begins a drawing of a height in pixels; width is where no page says another.
func newDrawing(width, height int, title string) *drawing {
	d := &drawing{height: height}
	fmt.Fprintf(d, `<svg xmlns="http://www.w3.org/2000/svg" class="noema-plot" role="img" width="%d" height="%d" font-family="sans-serif" font-size="11"><title>%s</title><rect class="paper" width="100%%" height="100%%" fill="white"/>`,
		width, height, escaped(title))
	return d
}

// text writes at a place; class is t1 for what counts, t2 for what is read beside it, or
// empty for units and names of axes.
func (d *drawing) text(x, y float64, anchor, class, text string) {
	colour, weight := greyColour, ""
	if class != "" {
		colour = inkColour
	}
	if class == "t1" {
		weight = ` font-weight="600"`
	}
	fmt.Fprintf(d, `<text class="%s" x="%.2f%%" y="%.1f" text-anchor="%s" fill="%s"%s>%s</text>`, class, x, y, anchor, colour, weight, escaped(text))
}

// line is drawn across from x1 to x2, or down where these are one.
func (d *drawing) line(x1, x2, y1, y2 float64, class, colour string) {
	fmt.Fprintf(d, `<line class="%s" x1="%.2f%%" x2="%.2f%%" y1="%.1f" y2="%.1f" stroke="%s"/>`, class, x1, x2, y1, y2, colour)
}

func (d *drawing) rect(x, width, y, height float64, class, colour string, opacity float64) {
	fmt.Fprintf(d, `<rect class="%s" x="%.2f%%" width="%.2f%%" y="%.1f" height="%.1f" fill="%s" fill-opacity="%.2f"/>`, class, x, max(0, width), y, height, colour, opacity)
}

// dot is full where something is proven, and hollow where it is not.
func (d *drawing) dot(x, y float64, proven bool) {
	class, fill, colour := "pt", "white", greyColour
	if proven {
		class, fill, colour = "pt w", accentColour, accentColour
	}
	fmt.Fprintf(d, `<circle class="%s" cx="%.2f%%" cy="%.1f" r="4" fill="%s" stroke="%s" stroke-width="2"/>`, class, x, y, fill, colour)
}

// diamond spans an interval, with its corners at a value.
func (d *drawing) diamond(low, value, high, y float64, proven bool) {
	class, fill := "dia", greyColour
	if proven {
		class, fill = "dia w", accentColour
	}
	at := 100 * (value - low) / max(high-low, 1e-9)
	fmt.Fprintf(d, `<svg x="%.2f%%" width="%.2f%%" y="%.1f" height="16" viewBox="0 0 100 16" preserveAspectRatio="none"><polygon class="%s" points="0,8 %.1f,0 100,8 %.1f,16" fill="%s"/></svg>`,
		low, max(high-low, 0.3), y-8, class, at, at, fill)
}

// titled has what do draws tell a text to who points at it, and lead somewhere if to is one.
func (d *drawing) titled(title, to string, do func()) {
	if to != "" {
		fmt.Fprintf(d, `<a href="%s">`, escaped(to))
	}
	d.WriteString("<g><title>" + escaped(title) + "</title>")
	do()
	d.WriteString("</g>")
	if to != "" {
		d.WriteString("</a>")
	}
}

// picture is the drawing with a table of the same numbers.
func (d *drawing) picture(t display.Table) display.Bundle {
	d.WriteString("</svg>\n")
	svg := d.String()
	if strings.Contains(svg, "<a ") { // a picture has no links
		svg = strings.Replace(svg, `role="img"`, `role="group"`, 1)
	}
	return display.Bundle{display.SVG: []byte(svg), display.PlainText: []byte(t.Text())}
}

func escaped(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(display.Visible(text))
}

// Bar is a measure of one method, from 0 to 1.
type Bar struct {
	Method string
	score.Metric
	Proven bool // it is shown to be better than another
}

const barRow = 18 // pixels

// Bars are measures below each other on one scale from 0 to 1, with their intervals and what
// guessing earns as a tick, unless chance is not a number.
func Bars(title string, bars []Bar, chance float64) display.Bundle {
	d := newDrawing(480, barRow*len(bars), title)
	const from, width = 28.0, 60.0
	var t display.Table
	t.AddWhole("method", title)
	for i, b := range bars {
		t.Row(b.Method, metric(b.Metric, true))
		y, names := float64(barRow*i), "t2"
		if b.Proven {
			names = "t2 w"
		}
		d.titled(b.Method+" "+metric(b.Metric, true), "", func() {
			d.text(from-2, y+13, "end", names, display.Line(b.Method, 18))
			d.text(100, y+13, "end", names, metric(b.Metric, false))
			d.rect(from, width, y+5, 8, "track", "#f0f1f3", 1)
			if !b.Defined {
				return
			}
			at := func(x float64) float64 { return from + width*min(1, max(0, x)) }
			fill, colour := "bar", lineColour
			if b.Proven {
				fill, colour = "bar w", "#a6caef"
			}
			d.rect(from, at(b.Value)-from, y+5, 8, fill, colour, 1)
			if b.HasInterval() {
				d.rect(at(b.Low), at(b.High)-at(b.Low), y+8, 2, "ci", inkColour, 1)
			}
			if !math.IsNaN(chance) {
				d.line(at(chance), at(chance), y+3, y+15, "tick", inkColour)
			}
		})
	}
	return d.picture(t)
}
