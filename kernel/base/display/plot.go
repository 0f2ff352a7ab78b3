package display

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
)

// Plot is points of one or more series with their intervals, drawn as SVG. Its
// text form is a table of the points, so that nothing is to be seen in the
// picture alone.
type Plot struct {
	Title  string
	X, Y   Axis
	Series []Series
	Style  Style
	Width  int // of the picture, in pixels; 0 is 640
	Height int // 0 is 400
}

// Axis is one axis. If Min is below Max, points beyond them are left out; else
// it is as long as the points need.
type Axis struct {
	Label    string
	Min, Max float64
	Log      bool // logarithmic: points that are not above 0 are left out
}

// Series is points of one name. Points that are not finite are left out.
type Series struct {
	Name   string
	Points []Point
}

// Point is a value with its interval; where Low is not below High there is none.
type Point struct {
	X, Y        float64
	XLow, XHigh float64
	Low, High   float64
	Label       string // of the point, or of its place on the axis in bars
}

// Style says how series are drawn.
type Style int

// The styles.
const (
	Lines Style = iota // points joined in their order, intervals as a band
	Dots               // points alone, with their labels and intervals both ways
	Bars               // series side by side at each place; Y from 0, never logarithmic
)

// Bounds of a plot. Of a longer series the first points are drawn, and the
// table names fewer still.
const (
	maxPoints    = 5000
	maxTableRows = 1000
	maxSide      = 4000 // pixels
)

// Display implements [Displayer].
func (p Plot) Display() Bundle {
	t := p.table()
	return Bundle{SVG: p.svg(), PlainText: []byte(t.Text())}
}

// table lists the points.
func (p Plot) table() Table {
	t := Table{Title: p.Title}
	labelled, total := p.labelled(), 0
	if p.Style == Bars {
		t.Columns = []Column{{Name: ""}, {Name: cmp.Or(p.X.Label, "x")}, {Name: cmp.Or(p.Y.Label, "y"), Right: true}}
	} else {
		t.Columns = []Column{{Name: ""}, {Name: cmp.Or(p.X.Label, "x"), Right: true}, {Name: cmp.Or(p.Y.Label, "y"), Right: true}}
	}
	if labelled {
		t.Add("label")
	}
	for _, s := range p.Series {
		if len(s.Points) > maxPoints {
			t.Notes = append(t.Notes, fmt.Sprintf("%s: the picture has the first %d of %d points", Line(s.Name, 40), maxPoints, len(s.Points)))
		}
		total += len(s.Points)
		for _, pt := range s.Points[:min(len(s.Points), maxTableRows-len(t.Rows))] {
			x := interval(pt.X, pt.XLow, pt.XHigh)
			if p.Style == Bars {
				x = pt.Label
			}
			row := []string{s.Name, x, interval(pt.Y, pt.Low, pt.High)}
			if labelled {
				row = append(row, pt.Label)
			}
			t.Row(row...)
		}
	}
	t.noteMore(total - len(t.Rows))
	return t
}

// labelled reports whether labels say more than the names of the series do.
func (p Plot) labelled() bool {
	if p.Style == Bars {
		return false // there they are the places
	}
	for _, s := range p.Series {
		for _, pt := range s.Points {
			if pt.Label != "" && pt.Label != s.Name {
				return true
			}
		}
	}
	return false
}

func interval(v, low, high float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	s := strconv.FormatFloat(v, 'g', 3, 64)
	if low < high {
		s += fmt.Sprintf(" [%.3g, %.3g]", low, high)
	}
	return s
}
