package compare

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"noema/kernel/base/score"
)

// Curve is what the methods are worth at one budget after another: to somebody who can pay
// that much for a sample. See METHOD.md for the bands.
type Curve struct {
	Resource Resource   `json:"resource"`
	Budgets  []float64  `json:"budgets"` // in rising order, in about equal steps of a logarithmic scale
	Ways     []Spending `json:"ways"`
	// Confidence is what the methods know of their own mistakes; of one task with one model.
	Confidence []Confidence `json:"confidence,omitempty"`
}

// Spending is one way to spend budgets.
type Spending struct {
	Way   Way         `json:"way"`
	Lines []CurveLine `json:"lines"`
	Pairs []CurvePair `json:"pairs"`
}

// CurveLine is a method, or several that differ in one option. Its band holds at all budgets
// at once.
type CurveLine struct {
	Name     string         `json:"name"`
	Points   []score.Metric `json:"points"`             // along Curve.Budgets; undefined where more was not recorded
	Settings []string       `json:"settings,omitempty"` // that each budget pays for, such as 5 draws; empty for none
	Area     score.Metric   `json:"area"`               // mean over the budgets at which every line is defined
}

// CurvePair is two lines. Its points have a winner where one is proven, of all budgets and
// pairs as one family.
type CurvePair struct {
	A        string       `json:"a"`
	B        string       `json:"b"`
	Points   []Difference `json:"points"` // along Curve.Budgets
	Area     Difference   `json:"area"`
	Crossing *Crossing    `json:"crossing,omitempty"` // nil where the means never change places
}

// Crossing is where a line overtakes another, if they cross once: between the last budget at
// which it is surely behind and the first at which it is surely ahead.
type Crossing struct {
	Ahead string `json:"ahead"` // at the largest budgets
	From  Number `json:"from"`  // null: it is nowhere shown to be behind
	To    Number `json:"to"`    // null: it is nowhere shown to be ahead
	Times int    `json:"times"` // that the means change places; more than once makes a single crossing doubtful
}

// mostBudgets bounds the budgets of a curve: each makes all intervals wider.
const mostBudgets = 12

// curve makes the curves over a resource.
func (s *study) curve(r Resource) (*Curve, error) {
	if s.Design != nil {
		return nil, errors.New("compare: a curve's bands are of a fixed number of samples, and this run chose it by --until or --looks: leave --curve out")
	}
	ways := s.ways(r)
	c := &Curve{Resource: r, Budgets: s.budgets(r, ways)}
	if len(c.Budgets) == 0 {
		return nil, fmt.Errorf("compare: no curve over %s: no trial is known to have used any; try another resource", r)
	}
	for _, w := range ways {
		c.Ways = append(c.Ways, w.of.spending(c, w))
	}
	if len(s.cells) == 1 {
		c.Confidence = s.cells[0].Data.scored().confidence(s.plan)
	}
	return c, nil
}

// budgets are round amounts from the least that tells something to what pays for all.
func (s *study) budgets(r Resource, ways []way) []float64 {
	low, high := math.Inf(1), 0.0
	reach := func(x float64) {
		if x > 0 {
			low, high = min(low, x), max(high, x)
		}
	}
	for _, c := range s.cells {
		for m := range s.methods {
			c.Data.count(m, func(cell Cell) bool {
				reach(r.observed(cell))
				return true
			})
		}
	}
	for _, w := range ways {
		for _, l := range w.lines {
			reach(l.settings[len(l.settings)-1].use)
		}
	}
	var best []float64
	for _, steps := range []int{3, 5, 10, 20, 40} { // of a power of ten
		if found := lattice(low, high, steps, r == Calls); len(best) == 0 || len(found) <= mostBudgets {
			best = found
		}
	}
	return best
}

// lattice is amounts of two digits from the last at or below low to the first at or above high.
func lattice(low, high float64, steps int, whole bool) (all []float64) {
	if high <= 0 {
		return nil
	}
	start := int(math.Floor(math.Log10(low)*float64(steps))) - 1
	for i := start; len(all) == 0 || all[len(all)-1] < high; i++ {
		at := math.Pow(10, float64(i)/float64(steps))
		unit := math.Pow(10, math.Floor(math.Log10(at))-1)
		at = math.Round(at/unit) * unit
		if whole {
			at = math.Ceil(at)
		}
		if len(all) > 0 && (at <= low || at == all[len(all)-1]) {
			all = all[:len(all)-1] // a later one is nearer to low, or the same
		}
		all = append(all, at)
	}
	return all
}

