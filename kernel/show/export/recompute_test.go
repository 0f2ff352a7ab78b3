package export

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"noema/kernel/base/score"
	"noema/kernel/result/compare"
	"noema/kernel/result/record"
	"noema/kernel/run/runner"
	"noema/kernel/task"
	"noema/methods"
)

// simulated is a run of three methods over 40 samples, of which each method's
// infrastructure failed some, and one call did not tell its tokens. With clusters,
// there are two epochs as well.
func simulated(clusters bool) *runner.Result {
	random := rand.New(rand.NewPCG(5, 6))
	r := &runner.Result{Recorded: compare.Recorded{Run: &record.Run{ID: "r"}, Task: &task.Task{Name: "t"}}}
	epochs := 1
	if clusters {
		epochs = 2
	}
	for m, name := range []string{"good", "poor", "dear"} {
		r.Run.Config.Methods = append(r.Run.Config.Methods, record.Method{Label: name})
		for i := range 40 {
			s := task.Sample{ID: fmt.Sprintf("%03d", i), Target: json.RawMessage(`1`), Problem: methods.Problem{Answer: methods.AnswerSpec{Kind: methods.Number}}}
			if clusters && i%9 > 0 {
				s.Cluster = fmt.Sprint("text ", i/5)
			}
			if m == 0 {
				r.Task.Samples = append(r.Task.Samples, s)
				r.Run.Config.Task.Samples = append(r.Run.Config.Task.Samples, s.ID)
			}
			for e := range epochs {
				right := 0.0
				if random.Float64() < []float64{0.9, 0.4, 0.7}[m] {
					right = 1
				}
				t := &record.Trial{
					ID: record.TrialID{Method: name, Sample: s.ID, Epoch: e}, Transcript: &record.Transcript{}, Target: s.Target, Answer: methods.Answer{Outcome: methods.Answered, Value: json.RawMessage(`1`)},
					Score: score.Score{Values: map[string]float64{"accuracy": right, "quality": (right + random.Float64()) / 2}},
					Usage: methods.Usage{
						Calls: 1 + m, ToolCalls: random.IntN(3), InputTokens: 100 + random.Int64N(900), OutputTokens: 10 + random.Int64N(90),
						Cost: methods.NanoUSD(1e5 + random.Int64N(9e5)), Latency: time.Duration(random.Int64N(1e9)),
					},
				}
				if random.IntN(8) == 0 {
					t.Infra, t.Failure, t.Answer = true, "provider: gave up", methods.Answer{Outcome: methods.Failed}
				}
				if m == 1 && i == 7 {
					t.Usage.Unmetered = 1
				}
				r.Trials = append(r.Trials, t)
			}
		}
	}
	return r
}

// TestPandasRecomputesTheTables: a script has every number of a comparison from the
// exported rows alone.
func TestPandasRecomputesTheTables(t *testing.T) {
	path := python(t, "pandas, scipy, statsmodels")
	for _, clusters := range []bool{false, true} {
		r := simulated(clusters)
		data, err := compare.FromTrials([]string{"good", "poor", "dear"}, r.Task.Samples, r.Trials, "accuracy", "quality")
		if err != nil {
			t.Fatal(err)
		}
		c, err := compare.Compare(data, compare.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := recomputed(t, path, Source{Result: r}.Trials())
		numbers := 0
		near := func(what string, got *float64, want, tolerance float64) {
			t.Helper()
			numbers++
			if got == nil || !(math.Abs(*got-want) <= tolerance) {
				t.Errorf("clusters %v: %s: pandas has %v, noema %v", clusters, what, show(got), want)
			}
		}
		metric := func(what string, got []*float64, want score.Metric) {
			t.Helper()
			if len(got) != 4 {
				t.Fatalf("%s: %v", what, got)
			}
			for i, w := range []float64{want.Value, want.Low, want.High, float64(want.N)} {
				if i == 0 || i == 3 || want.HasInterval() {
					near(fmt.Sprint(what, " ", i), got[i], w, 1e-9*max(1, math.Abs(w)))
				}
			}
		}
		for _, m := range c.Methods {
			for name, merit := range m.Metrics {
				metric(m.Method+" "+name, got.Methods[m.Method][name], merit.Value)
			}
			for r, use := range m.Usage {
				metric(m.Method+" "+string(r), got.Methods[m.Method][string(r)], use)
			}
		}
		for _, p := range c.Pairs {
			theirs := got.Pairs[p.A+" - "+p.B]
			for name, d := range p.Metrics {
				what, f := p.A+" - "+p.B+" "+name, theirs[name]
				near(what, f["difference"], d.Difference.Value, 1e-12)
				near(what+" n", f["n"], float64(d.Difference.N), 0)
				near(what+" wins", f["wins"], float64(d.Wins), 0)
				near(what+" losses", f["losses"], float64(d.Losses), 0)
				near(what+" low", f["low"], d.Difference.Low, 1e-6)
				near(what+" high", f["high"], d.Difference.High, 1e-6)
				near(what+" p", f["p"], float64(d.P), 1e-6)
				near(what+" corrected", f["corrected"], float64(d.Corrected), 1e-6)
			}
			for r, d := range p.Ratios {
				what, f := p.A+" / "+p.B+" "+string(r), theirs[string(r)]
				near(what, f["ratio"], d.Ratio.Value, 1e-9*d.Ratio.Value)
				if d.Ratio.HasInterval() {
					near(what+" low", f["low"], d.Ratio.Low, 1e-5*d.Ratio.Low)
					near(what+" high", f["high"], d.Ratio.High, 1e-5*d.Ratio.High)
				}
			}
		}
		if numbers < 150 {
			t.Errorf("only %d numbers were compared", numbers)
		}
	}
}

type recomputation struct {
	Methods map[string]map[string][]*float64          // value, low, high, n by method and measure or resource
	Pairs   map[string]map[string]map[string]*float64 // by pair, by measure or resource
}

func recomputed(t *testing.T, python string, rows Rows) (r recomputation) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "trials.csv")
	out, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := rows.CSV(out); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), python, filepath.Join("testdata", "recompute.py"), file)
	raw, err := command.Output()
	if exit, ok := err.(*exec.ExitError); ok {
		t.Fatalf("recompute.py: %v\n%s", err, exit.Stderr)
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	return r
}

func show(x *float64) string {
	if x == nil {
		return "nothing"
	}
	return fmt.Sprint(*x)
}
