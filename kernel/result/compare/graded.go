package compare

import (
	"math"

	"gonum.org/v1/gonum/stat"

	"noema/kernel/base/score"
	"noema/kernel/result/record"
	"noema/methods"
)

// AddLabels adds what people say of answers. It returns how many of the labels are
// about answers of d.
func (d *Data) AddLabels(labels []record.Label) int {
	verdicts, found := map[string]record.Judgement{}, map[string]bool{}
	for _, l := range labels {
		verdicts[l.Of()] = l.Label
	}
	for _, s := range d.Samples {
		for _, cells := range s.Cells {
			for i, c := range cells {
				of := record.Label{Sample: s.ID, Answer: c.Prediction.Answer.Value}.Of()
				right := Number(0)
				switch verdicts[of] {
				case record.JudgedRight:
					right = 1
				case record.JudgedWrong:
				default:
					continue
				}
				cells[i].Label, found[of] = &right, true
			}
		}
	}
	return len(found)
}

// ungraded reports whether graders were to judge a trial and gave no verdict.
func (c Cell) ungraded() bool {
	_, has := c.Values[score.Graded]
	return !has && !c.Infra && c.Outcome == methods.Answered
}

// halfRight stands for the verdict that graders did not give: neither for nor against
// the method. People's labels correct it like any other.
const halfRight = 0.5

// gradedBy is what graders and people say of method m on each sample, the mean over
// its epochs. A sample without a trial that counts is NaN.
func (d Data) gradedBy(m int, v view) (f, y []float64, free []bool) {
	f, y, free = make([]float64, len(d.Samples)), make([]float64, len(d.Samples)), make([]bool, len(d.Samples))
	worth, fills := v.fill()
	for i, s := range d.Samples {
		n := 0.0
		if free[i] = true; fills {
			n = float64(s.lost(m, v))
			f[i], y[i] = worth*n, worth*n
		}
		for _, c := range s.Cells[m] {
			counted, wrong := v.counted(c)
			if !counted || c.Infra && fills {
				continue
			}
			n++
			if wrong || c.Outcome != methods.Answered {
				continue // 0 for both
			}
			free[i] = false
			if verdict, has := c.Values[score.Graded]; has {
				f[i] += verdict
			} else {
				f[i] += halfRight
			}
			if c.Label != nil {
				y[i] += float64(*c.Label)
			} else {
				y[i] = math.NaN()
			}
		}
		f[i], y[i] = f[i]/n, y[i]/n // 0/0 is NaN: undefined
	}
	return f, y, free
}

// gradedPair is the difference of two methods as graders and people see it, on the
// samples that both have.
func (d Data) gradedPair(a, b int, v view) (graded, pairing) {
	first, second := v.sides()
	fa, ya, freeA := d.gradedBy(a, first)
	fb, yb, freeB := d.gradedBy(b, second)
	p := pair(fa, fb, d.clusters())
	g := graded{f: p.d, unit: p.unit}
	for i := range fa {
		if finite(fa[i]) && finite(fb[i]) {
			g.y, g.free = append(g.y, ya[i]-yb[i]), append(g.free, freeA[i] && freeB[i])
		}
	}
	return g, p
}

// correctedMean is how often people would find method m right.
func (d Data) correctedMean(m int, o plan) score.Metric {
	f, y, free := d.gradedBy(m, view{metric: score.Graded, envelope: envelopeOf(o.Budget)})
	p := pair(f, make([]float64, len(f)), d.clusters())
	g := graded{f: p.a, unit: p.unit}
	for i := range f {
		if finite(f[i]) {
			g.y, g.free = append(g.y, y[i]), append(g.free, free[i])
		}
	}
	return g.estimate().interval(score.Graded, o.Level, 0)
}

// Calibration says how people's labels bear on a difference that models graded.
type Calibration struct {
	Labelled int    `json:"labelled"`         // samples (or clusters) whose answers of both methods people judged; below 10 there is no interval
	Raw      Number `json:"raw"`              // the difference by the graders alone
	Weight   Number `json:"weight"`           // how much the graders count beside the labels, 0 to 1
	Needed   int    `json:"needed,omitempty"` // about how many labelled samples would decide the difference; 0 if labels alone hardly would
}

// differGraded compares two methods on [score.Graded]: by prediction-powered
// inference where people labelled enough, and else without an interval or a test.
func (d Data) differGraded(a, b int, v view, o plan) Difference {
	g, p := d.gradedPair(a, b, v)
	out := newDifference(v.metric, d.Methods[a], d.Methods[b])
	if len(p.d) == 0 {
		return out
	}
	e := g.estimate()
	out.Correlation, out.MeanA, out.MeanB = p.correlation(), Number(stat.Mean(p.a, nil)), Number(stat.Mean(p.b, nil))
	out.Wins, out.Losses, out.Ties = p.sides()
	out.Difference = e.interval(v.metric, o.simultaneous(), -1)
	out.Calibration = &Calibration{Labelled: e.labelled, Raw: Number(e.raw), Weight: Number(e.weight), Needed: e.needed(o.simultaneous())}
	if !e.enough() {
		out.Calibration.Weight = undefined
		return out
	}
	out.Interval, out.Test = "prediction-powered, Student's t"+p.unitsText(), "prediction-powered, Student's t"
	out.P = Number(e.pValue())
	half := (out.Difference.High - out.Difference.Low) / 2
	out.rule = reaching{half, e.se, e.df}
	return out
}
