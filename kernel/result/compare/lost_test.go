package compare

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"noema/methods"
)

// generated is a comparison of two methods in which anything may be: 0/1 or graded values,
// epochs, clusters, failed and absent trials. The first is often the better one.
func generated(random *rand.Rand) Data {
	d := drawn(2, "x")
	n, epochs, clusters := 4+random.IntN(30), 1+random.IntN(2)*random.IntN(3), random.IntN(4) == 0
	lift, fails := random.Float64(), []float64{0, 0.02, 0.1, 0.3}[random.IntN(4)]
	kind := random.IntN(3)
	for i := range n {
		s := Sample{ID: fmt.Sprint(i), Cells: make([][]Cell, 2), Absent: make([]int, 2)}
		if clusters {
			s.Cluster = fmt.Sprint(i / 3)
		}
		for m := range 2 {
			for e := range epochs {
				x := random.Float64()
				if better := m == 0 && random.Float64() < lift; better {
					x = 0.6 + 0.4*x
				}
				switch kind {
				case 0:
					x = oneIf(x > 0.5)
				case 1:
					x = float64(int(x*5)) / 4
				}
				c := Cell{Epoch: e, Values: map[string]float64{"x": x}, Outcome: methods.Answered}
				switch lost := random.Float64(); {
				case lost < fails/2:
					s.Absent[m]++
					continue
				case lost < fails:
					c.Infra, c.Outcome, c.Values = true, methods.Failed, nil
				}
				s.Cells[m] = append(s.Cells[m], c)
			}
		}
		if len(s.Cells[0])+len(s.Cells[1]) > 0 { // another was asked of nobody
			d.Samples = append(d.Samples, s)
		}
	}
	return d
}

// court decides differences at a level.
type court struct {
	plan
	alpha float64
}

// judge is the one difference of d.
func (c court) judge(d Data) Difference {
	one := d.difference(0, 1, "x", c.plan)
	one.Corrected = one.P
	one.Winner = one.winner(c.alpha)
	return one
}

// changed is d with another cell in place of one that has a value; false if there is none.
func changed(d Data, random *rand.Rand, m int, to func(Cell) Cell) (Data, bool) {
	d.Samples = slices.Clone(d.Samples)
	for range 20 {
		i := random.IntN(len(d.Samples))
		s := d.Samples[i]
		if len(s.Cells[m]) == 0 {
			continue
		}
		e := random.IntN(len(s.Cells[m]))
		if s.Cells[m][e].Infra {
			continue
		}
		s.Cells = slices.Clone(s.Cells)
		s.Cells[m] = slices.Clone(s.Cells[m])
		s.Cells[m][e] = to(s.Cells[m][e])
		d.Samples[i] = s
		return d, true
	}
	return d, false
}

func comparisons(t *testing.T, do func(random *rand.Rand, d Data, at court)) {
	count := 1500
	switch {
	case testing.Short():
		t.Skip("long")
	case os.Getenv("NOEMA_BENCH") == "1":
		count = 10_000
	}
	random := stream(49, t.Name())
	known := &edges{}
	for range count {
		alpha := []float64{0.05, 0.05 / 3, 0.05 / 28}[random.IntN(3)]
		p := Options{Level: 1 - alpha}.plan(1)
		p.edges = known
		do(random, generated(random), court{p, alpha})
	}
}

// TestABetterResultNeverLoses: a value that rises never loses its method a win, gives one to
// the other, or widens how much worse it may be.
func TestABetterResultNeverLoses(t *testing.T) {
	wins := 0
	comparisons(t, func(random *rand.Rand, d Data, at court) {
		before := at.judge(d)
		better, ok := changed(d, random, 0, func(c Cell) Cell {
			x := c.Values["x"]
			y := x + (1-x)*random.Float64()
			if random.IntN(2) == 0 || before.Test == suissaShuster { // its interval is another's
				y = 1
			}
			c.Values = map[string]float64{"x": y}
			return c
		})
		if !ok {
			return
		}
		after := at.judge(better)
		wins += int(oneIf(before.Winner == "m0"))
		if before.Winner == "m0" && after.Winner != "m0" || before.Winner != "m1" && after.Winner == "m1" {
			t.Errorf("%s\nand with a better result of m0: %s", before.Verdict(), after.Verdict())
		}
		was, _ := before.ends()
		now, _ := after.ends()
		if before.P.Defined() && before.Test == after.Test && finite(was) && now < was-1e-6 {
			t.Errorf("%s may be worse by %v, and with a better result by %v\n%s\n%s", "m0", -was, -now, before.Verdict(), after.Verdict())
		}
	})
	if wins < 50 {
		t.Errorf("only %d wins: the cases show nothing", wins)
	}
}

