package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"

	"noema/kernel/result/record"
)

// TestEvidenceIsTheClosedForm: on wins, losses and ties the integral is
// 2^(w+l)·B(2+w, 2+l)/B(2, 2), also for many thousands.
func TestEvidenceIsTheClosedForm(t *testing.T) {
	for _, n := range []struct{ wins, losses, ties int }{{0, 0, 3}, {1, 0, 0}, {9, 0, 5}, {30, 12, 60}, {0, 64, 0}, {333, 320, 0}, {10300, 9700, 5}, {0, 2000, 0}} {
		e := newEvidence(newGrid(), 0, -1, 1)
		for range n.wins {
			e.bet(1, 1)
		}
		for range n.ties {
			e.bet(0, 1)
		}
		for range n.losses {
			e.bet(-1, 1)
		}
		w, l := float64(n.wins), float64(n.losses)
		want := (w+l)*math.Ln2 + mathext.Lbeta(2+w, 2+l) - mathext.Lbeta(2, 2)
		if got := e.log(); math.Abs(got-want) > 1e-9*max(1, math.Abs(want)) {
			t.Errorf("%+v: %.12g, want %.12g", n, got, want)
		}
	}
}

// TestEvidenceIsConvex: in the hypothesis, and at most 1 at the observed mean, so that
// the interval is one; it excludes a mean if and only if the e-value does.
func TestEvidenceIsConvex(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var units []unit
	mean, sizes := 0.0, 0.0
	for range 60 {
		size := 0.25 * float64(1+random.IntN(4))
		units = append(units, unit{sum: size * (random.Float64()*1.6 - 0.6), size: size})
		mean += units[len(units)-1].sum
		sizes += size
	}
	mean /= sizes
	at := func(m float64) float64 {
		e := newEvidence(newGrid(), m, -1, 1)
		for _, u := range units {
			e.bet(u.sum, u.size)
		}
		return math.Exp(e.log())
	}
	if e := at(mean); e > 1 {
		t.Errorf("e-value %g at the observed mean", e)
	}
	for m := -0.9; m < 0.85; m += 0.05 {
		if a, b, c := at(m), at(m+0.025), at(m+0.05); b > (a+c)/2*(1+1e-12) {
			t.Errorf("not convex at %g", m)
		}
	}
	low, high := anytime(units, -1, 1, 20)
	for _, edge := range []float64{low, high} {
		if e := at(edge); e < 20 || e > 20.01 {
			t.Errorf("e-value %g at the edge %g of [%g, %g]", e, edge, low, high)
		}
	}
}

// TestOBrienFleming: the bounds of Lan and DeMets 1983 for two, three and five equal looks.
func TestOBrienFleming(t *testing.T) {
	for _, want := range [][]float64{{1.9600}, {2.9626, 1.9686}, {3.7103, 2.5114, 1.9930}, {4.8769, 3.3569, 2.6803, 2.2898, 2.0310}} {
		parts := make([]float64, len(want))
		for k := range parts {
			parts[k] = float64(k+1) / float64(len(parts))
		}
		for k, level := range obrienFleming(parts, 0.05) {
			if z := distuv.UnitNormal.Quantile(1 - level/2); math.Abs(z-want[k]) > 0.0006 {
				t.Errorf("look %d of %d: %.4f, want %.4f", k+1, len(want), z, want[k])
			}
		}
	}
	parts := []float64{0.2, 0.4, 0.6, 0.8, 1}
	levels := obrienFleming(parts, 0.05)
	for k, level := range levels {
		if p := repeated(parts, k+1, level); math.Abs(p-0.05) > 0.0005 {
			t.Errorf("look %d: a p-value at the bound is %.4f after correction, not 0.05", k+1, p)
		}
	}
}

// raceOf runs one pair to its end.
func raceOf(p schedule, next func(i int) (a, b float64)) Stop {
	r := newRace(p)
	for i := range p.clusters {
		if a, b := next(i); !finite(a + b) {
			r.add(Reading{math.NaN(), math.NaN(), math.NaN()}, Reading{math.NaN(), math.NaN(), math.NaN()})
		} else if r.add(Reading{a, a, a}, Reading{b, b, b}); r.stop.State != Open {
			break
		}
	}
	return r.stop
}

