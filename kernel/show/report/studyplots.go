package report

import (
	"cmp"
	"fmt"

	"noema/kernel/base/display"
	"noema/kernel/base/score"
	"noema/kernel/result/compare"
)

// Sizes of the pictures of a study, in pixels.
const (
	plotWidth = 960
	plotRow   = 24
	heatRow   = 44
)

// part is a column of a study's picture: a task with a model, or the mean of all.
type part struct {
	task, model string
	compare.Slice
}

// partsOf are the tasks of a study with each of its models, and last the whole if there are
// several.
func partsOf(s *compare.Study) (parts []part) {
	for _, t := range s.Tasks {
		for _, model := range s.Models {
			if slice, ok := sliceOf(s, t.Task, model); ok {
				parts = append(parts, part{t.Task, model, slice})
			}
		}
	}
	if len(parts) != 1 {
		parts = append(parts, part{"", "", whole(s)})
	}
	return parts
}

// Forest is the difference of pairs on each task with each model, a line each, with the whole
// as a diamond. Pairs are places among those of the study; none stands for all.
func Forest(s *compare.Study, simulatedModel bool, pairs ...int) display.Bundle {
	if len(pairs) == 0 {
		for i := range s.Whole.Pairs {
			pairs = append(pairs, i)
		}
	}
	parts := partsOf(s)
	d := newDrawing(plotWidth, plotRow*((len(parts)+1)*len(pairs)+2), plotTitle("difference by task", simulatedModel))
	var all []score.Metric
	for _, p := range parts {
		for _, i := range pairs {
			all = append(all, seen(s, i, p.Pairs[i].Difference))
		}
	}
	axis, from, width := around(all), 30.0, 42.0
	at := func(x float64) float64 { return from + width*min(1.05, max(-0.05, axis.at(x)/100)) }
	bottom := float64(d.height - plotRow - 4)
	d.line(at(0), at(0), plotRow, bottom, "zero", greyColour)
	for _, t := range axis.ticks(4) {
		x := from + width*t.At/100
		d.line(x, x, plotRow, bottom, "grid", lineColour)
		d.text(x, bottom+14, "middle", "", t.Text)
	}
	y := 0.0
	for _, i := range pairs {
		y += plotRow
		d.text(0, y-6, "start", "t1", PairName(s, i))
		before := ""
		for _, p := range parts {
			y += plotRow
			name := p.task
			if p.task == before && p.task != "" {
				name = ""
			}
			before = p.task
			d.difference(s, i, p, name, at, y-plotRow/2)
		}
	}
	return d.picture(partTable(s))
}

// PairName is a pair of a study as its picture has it: turned, so that the method with the
// higher mean of all stands first.
func PairName(s *compare.Study, pair int) string {
	d := turned(s.Whole.Pairs[pair], s.Whole.Metric)
	return d.A + " − " + d.B
}

// seen is a difference of a pair of a study, as its picture has it.
func seen(s *compare.Study, pair int, m score.Metric) score.Metric {
	if p := s.Whole.Pairs[pair]; turned(p, s.Whole.Metric).A != p.A {
		m.Value, m.Low, m.High = 0-m.Value, 0-m.High, 0-m.Low
	}
	return m
}

// difference draws a line of a forest.
func (d *drawing) difference(s *compare.Study, pair int, p part, name string, at func(float64) float64, y float64) {
	diff, all := p.Pairs[pair], p.task == ""
	m, proven := seen(s, pair, diff.Difference), diff.Winner != ""
	label, what := display.Line(p.model, 24), p.task+" · "+p.model
	if all {
		name, label, what = "the whole", "", "the whole"
	}
	d.titled(fmt.Sprintf("%s, %s: %s", PairName(s, pair), what, signed(m)), "", func() {
		d.text(0, y+4, "start", "t2", display.Line(name, 24))
		if len(s.Models) > 1 {
			d.text(14, y+4, "start", "", label)
		}
		class, colour := "ci", greyColour
		if proven {
			class, colour = "ci w", accentColour
		}
		if all && pair < len(s.Elsewhere) && s.Elsewhere[pair].Next.HasInterval() {
			next := seen(s, pair, s.Elsewhere[pair].Next)
			d.line(at(next.Low), at(next.High), y, y, "next", colour)
		}
		switch {
		case !m.Defined:
		case all && m.HasInterval():
			d.diamond(at(m.Low), at(m.Value), at(m.High), y, proven)
		default:
			if m.HasInterval() {
				d.line(at(m.Low), at(m.High), y, y, class, colour)
			}
			d.dot(at(m.Value), y, proven)
		}
		value := "–"
		if m.Defined {
			value = plus(m.Value)
		}
		d.text(82, y+4, "end", map[bool]string{true: "t1", false: "t2"}[proven], value)
		if m.HasInterval() {
			d.text(100, y+4, "end", "", fmt.Sprintf("%s to %s", end(m.Low, m), end(m.High, m)))
		}
	})
}

