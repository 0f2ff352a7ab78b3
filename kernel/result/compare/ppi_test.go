package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"noema/kernel/base/score"
	"noema/methods"
)

// gradedWorld is experiments whose truth is known: methods, of which the first may be
// better than the others, graders that are wrong more often about one than about
// another, and people who label some samples.
type gradedWorld struct {
	samples, labels int
	graders         []grader // one for each method
	gap             float64  // what the first method is better by, before it is cut to 0 to 1
}

// grader says how often graders are wrong about a method, and whether only by being
// too kind or in both directions.
type grader struct {
	wrong float64
	kind  bool
}

func (w gradedWorld) String() string {
	var wrong []string
	for _, g := range w.graders {
		wrong = append(wrong, fmt.Sprintf("%.0f %% (kind %v)", 100*g.wrong, g.kind))
	}
	return fmt.Sprintf("%d of %d labelled, wrong %s, gap %.2f", w.labels, w.samples, strings.Join(wrong, ", "), w.gap)
}

// rights are the chances of the first method and of any other to be right on a sample
// of random difficulty.
func (w gradedWorld) rights(rng *rand.Rand) (first, other float64) {
	p := 1 / (1 + math.Exp(-0.8-1.5*rng.NormFloat64()))
	return min(1, p+w.gap/2), max(0, p-w.gap/2)
}

// truth is the difference of the first and any other over all samples that there could be.
func (w gradedWorld) truth() (total float64) {
	rng := rand.New(rand.NewPCG(9, 9))
	const n = 200_000
	for range n {
		first, other := w.rights(rng)
		total += (first - other) / n
	}
	return total
}

// data draws an experiment.
func (w gradedWorld) data(rng *rand.Rand) Data {
	d := Data{Metrics: []string{score.Graded}}
	for i := range w.graders {
		d.Methods = append(d.Methods, fmt.Sprint("M", i))
	}
	chosen := map[int]bool{}
	for _, i := range rng.Perm(w.samples)[:w.labels] {
		chosen[i] = true
	}
	for i := range w.samples {
		right, other := w.rights(rng)
		s := Sample{ID: fmt.Sprint(i)}
		for _, g := range w.graders {
			s.Cells = append(s.Cells, []Cell{g.cell(rng, right, chosen[i])})
			right = other
		}
		d.Samples = append(d.Samples, s)
	}
	return d
}

// cell is a graded answer, which is right with the given chance.
func (g grader) cell(rng *rand.Rand, right float64, label bool) Cell {
	truth := Number(0)
	if rng.Float64() < right {
		truth = 1
	}
	verdict := float64(truth)
	if rng.Float64() < g.wrong {
		if verdict = 1; !g.kind {
			verdict = 1 - float64(truth)
		}
	}
	c := Cell{Values: map[string]float64{score.Graded: verdict}, Outcome: methods.Answered}
	if label {
		c.Label = &truth
	}
	return c
}

// gradedCount is what happened in many experiments: the share of those in which raw
// grading, and the corrected one, names at least one false winner in the family of all
// pairs; of the pairs, the share that intervals cover; and of the pairs that differ, the
// share that is decided.
type gradedCount struct{ rawFalse, false, covered, decided float64 }

func (w gradedWorld) simulate(experiments int) (c gradedCount) {
	rng, truth := rand.New(rand.NewPCG(5, uint64(w.labels))), 0.0
	if w.gap != 0 {
		truth = w.truth()
	}
	each := 1 / float64(experiments)
	for range experiments {
		d := w.data(rng)
		raw, family := w.families(d)
		c.rawFalse += each * namesFalse(raw, truth)
		c.false += each * namesFalse(family, truth)
		for _, one := range family {
			m, truth := one.Difference, truthOf(one, truth)
			if m.Low <= truth && truth <= m.High {
				c.covered += each / float64(len(family))
			}
			if one.Winner != "" && float64(sideOf(m))*truth > 0 {
				c.decided += each / float64(len(w.graders)-1)
			}
		}
	}
	return c
}