// flip draws the outcomes of a sample that tells the methods apart in a share of all,
// for the first with a chance of win.
func flip(random *rand.Rand, apart, win float64) (a, b float64) {
	if random.Float64() >= apart {
		return 1, 1
	}
	if random.Float64() < win {
		return 1, 0
	}
	return 0, 1
}

// TestNeverAWinnerByChance: looking after every one of up to 320 samples, and raising the
// limit again and again, no kind of equal methods brings a winner in more than 5 % of families, and no
// pair is given up early. NOEMA_BENCH=1 repeats it often.
func TestNeverAWinnerByChance(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	repeats, samples, counts := 40, 100, []int{2, 3}
	if os.Getenv("NOEMA_BENCH") == "1" {
		repeats, samples, counts = 500, 320, []int{2, 3, 6}
	}
	for _, looks := range []int{0, 5} {
		for _, kind := range audits() {
			if !slices.Contains([]string{"binary", "graded", "skewed", "graded, clusters", "effect by drawn size"}, kind.name) || looks > 0 && kind.name == "graded" {
				continue
			}
			for _, count := range counts {
				t.Run(fmt.Sprintf("%s, %d looks, %d methods", kind.name, looks, count), func(t *testing.T) {
					t.Parallel()
					random := rand.New(rand.NewPCG(uint64(count), 7))
					wrong := 0
					for range repeats {
						if kind.anyWinner(t, random, record.Design{Looks: looks, Detect: 0.001}, samples, count) {
							wrong++
						}
					}
					rate := float64(wrong) / float64(repeats)
					if os.Getenv("NOEMA_BENCH") == "1" {
						t.Logf("%.1f %% of families have a false winner", 100*rate)
					}
					if noise := 3 * math.Sqrt(0.05*0.95/float64(repeats)); rate > 0.05+noise {
						t.Errorf("%.1f %% of families have a false winner", 100*rate)
					}
				})
			}
		}
	}
}

// anyWinner carries one experiment without a difference out. Without looks its limit is
// doubled from ten samples on until all were asked, whatever came out.
func (a audited) anyWinner(t *testing.T, random *rand.Rand, d record.Design, samples, count int) bool {
	values, clusters := a.inOrder(random, samples, count)
	if d.Looks > 0 {
		return winnerOf(t, d, count, values, clusters)
	}
	sizes := map[string]int{}
	for _, name := range clusters {
		if sizes[name]++; name != "" {
			d.Largest = max(d.Largest, sizes[name])
		}
	}
	for limit := 10; ; limit *= 2 {
		if limit >= len(clusters) {
			return winnerOf(t, d, count, values, clusters)
		}
		end := limit
		for clusters[end] != "" && end > 0 && clusters[end] == clusters[end-1] { // no cluster is cut
			end--
		}
		if end > 0 && winnerOf(t, d, count, values, clusters[:end]) {
			return true
		}
	}
}

// inOrder are values by method, sample and epoch, clusters together.
func (a audited) inOrder(random *rand.Rand, samples, count int) (values [][][]float64, clusters []string) {
	if a.own != nil {
		values = make([][][]float64, count)
		for _, s := range a.own(random, samples, count).Samples {
			clusters = append(clusters, s.Cluster)
			for m, cells := range s.Cells {
				values[m] = append(values[m], []float64{cells[0].Values["x"]})
			}
		}
		return values, clusters
	}
	clusters = make([]string, samples)
	for i := range clusters {
		if a.clusters > 1 {
			clusters[i] = fmt.Sprint(a.clusterOf(i))
		}
	}
	values = a.values(a, random, samples, count, 0)
	adjacent(clusters, values)
	return values, clusters
}

