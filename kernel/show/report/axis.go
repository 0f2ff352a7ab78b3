package report

import (
	"fmt"
	"math"

	"noema/kernel/base/display"
	"noema/kernel/base/score"
)

// axis is a straight or a logarithmic one, of 100 percent.
type axis struct {
	low, high float64
	log       bool
}

// reaching is an axis from low to high, or as far as values reach beyond.
func reaching(values []score.Metric, low, high float64) axis {
	for _, m := range values {
		if m.Defined {
			low, high = min(low, m.Value), max(high, m.Value)
		}
		if m.HasInterval() {
			low, high = min(low, m.Low), max(high, m.High)
		}
	}
	return axis{low: low, high: high}
}

// unit is an axis from 0 or 0.5 to 1 for measures within, and else as far as they reach.
func unit(values []score.Metric) axis {
	a := reaching(values, 0.5, 1)
	if a.low < 0.5 {
		a.low = min(0, a.low)
	}
	return a
}

// around is an axis that holds 0 and all of values, with round ends.
func around(values []score.Metric) axis {
	a := reaching(values, -0.05, 0.05)
	step := display.Round125((a.high - a.low) / 8)
	return axis{low: step * math.Floor(a.low/step), high: step * math.Ceil(a.high/step)}
}

// decades is a logarithmic axis that holds the values, which are above 0.
func decades(values []float64) axis {
	low, high := math.Inf(1), 0.0
	for _, v := range values {
		low, high = min(low, v), max(high, v)
	}
	return axis{low: 1 / display.Round125(1.3/low), high: display.Round125(1.3 * high), log: true}
}

// at is the place of x in percent.
func (a axis) at(x float64) float64 {
	if a.log {
		return 100 * math.Log(x/a.low) / math.Log(a.high/a.low)
	}
	return 100 * (x - a.low) / (a.high - a.low)
}

// span is the place of a value with its interval; nil if it has none.
func (a axis) span(m score.Metric) *span {
	if !m.Defined {
		return nil
	}
	s := &span{At: a.at(m.Value), Low: a.at(m.Value), High: a.at(m.Value)}
	if m.HasInterval() {
		s.Low, s.High = a.at(m.Low), a.at(m.High)
	}
	return s
}

// ticks are about n+1 round numbers on a straight axis, or 1, 2, 5 and their tens on a
// logarithmic one.
func (a axis) ticks(n int) (ticks []tick) {
	if a.log {
		for x := a.low; x <= a.high*1.001; x = display.Round125(x * 1.01) {
			ticks = append(ticks, tick{a.at(x), fmt.Sprintf("%.4g", x)})
		}
		return ticks
	}
	step := display.Round125((a.high - a.low) / float64(n) / 1.001)
	if step > (a.high-a.low)/float64(n)*1.3 {
		step = (a.high - a.low) / float64(n)
	}
	for i := math.Ceil(a.low/step - 1e-9); i*step <= a.high+1e-9; i++ {
		x := i * step
		ticks = append(ticks, tick{a.at(x), fmt.Sprintf("%.3g", x+0)})
	}
	return ticks
}
