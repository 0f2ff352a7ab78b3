package display

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"regexp"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// picture draws the plot as an image of a type. The same plot always gives the
// same bytes. Its library panics at numbers that it cannot draw; those that are
// known are left out before, and of any other the error tells.
func (p Plot) picture(mime string) (raw []byte, err error) {
	defer func() {
		if v := recover(); v != nil {
			raw, err = nil, fmt.Errorf("draw plot: %v", v)
		}
	}()
	c := chart{Plot: plot.New(), of: p, places: p.places(), names: shortNames(p.names(), 24)}
	c.words()
	c.Add(plotter.NewGrid())
	for i, s := range p.Series {
		if err := c.series(i, s); err != nil {
			return nil, fmt.Errorf("draw plot: %w", err)
		}
	}
	c.axes()
	raw, err = c.render(mime)
	if err == nil && mime == SVG {
		raw = c.inlined(raw)
	}
	return raw, err
}

// chart is a plot that is being drawn.
type chart struct {
	*plot.Plot
	of     Plot
	places map[string]int    // labels of bars, numbered
	legend bool              // there are names to explain
	names  map[string]string // of series and points, cut
}

// names are those of the series and of the points that have labels beside them.
func (p Plot) names() (names []string) {
	for _, s := range p.Series {
		names = append(names, s.Name)
		for _, pt := range s.Points[:min(len(s.Points), maxPoints)] {
			names = append(names, pt.Label)
		}
	}
	return names
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

// words sets titles and labels.
func (c *chart) words() {
	p := c.of
	c.Title.Text, c.X.Label.Text, c.Y.Label.Text = Line(p.Title, 90), Line(p.X.Label, 60), Line(p.Y.Label, 60)
	c.Title.Padding = vg.Points(8)
	c.Title.TextStyle.Font.Size = vg.Points(12)
	c.X.Label.Padding, c.Y.Label.Padding = vg.Points(4), vg.Points(4)
	c.Legend.Top, c.Legend.Left, c.Legend.Padding = true, true, vg.Points(3)
	c.Legend.TextStyle.Font.Size = vg.Points(10)
	for _, f := range []*font.Font{
		&c.Title.TextStyle.Font, &c.X.Label.TextStyle.Font, &c.Y.Label.TextStyle.Font,
		&c.X.Tick.Label.Font, &c.Y.Tick.Label.Font, &c.Legend.TextStyle.Font,
	} {
		f.Variant = "Sans"
	}
}

// render draws the chart, and beside it the legend, which so covers no point.
func (c *chart) render(mime string) ([]byte, error) {
	const pixel, edge = vg.Inch / 96, 8 // edge in points
	width, height := side(c.of.Width, 640)*pixel, side(c.of.Height, 400)*pixel
	canvas, err := draw.NewFormattedCanvas(width, height, map[string]string{SVG: "svg", PNG: "png"}[mime])
	if err != nil {
		return nil, err
	}
	all := draw.New(canvas)
	if c.BackgroundColor = nil; mime == PNG {
		all.SetColor(color.White)
		all.Fill(all.Path())
	}
	inner := draw.Crop(all, edge, -edge, edge, -edge)
	if c.legend {
		legend, size := c.Legend, c.Legend.Rectangle(inner).Size()
		c.Legend = plot.NewLegend()
		legend.Draw(draw.Crop(inner, inner.Max.X-inner.Min.X-size.X, 0, 0, -2*edge))
		inner = draw.Crop(inner, 0, -size.X-edge, 0, 0)
	}
	c.Draw(inner)
	var b bytes.Buffer
	_, err = canvas.WriteTo(&b)
	return b.Bytes(), err
}

func side(n, other int) vg.Length {
	if n <= 0 {
		n = other
	}
	return vg.Length(min(max(n, 120), maxSide))
}

var (
	prolog = regexp.MustCompile(`(?s)^.*?<svg `)
	styles = regexp.MustCompile(`style="([^"]*)"`)
	rule   = regexp.MustCompile(`([a-z-]+):([^;]+);?`)
)

// onPaper ends the first tag of a drawing that stands alone: black on white. In a page it has
// the page's colours, which may be light on dark.
const onPaper = ` color="black"><rect class="paper" width="100%" height="100%" fill="white"/>`

// inlined makes a drawing fit to stand in a page: without the head of a file,
// with a name, and with attributes for styles, which strict pages refuse. Text
// cannot be taken for a style: quotes in it are escaped.
func (c *chart) inlined(svg []byte) []byte {
	head := `<svg role="img" aria-label="` + text(Line(c.of.Title, 200)) + `" fill="currentColor" `
	svg = append([]byte(head), bytes.Replace(prolog.ReplaceAll(svg, nil), []byte(">"), []byte(onPaper), 1)...)
	svg = styles.ReplaceAllFunc(svg, func(style []byte) []byte {
		return rule.ReplaceAll(styles.FindSubmatch(style)[1], []byte(`$1="$2" `))
	})
	svg = bytes.ReplaceAll(svg, []byte(`"#000000"`), []byte(`"currentColor"`))
	const family = `font-family="Liberation Sans`
	return bytes.ReplaceAll(svg, []byte(family+`"`), []byte(family+`, Arial, Helvetica, sans-serif"`))
}

func (c *chart) axes() {
	c.axis(&c.X, c.of.X, c.of.Style != Bars)
	c.axis(&c.Y, c.of.Y, c.of.Style != Bars)
	if c.of.Style != Bars {
		return
	}
	ticks := make([]plot.Tick, len(c.places))
	for label, i := range c.places {
		ticks[i] = plot.Tick{Value: float64(i), Label: Line(label, 16)}
	}
	c.X.Tick.Marker = plot.ConstantTicks(ticks)
	c.X.Min, c.X.Max = -0.6, max(float64(len(c.places))-0.4, 0.6)
}

func (c *chart) axis(axis *plot.Axis, want Axis, mayLog bool) {
	if bounded(want) {
		axis.Min, axis.Max = want.Min, want.Max
	}
	if !want.Log || !mayLog || axis.Min <= 0 || axis.Min > axis.Max {
		return
	}
	if axis.Min == axis.Max {
		axis.Min, axis.Max = axis.Min/2, axis.Max*2
	}
	axis.Scale = plot.LogScale{}
	if axis.Max/axis.Min > 20 { // else its labels at powers of ten would be too few
		axis.Tick.Marker = plot.LogTicks{Prec: 6}
	}
}

// bounded reports whether an axis says how long it is.
func bounded(a Axis) bool { return finite(a.Min) && finite(a.Max) && a.Min < a.Max }

// finite reports whether x can be drawn: sums and differences of such numbers
// are numbers.
func finite(x float64) bool { return math.Abs(x) < 1e300 }

// errorPoints are points with their intervals, for the plotters.
type errorPoints struct {
	plotter.XYs
	plotter.XErrors
	plotter.YErrors
	labels []string
}

// points gives the points of a series that can be drawn, those of bars side by
// side.
func (c *chart) points(i int, s Series) errorPoints {
	var e errorPoints
	x, y := c.of.X, c.of.Y
	if c.of.Style == Bars {
		x, y.Log = Axis{}, false
	}
	for _, pt := range s.Points[:min(len(s.Points), maxPoints)] {
		if c.of.Style == Bars {
			pt.X, pt.XLow, pt.XHigh = float64(c.places[pt.Label])+(float64(i)-float64(len(c.of.Series)-1)/2)*c.step(), 0, 0
		}
		if !drawable(pt.X, x) || !drawable(pt.Y, y) {
			continue
		}
		e.XYs = append(e.XYs, plotter.XY{X: pt.X, Y: pt.Y})
		e.XErrors = append(e.XErrors, struct{ Low, High float64 }(reach(pt.X, pt.XLow, pt.XHigh, x)))
		e.YErrors = append(e.YErrors, struct{ Low, High float64 }(reach(pt.Y, pt.Low, pt.High, y)))
		e.labels = append(e.labels, c.names[pt.Label])
	}
	return e
}

// step is the distance between bars at one place.
func (c *chart) step() float64 { return 0.8 / float64(max(len(c.of.Series), 1)) }

// drawable reports whether v has a place on an axis.
func drawable(v float64, a Axis) bool {
	return finite(v) && (!a.Log || v > 0) && (!bounded(a) || a.Min <= v && v <= a.Max)
}

// reach is how far an interval goes to each side of a value, as far as the axis
// has room for it. To 0, on a logarithmic axis, would be without end.
func reach(v, low, high float64, a Axis) (r struct{ Low, High float64 }) {
	if low < high && finite(low) && finite(high) {
		if bounded(a) {
			low, high = max(low, a.Min), min(high, a.Max)
		}
		if a.Log && low <= 0 {
			low = v / 10
		}
		r.Low, r.High = max(v-low, 0), max(high-v, 0)
	}
	return r
}
