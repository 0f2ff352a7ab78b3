package compare

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"

	"noema/kernel/base/score"
)

// Lost is what trials without a value could change of a difference: those that the
// infrastructure failed, that are absent, and that have no score. A method may have lost just
// what it could not do, so that a verdict must hold in the worst case: the trials that the
// winner lost count as 0, and those that the other lost as 1. Sample by sample that is no
// better than the truth, whatever made them fail, so that the error rate stays that of the
// rule, if a better result never loses a win by it.
//
// Sources: Manski 1990, "Nonparametric bounds on treatment effects"; Horowitz and Manski 2000,
// "Nonparametric analysis of randomized experiments with missing covariate and outcome data".
type Lost struct {
	A int `json:"a"` // trials of the first method
	B int `json:"b"` // of the second
	// Low and High are the ends of the interval whatever they would have scored: the low one
	// with all against the first method, the high one with all for it.
	Low  Number `json:"low"`
	High Number `json:"high"`
	// Undo is how few of them, gone against the method that is ahead, undo its lead; 0 where
	// it holds against all, where none is ahead, and where it cannot be told.
	Undo int `json:"undo,omitempty"`
}

// weigh says what the trials that each of the two lost could change.
func (d *Difference) weigh(a, b int, at func(treatment) *score.Metric) {
	if a+b > 0 && d.Difference.Defined {
		d.Lost = &Lost{A: a, B: b, Low: Number(at(againstA).Low), High: Number(at(againstB).High)}
	}
}

// ends are those of the interval that hold whatever the lost trials would have scored.
func (d Difference) ends() (low, high float64) {
	if d.Lost != nil {
		return float64(d.Lost.Low), float64(d.Lost.High)
	}
	return d.Difference.Low, d.Difference.High
}

// side is the side of 0 on which the interval lies whatever the lost trials would have scored,
// 0 for neither.
func (d Difference) side() int {
	low, high := d.ends()
	switch side := sideOf(d.Difference); {
	case side > 0 && low > 0, side < 0 && high < 0:
		return side
	}
	return 0
}

// onFailures reports whether the interval is off zero only as long as lost trials are left
// out.
func (d Difference) onFailures() bool { return sideOf(d.Difference) != d.side() }

// undo is how few of the lost trials, gone against the method that is ahead, undo its lead:
// those that hurt most first, while the others are left out.
func (d Data) undo(a, b int, v view, o plan, stop Stop, side int) int {
	x, y := d.values(a, v), d.values(b, v)
	v.treatment = againstA
	if side < 0 {
		v.treatment = againstB
	}
	first, second := v.sides()
	worstX, worstY := d.values(a, first), d.values(b, second)
	var at []int
	hurt, trials := map[int]float64{}, map[int]int{}
	for i, s := range d.Samples {
		if trials[i] = s.lost(a, first) + s.lost(b, second); trials[i] > 0 {
			at, hurt[i] = append(at, i), float64(side)*(worstX[i]-worstY[i])
			if seen := float64(side) * (x[i] - y[i]); finite(seen) {
				hurt[i] -= seen
			}
			hurt[i] /= float64(trials[i])
		}
	}
	slices.SortStableFunc(at, func(i, j int) int { return cmp.Compare(hurt[i], hurt[j]) })
	few := sort.Search(len(at), func(k int) bool {
		withX, withY := slices.Clone(x), slices.Clone(y)
		for _, i := range at[:k+1] {
			withX[i], withY[i] = worstX[i], worstY[i]
		}
		p := pair(withX, withY, d.clusters())
		p.largest = d.Largest
		m, _ := o.judge(p, stop).interval(v.metric)
		return sideOf(m) != side
	})
	n := 0
	for _, i := range at[:min(len(at), few+1)] {
		n += trials[i]
	}
	return n
}

// trials says how many trials of which of the two have no score.
func (l Lost) trials(a, b string) string {
	text := func(n int, name string) string {
		if n == 1 {
			return "1 trial of " + name
		}
		return fmt.Sprintf("%d trials of %s", n, name)
	}
	switch {
	case l.A == 0:
		return text(l.B, b)
	case l.B == 0:
		return text(l.A, a)
	}
	return text(l.A, a) + " and " + text(l.B, b)
}

// undone says why a lead is not a verdict.
func (d Difference) undone() string {
	ahead, few := d.A, "they"
	if sideOf(d.Difference) < 0 {
		ahead = d.B
	}
	if d.Lost.Undo > 0 {
		few = fmt.Sprintf("%d of them", d.Lost.Undo)
	}
	return fmt.Sprintf("%s is ahead where both have a score, but %s have none, and %s against it would undo that: repeat the command of the run, which asks again what failed, or complete the results",
		ahead, d.Lost.trials(d.A, d.B), few)
}

// won adds to a winner that it would also be one in the worst case, and how far a design went.
func (d Difference) won() string {
	var parts []string
	if text := d.Stopped(); text != "" {
		parts = append(parts, text)
	}
	wins, losses := d.Wins, d.Losses
	if d.Winner == d.B {
		wins, losses = losses, wins
	}
	if losses > wins {
		parts = append(parts, fmt.Sprintf("by the mean alone: it is worse on %d of %d samples", losses, wins+losses+d.Ties))
	}
	if d.Lost != nil {
		parts = append(parts, fmt.Sprintf("also if %s, without a score, had gone against it", d.Lost.trials(d.A, d.B)))
	}
	if len(d.Seeded) > 0 {
		parts = append(parts, fmt.Sprintf("with what %s compiled here: another artefact may shift all samples", Listed(d.Seeded)))
	}
	return strings.Join(parts, "; ")
}
