package compare

import (
	"gonum.org/v1/gonum/stat/distuv"
	"math"
	"noema/kernel/base/score"
	"slices"
	"strings"
	"testing"
)

func near(a, b, relative float64) bool {
	return math.Abs(a-b) <= relative*max(1e-12, math.Abs(b)) || math.Abs(a-b) <= 1e-12
}

// The first row is the airway hyper-responsiveness study, for which Fagerland,
// Lydersen and Laake 2014, "Recommended tests and confidence intervals for
// paired binomial proportions", print -0.517 to -0.026. All are by scipy 1.17
// with the likelihood maximised numerically:
//
//	def score(d): # of b wins, c losses, n-b-c others; q is the chance of a loss
//	    ll = lambda q: -sum(k*log(max(p,1e-300)) for k, p in ((b,q+d),(c,q),(n-b-c,1-2*q-d)) if k)
//	    q = minimize_scalar(ll, bounds=(max(0,-d),(1-d)/2), method="bounded", options=dict(xatol=1e-14)).x
//	    return (b-c-n*d)/sqrt(n*(2*q+d-d*d))
//	brentq(lambda d: score(d)-z, -1+1e-9, (b-c)/n-1e-9), brentq(lambda d: score(d)+z, (b-c)/n+1e-9, 1-1e-9)
func TestTango(t *testing.T) {
	for _, c := range []struct {
		wins, losses, n  int
		level, low, high float64
	}{
		{1, 7, 21, 0.95, -0.5172322772714654, -0.026003030708280136},
		{9, 2, 20, 0.95, 0.02741432955248848, 0.6016314730323526},
		{12, 5, 100, 0.95, -0.011863210844410298, 0.15741560587346445},
		{30, 10, 100, 0.95, 0.07948443411613013, 0.31696048827804313},
		{5, 3, 44, 0.95, -0.0926637438487099, 0.1875273529087307},
		{12, 5, 100, 0.99, -0.04178656610557863, 0.18899340231186385},
	} {
		low, high := Tango(c.wins, c.losses, c.n, c.level)
		if !near(low, c.low, 1e-6) || !near(high, c.high, 1e-6) {
			t.Errorf("Tango(%d, %d, %d, %g) = %v, %v, want %v, %v", c.wins, c.losses, c.n, c.level, low, high, c.low, c.high)
		}
		mirrorLow, mirrorHigh := Tango(c.losses, c.wins, c.n, c.level)
		if !near(mirrorLow, -high, 1e-9) || !near(mirrorHigh, -low, 1e-9) {
			t.Errorf("Tango(%d, %d) is no mirror of its opposite", c.wins, c.losses)
		}
	}
}

// With no sample that tells the methods apart the score is solved by hand: the
// ends are ±z²/(n+z²). With nothing but wins the upper end is 1.
func TestTangoAtTheEdges(t *testing.T) {
	z2 := 1.959963984540054 * 1.959963984540054
	for _, n := range []int{1, 10, 1000} {
		want := z2 / (float64(n) + z2)
		if low, high := Tango(0, 0, n, 0.95); !near(low, -want, 1e-9) || !near(high, want, 1e-9) {
			t.Errorf("no wins and losses of %d: %v, %v, want ±%v", n, low, high, want)
		}
		if low, high := Tango(n, 0, n, 0.95); high != 1 || low < -1 || low >= 1 {
			t.Errorf("%d wins of %d: %v, %v", n, n, low, high)
		}
	}
}

// By numpy: the largest, over 20,000 equally spaced psi, of
//
//	sum(binom.pmf(k, n, psi)*comb(k, b)/2**k for all b <= k <= n
//	    with (2*b-k)**2*(wins+losses) >= (wins-losses)**2*k and 2*b != k)
func TestSuissaShuster(t *testing.T) {
	for _, c := range []struct {
		wins, losses, n int
		p               float64
	}{
		{6, 0, 20, 0.01400810661},
		{6, 0, 6, 0.03125},
		{0, 5, 5, 0.0625},
		{9, 2, 20, 0.04138946533},
		{9, 2, 11, 0.0654296875},
		{12, 5, 100, 0.0981004286},
		{30, 10, 60, 0.001403921596},
		{40, 60, 100, 0.05688793364},
		{1, 0, 50, 0.5332193475},
		{3, 3, 10, 1}, {0, 0, 4, 1},
	} {
		if p := SuissaShuster(c.wins, c.losses, c.n); !near(p, c.p, 1e-5) || SuissaShuster(c.losses, c.wins, c.n) != p {
			t.Errorf("SuissaShuster(%d, %d, %d) = %v, want %v", c.wins, c.losses, c.n, p, c.p)
		}
	}
}

