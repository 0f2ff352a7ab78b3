package display

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Plot is points of one or more series with their intervals. Its text form is a
// table of the points, so that nothing is to be seen in the picture alone.
type Plot struct {
	Title  string
	X, Y   Axis
	Series []Series
	Style  Style
	Width  int // of the picture, in pixels; 0 is 640
	Height int // 0 is 400
}

// Axis is one axis. With Min equal to Max it is as long as the points need.
type Axis struct {
	Label    string
	Min, Max float64
	Log      bool // for values above 0 alone
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
	Lines Style = iota // points joined in their order
	Dots               // points alone, with their labels
	Bars               // series side by side at each place; Y from 0
)

// palette tells series apart also for people who do not see all colours (Okabe
// and Ito 2008).
func palette(i int) color.RGBA {
	all := []color.RGBA{
		{0x00, 0x72, 0xb2, 0xff}, {0xd5, 0x5e, 0x00, 0xff}, {0x00, 0x9e, 0x73, 0xff}, {0xcc, 0x79, 0xa7, 0xff},
		{0xe6, 0x9f, 0x00, 0xff}, {0x56, 0xb4, 0xe9, 0xff}, {0x55, 0x55, 0x55, 0xff}, {0xb8, 0xa9, 0x1e, 0xff},
	}
	return all[i%len(all)]
}

// Display implements [Displayer].
func (p Plot) Display() Bundle {
	b := Bundle{PlainText: []byte(p.table().Text())}
	for _, form := range []struct{ mime, format string }{{SVG, "svg"}, {PNG, "png"}} {
		raw, err := p.picture(form.format)
		if err != nil {
			b[PlainText] = append(b[PlainText], fmt.Sprintf("no picture: %v\n", err)...)
			return b
		}
		b[form.mime] = raw
	}
	return b
}

func (p Plot) table() Table {
	t := Table{Title: p.Title, Columns: []Column{{Name: ""}, {Name: or(p.X.Label, "x"), Right: true}, {Name: or(p.Y.Label, "y"), Right: true}}}
	for _, s := range p.Series {
		for _, pt := range s.Points {
			x := interval(pt.X, pt.XLow, pt.XHigh)
			if p.Style == Bars {
				x = pt.Label
			}
			t.Row(s.Name, x, interval(pt.Y, pt.Low, pt.High))
		}
	}
	return t
}

func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
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

// picture draws the plot. The same plot always gives the same bytes.
func (p Plot) picture(format string) ([]byte, error) {
	canvas := plot.New()
	canvas.Title.Text, canvas.X.Label.Text, canvas.Y.Label.Text = Line(p.Title, 90), Line(p.X.Label, 60), Line(p.Y.Label, 60)
	canvas.Title.Padding = vg.Points(6)
	canvas.Legend.Top, canvas.Legend.Padding = true, vg.Points(2)
	canvas.Add(plotter.NewGrid())
	places := p.places()
	for i, s := range p.Series {
		if err := p.add(canvas, i, s, places); err != nil {
			return nil, err
		}
	}
	p.axes(canvas, places)
	width, height := vg.Length(or0(p.Width, 640)), vg.Length(or0(p.Height, 400))
	w, err := canvas.WriterTo(width*vg.Inch/96, height*vg.Inch/96, format)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	_, err = w.WriteTo(&b)
	return b.Bytes(), err
}

func or0(n, other int) int {
	if n <= 0 {
		return other
	}
	return n
}

// places numbers the labels of bars.
func (p Plot) places() map[string]int {
	places := map[string]int{}
	for _, s := range p.Series {
		for _, pt := range s.Points {
			if _, ok := places[pt.Label]; !ok {
				places[pt.Label] = len(places)
			}
		}
	}
	return places
}

func (p Plot) axes(canvas *plot.Plot, places map[string]int) {
	for _, a := range []struct {
		axis *plot.Axis
		want Axis
	}{{&canvas.X, p.X}, {&canvas.Y, p.Y}} {
		if a.want.Min < a.want.Max {
			a.axis.Min, a.axis.Max = a.want.Min, a.want.Max
		}
		if a.want.Log && a.axis.Min > 0 {
			a.axis.Scale, a.axis.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: 3}
		}
	}
	if p.Style != Bars {
		return
	}
	ticks := make([]plot.Tick, len(places))
	for label, i := range places {
		ticks[i] = plot.Tick{Value: float64(i), Label: Line(label, 12)}
	}
	canvas.X.Tick.Marker = plot.ConstantTicks(ticks)
	canvas.X.Min, canvas.X.Max = -0.6, float64(len(places))-0.4
}

