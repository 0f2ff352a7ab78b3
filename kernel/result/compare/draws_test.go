package compare

import (
	"encoding/json"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"noema/kernel/base/score"
	"noema/methods"
)

// someDraws are draws of up to seven trials: answers, their worth and their grades.
func someDraws(r *rand.Rand) draws {
	n, kinds := 1+r.IntN(7), 1+r.IntN(4)
	worth := make([]float64, kinds)
	for i := range worth {
		worth[i] = []float64{0, 1, 0.5}[r.IntN(3)]
	}
	var cells []Cell
	for range n {
		kind := r.IntN(kinds+1) - 1
		c := Cell{Outcome: methods.Unparsed, Values: map[string]float64{"x": 0, score.Graded: float64(r.IntN(3)) / 2}}
		if kind >= 0 {
			c.Outcome, c.Values["x"] = methods.Answered, worth[kind]
			c.Prediction.Answer.Value = json.RawMessage(fmt.Sprint(kind))
		}
		cells = append(cells, c)
	}
	return drawsOf(cells, view{metric: "x"})
}

// choice is what the draws of a set of k are worth, one set at a time.
func (d draws) choice(w Way, set uint) float64 {
	votes := map[int][]float64{}
	marks := map[float64][]float64{}
	top, most := math.Inf(-1), 0
	for i, x := range d.worth {
		if set&(1<<i) == 0 {
			continue
		}
		if v := d.votes[i]; v >= 0 {
			votes[v] = append(votes[v], x)
			most = max(most, len(votes[v]))
		}
		mark := d.graded[i]
		if w == AnyOf {
			mark = x
		}
		marks[mark] = append(marks[mark], x)
		top = max(top, mark)
	}
	sum, n := 0.0, 0.0
	if w != VoteOf {
		for _, x := range marks[top] {
			sum, n = sum+x, n+1
		}
		return sum / n
	}
	for _, v := range votes {
		if len(v) == most {
			sum, n = sum+v[0], n+1
		}
	}
	return sum / max(1, n)
}

// TestDrawsAreMeansOfAllChoices: pass@k, majority and best of k are the means over all sets of
// k draws, and pass@k of right and wrong ones is Chen's.
func TestDrawsAreMeansOfAllChoices(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	for range 400 {
		d := someDraws(r)
		n := len(d.worth)
		for k := 1; k <= n; k++ {
			for _, w := range []Way{AnyOf, VoteOf, BestOf} {
				want, sets := 0.0, 0.0
				for set := uint(0); set < 1<<n; set++ {
					if bits.OnesCount(set) == k {
						want, sets = want+d.choice(w, set), sets+1
					}
				}
				if want /= sets; math.Abs(d.used(w, k)-want) > 1e-9 {
					t.Fatalf("%s, k %d of %+v: %v, by brute force %v", w, k, d, d.used(w, k), want)
				}
			}
			right, coins := 0, draws{worth: make([]float64, n)}
			for i := range n {
				coins.worth[i] = float64(r.IntN(2))
				right += int(coins.worth[i])
			}
			if got, want := coins.used(AnyOf, k), PassAt(n, right, k); math.Abs(got-want) > 1e-12 {
				t.Fatalf("pass@%d of %d right in %d: %v, not %v", k, right, n, got, want)
			}
		}
		if x := d.used(AnyOf, n+1); !math.IsNaN(x) {
			t.Fatalf("%d of %d draws are worth %v, which nobody knows", n+1, n, x)
		}
	}
}

// TestManyDraws: sums over choices of a hundred draws stay within 0 and 1, in which the
// majority of a sample that is right more often than not gets better with each further pair.
func TestManyDraws(t *testing.T) {
	var cells []Cell
	for i := range 100 {
		right := oneIf(i%5 < 3)
		cells = append(cells, Cell{Outcome: methods.Answered, Values: map[string]float64{"x": right}})
		cells[i].Prediction.Answer.Value = json.RawMessage(fmt.Sprint(right))
	}
	d, last := drawsOf(cells, view{metric: "x"}), 0.0
	for k := 1; k <= 99; k += 14 {
		x := d.used(VoteOf, k)
		if !(last < x && x <= 1+1e-9) {
			t.Errorf("majority of %d: %v after %v", k, x, last)
		}
		last = x
	}
	if d.used(VoteOf, 100) != 1 {
		t.Errorf("the majority of all is worth %v", d.used(VoteOf, 100))
	}
}

// TestConfidence: a method that is right as often as it says is calibrated, one that always is
// sure is not, and the surest answers are the best.
func TestConfidence(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 1))
	d := drawn(2, "x")
	for range 2000 {
		d.draw("", func(m int) Cell {
			c := Cell{}
			stated := r.Float64()
			c.Values = map[string]float64{"x": oneIf(r.Float64() < stated)}
			if m == 1 {
				stated = 0.95
			}
			c.Prediction.Answer.Evidence = []methods.Evidence{{Source: methods.Confident, Text: fmt.Sprint(stated)}}
			return c
		})
	}
	c, err := Compare(d, Options{Curve: Tokens})
	if err != nil {
		t.Fatal(err)
	}
	good, bad := c.Curve.Confidence[0], c.Curve.Confidence[1]
	if good.ECE.Value > 0.05 || bad.ECE.Value < 0.4 || !(good.ECE.Low <= good.ECE.Value && good.ECE.Value <= good.ECE.High) {
		t.Errorf("ECE %+v and %+v", good.ECE, bad.ECE)
	}
	if math.Abs(good.Brier.Value-1.0/6) > 0.02 { // the mean of p(1-p)
		t.Errorf("Brier %v", good.Brier.Value)
	}
	for i, want := range []float64{0.875, 0.75, 0.625, 0.5} {
		if s := good.Selective[i]; math.Abs(s.Value.Value-want) > 0.05 {
			t.Errorf("the surest %v are right in %v, not %v", s.Answered, s.Value.Value, want)
		}
	}
	if len(bad.Selective) != 4 || bad.Selective[0].Answered != 1 {
		t.Errorf("equal confidences are told apart: %+v", bad.Selective)
	}
}