// TestSuissaShusterHoldsItsLevel: exactly, for every share of samples that tell the
// methods apart.
func TestSuissaShusterHoldsItsLevel(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, n := range []int{6, 10, 20, 35} {
		for _, alpha := range []float64{0.05, 0.005} {
			edge := insignificant(n, alpha)
			for share := 0.01; share <= 1; share += 0.03 {
				size := 0.0
				for k := range n + 1 {
					for wins := range k + 1 {
						if found := SuissaShuster(wins, k-wins, n) <= alpha; found {
							size += distuv.Binomial{N: float64(n), P: share}.Prob(float64(k)) * distuv.Binomial{N: float64(k), P: 0.5}.Prob(float64(wins))
						}
					}
				}
				if size > alpha*(1+1e-6) {
					t.Errorf("n %d, share %.2f: size %v at %v, edge %v", n, share, size, alpha, edge)
				}
			}
		}
	}
}

// By statsmodels 0.15: multipletests(p, method="holm")[1]
func TestHolm(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct{ ps, want []float64 }{
		{[]float64{0.01, 0.04, 0.03, 0.005}, []float64{0.03, 0.06, 0.06, 0.02}},
		{[]float64{0.02, 0.02, 0.9}, []float64{0.06, 0.06, 0.9}},
		{[]float64{0.5}, []float64{0.5}}, {nil, nil},
		{[]float64{0.02, nan, 0.9}, []float64{0.04, nan, 0.9}},
	} {
		got := Holm(c.ps)
		for i := range c.want {
			if math.IsNaN(c.want[i]) != math.IsNaN(got[i]) || !math.IsNaN(got[i]) && !near(got[i], c.want[i], 1e-12) {
				t.Errorf("Holm(%v) = %v, want %v", c.ps, got, c.want)
			}
		}
	}
}

// By numpy and scipy 1.17, with the matrices of Bell and McCaffrey:
//
//	H = np.ones((n,n))/n; e = y-y.mean()
//	w, v = np.linalg.eigh((np.eye(n)-H)[np.ix_(i,i)])                     # for each cluster i
//	q = (np.eye(n)-H)[:,i] @ v @ np.diag(w**-.5) @ v.T @ np.ones(i.sum())/n
//	se = sqrt(sum((q@y)**2)); M = Q @ Q.T; df = np.trace(M)**2/np.sum(M*M) # Q has the q as rows
//
// and the last, of samples that stand alone, is t.interval(.95, 6, d.mean(), sem(d)).
func TestRobust(t *testing.T) {
	for _, c := range []struct {
		d            []float64
		clusters     string
		se, df       float64
		low, high    float64
		warned, name string
	}{
		{
			[]float64{0.5, 1, 0, 0, 1, 0, -1, 1, 0.5, 0.5}, "aaabbccddd", 0.23029484207362153, 2.8613138686131387,
			-0.4034128753996068, 1.1034128753996066, "not within 0 and 1", "Student's t (4 clusters)",
		},
		{
			[]float64{1, 0, 0, 1, -1, 1, 0, 0, 1, 1, 0, 1}, "aaaaaabbccde", 0.15650862434686946, 2.465362673186634,
			-0.14846163505125248, 0.9817949683845859, "not within 0 and 1", "Student's t (5 clusters)",
		},
		{
			[]float64{0.4, -0.05, 0.3, 0, 0.25, -0.05, 0.1}, "", 0.06875966227711262, 6,
			-0.032534546792307495, 0.30396311822087896, "not within 0 and 1", "Student's t",
		},
	} {
		var clusters []string
		if c.clusters != "" {
			clusters = strings.Split(c.clusters, "")
		}
		p := pair(c.d, make([]float64, len(c.d)), clusters)
		se, df := score.CR2(p.d, p.unit, p.units)
		m, name := p.interval("x", 0.95, p.rule("", nil))
		if !near(se, c.se, 1e-9) || !near(df, c.df, 1e-9) || !near(m.Low, c.low, 1e-8) || !near(m.High, c.high, 1e-8) || name != c.name {
			t.Errorf("%q: se %v, df %v, %v..%v by %s; want %+v", c.clusters, se, df, m.Low, m.High, name, c)
		}
		if warnings := strings.Join(m.Warnings, "; "); !strings.Contains(warnings, c.warned) {
			t.Errorf("%q: warnings %q", c.clusters, warnings)
		}
	}
}