// TestAFailedTrialNeverHelps: a trial that fails, is absent or has no score never makes its
// method a winner, and never narrows how much worse it may be.
func TestAFailedTrialNeverHelps(t *testing.T) {
	comparisons(t, func(random *rand.Rand, d Data, at court) {
		before := at.judge(d)
		way := random.IntN(2)
		worse, ok := changed(d, random, 0, func(c Cell) Cell {
			c.Values = nil
			if way == 0 {
				c.Infra, c.Outcome = true, methods.Failed
			}
			return c
		})
		if !ok {
			return
		}
		after := at.judge(worse)
		if before.Winner != "m0" && after.Winner == "m0" {
			t.Errorf("%s\nand with a trial of m0 that failed: %s", before.Verdict(), after.Verdict())
		}
		was, _ := before.ends()
		now, _ := after.ends()
		if finite(was) && finite(now) && now > was+1e-6 && was > -1 && before.Test == after.Test {
			t.Errorf("m0 may be worse by %v, and with a failed trial by %v\n%s\n%s", -was, -now, before.Verdict(), after.Verdict())
		}
	})
}

// TestTheWorstCaseIsTheWorst: a winner wins with every completion of what was lost, and so few
// trials undo a lead as a search through all of them finds.
func TestTheWorstCaseIsTheWorst(t *testing.T) {
	checked, undone, more := 0, 0, 0
	comparisons(t, func(random *rand.Rand, d Data, at court) {
		type trial struct{ sample, method, epoch int }
		var lost []trial
		for i, s := range d.Samples {
			for m, cells := range s.Cells {
				for e, c := range cells {
					if c.Infra {
						lost = append(lost, trial{i, m, e})
					}
				}
				for range s.Absent[m] {
					lost = append(lost, trial{i, m, -1})
				}
			}
		}
		got := at.judge(d)
		if len(lost) == 0 || len(lost) > 6 || sideOf(got.Difference) == 0 || d.epochs() > 1 || len(lost) > 4 && random.IntN(8) > 0 {
			return
		}
		side := sideOf(got.Difference)
		fewest := len(lost) + 1
		for bits := range 1 << (2 * len(lost)) { // each: left out, 0, 1
			full := d
			full.Samples = slices.Clone(d.Samples)
			n, open, bad := 0, 0, false
			for j, l := range lost {
				what := bits >> (2 * j) & 3
				if bad = bad || what == 3; what == 0 {
					open++
					continue
				}
				n++
				s := full.Samples[l.sample]
				s.Cells, s.Absent = slices.Clone(s.Cells), slices.Clone(s.Absent)
				c := Cell{Epoch: max(0, l.epoch), Values: map[string]float64{"x": float64(what - 1)}, Outcome: methods.Answered}
				s.Cells[l.method] = []Cell{c}
				if l.epoch < 0 {
					s.Absent[l.method]--
				}
				full.Samples[l.sample] = s
			}
			if bad {
				continue
			}
			if open == 0 {
				if w := at.judge(full).Winner; got.Winner != "" && w != got.Winner {
					t.Fatalf("%s\nand with what was lost: %q wins: %s; %+v", got.Verdict(), w, at.judge(full).Verdict(), got.Lost)
				}
			}
			left := full.difference(0, 1, "x", at.plan)
			if sideOf(left.Difference) != side {
				fewest = min(fewest, n)
			}
		}
		checked++
		if got.Winner == "" && got.Lost.Undo > 0 {
			undone++
			if got.Lost.Undo < fewest {
				t.Errorf("%d trials undo it, and a search finds %d: %s", got.Lost.Undo, fewest, got.Verdict())
			}
			more += got.Lost.Undo - fewest
		}
	})
	t.Logf("%d searched, %d undone, %d trials more than a search finds", checked, undone, more)
	if more > undone/10 {
		t.Errorf("%d verdicts that are undone take %d trials more than a search finds", undone, more)
	}
	if checked < 20 || undone < 5 {
		t.Errorf("%d searched and %d undone: the cases show nothing", checked, undone)
	}
}
