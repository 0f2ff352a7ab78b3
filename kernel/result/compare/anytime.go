package compare

import (
	"fmt"
	"math"

	"noema/kernel/base/score"
)

// anyTime names intervals and tests that hold at every look.
const anyTime = "betting, at any time"

// judged is a pair under the options: all pairs of a family hold their intervals together.
type judged struct {
	pairing
	rule rule // nil with fewer than two units
	plan plan
	stop Stop // how far a design went
}

func (o plan) judge(p pairing, stop Stop) judged {
	j := judged{pairing: p, plan: o, stop: stop}
	if p.units > 1 {
		j.rule = p.rule(o.Test, o.edges)
	}
	return j
}

// looked reports whether the design looked a number of times.
func (j judged) looked() bool { return j.plan.sequel.schedule.design.Looks > 0 }

func (j judged) interval(metric string) (score.Metric, string) {
	s := j.plan.sequel
	switch {
	case s == nil:
		return j.pairing.interval(metric, j.plan.simultaneous(), j.rule)
	case j.looked() && j.stop.Look > 0:
		m, how := j.pairing.interval(metric, 1-j.stop.Level, j.rule)
		return m, how + fmt.Sprintf(", for %d looks", s.schedule.design.Looks)
	}
	m := j.bare(metric)
	switch {
	case j.looked():
		warn(&m, "no look was taken: no interval")
	case !j.within():
		warn(&m, "%s is not within 0 and 1: no interval holds at every look", metric)
	case j.units > 1:
		m.Low, m.High = anytime(unitsOf(j.d, j.unit, j.units, s.schedule.largest), -1, 1, s.schedule.needed)
		return m, anyTime
	}
	return m, ""
}

// test is that of a pair: the p-value of an e-value is its inverse.
func (j judged) test() (pValue float64, name string) {
	s := j.plan.sequel
	switch {
	case s == nil:
		return j.pairing.test(j.rule)
	case j.looked() && j.stop.Look > 0:
		value, name := j.pairing.test(j.rule)
		return repeated(s.schedule.fractions(), j.stop.Look, value), name + fmt.Sprintf(", for %d looks", s.schedule.design.Looks)
	case j.looked() || !j.within() || len(j.d) == 0:
		return math.NaN(), ""
	}
	e := newEvidence(newGrid(), 0, -1, 1)
	for _, u := range unitsOf(j.d, j.unit, j.units, s.schedule.largest) {
		e.bet(u.sum, u.size)
	}
	return math.Exp(min(0, -e.log())), anyTime
}

// hold gives the mean of a method an interval that holds at every look.
func (s *sequel) hold(m *score.Metric, values []float64, clusters []string, level float64) {
	var kept []float64
	var names []string
	for i, x := range values {
		if finite(x) {
			kept, names = append(kept, x), append(names, "")
			if clusters != nil {
				names[len(names)-1] = clusters[i]
			}
		}
	}
	m.Low, m.High = math.NaN(), math.NaN()
	if of, n := score.Units(names); n > 1 && within(kept) {
		m.Low, m.High = anytime(unitsOf(kept, of, n, s.schedule.largest), 0, 1, 1/(1-level))
	}
}

// unitsOf adds values up by unit.
func unitsOf(values []float64, of []int, n int, largest float64) []unit {
	units := make([]unit, n)
	for i, x := range values {
		units[of[i]].sum += x / largest
		units[of[i]].size += 1 / largest
	}
	return units
}
