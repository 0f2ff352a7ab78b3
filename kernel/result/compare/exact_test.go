package compare

import (
	"math"
	"os"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// integral is the same chance by the real form of its transform's inversion, which shares
// nothing with belowZero but the question (Imhof 1961, "Computing the distribution of quadratic
// forms in normal variables").
func integral(y []float64) float64 {
	norm, total := 0.0, 0.0
	for _, x := range y {
		norm += x * x
	}
	const step = 0.01
	for v := -30.0; v <= 30; v += step {
		t, log, angle := math.Exp(v)/math.Sqrt(norm), 0.0, 0.0
		for _, x := range y {
			log -= 0.5 * math.Log1p(t*t*x*x)
			angle += math.Atan(t * x)
		}
		total += math.Exp(log) * math.Sin(angle) * step
	}
	return 0.5 - total/math.Pi
}

// TestExactChance holds the rule's chance against the integral, against the binomial test that
// it is on values of one size, and against the closed form of equal differences.
func TestExactChance(t *testing.T) {
	random := stream(49, "exact")
	for range 300 {
		y, scale := []float64{-1}, math.Exp(3*random.NormFloat64())
		for range 1 + random.IntN(30) {
			x := math.Max(-1, math.Min(1, scale*random.NormFloat64()))
			if random.IntN(3) == 0 {
				x = float64(random.IntN(3) - 1)
			}
			y = append(y, x)
		}
		if got, want := belowZero(y), integral(y); !near(got, want, 1e-9) {
			t.Errorf("%v: %v, want %v", y, got, want)
		}
	}
	for _, c := range [][3]int{{8, 2, 0}, {6, 0, 94}, {30, 10, 3}, {200, 120, 10}, {1, 0, 3}} {
		y := []float64{-1}
		for i, x := range []float64{1, -1, 0} {
			for range c[i] {
				y = append(y, x)
			}
		}
		want := distuv.Binomial{N: float64(c[0] + c[1]), P: 0.5}.Survival(float64(c[0] - 1))
		if got := belowZero(y); math.Abs(got/want-1) > 1e-9 {
			t.Errorf("%d wins and %d losses: %v, want %v", c[0], c[1], got, want)
		}
	}
	for _, n := range []int{5, 20, 100} {
		for _, g := range []float64{0.01, 0.1, 0.9} {
			y := []float64{-1}
			for range n {
				y = append(y, g)
			}
			if got, want := belowZero(y), math.Pow(1+g, -float64(n)); math.Abs(got/want-1) > 1e-9 {
				t.Errorf("%d differences of %v: %v, want %v", n, g, got, want)
			}
		}
	}
}

// sizeOf is how often a rule names a winner, exactly, where samples lose low with a chance of q
// and else gain what makes the mean 0.
func sizeOf(n int, q, low float64, found func(p pairing) bool) float64 {
	size, high := 0.0, q*low/(1-q)
	for losses := range n + 1 {
		chance := distuv.Binomial{N: float64(n), P: q}.Prob(float64(losses))
		if chance < 1e-6 {
			continue
		}
		a, b := make([]float64, n), make([]float64, n)
		for i := range a {
			if a[i] = high; i < losses {
				a[i], b[i] = 0, low
			}
		}
		if found(pair(a, b, nil)) {
			size += chance
		}
	}
	return size
}

// worstSize is the largest over two-point worlds.
func worstSize(n, steps int, alpha float64, found func(p pairing, alpha float64) bool) (worst float64) {
	for k := range steps {
		q := 0.5 * math.Pow(float64(k+1)/float64(steps), 2)
		for _, low := range []float64{1, 0.5} {
			worst = max(worst, sizeOf(n, q, low, func(p pairing) bool { return found(p, alpha) }))
		}
	}
	return worst
}

// TestSizeOfFewUnits: in worlds of two values the rule names a false winner in no more than the
// share that is asked, by exact enumeration. NOEMA_BENCH=1 prints what METHOD.md has.
func TestSizeOfFewUnits(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	ns, steps := []int{4, 5, 6, 7, 8, 10, 15, 20}, 60
	long := os.Getenv("NOEMA_BENCH") == "1"
	if long {
		ns, steps = []int{4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 30, 50, 100, 200}, 150
	}
	for _, n := range ns {
		for _, pairs := range []float64{1, 3, 28} {
			alpha := 0.05 / pairs
			ours := worstSize(n, steps, alpha, func(p pairing, alpha float64) bool { return p.exact().pValue() <= alpha })
			if ours > alpha*(1+1e-9) {
				t.Errorf("n = %d: %.4f, asked %.4f", n, ours, alpha)
			}
			if long {
				before := worstSize(n, steps, alpha, func(p pairing, alpha float64) bool { return p.bounded().pValue() <= alpha })
				student := worstSize(n, steps, alpha, func(p pairing, alpha float64) bool {
					low, high := p.unbounded().interval(1 - alpha)
					return low > 0 || high < 0
				})
				t.Logf("n = %3d, asked %.2f: t %.1f, with an allowance %.2f, exact %.2f", n, 100*alpha, 100*student, 100*before, 100*ours)
			}
		}
	}
}

// TestBothRulesOfOutcomes: where the exact rule, which is McNemar's test of 0/1 outcomes, names
// a winner, so does the test that judges these. So a graded value that rises to 1 loses no win.
func TestBothRulesOfOutcomes(t *testing.T) {
	for _, n := range []int{4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 30, 50, 80} {
		for _, pairs := range []float64{1, 3, 6, 10, 15, 28} {
			alpha := 0.05 / pairs
			for k := 1; k <= n; k++ {
				coin := distuv.Binomial{N: float64(k), P: 0.5}
				for wins := (k + 1) / 2; wins <= k; wins++ {
					if 2*coin.Survival(float64(wins-1)) > alpha {
						continue
					}
					if p := SuissaShuster(wins, k-wins, n); p > alpha*(1+1e-9) {
						t.Errorf("%d wins, %d losses of %d: %v, asked %v", wins, k-wins, n, p, alpha)
					}
					break
				}
			}
		}
	}
}
