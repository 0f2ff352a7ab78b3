package compare

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// proven is the one-sided p-value of the bounds of Phan, Thomas and Learned-Miller (2021, "Towards
// practical mean bounds for small samples") with a statistic that weighs the sorted values: the
// share of uniform draws whose induced mean, the largest among samples with no larger statistic,
// reaches one half. Values are within 0 and 1, and small ones speak for the method.
func proven(x, weights []float64, draws [][]float64) float64 {
	n, at := len(x), 0.0
	sorted := slices.Sorted(slices.Values(x))
	for i, v := range sorted {
		at += weights[i] * v
	}
	steps := make([]float64, n+1) // of samples whose largest k values are 1, and the others 0
	for k := 1; k <= n; k++ {
		steps[k] = steps[k-1] + weights[n-k]
	}
	reached := 0
	for _, u := range draws {
		best := 0.0
		mean := func(k int) float64 {
			if k == n {
				return 1
			}
			return 1 - u[n-k-1]
		}
		for k := range n + 1 { // the constraint binds between two steps, or at one
			if steps[k] <= at {
				best = max(best, mean(k))
			}
			for l := k + 1; l <= n; l++ {
				if steps[k] <= at && at < steps[l] {
					best = max(best, mean(k)+(mean(l)-mean(k))*(at-steps[k])/(steps[l]-steps[k]))
				}
			}
		}
		reached += int(oneIf(best >= 0.5-1e-12))
	}
	return float64(reached) / float64(len(draws))
}

// uniform are sorted draws.
func uniform(random *rand.Rand, n, count int) [][]float64 {
	all := make([][]float64, count)
	for i := range all {
		for range n {
			all[i] = append(all[i], random.Float64())
		}
		slices.Sort(all[i])
	}
	return all
}

// TestPower holds the rules against each other on differences that Student's t finds in about
// four of five runs. NOEMA_BENCH=1 prints what METHOD.md has, with the bound that no valid rule
// passes where all differences are about equal: (a/2)(1+d)^n.
func TestPower(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	experiments, ns, long := 60, []int{20, 50}, os.Getenv("NOEMA_BENCH") == "1"
	if long {
		experiments, ns = 300, []int{10, 20, 50, 100}
	}
	random := rand.New(rand.NewPCG(8, 29))
	for _, spread := range []float64{0.4, 0.2, 0.1} {
		for _, n := range ns {
			var student, before, ours, half, exchange, phan float64
			effect := spread * (1.96 + 0.8416) / math.Sqrt(float64(n))
			draws, even := uniform(random, n, 200), slices.Repeat([]float64{1 / float64(n)}, n)
			for range experiments {
				a, b, x := make([]float64, n), make([]float64, n), make([]float64, n)
				for i := range a {
					d := max(-1, min(1, effect+spread*random.NormFloat64()))
					a[i], b[i], x[i] = max(0, d), max(0, -d), (1-d)/2
				}
				p := pair(a, b, nil)
				low, high := p.unbounded().interval(0.95)
				student += oneIf(low > 0 || high < 0)
				before += oneIf(p.bounded().pValue() <= 0.05)
				ours += oneIf(p.exact().pValue() <= 0.05)
				for i, d := range p.d {
					p.d[i] = max(-0.5, min(0.5, d))
				}
				e := p.exact()
				e.bound = 0.5
				half += oneIf(e.pValue() <= 0.05)
				if n <= 100 {
					exchange += oneIf(pair(a, b, nil).exchanged().pValue() <= 0.05)
				}
				if long && n <= 50 {
					phan += oneIf(proven(x, even, draws) <= 0.025)
				}
			}
			per := 100 / float64(experiments)
			t.Logf("spread %.1f, %3d samples: t %.0f, sign flips %.0f, t with an allowance %.0f, exact %.0f, exact with a range of 0.5 %.0f, proven %.0f; equal differences: no valid rule above %.0f",
				spread, n, per*student, per*exchange, per*before, per*ours, per*half, per*phan, min(100, 2.5*math.Pow(1+effect, float64(n))))
			if per*(before-ours) > 20 {
				t.Errorf("spread %.1f, %d samples: t with an allowance finds %.0f %%, the exact rule %.0f %%", spread, n, per*before, per*ours)
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