// winnerOf reports whether the design names a winner on samples in their order.
func winnerOf(t *testing.T, d record.Design, count int, values [][][]float64, clusters []string) bool {
	s := NewSequence(d, "", count, clusters)
	for !s.Done() {
		row := make([]Reading, count)
		for m := range row {
			x := sum(values[m][s.At()]) / float64(len(values[m][s.At()]))
			row[m] = Reading{x, x, x}
		}
		if err := s.Add(row); err != nil {
			t.Fatal(err)
		}
	}
	for _, row := range s.races {
		for _, r := range row {
			if r != nil && r.stop.State == Decided {
				return true
			}
		}
	}
	return false
}

// adjacent puts samples of one cluster next to each other.
func adjacent(clusters []string, values [][][]float64) {
	order, at := []int{}, map[string][]int{}
	for i, name := range clusters {
		if name == "" {
			return
		}
		at[name] = append(at[name], i)
	}
	for i, name := range clusters {
		if at[name][0] == i {
			order = append(order, at[name]...)
		}
	}
	was := append([]string{}, clusters...)
	for to, from := range order {
		clusters[to] = was[from]
	}
	for m := range values {
		old := append([][]float64{}, values[m]...)
		for to, from := range order {
			values[m][to] = old[from]
		}
	}
}

// TestWhatItCosts compares the samples that are asked on average with those of
// [SuissaShuster] at a number that was fixed in advance for the same power of 80 %.
func TestWhatItCosts(t *testing.T) {
	if os.Getenv("NOEMA_BENCH") != "1" {
		t.Skip("NOEMA_BENCH=1 runs it")
	}
	const repeats = 2000
	for _, apart := range []float64{0.2, 0.4} {
		for _, effect := range []float64{0.05, 0.1, 0.15, 0.2} {
			win := (1 + effect/apart) / 2
			fixed := 10
			for newTruePower(fixed, apart, win) < Power {
				fixed += max(1, fixed/100)
			}
			random := rand.New(rand.NewPCG(3, 4))
			asked := make([]int, 0, repeats)
			p := newSchedule(record.Design{Detect: 0.01}, "", make([]string, 4*fixed), 1)
			for range repeats {
				stop := raceOf(p, func(int) (float64, float64) { return flip(random, apart, win) })
				asked = append(asked, stop.Asked)
			}
			bound := quantileOf(asked, Power)
			total := 0
			for _, n := range asked {
				total += min(n, bound)
			}
			t.Logf("apart %.2f, difference %.2f: fixed %d, bound for the same power %d (%.2f), asked on average %.2f of fixed", apart, effect, fixed, bound,
				float64(bound)/float64(fixed), float64(total)/repeats/float64(fixed))
		}
	}
}

func quantileOf(xs []int, part float64) int {
	sorted := append([]int{}, xs...)
	for i := range sorted { // few enough
		for j := i; j > 0 && sorted[j] < sorted[j-1]; j-- {
			sorted[j], sorted[j-1] = sorted[j-1], sorted[j]
		}
	}
	return sorted[int(part*float64(len(sorted)))]
}

// newTruePower is the chance that [SuissaShuster] on n samples names the better method.
func newTruePower(n int, apart, win float64) float64 {
	m := matchedPower{n, apart, insignificant(n, 0.05)}
	return m.power((2*win - 1) * apart)
}

// TestWorstCaseOfADesign: nine trials that one method lost and the other has right undo the lead
// on nine others; runs of the rule before are followed as they were made.
func TestWorstCaseOfADesign(t *testing.T) {
	for _, looks := range []int{0, 2} {
		for rule, want := range map[int]State{2: Decided, record.DesignRule: Bound} {
			p := newSchedule(record.Design{Rule: rule, Looks: looks, Detect: 0.05}, "", make([]string, 18), 1)
			r := newRace(p)
			for i := range 18 {
				a, b := Reading{1, 1, 1}, Reading{0, 0, 0}
				if i < 9 {
					a, b = Reading{math.NaN(), 0, 1}, Reading{1, 1, 1}
				}
				if r.add(a, b); r.stop.State != Open {
					break
				}
			}
			if r.stop.State != want {
				t.Errorf("%d looks, rule %d: %s, want %s", looks, rule, r.stop.State, want)
			}
		}
	}
}
