package report

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"noema/kernel/base/display"
	"noema/kernel/base/score"
	"noema/kernel/result/compare"
)

// Sizes of the pictures of a study, in pixels.
const (
	plotRow    = 22
	plotNames  = 220 // for names at the left
	plotWidth  = 420
	plotMargin = 40
	heatCell   = 84
)

// svg is a picture that is being written.
type svg struct{ strings.Builder }

func newSVG(width, height int, title string) *svg {
	var s svg
	fmt.Fprintf(&s, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12"><title>%s</title><rect width="100%%" height="100%%" fill="white"/>`,
		width, height, width, height, escaped(title))
	s.text(plotMargin/4, 16, "start", title)
	return &s
}

func (s *svg) text(x, y float64, anchor, text string) {
	fmt.Fprintf(s, `<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`, x, y, anchor, escaped(text))
}

func (s *svg) line(x1, y1, x2, y2 float64, colour string) {
	fmt.Fprintf(s, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s"/>`, x1, y1, x2, y2, colour)
}

// picture is the drawing with a table of the same numbers.
func (s *svg) picture(t display.Table) display.Bundle {
	s.WriteString("</svg>\n")
	return display.Bundle{display.SVG: []byte(s.String()), display.PlainText: []byte(t.Text())}
}

func escaped(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(display.Visible(text))
}

// Forest is the difference of each pair by task, a line each, with the whole as a diamond.
func Forest(s *compare.Study, simulatedModel bool) display.Bundle {
	lines := len(s.Whole.Pairs) * (len(columnsOf(s)) + 1)
	p := newSVG(plotNames+plotWidth+3*plotMargin, (lines+4)*plotRow, plotTitle("difference by task", simulatedModel))
	reach := 0.05
	each := func(do func(pair int, name string, m score.Metric, whole bool)) {
		for i, pair := range s.Whole.Pairs {
			do(i, pair.A+" − "+pair.B, score.Metric{}, false)
			for _, task := range columnsOf(s) {
				if part, ok := sliceOf(s, task, ""); ok {
					do(i, cmp.Or(task, "mean"), part.Pairs[i].Difference, task == "" || len(s.Tasks) == 1)
				}
			}
		}
	}
	each(func(_ int, _ string, m score.Metric, _ bool) {
		if m.HasInterval() {
			reach = max(reach, math.Abs(m.Low), math.Abs(m.High))
		}
	})
	at := func(x float64) float64 { return plotNames + plotMargin + plotWidth*(x+reach)/(2*reach) }
	bottom := float64((lines + 2) * plotRow)
	p.line(at(0), plotRow, at(0), bottom, "#888")
	for _, x := range []float64{-reach, 0, reach} {
		p.text(at(x), bottom+16, "middle", plus(x))
	}
	y := 1.5 * plotRow
	each(func(_ int, name string, m score.Metric, whole bool) {
		y += plotRow
		indent := 24.0
		if m.Name == "" && !m.Defined {
			indent = 8
		}
		p.text(indent, y+4, "start", name)
		p.mark(at, y, m, whole)
	})
	return p.picture(partTable(s))
}

// mark draws a value with its interval; the whole as a diamond.
func (s *svg) mark(at func(float64) float64, y float64, m score.Metric, whole bool) {
	switch {
	case !m.Defined:
	case whole && m.HasInterval():
		fmt.Fprintf(s, `<polygon points="%.1f,%.1f %.1f,%.1f %.1f,%.1f %.1f,%.1f" fill="#1f5fa8"/>`, at(m.Low), y, at(m.Value), y-7, at(m.High), y, at(m.Value), y+7)
	default:
		if m.HasInterval() {
			s.line(at(m.Low), y, at(m.High), y, "#333")
		}
		fmt.Fprintf(s, `<rect x="%.1f" y="%.1f" width="7" height="7" fill="#333"/>`, at(m.Value)-3.5, y-3.5)
	}
}

// Heat is the mean of each method on each task, darker where it is higher, with all models
// together.
func Heat(s *compare.Study, simulatedModel bool) display.Bundle {
	columns := columnsOf(s)
	p := newSVG(plotNames+heatCell*len(columns)+plotMargin, plotRow*(len(s.Whole.Methods)*2+3), plotTitle(s.Whole.Metric, simulatedModel))
	for c, task := range columns {
		part, ok := sliceOf(s, task, "")
		if !ok {
			continue
		}
		x := float64(plotNames + heatCell*c)
		p.text(x+heatCell/2, 2*plotRow, "middle", display.Line(cmp.Or(task, "mean"), 12))
		for m, method := range s.Whole.Methods {
			y := float64(plotRow * (2*m + 2))
			if c == 0 {
				p.text(8, y+1.5*plotRow, "start", method.Method)
			}
			v := part.Methods[m]
			shade, ink := 0.0, "black"
			if v.Defined {
				shade = min(1, max(0, v.Value))
			}
			if shade > 0.6 {
				ink = "white"
			}
			fmt.Fprintf(p, `<rect x="%.1f" y="%.1f" width="%d" height="%d" fill="rgb(%d,%d,%d)"/>`, x, y+plotRow/2, heatCell-2, 2*plotRow-2,
				int(255-224*shade), int(255-160*shade), int(255-87*shade))
			fmt.Fprintf(p, `<text x="%.1f" y="%.1f" text-anchor="middle" fill="%s">%s</text>`, x+heatCell/2, y+1.7*plotRow, ink, escaped(metric(v, false)))
		}
	}
	return p.picture(paperTable(s))
}
