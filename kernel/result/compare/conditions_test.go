package compare

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"noema/kernel/result/record"
	"noema/methods"
)

// several is a comparison of some methods in which anything may be, as [generated] is of two.
func several(t *testing.T, seed string) Data {
	random := stream(49, seed)
	d := generated(random)
	for m := 2; m < 3+random.IntN(3); m++ {
		d.Methods = append(d.Methods, fmt.Sprint("m", m))
		other := generated(random)
		for i := range d.Samples {
			one := other.Samples[i%len(other.Samples)]
			d.Samples[i].Cells = append(d.Samples[i].Cells, one.Cells[m%2])
			d.Samples[i].Absent = append(d.Samples[i].Absent, one.Absent[m%2])
		}
	}
	return d
}

// TestNoFlagChangesAVerdict: whatever is asked to be shown, in whatever order rows and methods
// stand, a pair has the winner that it has among all pairs.
func TestNoFlagChangesAVerdict(t *testing.T) {
	count := 60
	if testing.Short() {
		count = 16
	}
	winners := 0
	for i := range count {
		d := several(t, fmt.Sprint(t.Name(), i))
		random := stream(50, fmt.Sprint(i))
		all, err := Compare(d, Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{}
		pair := func(a, b string) string { return min(a, b) + " " + max(a, b) }
		for _, p := range all.Pairs {
			want[pair(p.A, p.B)] = p.Winner
			winners += int(oneIf(p.Winner != ""))
		}
		other := d
		other.Samples = slices.Clone(d.Samples)
		random.Shuffle(len(other.Samples), func(i, j int) { other.Samples[i], other.Samples[j] = other.Samples[j], other.Samples[i] })
		order := random.Perm(len(d.Methods))
		for to, from := range order {
			other.Methods = slices.Clone(other.Methods)
			other.Methods[to] = d.Methods[from]
		}
		for i, s := range other.Samples {
			s.Cells, s.Absent = slices.Clone(s.Cells), slices.Clone(s.Absent)
			for to, from := range order {
				s.Cells[to], s.Absent[to] = other.Samples[i].Cells[from], other.Samples[i].Absent[from]
			}
			other.Samples[i] = s
		}
		for _, o := range []Options{{}, {Baseline: d.Methods[random.IntN(len(d.Methods))]}, {Equivalence: 0.1}, {Baseline: "m0", Equivalence: 0.3}} {
			got, err := Compare(other, o)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range got.Pairs {
				if w := want[pair(p.A, p.B)]; p.Winner != w {
					t.Errorf("%+v: %s; among all pairs %q wins", o, p.Verdict, w)
				}
			}
		}
	}
	if winners < count/8 {
		t.Errorf("only %d winners: the cases show nothing", winners)
	}
}

// TestConditionsOfAWinner: a verdict says on what it rests.
func TestConditionsOfAWinner(t *testing.T) {
	few := func() (a, b []float64) { // better on the mean, worse on most samples
		for i := range 100 {
			a, b = append(a, 0.49), append(b, 0.5)
			if i%10 < 4 {
				a[i], b[i] = 1, 0
			}
		}
		return a, b
	}
	a, b := few()
	d, err := Paired("x", a, b, nil, Options{})
	if err != nil || d.Winner != "A" || !strings.Contains(d.Verdict(), "by the mean alone: it is worse on 60 of 100 samples") {
		t.Errorf("%s (%v)", d.Verdict(), err)
	}
	data := drawn(2, "x")
	for range 40 {
		data.draw("", func(m int) Cell { return Cell{Values: map[string]float64{"x": float64(1 - m)}} })
	}
	data.Seeds = map[string][]methods.Usage{"m0": {{Calls: 3}}}
	c, err := Compare(data, Options{Budget: record.Limits{Tokens: 4000}})
	if err != nil || !strings.Contains(c.Verdict, "with what m0 compiled here: another artefact may shift all samples (within a budget of 4000 tokens a trial)") {
		t.Errorf("%s (%v)", c.Verdict, err)
	}
	data.Seeds["m0"] = slices.Repeat(data.Seeds["m0"], 40) // one a sample
	if c, _ := Compare(data, Options{}); strings.Contains(c.Verdict, "artefact") {
		t.Error(c.Verdict)
	}
	look := func(samples int) Look {
		return Look{Samples: samples, Trials: 2 * samples, Series: "x", Winners: []string{"m0"}, Rule: VerdictRule}
	}
	c, _ = Compare(data, Options{})
	plain := c.Verdict
	if c.setLooks("q", []Look{look(40)}, 1); c.Verdict != plain {
		t.Errorf("after one look: %s", c.Verdict)
	}
	c.Pairs[0].Metrics["x"] = Difference{P: 0.03, Test: exactName, Winner: "m0"}
	for range 2 {
		if c.setLooks("q", []Look{look(20), look(40)}, 2); strings.Count(c.Verdict, "(second look: one of so many names a winner by chance in up to 8 % of cases)") != 1 {
			t.Errorf("after two looks: %s", c.Verdict)
		}
	}
	older := look(20)
	older.Rule = 0
	c.setLooks("q", []Look{older, look(40)}, 2)
	if !slices.ContainsFunc(c.Looks.Notes, func(n string) bool {
		return strings.Contains(n, "1 of the earlier verdicts named a winner by other rules")
	}) {
		t.Errorf("%q", c.Looks.Notes)
	}
}

// TestTasksThatDisagreeComeFirst: on two tasks each of two methods wins, and on the mean nobody.
func TestTasksThatDisagreeComeFirst(t *testing.T) {
	task := func(name string, better int) CellData {
		d := drawn(2, "x")
		for range 60 {
			d.draw("", func(m int) Cell { return Cell{Values: map[string]float64{"x": oneIf(m == better)}} })
		}
		return CellData{Task: name, Model: "m", Weight: 1, Data: d}
	}
	s, err := CompareStudy([]CellData{task("one", 0), task("two", 1)}, Options{})
	if want := "the tasks disagree: on one m0 is better than m1, on two m1 is better than m0; on the mean of all: "; err != nil || !strings.HasPrefix(s.Verdict, want) || s.Whole.Verdict != s.Verdict {
		t.Errorf("%v (%v)", s, err)
	}
	s, err = CompareStudy([]CellData{task("one", 0), task("two", 0)}, Options{})
	if err != nil || strings.Contains(s.Verdict, "disagree") {
		t.Errorf("%s (%v)", s.Verdict, err)
	}
}
