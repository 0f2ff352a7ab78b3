package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

// extended draws an experiment of two equal methods with most samples. What it
// returns says whether a look at the first n of them names a winner.
type extended func(random *rand.Rand, most int) (look func(n int) bool)

// matchedRun has 0/1 outcomes, of which so many are ties.
func matchedRun(ties float64) extended {
	var edges sync.Map // largest statistics that are insignificant, by the number of samples
	return func(random *rand.Rand, most int) func(int) bool {
		wins, losses := make([]int, most+1), make([]int, most+1)
		for i := range most {
			wins[i+1], losses[i+1] = wins[i], losses[i]
			switch {
			case random.Float64() < ties:
			case random.IntN(2) == 0:
				wins[i+1]++
			default:
				losses[i+1]++
			}
		}
		return func(n int) bool {
			edge, known := edges.Load(n)
			if !known {
				edge, _ = edges.LoadOrStore(n, insignificant(n, 0.05))
			}
			return chi(wins[n], losses[n]) > edge.(float64)
		}
	}
}

// gradedRun has values within 0 and 1.
func gradedRun(draw func(*rand.Rand) float64) extended {
	return func(random *rand.Rand, most int) func(int) bool {
		a, b := make([]float64, most), make([]float64, most)
		for i := range most {
			a[i], b[i] = draw(random), draw(random)
		}
		return func(n int) bool {
			return pair(a[:n], b[:n], nil).exact().pValue() <= 0.05
		}
	}
}

func extendedRuns() map[string]extended {
	return map[string]extended{
		"0/1, no ties": matchedRun(0), "0/1, half ties": matchedRun(0.5), "0/1, 80 % ties": matchedRun(0.8),
		"graded, even": gradedRun((*rand.Rand).Float64),
		"graded, two humps": gradedRun(func(r *rand.Rand) float64 {
			return 0.9*oneIf(r.IntN(2) == 0) + 0.1*r.Float64()
		}),
		"graded, skewed": gradedRun(func(r *rand.Rand) float64 { return oneIf(r.IntN(10) > 0) }),
	}
}

// TestFalseWinners simulates who extends a run and looks until there is a winner: one is
// named as often as falseWinners says at most. NOEMA_BENCH=1 prints what METHOD.md
// has.
func TestFalseWinners(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	long := os.Getenv("NOEMA_BENCH") == "1"
	for name, run := range extendedRuns() {
		for step, size := range map[string]func(k int) int{
			"10 more": func(k int) int { return 10 * k }, "20 more": func(k int) int { return 20 * k }, "50 more": func(k int) int { return 50 * k },
			"doubled": func(k int) int { return 10 << k },
		} {
			graded := strings.HasPrefix(name, "graded")
			looks, experiments := 5, 150
			switch {
			case long && step == "doubled":
				looks, experiments = 10, 4000
				if graded {
					looks, experiments = 8, 1000
				}
			case long:
				looks, experiments = 100, 8000
				if graded {
					looks, experiments = 50, 600
				} else if step == "10 more" {
					looks = MaxLooks
				}
			}
			t.Run(name+"/"+step, func(t *testing.T) {
				t.Parallel()
				random, first := stream(11, name+step), make([]int, looks+2)
				for range experiments {
					look, k := run(random, size(looks)), 1
					for k <= looks && !look(size(k)) {
						k++
					}
					first[k]++
				}
				row, won := "", 0
				for k := 1; k <= looks; k++ {
					won += first[k]
					share := float64(won) / float64(experiments)
					for _, at := range falseWinners() {
						if at.looks == k {
							row += fmt.Sprintf(" | %d: %.3f", k, share)
							if most := at.share; share > most+0.005+3*math.Sqrt(most*(1-most)/float64(experiments)) {
								t.Errorf("%d looks name a false winner in %.3f of the experiments, not in %.2f", k, share, most)
							}
						}
					}
				}
				t.Log(row)
			})
		}
	}
}

// TestEvidence: the e-value ever reaches 20 in at most one of twenty experiments of
// equal methods, and where one is better it gets there.
func TestEvidence(t *testing.T) {
	const experiments, most = 400, 640
	random := stream(12, "evidence")
	for merit, limits := range map[float64][2]float64{0.5: {0, 0.05 + 0.033}, 0.65: {0.9, 1}} {
		reached := 0.0
		for range experiments {
			e := newEvidence(newGrid(), 0, -1, 1)
			for range most {
				if random.Float64() < merit {
					e.bet(1, 1)
				} else {
					e.bet(-1, 1)
				}
				if e.value() >= 20 {
					reached += 1.0 / experiments
					break
				}
			}
		}
		if reached < limits[0] || reached > limits[1] {
			t.Errorf("a method that is better on %.2f: 20 is reached in %.3f of the experiments, want %v", merit, reached, limits)
		}
	}
	if e := eValue(0, 0); math.Abs(e-1) > 1e-12 { // no sample is no evidence
		t.Errorf("without a sample %v", e)
	}
	if e := eValue(1000, 0); math.IsInf(e, 0) || e < 1e200 {
		t.Errorf("of 1,000 wins %v", e)
	}
}