// Heat is the score of each method on each task with each model, a cell the darker the higher
// it is, with its interval on a line from 0 to 1. Underlined is what nothing is shown to
// beat. Behind them are the places that each method may have. Cells lead to where link says,
// if there is one.
func Heat(s *compare.Study, simulatedModel bool, link func(task, model string) string) display.Bundle {
	parts, right := partsOf(s), 100.0
	if len(s.Ranks) > 2 {
		right = 82
	}
	d := newDrawing(plotWidth, heatRow*(len(s.Whole.Methods)+1), plotTitle(s.Whole.Metric, simulatedModel))
	const names = 13.0
	width := (right - names) / float64(len(parts))
	before := ""
	for c, p := range parts {
		x := names + width*float64(c)
		if p.task != before || p.task == "" {
			d.text(x+0.4, 14, "start", "t1", display.Line(cmp.Or(p.task, "mean"), 22))
		}
		if before = p.task; p.task != "" && len(s.Models) > 1 {
			d.text(x+0.4, 32, "start", "", display.Line(p.model, max(8, 90/len(parts))))
		}
		to := ""
		if link != nil && p.task != "" {
			to = link(p.task, p.model)
		}
		for m, method := range s.Whole.Methods {
			v := p.Methods[m]
			told := fmt.Sprintf("%s, %s %s: %s", method.Method, cmp.Or(p.task, "mean of all"), p.model, metric(v, true))
			d.titled(told, to, func() { d.heatCell(v, standsOut(s, p.Slice, m), x, width, float64(heatRow*(m+1))) })
		}
	}
	for m, method := range s.Whole.Methods {
		d.text(names-1, float64(heatRow*(m+1))+20, "end", "t1", display.Line(method.Method, 18))
	}
	d.ranks(s, right)
	return d.picture(paperTable(s))
}

// heatCell is a score as a colour, a number and an interval.
func (d *drawing) heatCell(v score.Metric, best bool, x, width, y float64) {
	shade := 0.0
	if v.Defined {
		shade = 0.45 * min(1, max(0, v.Value)) * min(1, max(0, v.Value))
	}
	d.rect(x, width-0.2, y, heatRow-2, "heat", accentColour, shade)
	class := "score"
	if best {
		class = "score t1"
		d.rect(x, width-0.2, y+heatRow-4, 2, "best", accentColour, 1)
	}
	fmt.Fprintf(d, `<text class="%s" x="%.2f%%" y="%.1f" font-size="14" fill="%s"%s>%s</text>`, class, x+0.7, y+19, inkColour,
		map[bool]string{true: ` font-weight="700"`}[best], escaped(metric(v, false)))
	if v.HasInterval() {
		at := func(p float64) float64 { return x + 0.7 + (width-1.6)*min(1, max(0, p)) }
		d.line(at(v.Low), at(v.High), y+31, y+31, "span", inkColour)
		fmt.Fprintf(d, `<circle class="mid" cx="%.2f%%" cy="%.1f" r="2.4" fill="%s"/>`, at(v.Value), y+31, inkColour)
	}
}

// ranks draws the places that each method may have, right of its cells.
func (d *drawing) ranks(s *compare.Study, from float64) {
	if len(s.Ranks) < 3 {
		return
	}
	at := func(rank int) float64 { return from + 2 + (99-from-2)*float64(rank-1)/float64(len(s.Ranks)-1) }
	d.text(at(1), 14, "start", "t1", "rank")
	for r := range s.Ranks {
		d.text(at(r+1), 32, "middle", "", fmt.Sprint(r+1))
	}
	for i, r := range s.Ranks {
		y := float64(heatRow*(i+1)) + 16
		one := r.From == r.To
		d.titled(fmt.Sprintf("%s: rank %d to %d", r.Method, r.From, r.To), "", func() {
			d.line(at(r.From), at(r.To), y, y, "ci", greyColour)
			d.dot(at(r.From), y, one)
			if !one {
				d.dot(at(r.To), y, false)
			}
		})
	}
}
