package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"noema/kernel/base/score"
)

// anyPairing draws values of any kind: 0/1 or graded, even or skewed, alone or in clusters
// of any sizes.
func anyPairing(random *rand.Rand) (a, b []float64, clusters []string) {
	n, kind, lead := 2+random.IntN(60), random.IntN(4), random.Float64()*0.5
	draw := func(lead float64) float64 {
		switch x := random.Float64(); kind {
		case 0:
			return oneIf(x < 0.4+lead)
		case 1:
			return x * (0.5 + lead)
		case 2: // a few lose all
			return oneIf(x > 0.1) * (0.5 + lead)
		default:
			return math.Round(4*x*(0.5+lead)) / 4
		}
	}
	in := 1 + random.IntN(n)
	for range n {
		a, b = append(a, draw(lead)), append(b, draw(0))
		clusters = append(clusters, fmt.Sprint(random.IntN(in)))
	}
	if random.IntN(2) == 0 {
		clusters = nil
	}
	return a, b, clusters
}

// TestIntervalAndTestAgree: whatever the values, the interval leaves out 0 just where the
// p-value is small enough; the other way round both are mirrored, and in another order they
// are the same.
func TestIntervalAndTestAgree(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	random := rand.New(rand.NewPCG(29, 1))
	decided := 0
	for range 400 {
		a, b, clusters := anyPairing(random)
		level := []float64{0.9, 0.95, 1 - 0.05/3, 0.995}[random.IntN(4)]
		for _, test := range []string{"", Exchange} {
			p := pair(a, b, clusters)
			if p.units < 2 {
				continue
			}
			r := p.rule(test, nil)
			low, high := r.interval(level)
			value := r.pValue()
			found := value <= 1-level
			if (low > 0 || high < 0) != found || !(low <= p.bare("").Value+1e-12 && p.bare("").Value <= high+1e-12) {
				t.Errorf("%s %v: p %v with %v..%v around %v at %v", test, r, value, low, high, p.bare("").Value, level)
			}
			if found {
				decided++
				if !r.decides(1 - level) {
					t.Errorf("%v decides at %v and says that it cannot", r, level)
				}
			}
			back := pair(b, a, clusters).rule(test, nil)
			if l, h := back.interval(level); !near(l, -high, 1e-7) || !near(h, -low, 1e-7) || !near(back.pValue(), value, 1e-9) {
				t.Errorf("%s: %v..%v (%v) mirrored is %v..%v (%v)", test, low, high, value, l, h, back.pValue())
			}
			order := random.Perm(len(a))
			x, y, z := slices.Clone(a), slices.Clone(b), slices.Clone(clusters)
			for to, from := range order {
				x[to], y[to] = a[from], b[from]
				if clusters != nil {
					z[to] = clusters[from]
				}
			}
			again := pair(x, y, z).rule(test, nil)
			if l, h := again.interval(level); !near(l, low, 1e-7) || !near(h, high, 1e-7) || !near(again.pValue(), value, 1e-7) {
				t.Errorf("%s: %v..%v (%v) in another order is %v..%v (%v)", test, low, high, value, l, h, again.pValue())
			}
		}
	}
	if decided < 100 {
		t.Errorf("only %d pairs are decided: the cases show nothing", decided)
	}
}

// TestOrderDecidesNothing: rows and methods in another order give the same verdicts and
// numbers, on every kind of measure.
func TestOrderDecidesNothing(t *testing.T) {
	for _, a := range audits() {
		random := stream(30, a.name)
		d := a.data(random, 40, 3, 0.2)
		if a.corpus {
			d.Metrics = []string{score.MacroF1, score.AUPRC}
		}
		one, err := Compare(d, Options{})
		if err != nil {
			t.Fatal(err)
		}
		other := d
		other.Samples = slices.Clone(d.Samples)
		random.Shuffle(len(other.Samples), func(i, j int) { other.Samples[i], other.Samples[j] = other.Samples[j], other.Samples[i] })
		other.Methods = []string{"m2", "m0", "m1"}
		for i, s := range other.Samples {
			other.Samples[i].Cells = [][]Cell{s.Cells[2], s.Cells[0], s.Cells[1]}
		}
		two, err := Compare(other, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range one.Pairs {
			i := slices.IndexFunc(two.Pairs, func(q Pair) bool { return q.A == p.A && q.B == p.B || q.A == p.B && q.B == p.A })
			x, y := p.Metrics[d.Metrics[0]], two.Pairs[i].Metrics[d.Metrics[0]]
			low, high := y.Difference.Low, y.Difference.High
			if two.Pairs[i].A != p.A {
				low, high = -high, -low
			}
			if x.Winner != y.Winner || !near(float64(x.P), float64(y.P), 1e-9) || !near(x.Difference.Low, low, 1e-9) || !near(x.Difference.High, high, 1e-9) {
				t.Errorf("%s: %s\nin another order: %s", a.name, x.Verdict(), y.Verdict())
			}
		}
	}
}
