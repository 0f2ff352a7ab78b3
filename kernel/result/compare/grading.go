package compare

import (
	"fmt"
	"slices"
	"strings"

	"noema/kernel/base/score"
	"noema/methods"
)

// Uncalibrated reports whether the headline is the graders' word alone, so that there
// is not a verdict.
func (c *Comparison) Uncalibrated() bool {
	return slices.ContainsFunc(c.Pairs, func(p Pair) bool { return p.Metrics[c.Metric].uncalibrated() })
}

// uncalibrated reports whether d is the graders' word alone.
func (d Difference) uncalibrated() bool { return d.Calibration != nil && !d.Difference.HasInterval() }

// settle says how many labels would decide.
func (c Calibration) settle() string {
	more := max(0, fewestLabels-c.Labelled)
	if c.Needed > 0 {
		more = max(more, c.Needed-c.Labelled)
	}
	switch {
	case c.Needed == 0 && c.Labelled >= fewestLabels:
		return "more labels will not decide it: add samples"
	case c.Needed == 0:
		return fmt.Sprintf("so small a difference takes more samples than these; \"noema label\" asks for labels, of which an interval takes at least %d samples more", more)
	}
	return fmt.Sprintf("about %d more labelled samples would decide it: \"noema label\" asks for them", more)
}

// Grading is how graders did.
type Grading struct {
	Graded   int `json:"graded"`   // answers with a verdict
	Ungraded int `json:"ungraded"` // answers without one: the graders' replies could not be read, failed or were split
	Labelled int `json:"labelled"` // answers with a verdict that people judged, too
	// Of those labelled: Right are right by people's word, TooKind right by the
	// graders' alone, TooHard by people's alone.
	Right   int `json:"right"`
	TooKind int `json:"too_kind"`
	TooHard int `json:"too_hard"`
	// Kappa is Cohen's: agreement beyond what the base rates give by chance, 1 at best.
	Kappa     Number        `json:"kappa"`
	Corrected *score.Metric `json:"corrected,omitempty"` // the mean that people would give; nil without enough labels
	Usage     Usage         `json:"usage"`               // of the graders' calls, which are not the method's
}

// gradingOf counts the verdicts on the methods m for which of says yes; nil if nothing
// was graded.
func (d Data) gradingOf(of func(m int) bool) *Grading {
	g, graded := &Grading{Kappa: undefined}, false
	var used methods.Usage
	for m := range d.Methods {
		if !of(m) {
			continue
		}
		d.count(m, func(c Cell) bool {
			verdict, has := c.Values[score.Graded]
			graded, used = graded || has, used.Plus(c.Grading)
			switch {
			case c.ungraded():
				g.Ungraded++
			case has && c.Outcome == methods.Answered:
				g.Graded++
				g.add(verdict, c.Label)
			}
			return true
		})
	}
	if !graded {
		return nil
	}
	g.Usage = UsageOf(used)
	g.Kappa = g.kappa()
	return g
}

func (g *Grading) add(verdict float64, label *Number) {
	if label == nil {
		return
	}
	g.Labelled++
	switch {
	case *label == 1 && verdict < 1:
		g.Right, g.TooHard = g.Right+1, g.TooHard+1
	case *label == 1:
		g.Right++
	case verdict == 1:
		g.TooKind++
	}
}

// kappa is Cohen's 1960, undefined where both give one verdict to all.
func (g *Grading) kappa() Number {
	n := float64(g.Labelled)
	people, graders := float64(g.Right)/n, float64(g.Right-g.TooHard+g.TooKind)/n
	agree := 1 - float64(g.TooKind+g.TooHard)/n
	chance := people*graders + (1-people)*(1-graders)
	if !(chance < 1) {
		return undefined
	}
	return Number((agree - chance) / (1 - chance))
}

// grading adds how the graders did to a comparison.
func (d Data) grading(c *Comparison, o plan) {
	c.Grading = d.gradingOf(func(int) bool { return true })
	if c.Grading == nil {
		return
	}
	for m := range c.Methods {
		g := d.gradingOf(func(other int) bool { return other == m })
		if mean := d.correctedMean(m, o); g != nil && mean.HasInterval() {
			g.Corrected = &mean
		}
		c.Methods[m].Grading = g
	}
}

// gradingNotes are what a reader of graded numbers must know.
func (c *Comparison) gradingNotes() (notes []string) {
	g := c.Grading
	if g == nil {
		return nil
	}
	if g.Labelled == 0 {
		notes = append(notes, "uncalibrated: models graded, without labels of people to check them: no winner is named on graded; \"noema label\" asks for labels")
	} else {
		text := fmt.Sprintf("calibration: of %d labelled answers people find %.0f %% right, and agree with the graders on %.0f %%",
			g.Labelled, 100*float64(g.Right)/float64(g.Labelled), 100-100*float64(g.TooKind+g.TooHard)/float64(g.Labelled))
		if g.Kappa.Defined() {
			text += fmt.Sprintf(" (kappa %.2f)", float64(g.Kappa))
		}
		notes = append(notes, text+c.leanings())
	}
	for _, m := range c.Methods {
		if m.Grading != nil && m.Grading.Ungraded > 0 {
			notes = append(notes, fmt.Sprintf("%s: %d answers are ungraded, because the graders gave no verdict that can be read: its mean leaves them out, and differences count them as half right",
				m.Method, m.Grading.Ungraded))
		}
	}
	return notes
}

// leanings says of each method in how many labelled answers the graders were too kind
// or too hard.
func (c *Comparison) leanings() string {
	var parts []string
	for _, m := range c.Methods {
		if g := m.Grading; g != nil && g.Labelled > 0 {
			parts = append(parts, fmt.Sprintf("%s %d and %d of %d", m.Method, g.TooKind, g.TooHard, g.Labelled))
		}
	}
	return "; the graders were too kind and too hard to " + strings.Join(parts, ", ")
}
