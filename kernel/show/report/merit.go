package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"noema/kernel/result/compare"
)

// meritPlot is the headline against what a trial costs, on a logarithmic axis.
type meritPlot struct {
	Unit   string // of the axis
	X, Y   []tick
	Points []meritPoint
	Front  []step
	Free   []string // methods that use nothing, which such an axis has no place for
}

// meritPoint is a method. Its seeds are part of its place; Bare is where it were without.
type meritPoint struct {
	Method, Hint     string
	X, Y, Low, High  float64 // Low and High: the interval of merit
	Front            bool
	Bare             *float64
	BareText         string
	LabelX, LabelY   float64 // of the label beside the point, in pixels
	Anchor           string
	cost, pixX, pixY float64
}

// step is a piece of the line between methods of best value.
type step struct{ X1, Y1, X2, Y2 float64 }

// meritOf is nil where merit or cost of all methods is unknown.
func meritOf(c *compare.Comparison, merit axis) *meritPlot {
	p := &meritPlot{}
	scale := 1.0
	switch p.Unit = string(c.Pareto.Resource) + " a trial"; c.Pareto.Resource {
	case compare.Cost:
		p.Unit, scale = "dollars for 1,000 trials", 1000
	case compare.Latency:
		p.Unit = "milliseconds a trial"
	}
	var costs []float64
	for i, pt := range c.Pareto.Points {
		if !pt.Merit.Defined || !pt.Cost.Defined {
			continue
		}
		cost := pt.Cost.Value * scale
		if cost <= 0 {
			p.Free = append(p.Free, pt.Method)
			continue
		}
		costs = append(costs, cost)
		m := merit.span(pt.Merit)
		at := meritPoint{
			Method: pt.Method, cost: cost, Y: 100 - m.At, Low: 100 - m.Low, High: 100 - m.High, Front: pt.Standing == compare.OnFront,
			Hint: fmt.Sprintf("%s: %s %s, %.3g %s", pt.Method, c.Metric, metric(pt.Merit, true), cost, p.Unit),
		}
		if s := c.Methods[i].Seeds; s != nil {
			if bare := cost - scale*s.Share(c.Pareto.Resource); bare > 0 && bare < cost {
				at.Bare, at.BareText = &bare, fmt.Sprintf("%.2g without seeds", bare)
				costs = append(costs, bare)
			}
		}
		p.Points = append(p.Points, at)
	}
	if len(p.Points) == 0 {
		return nil
	}
	x := decades(costs)
	p.X, p.Y = x.ticks(0), merit.ticks(5)
	slices.SortStableFunc(p.Points, func(a, b meritPoint) int { return cmp.Compare(a.cost, b.cost) })
	for i := range p.Points {
		at := &p.Points[i]
		at.X = x.at(at.cost)
		if at.Bare != nil {
			*at.Bare = x.at(*at.Bare)
		}
	}
	p.front()
	p.label()
	return p
}

// front joins the methods of best value by steps.
func (p *meritPlot) front() {
	var last *meritPoint
	for i := range p.Points {
		at := &p.Points[i]
		if !at.Front {
			continue
		}
		if last != nil {
			p.Front = append(p.Front, step{last.X, last.Y, at.X, last.Y}, step{at.X, last.Y, at.X, at.Y})
		}
		last = at
	}
	if last != nil {
		p.Front = append(p.Front, step{last.X, last.Y, 100, last.Y})
	}
}

// Sizes for which labels are placed, in pixels: those of the plot on a page of 1,000 to
// 1,600 pixels, and of a glyph.
const meritWidth, meritHeight, glyph = 360, 190, 6.3

// box is a part of the plot that is taken.
type box struct{ x1, y1, x2, y2 float64 }

func (b box) overlap(o box) float64 {
	return max(0, min(b.x2, o.x2)-max(b.x1, o.x1)) * max(0, min(b.y2, o.y2)-max(b.y1, o.y1))
}

// label puts each name beside its point where it covers the least.
func (p *meritPlot) label() {
	var taken []box
	for i := range p.Points {
		at := &p.Points[i]
		at.pixX, at.pixY = at.X/100*meritWidth, at.Y/100*meritHeight
		taken = append(taken, box{at.pixX - 6, at.pixY - 6, at.pixX + 6, at.pixY + 6}, box{at.pixX - 1, at.High / 100 * meritHeight, at.pixX + 1, at.Low / 100 * meritHeight})
		if at.Bare != nil {
			bare := *at.Bare / 100 * meritWidth
			taken = append(taken, box{bare - 4, at.pixY - 20, bare + float64(len(at.BareText))*glyph, at.pixY + 5}, box{bare, at.pixY - 3, at.pixX, at.pixY + 3})
		}
	}
	for _, s := range p.Front {
		taken = append(taken, box{s.X1/100*meritWidth - 1, s.Y2/100*meritHeight - 1, s.X2/100*meritWidth + 1, s.Y1/100*meritHeight + 1})
	}
	for i := range p.Points {
		at := &p.Points[i]
		width, least := float64(len([]rune(at.Method)))*glyph, math.Inf(1)
		var best box
		for _, try := range []struct {
			dx, dy float64
			anchor string
		}{{9, 4, "start"}, {-9, 4, "end"}, {9, -8, "start"}, {9, 16, "start"}, {-9, -8, "end"}, {-9, 16, "end"}, {0, -10, "middle"}, {0, 20, "middle"}, {9, -20, "start"}, {9, 28, "start"}, {-9, -20, "end"}, {-9, 28, "end"}} {
			left := at.pixX + try.dx - map[string]float64{"end": width, "middle": width / 2}[try.anchor]
			b := box{left, at.pixY + try.dy - 10, left + width, at.pixY + try.dy + 3}
			bad := 50 * (max(0, -b.x1) + max(0, b.x2-meritWidth-20) + max(0, -b.y1))
			for _, t := range taken {
				bad += b.overlap(t)
			}
			if bad < least {
				least, best = bad, b
				at.LabelX, at.LabelY, at.Anchor = try.dx, try.dy, try.anchor
			}
		}
		taken = append(taken, best)
	}
}
