package compare

import (
	"encoding/json"
	"os"
	"os/exec"
	"testing"

	"gonum.org/v1/gonum/stat"

	"noema/kernel/base/score"
)

// peer computes the same numbers with statsmodels and scipy; the allowance has no
// reference there and is written out again.
const peer = `
import json, sys, math
import numpy as np
from scipy.optimize import brentq
from scipy.stats import t, sem, binomtest
from statsmodels.stats.proportion import proportion_confint
from statsmodels.stats.multitest import multipletests
q = json.load(sys.stdin)
d = np.array(q["d"])

def half(a):
    return math.hypot(t.ppf(1 - a/2, len(d) - 1) * sem(d), math.log(2/a) / len(d))

w, l = q["wins"], q["losses"]
n = len(d)
json.dump({
    "wilson": list(proportion_confint(w, w + l, method="wilson")),
    "holm": list(multipletests(q["ps"], method="holm")[1]),
    "student": list(t.interval(0.95, n - 1, d.mean(), sem(d))),
    "rate": float(binomtest(w, w + l, 0.1).pvalue),
    "allowed": [float(d.mean() - half(0.05)), float(d.mean() + half(0.05))],
    "p": float(brentq(lambda a: half(a) - abs(d.mean()), 1e-12, 1)) if half(1) < abs(d.mean()) else 1,
}, sys.stdout)
`

// TestAgainstPython compares with statsmodels and scipy where NOEMA_TEST_PYTHON names a
// Python that has them.
func TestAgainstPython(t *testing.T) {
	python := os.Getenv("NOEMA_TEST_PYTHON")
	if python == "" {
		t.Skip("set NOEMA_TEST_PYTHON to a Python with statsmodels and scipy")
	}
	random := stream(8)
	for range 5 {
		n := 20 + random.IntN(60)
		d, ps := make([]float64, n), []float64{random.Float64() / 20, random.Float64() / 9, random.Float64() / 3}
		for i := range d {
			d[i] = 1.6*random.Float64() - 0.6
		}
		wins, losses := 3+random.IntN(9), 2+random.IntN(40)
		question, err := json.Marshal(map[string]any{"d": d, "ps": ps, "wins": wins, "losses": losses})
		if err != nil {
			t.Fatal(err)
		}
		var want struct {
			Wilson, Student, Allowed, Holm []float64
			P, Rate                        float64
		}
		ask(t, python, question, &want)
		low, high := score.Wilson(float64(wins), wins+losses, 0.95)
		agree(t, "Wilson", []float64{low, high}, want.Wilson, 1e-9)
		agree(t, "Holm", Holm(ps), want.Holm, 1e-9)
		m := score.Mean("x", d, score.Options{Student: true})
		agree(t, "Student", []float64{m.Low, m.High}, want.Student, 1e-9)
		chances := make([]float64, wins+losses)
		for i := range chances {
			chances[i] = 0.1
		}
		agree(t, "exact rate", []float64{exactRate(wins, chances)}, []float64{want.Rate}, 1e-8)
		e := bounded{mean: stat.Mean(d, nil), weight: 1 / float64(n), bound: 1}
		e.se, e.df = score.CR2(d, each(n), n)
		low, high = e.interval(0.95)
		agree(t, "allowance", []float64{low, high, e.pValue()}, append(want.Allowed, want.P), 1e-6)
	}
}

// each is a unit for each of n samples.
func each(n int) []int {
	units, _ := score.Units(make([]string, n))
	return units
}

func ask(t *testing.T, python string, question []byte, answer any) {
	t.Helper()
	command := exec.CommandContext(t.Context(), python, "-c", peer)
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		in.Write(question)
		in.Close()
	}()
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out, answer); err != nil {
		t.Fatal(err)
	}
}

func agree(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %v, want %v", what, got, want)
	}
	for i := range got {
		if !near(got[i], want[i], tolerance) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
}
