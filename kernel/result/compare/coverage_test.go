package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// world draws experiments of which the true difference is known. Every value
// comes from a normal variable: the sample's difficulty, the method's luck on
// it, and, with clusters, the cluster's own share of both. A score of 0 or 1
// is its sign, a graded one its normal probability, and the mean of either has
// a closed form.
type world struct {
	graded   bool
	n        int
	clusters []string // nil if samples stand alone
	merit    [2]float64
}

// The variances: of what both methods share and of what each has alone, where
// samples of one cluster have half of either in common.
const (
	sharedVariance = 0.7
	ownVariance    = 0.8
)

func newWorld(graded, clustered bool, n int, effect float64) world {
	w := world{graded: graded, n: n, merit: [2]float64{0.6 + effect, 0.6}}
	if clustered {
		w.clusters = unlikeClusters(n)
	}
	return w
}

// unlikeClusters puts n samples into n/2, n/4 or n/10 clusters whose sizes
// differ up to threefold.
func unlikeClusters(n int) []string {
	mean := map[int]int{20: 2, 100: 4, 500: 10}[n]
	sizes := []int{mean / 2, mean, mean * 3 / 2, mean}
	var names []string
	for g := 0; len(names) < n; g++ {
		size := sizes[g%len(sizes)]
		if g == n/mean-1 { // the last takes the rest
			size = n - len(names)
		}
		for range min(size, n-len(names)) {
			names = append(names, fmt.Sprint(g))
		}
	}
	return names
}

// difference is the true one.
func (w world) difference() float64 {
	variance := sharedVariance + ownVariance
	if w.graded {
		variance++ // the mean of a normal probability
	}
	mean := func(merit float64) float64 { return distuv.UnitNormal.CDF(merit / math.Sqrt(variance)) }
	return mean(w.merit[0]) - mean(w.merit[1])
}

func (w world) draw(random *rand.Rand) pairing {
	var values [2][]float64
	var common [3]float64 // of the present cluster: shared, and of each method
	for i := range w.n {
		within := 1.0
		if w.clusters != nil {
			within = 0.5
			if i == 0 || w.clusters[i] != w.clusters[i-1] {
				for j := range common {
					common[j] = random.NormFloat64() * math.Sqrt(0.5)
				}
			}
		}
		scale := math.Sqrt(within)
		difficulty := common[0] + scale*random.NormFloat64()
		for m := range values {
			luck := common[m+1] + scale*random.NormFloat64()
			x := w.merit[m] + math.Sqrt(sharedVariance)*difficulty + math.Sqrt(ownVariance)*luck
			values[m] = append(values[m], w.score(x))
		}
	}
	return pair(values[0], values[1], w.clusters)
}

func (w world) score(x float64) float64 {
	switch {
	case w.graded:
		return distuv.UnitNormal.CDF(x)
	case x > 0:
		return 1
	}
	return 0
}

// TestCoverageOfRatios of cost, with skewed costs.
// With fewer than 20 samples it warns, because heavier tails than these would
// not be covered.
func TestCoverageOfRatios(t *testing.T) {
	experiments, slack := 1000, 0.0
	if testing.Short() {
		experiments, slack = 200, 0.05
	}
	for n, least := range map[int]float64{15: 0.92, 100: 0.93} {
		random := stream(2, fmt.Sprint(n))
		truth, held := math.Exp(0.3), 0 // of two lognormals with one spread
		for range experiments {
			a, b := make([]float64, n), make([]float64, n)
			for i := range a {
				size := random.NormFloat64() * 0.5 // of the sample's problem
				a[i] = math.Exp(1.3 + size + 0.4*random.NormFloat64())
				b[i] = math.Exp(1 + size + 0.4*random.NormFloat64())
			}
			r := pair(a, b, nil).ratio("cost", 0.95)
			if r.Ratio.Low <= truth && truth <= r.Ratio.High {
				held++
			}
			if warned := len(r.Ratio.Warnings) > 0; !warned && n < fewUnits {
				t.Fatalf("n = %d has warnings %q", n, r.Ratio.Warnings)
			}
		}
		covered := float64(held) / float64(experiments)
		t.Logf("n = %d: covered %.1f %%", n, 100*covered)
		if covered < least-slack || covered > 0.995+slack {
			t.Errorf("n = %d: the intervals cover %.3f", n, covered)
		}
	}
}

// TestDetectable: a true difference of the size that is called detectable is
// found about as often as promised.
func TestDetectable(t *testing.T) {
	pilots, experiments, slack := 50, 500, 0.03
	if testing.Short() {
		experiments, slack = 200, 0.06
	}
	for _, graded := range []bool{false, true} {
		for _, clustered := range []bool{false, true} {
			name := fmt.Sprintf("graded=%t/clustered=%t", graded, clustered)
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				random, size := stream(3, name), 0.0
				for range pilots {
					d := differ("x", "a", "b", newWorld(graded, clustered, 100, 0.3).draw(random), Options{}.plan(1), Stop{})
					size += d.rule.detectable(0.05) / float64(pilots)
				}
				w := worldOf(graded, clustered, 100, size)
				power := 0.0
				for range experiments {
					d := differ("x", "a", "b", w.draw(random), Options{}.plan(1), Stop{})
					if d.Corrected = d.P; d.winner(0.05) == "a" {
						power += 1 / float64(experiments)
					}
				}
				t.Logf("detectable from %.3f, and found in %.2f", size, power)
				if power < 0.70-slack || power > 0.88+slack {
					t.Errorf("a difference of %.3f is found in %.3f, not in about %.1f", size, power, Power)
				}
			})
		}
	}
}

// worldOf is the world with that true difference.
func worldOf(graded, clustered bool, n int, difference float64) world {
	low, high := 0.0, 10.0
	for range 60 {
		if mid := (low + high) / 2; newWorld(graded, clustered, n, mid).difference() < difference {
			low = mid
		} else {
			high = mid
		}
	}
	return newWorld(graded, clustered, n, low)
}