// TestDetectableOfMatchedOutcomes: the power by the sum over all outcomes is 0.8.
func TestDetectableOfMatchedOutcomes(t *testing.T) {
	for _, c := range []struct {
		of    table
		alpha float64
	}{{table{4, 2, 20, nil}, 0.05}, {table{4, 2, 20, nil}, 0.01}, {table{5, 5, 30, nil}, 0.05}, {table{5, 5, 30, nil}, 0.01}} {
		m := newMatchedPower(c.of, c.alpha)
		at := m.detectable()
		discord, power, n := max(m.discord, at), 0.0, c.of.n
		for k := range n + 1 {
			for wins := range k + 1 {
				if SuissaShuster(wins, k-wins, n) <= c.alpha {
					power += distuv.Binomial{N: float64(n), P: discord}.Prob(float64(k)) * distuv.Binomial{N: float64(k), P: (1 + at/discord) / 2}.Prob(float64(wins))
				}
			}
		}
		if math.Abs(power-Power) > 1e-4 {
			t.Errorf("%+v: detectable from %v, where the power is %v", c, at, power)
		}
	}
	if got := newMatchedPower(table{2, 1, 5, nil}, 0.05).detectable(); !math.IsNaN(got) {
		t.Errorf("five samples detect %v, though no result on them is significant", got)
	}
}

// TestRatio: by numpy, the ends at which the mean of d = a - R·b is as far from 0 as
// hypot(t.ppf(.975, n-1)*sem(d), abs(d-d.mean()).max()/n*log(40)), with sums for clusters.
func TestRatio(t *testing.T) {
	a := []float64{120, 340, 90, 410, 220, 150, 600, 310, 95, 180, 260, 75}
	b := []float64{100, 400, 110, 300, 180, 190, 420, 250, 120, 160, 200, 90}
	for _, c := range []struct {
		clusters  []string
		low, high float64
	}{
		{nil, 0.7249318682, 1.445915975},
		{strings.Split("aabbccddeeff", ""), 0.5492948426, 1.394074387},
	} {
		r := pair(a, b, c.clusters).ratio("cost", 0.95).Ratio
		if !near(r.Value, 1.130952380952381, 1e-12) || !near(r.Low, c.low, 1e-5) || !near(r.High, c.high, 1e-5) {
			t.Errorf("clusters %q: %+v, want %v..%v", c.clusters, r, c.low, c.high)
		}
	}
}

// By scipy 1.17: binomtest(k, n, p).pvalue, and for unequal chances the
// distribution by np.convolve.
func TestExactRate(t *testing.T) {
	mixed := append(append(slices.Repeat([]float64{0.1}, 5), slices.Repeat([]float64{0.2}, 5)...), slices.Repeat([]float64{0.05}, 3)...)
	for _, c := range []struct {
		k       int
		chances []float64
		p       float64
	}{
		{7, slices.Repeat([]float64{0.1}, 20), 0.002386089408966118},
		{30, slices.Repeat([]float64{0.1}, 100), 2.445112239390972e-08},
		{0, slices.Repeat([]float64{0.1}, 30), 0.0682179469371261},
		{12, slices.Repeat([]float64{0.25}, 40), 0.4668097611024689},
		{0, mixed, 0.38623005568}, {2, mixed, 0.6742734128128003}, {4, mixed, 0.06862614227200005},
		{3, []float64{1, 1, 1}, 1},
	} {
		if p := exactRate(c.k, c.chances); !near(p, c.p, 1e-8) {
			t.Errorf("%d of %d: p = %v, want %v", c.k, len(c.chances), p, c.p)
		}
	}
}

// pass@k by the code of Chen et al.: 1.0 - np.prod(1.0 - k/np.arange(n-c+1, n+1));
// pass^k by math.comb(c,k)/math.comb(n,k).
func TestPassAtAndHat(t *testing.T) {
	for _, c := range []struct {
		n, c, k int
		at, hat float64
	}{
		{10, 3, 1, 0.3, 0.3}, {10, 3, 5, 0.9166666666666666, 0}, {5, 0, 2, 0, 0}, {5, 5, 3, 1, 1},
		{200, 17, 100, 0.99999636769084, 0}, {10, 8, 5, 1, 0.2222222222222222}, {8, 4, 4, 1 - 1.0/70, 0.014285714285714285},
	} {
		if at, hat := PassAt(c.n, c.c, c.k), PassHat(c.n, c.c, c.k); !near(at, c.at, 1e-9) || !near(hat, c.hat, 1e-9) {
			t.Errorf("%d of %d right, k = %d: pass@k %v, pass^k %v, want %v, %v", c.c, c.n, c.k, at, hat, c.at, c.hat)
		}
	}
	for _, c := range [][3]int{{3, 1, 4}, {3, 1, 0}, {3, 4, 1}, {3, -1, 1}, {0, 0, 1}} {
		if !math.IsNaN(PassAt(c[0], c[1], c[2])) || !math.IsNaN(PassHat(c[0], c[1], c[2])) {
			t.Errorf("n, c, k = %v is defined", c)
		}
	}
}