// families are all pairs of methods as the graders alone decide them, and as corrected
// by the labels; both corrected.
func (w gradedWorld) families(d Data) (raw, corrected []Difference) {
	for i := range d.Methods {
		for j := range i {
			alone, one := d.paired(j, i, view{metric: score.Graded}), Difference{A: d.Methods[j], B: d.Methods[i]}
			one.Difference, _ = alone.interval(score.Graded, 0.95, alone.rule("", nil))
			p, _ := alone.test(alone.rule("", nil))
			one.P = Number(p)
			raw = append(raw, one)
			corrected = append(corrected, d.difference(j, i, score.Graded, Options{}.plan(0)))
		}
	}
	all := Options{}.plan(len(raw))
	decide(raw, all)
	decide(corrected, all)
	return raw, corrected
}

// truthOf is the true difference of a pair, where only the first method differs.
func truthOf(d Difference, truth float64) float64 {
	if d.A != "M0" {
		return 0
	}
	return truth
}

// namesFalse is 1 if a winner is named among equals, or the worse one of two.
func namesFalse(family []Difference, truth float64) float64 {
	for _, d := range family {
		if d.Winner != "" && float64(sideOf(d.Difference))*truthOf(d, truth) <= 0 {
			return 1
		}
	}
	return 0
}

func gradedWorlds() (all []gradedWorld) {
	kinds := [][]grader{
		{{0.05, false}, {0.05, false}}, {{0.05, false}, {0.3, false}}, {{0.15, false}, {0.3, true}}, {{0.3, true}, {0.05, false}},
		{{0.05, false}, {0.15, false}, {0.3, false}}, {{0.3, true}, {0.15, false}, {0.05, false}},
		{{0.05, false}, {0.1, false}, {0.15, false}, {0.2, false}, {0.3, false}}, {{0.3, true}, {0.2, false}, {0.15, true}, {0.1, false}, {0.05, false}},
	}
	for _, n := range []struct{ samples, labels int }{{200, 10}, {200, 20}, {200, 30}, {200, 50}, {500, 100}} {
		for _, graders := range kinds {
			for _, gap := range []float64{0, 0.2} {
				all = append(all, gradedWorld{n.samples, n.labels, graders, gap})
			}
		}
	}
	return all
}

// TestGradersSimulated: graders who are wrong more often about one method than about
// another have raw grading name a false winner, and prediction-powered inference name
// one in 5 % of experiments at most, among two, three and five methods, with intervals
// that hold. NOEMA_BENCH=1 has 2,000 experiments in each of 80 worlds and prints them.
func TestGradersSimulated(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	worlds, experiments := gradedWorlds(), 2000
	bench := os.Getenv("NOEMA_BENCH") != ""
	if !bench {
		worlds, experiments = []gradedWorld{
			{200, 20, []grader{{0.3, true}, {0.05, false}}, 0}, {200, 50, []grader{{0.15, false}, {0.3, true}}, 0.2},
			{200, 50, []grader{{0.3, true}, {0.15, false}, {0.05, false}}, 0}, {200, 50, []grader{{0.3, true}, {0.2, false}, {0.15, true}, {0.1, false}, {0.05, false}}, 0},
		}, 200
	}
	noise := 3 * math.Sqrt(0.05*0.95/float64(experiments))
	found := make([]gradedCount, len(worlds))
	atOnce(len(worlds), func(i int) { found[i] = worlds[i].simulate(experiments) })
	for i, w := range worlds {
		c := found[i]
		if bench {
			t.Logf("%v: false winners raw %.1f %%, corrected %.1f %%; true ones %.0f %%; coverage %.1f %%", w, 100*c.rawFalse, 100*c.false, 100*c.decided, 100*c.covered)
		}
		if c.false > 0.05+noise {
			t.Errorf("%v: a false winner in %.1f %%", w, 100*c.false)
		}
		if c.covered < 0.95-noise {
			t.Errorf("%v: coverage %.1f %%", w, 100*c.covered)
		}
		if w.labels >= 50 && c.covered > 0.97+noise {
			t.Errorf("%v: coverage %.1f %%: the interval is too wide", w, 100*c.covered)
		}
		if w.gap == 0 && w.graders[0].kind && c.rawFalse < 0.3 {
			t.Errorf("%v: raw grading names a false winner in %.1f %% only: the world is too kind to show anything", w, 100*c.rawFalse)
		}
	}
}