// spending computes the lines and pairs of one way.
func (s *study) spending(c *Curve, w way) Spending {
	out := Spending{Way: w.Way}
	looks := make([]view, len(c.Budgets))
	shared := []int{} // budgets at which all are defined
	for i, budget := range c.Budgets {
		looks[i] = view{envelope: s.envelope, own: func(d Data, line int, v view) []float64 {
			return s.spent(d, w.Way, w.lines[line], v, c.Resource, budget)
		}}
		if w.Way == OneTrial || !slices.ContainsFunc(w.lines, func(l spender) bool { return l.beyond(w.Way, budget) }) {
			shared = append(shared, i)
		}
	}
	area := view{envelope: s.envelope, own: func(d Data, line int, v view) []float64 {
		sum := make([]float64, len(d.Samples))
		for _, i := range shared {
			for j, x := range looks[i].own(d, line, v) {
				sum[j] += x / float64(len(shared))
			}
		}
		return sum
	}}
	level := s.over(len(c.Budgets)).simultaneous()
	for i, l := range w.lines {
		line := CurveLine{Name: l.name, Area: s.stratified(s.strata, i, area, l.name, s.Level)}
		for j, v := range looks {
			line.Points = append(line.Points, s.stratified(s.strata, i, v, l.name, level))
			if w.Way != OneTrial {
				at, _ := l.affords(c.Budgets[j])
				line.Settings = append(line.Settings, at.name)
			}
		}
		out.Lines = append(out.Lines, line)
	}
	out.Pairs = s.curvePairs(c.Budgets, w.lines, looks, area)
	return out
}

// curvePairs compares lines at each budget and over all.
func (s *study) curvePairs(budgets []float64, lines []spender, looks []view, area view) []CurvePair {
	var pairs [][2]int
	for a := range lines {
		for b := a + 1; b < len(lines); b++ {
			switch {
			case s.Baseline != "" && lines[a].has(s, s.Baseline):
				pairs = append(pairs, [2]int{b, a})
			case s.Baseline == "" || lines[b].has(s, s.Baseline):
				pairs = append(pairs, [2]int{a, b})
			}
		}
	}
	n, all := len(pairs), len(pairs)
	if s.Baseline != s.Declared {
		all = len(lines) * (len(lines) - 1) / 2
	}
	out, family := make([]CurvePair, n), make([]Difference, n*len(budgets))
	areas := make([]Difference, n)
	atOnce(n, func(i int) {
		a, b := pairs[i][0], pairs[i][1]
		named := func(v view, family int) Difference { return s.look(a, b, lines, v, s.over(family)) }
		sole := make([]Difference, len(looks)) // of each budget by itself
		for j, v := range looks {
			family[i*len(budgets)+j], sole[j] = named(v, all*len(budgets)), named(v, all)
		}
		areas[i] = named(area, all)
		out[i] = CurvePair{A: lines[a].name, B: lines[b].name, Crossing: crossing(budgets, sole)}
	})
	decide(family, s.over(all*len(budgets)))
	decide(areas, s.over(all))
	for i := range out {
		out[i].Points, out[i].Area = family[i*len(budgets):(i+1)*len(budgets)], areas[i]
	}
	return out
}

// look is the difference of two lines, with what the trials that they lost could change.
func (s *study) look(a, b int, lines []spender, v view, o plan) Difference {
	d := s.differ(s.strata, a, b, v, o)
	d.A, d.B = lines[a].name, lines[b].name
	lostBy := func(l spender) (n int) {
		for _, x := range l.settings {
			n += lost(s.strata, x.method, view{envelope: s.envelope})
		}
		return n
	}
	d.weigh(lostBy(lines[a]), lostBy(lines[b]), func(t treatment) *score.Metric {
		v.treatment = t
		m := s.differ(s.strata, a, b, v, o).Difference
		return &m
	})
	return d
}

// crossing is where a line overtakes the other, by differences at each budget.
func crossing(budgets []float64, points []Difference) *Crossing {
	out, last := &Crossing{From: undefined, To: undefined}, 0.0
	for _, d := range points {
		if v := d.Difference; v.Defined && v.Value != 0 {
			if last*v.Value < 0 {
				out.Times++
			}
			last = v.Value
			if out.Ahead = d.A; last < 0 {
				out.Ahead = d.B
			}
		}
	}
	if out.Times == 0 {
		return nil
	}
	for i, d := range points {
		switch side := float64(d.side()); {
		case side*last < 0:
			out.From, out.To = Number(budgets[i]), undefined
		case side*last > 0 && !out.To.Defined():
			out.To = Number(budgets[i])
		}
	}
	return out
}

// stratified is the mean of own values over strata, with an interval by the rule of
// differences, which holds at every level.
func (s *study) stratified(strata []stratum, m int, v view, name string, level float64) score.Metric {
	out := score.Metric{Name: metricName(strata), Defined: true, Low: math.NaN(), High: math.NaN()}
	var bounds []bounded
	var weights []float64
	for _, t := range strata {
		p := t.paired(m, m, v) // its own values, averaged over models
		if p.left > 0 {
			warn(&out, "%s has no value on %d of %d samples of %s, which are left out", name, p.left, p.left+len(p.a), t.Task)
		}
		if len(p.a) == 0 {
			return score.Metric{Name: out.Name, Value: math.NaN(), Low: math.NaN(), High: math.NaN(), Warnings: []string{fmt.Sprintf("%s has no value on %s", name, t.Task)}}
		}
		out.N += len(p.a)
		weight := t.Weight
		if len(strata) == 1 {
			weight = 1
		}
		out.Value += weight * stat.Mean(p.a, nil)
		if p.d = p.a; p.units > 1 && p.within() {
			bounds, weights = append(bounds, p.bounded()), append(weights, weight)
		}
	}
	if len(bounds) == len(strata) {
		low, high := compose(bounds, weights).interval(level)
		out.Low, out.High = max(0, low), high
	}
	return out
}