// errorPoints are points with their intervals, for the plotters.
type errorPoints struct {
	plotter.XYs
	plotter.XErrors
	plotter.YErrors
	labels []string
}

// points gives the finite points of a series, those of bars side by side.
func (p Plot) points(i int, s Series, places map[string]int) errorPoints {
	var e errorPoints
	for _, pt := range s.Points {
		if p.Style == Bars {
			pt.X, pt.XLow, pt.XHigh = float64(places[pt.Label])+(float64(i)-float64(len(p.Series)-1)/2)*p.step(), 0, 0
		}
		if !finite(pt.X) || !finite(pt.Y) || p.X.Log && pt.X <= 0 || p.Y.Log && pt.Y <= 0 {
			continue
		}
		e.XYs = append(e.XYs, plotter.XY{X: pt.X, Y: pt.Y})
		e.XErrors = append(e.XErrors, struct{ Low, High float64 }(reach(pt.X, pt.XLow, pt.XHigh)))
		e.YErrors = append(e.YErrors, struct{ Low, High float64 }(reach(pt.Y, pt.Low, pt.High)))
		e.labels = append(e.labels, Line(pt.Label, 24))
	}
	return e
}

// step is the distance between bars at one place.
func (p Plot) step() float64 { return 0.8 / float64(max(len(p.Series), 1)) }

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// reach is how far an interval goes to each side of a value.
func reach(v, low, high float64) struct{ Low, High float64 } {
	if !finite(low) || !finite(high) || low >= high {
		return struct{ Low, High float64 }{}
	}
	return struct{ Low, High float64 }{v - low, high - v}
}

func (p Plot) add(canvas *plot.Plot, i int, s Series, places map[string]int) error {
	e := p.points(i, s, places)
	if len(e.XYs) == 0 {
		return nil
	}
	dots, err := plotter.NewScatter(e.XYs)
	if err != nil {
		return err
	}
	dots.Color, dots.Shape, dots.Radius = palette(i), draw.CircleGlyph{}, vg.Points(3)
	legend := []plot.Thumbnailer{dots}
	switch p.Style {
	case Lines:
		line, err := plotter.NewLine(e.XYs)
		if err != nil {
			return err
		}
		line.Color, line.Width = palette(i), vg.Points(1.5)
		canvas.Add(line)
		legend = append(legend, line)
	case Bars:
		if err := p.addBars(canvas, i, e); err != nil {
			return err
		}
	}
	canvas.Add(dots)
	canvas.Legend.Add(Line(s.Name, 40), legend...)
	return p.addIntervals(canvas, i, e)
}

func (p Plot) addBars(canvas *plot.Plot, i int, e errorPoints) error {
	half := p.step() * 0.42
	for _, pt := range e.XYs {
		bar, err := plotter.NewPolygon(plotter.XYs{{X: pt.X - half}, {X: pt.X + half}, {X: pt.X + half, Y: pt.Y}, {X: pt.X - half, Y: pt.Y}})
		if err != nil {
			return err
		}
		c := palette(i)
		bar.Color, bar.LineStyle.Width = color.NRGBA{c.R, c.G, c.B, 0x66}, 0
		canvas.Add(bar)
	}
	return nil
}

func (p Plot) addIntervals(canvas *plot.Plot, i int, e errorPoints) error {
	vertical, err := plotter.NewYErrorBars(e)
	if err != nil {
		return err
	}
	vertical.Color, vertical.Width = palette(i), vg.Points(1)
	canvas.Add(vertical)
	if p.Style != Dots {
		return nil
	}
	horizontal, err := plotter.NewXErrorBars(e)
	if err != nil {
		return err
	}
	horizontal.Color, horizontal.Width = palette(i), vg.Points(1)
	labels, err := plotter.NewLabels(plotter.XYLabels{XYs: e.XYs, Labels: e.labels})
	if err != nil {
		return err
	}
	labels.Offset = vg.Point{X: vg.Points(5), Y: vg.Points(5)}
	canvas.Add(horizontal, labels)
	return nil
}
