package compare

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"noema/kernel/base/score"
	"noema/kernel/result/record"
	"noema/methods"
)

// costs makes data of three methods: thrifty is mostly right, plain seldom,
// and lavish as often as thrifty at three to five times the tokens.
func costs(t *testing.T, n int) Data {
	t.Helper()
	random := stream(4)
	var trials []*record.Trial
	for i := range n {
		id := fmt.Sprintf("s%d", i)
		for _, m := range []struct {
			name   string
			right  float64
			tokens float64
		}{{"thrifty", 0.9, 100}, {"plain", 0.3, 200}, {"lavish", 0.9, 400}} {
			tr := trial(m.name, id, 0, 0)
			if random.Float64() < m.right {
				tr = trial(m.name, id, 0, 1)
			}
			tr.Usage.InputTokens = int64(m.tokens * (0.75 + 0.5*random.Float64()))
			tr.Usage.Cost = methods.NanoUSD(tr.Usage.Tokens() * 1000)
			trials = append(trials, tr)
		}
	}
	d, err := FromTrials([]string{"thrifty", "plain", "lavish"}, choices(n), trials)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestPareto: a method is dominated only if both leads over it are sure.
func TestPareto(t *testing.T) {
	for _, c := range []struct {
		n        int
		standing []Standing
		by       []string
	}{
		{60, []Standing{OnFront, Dominated, Costlier}, []string{"", "thrifty", "thrifty"}},
		{3, []Standing{OnFront, Undecided, Undecided}, []string{"", "", ""}},
	} {
		d := costs(t, c.n)
		for i := range d.Samples { // the same means, at any n
			d.Samples[i].Cells[0][0].Values = map[string]float64{"accuracy": 1}
			d.Samples[i].Cells[1][0].Values = map[string]float64{"accuracy": float64(i % 2)}
			d.Samples[i].Cells[2][0].Values = map[string]float64{"accuracy": 1}
		}
		got, err := Compare(d, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got.Pareto.Resource != Cost {
			t.Errorf("paid with %s", got.Pareto.Resource)
		}
		for i, p := range got.Pareto.Points {
			if p.Standing != c.standing[i] || strings.Join(p.By, " ") != c.by[i] {
				t.Errorf("n = %d: %s stands %s by %q, want %s by %q", c.n, p.Method, p.Standing, p.By, c.standing[i], c.by[i])
			}
		}
	}
}

// TestParetoOfLikeMeans: the one that is worse on one and equal on the other
// is behind, and twins are both on the front.
func TestParetoOfLikeMeans(t *testing.T) {
	p := Pareto{}
	for _, m := range [][2]float64{{0.5, 1}, {0.5, 1}, {0.5, 2}, {0.7, 2}, {math.NaN(), 1}} {
		p.Points = append(p.Points, ParetoPoint{
			Merit: score.Metric{Value: m[0], Defined: !math.IsNaN(m[0])}, Cost: score.Metric{Value: m[1], Defined: true},
		})
	}
	for i := range p.Points {
		p.place(i, func(a, b string) lead { return lead{better: true, thriftier: true} })
	}
	for i, want := range []Standing{OnFront, OnFront, Dominated, OnFront, ""} {
		if p.Points[i].Standing != want {
			t.Errorf("point %d stands %q, want %q", i, p.Points[i].Standing, want)
		}
	}
}

// TestSeedsOnTheFront: what compiling took counts for the method that compiled, and can
// cost it the lead.
func TestSeedsOnTheFront(t *testing.T) {
	d := costs(t, 60)
	before, err := Compare(d, Options{})
	if err != nil {
		t.Fatal(err)
	}
	d.Seeds = map[string][]methods.Usage{"thrifty": {{Calls: 9, InputTokens: 90_000, Cost: 90_000_000}}}
	after, err := Compare(d, Options{})
	if err != nil {
		t.Fatal(err)
	}
	was, is := before.Pareto.Points[0].Cost, after.Pareto.Points[0].Cost
	if !near(is.Value-was.Value, 0.0015, 1e-9) || !near(is.High-was.High, 0.0015, 1e-9) || after.Methods[0].Usage[Cost].Value != is.Value {
		t.Errorf("cost on the front %+v, without seeds %+v", is, was)
	}
	if a, b := before.Pareto.Points[1].Standing, after.Pareto.Points[1].Standing; a != Dominated || b == Dominated {
		t.Errorf("plain stands %q, and %q where the other had to be compiled", a, b)
	}
	if s := after.Methods[0].Seeds; s == nil || s.Seeds != 1 || after.Methods[1].Seeds != nil {
		t.Errorf("seeds %+v", s)
	}
}

// TestDominationNeedsAWinner: with a baseline too, and not by failures that are left
// out.
func TestDominationNeedsAWinner(t *testing.T) {
	marked := map[string]string{"quitter": marks(40, "x", 60, "1"), "honest": marks(40, "1", 20, "0", 40, "1"), "third": marks(100, "1")}
	for _, o := range []Options{{}, {Baseline: "third"}} {
		trials := outcomes(marked)
		for _, tr := range trials {
			if tr.ID.Method == "honest" {
				tr.Usage.Cost *= 2
			}
		}
		c := compareTrials(t, o, []string{"quitter", "honest", "third"}, choices(100), trials)
		if p := c.Pareto.Points[1]; p.Standing != Dominated || strings.Join(p.By, " ") != "third" {
			t.Errorf("honest stands %+v", p)
		}
	}
}

func TestWhatIsPaidWith(t *testing.T) {
	for _, c := range []struct {
		change func(*methods.Usage)
		want   Resource
	}{
		{func(*methods.Usage) {}, Cost},
		{func(u *methods.Usage) { u.Cost = 0 }, Tokens},
		{func(u *methods.Usage) { u.Unpriced = 1 }, Tokens},
		{func(u *methods.Usage) { u.Unpriced, u.Unmetered = 1, 1 }, Calls},
	} {
		d := costs(t, 5)
		for _, s := range d.Samples {
			for _, cells := range s.Cells {
				c.change(&cells[0].Usage)
			}
		}
		got, err := Compare(d, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got.Pareto.Resource != c.want {
			t.Errorf("paid with %s, want %s", got.Pareto.Resource, c.want)
		}
	}
}

// TestRatios of use: an interval where it varies, none where the ratio is
// fixed, and null where a price is not known.
func TestRatios(t *testing.T) {
	d := costs(t, 60)
	for i := range d.Samples {
		d.Samples[i].Cells[2][0].Usage.Calls = 30
		if i < 10 {
			d.Samples[i].Cells[1][0].Usage.Unpriced = 1
		}
	}
	c, err := Compare(d, Options{})
	if err != nil {
		t.Fatal(err)
	}
	plain, lavish := c.Pairs[0].Ratios, c.Pairs[1].Ratios
	if r := lavish[Tokens]; !r.below(0.01) || r.above(0.01) || r.Ratio.Value < 0.2 || r.Ratio.Value > 0.4 || r.Constant {
		t.Errorf("tokens of thrifty for each of lavish: %+v", r)
	}
	if r := lavish[Calls]; !r.Constant || r.Ratio.HasInterval() || !near(r.Ratio.Value, 1.0/3, 1e-9) || !r.below(0.01) {
		t.Errorf("calls: %+v", r)
	}
	if r := plain[Cost].Ratio; r.N != 50 || len(r.Warnings) != 1 || !r.HasInterval() {
		t.Errorf("cost where ten prices are not known: %+v", r)
	}
	none := pair([]float64{1, 2}, []float64{0, 0}, nil).ratio("x", 0.95)
	if none.Ratio.Defined || none.below(1) || none.above(1) || len(none.Ratio.Warnings) != 1 {
		t.Errorf("a ratio to nothing: %+v", none)
	}
	few := pair([]float64{1, 2, 4}, []float64{1, 1, 1}, nil).ratio("x", 0.95)
	if few.Ratio.HasInterval() || !few.Ratio.Defined || few.above(0.05) {
		t.Errorf("three samples: %+v", few)
	}
	zero := pair([]float64{0, 0, 0}, []float64{1, 2, 1}, nil).ratio("x", 0.95)
	if !zero.Constant || zero.Ratio.Value != 0 || !zero.below(0.01) {
		t.Errorf("a method that uses none: %+v", zero)
	}
}

// TestBudget: a trial beyond the envelope is wrong, one on it is not, and one
// whose use is not known is undefined.
func TestBudget(t *testing.T) {
	trials := outcomes(map[string]string{"a": "1111"})
	for i, tokens := range []int64{90, 91, 500, 10} {
		trials[i].Usage.InputTokens = tokens
	}
	trials[3].Usage.Unmetered = 1
	for _, c := range []struct {
		budget record.Limits
		value  float64
		n      int
	}{
		{record.Limits{}, 1, 4},
		{record.Limits{Tokens: 100}, 1.0 / 3, 3},
		{record.Limits{Tokens: 101}, 2.0 / 3, 3},
		{record.Limits{Calls: 10}, 1, 4},
		{record.Limits{Calls: 9}, 0, 4},
		{record.Limits{Cost: 10_000_000}, 1, 4},
		{record.Limits{Cost: 9_999_999}, 0, 4},
		{record.Limits{Time: time.Second}, 1, 4},
		{record.Limits{Time: time.Second - 1}, 0, 4},
		{record.Limits{Tokens: 600, Calls: 9}, 0, 4}, // the calls alone are too many
		{record.Limits{Tokens: 100, Time: time.Second - 1}, 0, 4},
	} {
		got := compareTrials(t, Options{Budget: c.budget}, []string{"a"}, choices(4), trials)
		v := got.Methods[0].Metrics["accuracy"].Value
		if !near(v.Value, c.value, 1e-12) || v.N != c.n || (got.Budget != nil) != (c.budget != record.Limits{}) {
			t.Errorf("budget %+v: %v of %d, want %v of %d", c.budget, v.Value, v.N, c.value, c.n)
		}
	}
}

func BenchmarkCompare(b *testing.B) {
	labels := []string{"a", "b", "c", "d", "e", "f"}
	random := stream(5)
	var trials []*record.Trial
	for _, m := range labels {
		for i := range 1000 {
			t := trial(m, fmt.Sprintf("s%d", i), 0, float64(random.IntN(2)))
			t.Usage.InputTokens, t.Usage.Latency = random.Int64N(1000), time.Duration(random.Int64N(1e9))
			trials = append(trials, t)
		}
	}
	samples := choices(1000)
	for b.Loop() {
		d, err := FromTrials(labels, samples, trials)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := Compare(d, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
