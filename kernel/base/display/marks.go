package display

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// palette tells series apart also for people who do not see all colours (Okabe
// and Ito 2008).
func palette(i int) color.NRGBA {
	all := []color.NRGBA{
		{0x00, 0x72, 0xb2, 0xff}, {0xd5, 0x5e, 0x00, 0xff}, {0x00, 0x9e, 0x73, 0xff}, {0xcc, 0x79, 0xa7, 0xff},
		{0xe6, 0x9f, 0x00, 0xff}, {0x56, 0xb4, 0xe9, 0xff}, {0x55, 0x55, 0x55, 0xff}, {0xb8, 0xa9, 0x1e, 0xff},
	}
	return all[i%len(all)]
}

// pale is a colour that lets through what lies below it.
func pale(i int, alpha uint8) color.NRGBA {
	c := palette(i)
	c.A = alpha
	return c
}

// glyph tells series apart where colours are not to be seen.
func glyph(i int) draw.GlyphDrawer {
	all := []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.RingGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.CrossGlyph{}}
	return all[i%len(all)]
}

// series draws one series.
func (c *chart) series(i int, s Series) error {
	e := c.points(i, s)
	if len(e.XYs) == 0 {
		return nil
	}
	dots, err := plotter.NewScatter(e.XYs)
	if err != nil {
		return err
	}
	dots.Color, dots.Shape, dots.Radius = palette(i), glyph(i), vg.Points(3)
	legend := []plot.Thumbnailer{dots}
	switch c.of.Style {
	case Lines:
		line, err := plotter.NewLine(e.XYs)
		if err != nil {
			return err
		}
		line.Color, line.Width = palette(i), vg.Points(1.5)
		if err := c.band(i, e); err != nil {
			return err
		}
		c.Add(line)
		legend = append(legend, line)
	case Bars:
		if err := c.bars(i, e); err != nil {
			return err
		}
	}
	c.Add(dots)
	if s.Name != "" {
		c.Legend.Add(c.names[s.Name], legend...)
		c.legend = true
	}
	if c.of.Style == Lines && len(e.XYs) > 1 {
		return nil // the band shows the intervals
	}
	return c.intervals(i, e)
}

// band fills the space between the ends of the intervals along a line.
func (c *chart) band(i int, e errorPoints) error {
	var upper, lower plotter.XYs
	wide := false
	for j, pt := range e.XYs {
		low, high := e.YErrors[j].Low, e.YErrors[j].High
		upper = append(upper, plotter.XY{X: pt.X, Y: pt.Y + high})
		lower = append(lower, plotter.XY{X: pt.X, Y: pt.Y - low})
		wide = wide || low > 0 || high > 0
	}
	if !wide || len(e.XYs) < 2 {
		return nil
	}
	for j := range lower {
		upper = append(upper, lower[len(lower)-1-j])
	}
	return c.area(upper, pale(i, 0x2e))
}

func (c *chart) bars(i int, e errorPoints) error {
	half := c.step() * 0.42
	for _, pt := range e.XYs {
		corners := plotter.XYs{{X: pt.X - half}, {X: pt.X + half}, {X: pt.X + half, Y: pt.Y}, {X: pt.X - half, Y: pt.Y}}
		if foot := c.of.Y; bounded(foot) {
			corners[0].Y = min(max(0, foot.Min), foot.Max)
			corners[1].Y = corners[0].Y
		}
		if err := c.area(corners, pale(i, 0x66)); err != nil {
			return err
		}
	}
	return nil
}

func (c *chart) area(corners plotter.XYs, fill color.Color) error {
	area, err := plotter.NewPolygon(corners)
	if err != nil {
		return err
	}
	area.Color, area.LineStyle.Width = fill, 0
	c.Add(area)
	return nil
}

// intervals draws those of bars and dots, and the labels of dots.
func (c *chart) intervals(i int, e errorPoints) error {
	vertical, err := plotter.NewYErrorBars(e)
	if err != nil {
		return err
	}
	vertical.Color, vertical.Width = palette(i), vg.Points(1)
	c.Add(vertical)
	if c.of.Style != Dots {
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
	for j := range labels.TextStyle {
		labels.TextStyle[j].Font.Variant, labels.TextStyle[j].Font.Size = "Sans", vg.Points(9)
	}
	c.Add(horizontal, labels)
	return nil
}
