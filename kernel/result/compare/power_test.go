package compare

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// TestPower holds the tests against each other on differences that Student's t finds in
// about four of five runs: the allowance only makes t stricter, and the exchange of names
// finds about what t does. NOEMA_BENCH=1 prints what METHOD.md has.
func TestPower(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	experiments, ns := 100, []int{20, 50}
	if os.Getenv("NOEMA_BENCH") == "1" {
		experiments, ns = 2000, []int{10, 20, 50, 100, 300}
	}
	random := rand.New(rand.NewPCG(8, 29))
	for _, spread := range []float64{0.4, 0.2, 0.1} {
		for _, n := range ns {
			var student, allowed, exchange float64
			effect := spread * (1.96 + 0.8416) / math.Sqrt(float64(n))
			for range experiments {
				a, b := make([]float64, n), make([]float64, n)
				for i := range a {
					d := max(-1, min(1, effect+spread*random.NormFloat64()))
					a[i], b[i] = max(0, d), max(0, -d)
				}
				p := pair(a, b, nil)
				low, high := p.unbounded().interval(0.95)
				byT, byRule := low > 0 || high < 0, p.bounded().pValue() <= 0.05
				if byRule && !byT {
					t.Errorf("%d samples: the rule finds what t does not", n)
				}
				student, allowed = student+oneIf(byT), allowed+oneIf(byRule)
				if n <= 100 {
					exchange += oneIf(p.exchanged().pValue() <= 0.05)
				}
			}
			per := 100 / float64(experiments)
			t.Logf("spread %.1f, %d samples: t %.0f %%, with the allowance %.0f %%, exchange %.0f %%", spread, n, per*student, per*allowed, per*exchange)
			if experiments < 1000 && per*(student-exchange) > 10 {
				t.Errorf("spread %.1f, %d samples: t finds %.0f %%, the exchange of names %.0f %%", spread, n, per*student, per*exchange)
			}
		}
	}
}

// TestPowerOfMatchedTests: of 0/1 outcomes the unconditional test finds whatever McNemar's exact
// test finds, and more.
func TestPowerOfMatchedTests(t *testing.T) {
	for _, n := range []int{10, 20, 50, 100} {
		for _, c := range []struct{ apart, win float64 }{{0.8, 0.8}, {0.4, 0.9}, {0.4, 0.8}, {0.2, 0.9}} {
			var exact, mid, unconditional float64
			for k := range n + 1 {
				for wins := range k + 1 {
					p := distuv.Binomial{N: float64(n), P: c.apart}.Prob(float64(k)) * distuv.Binomial{N: float64(k), P: c.win}.Prob(float64(wins))
					if p < 1e-9 || k == 0 {
						continue
					}
					coin := distuv.Binomial{N: float64(k), P: 0.5}
					fewest := float64(min(wins, k-wins))
					byExact := 2*coin.CDF(fewest) <= 0.05
					ours := SuissaShuster(wins, k-wins, n) <= 0.05
					if byExact && !ours {
						t.Errorf("%d wins and %d losses of %d: McNemar's exact test decides, and ours does not", wins, k-wins, n)
					}
					exact += p * oneIf(byExact)
					mid += p * oneIf(2*coin.CDF(fewest)-coin.Prob(fewest) <= 0.05)
					unconditional += p * oneIf(ours)
				}
			}
			t.Logf("%d samples, %.1f apart, %.1f won: exact %.0f %%, mid-p %.0f %%, unconditional %.0f %%", n, c.apart, c.win, 100*exact, 100*mid, 100*unconditional)
		}
	}
}