// lookedAt is a comparison of 20 samples as one of several looks.
func lookedAt(t *testing.T, number int, all ...Look) *Looks {
	t.Helper()
	c := compared(t, Options{}, []string{"a", "b"}, map[string]string{"a": marks(15, "1", 5, "0"), "b": marks(5, "1", 15, "0")})
	c.setLooks("q", all, number)
	return c.Looks
}

func grown(sizes ...int) (all []Look) {
	for _, n := range sizes {
		all = append(all, Look{Samples: n, Trials: 2 * n, Series: "s"})
	}
	return all
}

func TestSeenInWords(t *testing.T) {
	many := grown(slices.Repeat([]int{7}, MaxLooks)...)
	elsewhere := grown(20, 40)
	elsewhere[1].Series = "another"
	damaged := append([]Look{{}}, grown(20, 40)...)
	for _, c := range []struct {
		number int
		all    []Look
		says   string // the notes
	}{
		{1, grown(20), ""},
		{2, grown(10, 20), "second look at this comparison (10, 20 samples): if the methods were equally good, at least one of 2 looks would name a winner in up to 8 % of cases, not 5 %;"},
		{2, grown(10, 20), "the evidence for a over b is 39.4 to 1 (e-value); a winner needs 20 to 1: this one stands"},
		{1, grown(20, 40, 80), "the first of 3 looks at this comparison (20, 40, 80 samples): if the methods were equally good, at least one of 3 looks would name a winner in up to 11 %"},
		{2, elsewhere, "second look at this comparison (20, 40 samples): if the methods were equally good, at least one of 2 looks would name a winner in up to 10 %"},
		{3, grown(20, 100, 200), "at least one of 3 looks would name a winner in up to 13 %"},
		{3, damaged, "third look at this comparison (?, 20, 40 samples)"},
		{12, grown(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12), "12th look at this comparison (1, 2, …, 10, 11, 12 samples)"},
		{0, many, "one of more than 1000 looks at this comparison (7, 7, …, 7, 7, 7 samples): if the methods were equally good, at least one of 1000 looks would name a winner in up to 100 %"},
	} {
		l := lookedAt(t, c.number, c.all...)
		if notes := strings.Join(l.Notes, "\n"); !strings.Contains(notes, c.says) || c.says == "" && notes != "" {
			t.Errorf("look %d of %d says\n%s\nwithout\n%s", c.number, len(c.all), notes, c.says)
		}
		if l.Total != len(c.all) || len(l.Latest) > shownLooks {
			t.Errorf("%d looks, of which %d are shown", l.Total, len(l.Latest))
		}
	}
	for _, all := range [][]Look{elsewhere, grown(20, 20)} {
		if notes := lookedAt(t, 2, all...).Notes; len(notes) != 1 {
			t.Errorf("an e-value of data that did not grow: %q", notes)
		}
	}
	for n, want := range map[int]string{11: "11th", 21: "21st", 22: "22nd", 103: "103rd", 112: "112th"} {
		if got := ordinal(n); got != want {
			t.Errorf("%d is %q", n, got)
		}
	}
}

// TestDifferentSamples: a method with easier samples of its own does not have the
// highest mean.
func TestDifferentSamples(t *testing.T) {
	same := compared(t, Options{}, []string{"a", "b"}, map[string]string{"a": "1100", "b": "1010"})
	if same.Common != nil || noted(same, "different samples") {
		t.Errorf("common %+v, notes %q", same.Common, same.Notes)
	}
	easy := compared(t, Options{}, []string{"a", "b", "c"}, map[string]string{"a": marks(5, "1", 5, "0"), "b": marks(4, "1", 6, "0"), "c": "1110"})
	if easy.Methods[2].Metrics[easy.Metric].Value.Value != 0.75 || !strings.HasPrefix(easy.Verdict, "nothing is proven on accuracy: a and b share the highest mean") {
		t.Errorf("verdict %q", easy.Verdict)
	}
	if !noted(easy, "on the 4 samples that all methods have: a 1.000, b 1.000, c 0.750") {
		t.Errorf("notes %q", easy.Notes)
	}
	apart := compared(t, Options{}, []string{"a", "b", "c"}, map[string]string{"a": "11    ", "b": "  11  ", "c": "    11"})
	if apart.Common.Samples != 0 || !strings.Contains(apart.Verdict, "the methods have no sample in common") || !noted(apart, "not compared") {
		t.Errorf("verdict %q, notes %q", apart.Verdict, apart.Notes)
	}
}
