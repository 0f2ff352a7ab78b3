package lab_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"noema/kernel/base/score"
	"noema/kernel/lab"
	"noema/kernel/result/compare"
	"noema/kernel/result/record"
	"noema/kernel/run/runner"
	"noema/kernel/show/export"
	"noema/kernel/show/report"
	"noema/kernel/task"
	"noema/methods"
)

// TestSeedsAreNotFree: a method that does its work while it builds a seed for
// each sample is as dear as the one that does it in its trials, and the comparison says
// what part the seeds took.
func TestSeedsAreNotFree(t *testing.T) {
	l := open(t)
	tk, err := lab.NewTask("parity", lab.Pick("2?", "even", "even", "odd"), lab.Pick("3?", "odd", "even", "odd"))
	if err != nil {
		t.Fatal(err)
	}
	hidden := func(ctx context.Context, p lab.Problem, h lab.Host) (lab.Answer, error) {
		_, err := h.Seed(ctx, methods.SeedKey{Kind: "work", Content: p.Query}, func(ctx context.Context) ([]byte, error) {
			a, err := parity(ctx, p, h)
			return a.Value, err
		})
		return lab.ChoiceAnswer("odd"), err
	}
	if err := l.AddTask(tk); err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]lab.Solve{"parity": parity, "hidden": hidden} {
		if err := l.AddMethod(name, f, lab.Choice); err != nil {
			t.Fatal(err)
		}
	}
	result, err := l.Run(lab.Experiment{Task: "parity", Methods: []string{"parity", "hidden"}})
	if err != nil {
		t.Fatal(err)
	}
	c, err := result.Compare(lab.Comparing{})
	if err != nil {
		t.Fatal(err)
	}
	if one := c.Pairs[0].Ratios[compare.Calls].Ratio.Value; one != 1 {
		t.Errorf("the ratio of calls is %v", one)
	}
	sheet := c.Sheet().Tail
	if !strings.Contains(sheet, "note: hidden: of each trial's use its share of 2 method seeds is 1.0 calls") || strings.Contains(sheet, "parity:") {
		t.Errorf("notes %s", sheet)
	}
}

// seedRun is a generated run of three methods, of which some compiled seeds and some
// trials were failed by the infrastructure, with what a trial of each takes: all that was
// charged to its trials and seeds, over the trials that did not fail.
func seedRun(random *rand.Rand) (r *runner.Result, want []map[compare.Resource]float64) {
	use := func(scale int64) methods.Usage {
		return methods.Usage{
			Calls: 1 + random.IntN(5), ToolCalls: random.IntN(3), InputTokens: random.Int64N(900 * scale), OutputTokens: 1 + random.Int64N(90*scale),
			Cost: methods.NanoUSD(1 + random.Int64N(1e6*scale)), Latency: time.Duration(random.Int64N(1e9 * scale)),
		}
	}
	r = &runner.Result{Recorded: compare.Recorded{Run: &record.Run{ID: "r", Status: record.Finished}, Task: &task.Task{Name: "t"}}}
	samples, epochs, failures := 2+random.IntN(12), 1+random.IntN(3), random.IntN(2)
	r.Run.Config.Epochs = epochs
	for m, name := range []string{"a", "b", "c"} {
		r.Run.Config.Methods = append(r.Run.Config.Methods, record.Method{Label: name})
		var sum methods.Usage
		n := 0.0
		for i := range samples {
			s := task.Sample{ID: fmt.Sprint("s", i), Target: json.RawMessage(`1`), Problem: methods.Problem{Answer: methods.AnswerSpec{Kind: methods.Number}}}
			if m == 0 {
				r.Task.Samples = append(r.Task.Samples, s)
				r.Run.Config.Task.Samples = append(r.Run.Config.Task.Samples, s.ID)
			}
			failed := i > 1 && random.IntN(6) < failures // in all epochs, so that a mean over samples is one over trials
			for e := range epochs {
				t := &record.Trial{
					ID: record.TrialID{Method: name, Sample: s.ID, Epoch: e}, Transcript: &record.Transcript{}, Target: s.Target, Infra: failed, Usage: use(1),
					Answer: methods.Answer{Outcome: methods.Answered, Value: json.RawMessage(`1`)}, Score: score.Score{Values: map[string]float64{"accuracy": float64(random.IntN(2))}},
				}
				if failed {
					t.Failure, t.Answer = "provider: gave up", methods.Answer{Outcome: methods.Failed}
				} else {
					sum, n = sum.Plus(t.Usage), n+1
				}
				r.Trials = append(r.Trials, t)
			}
		}
		for range random.IntN(3) * random.IntN(samples) {
			seed := record.Seed{Key: strconv.FormatUint(random.Uint64(), 16), Kind: "k", Method: name, Usage: use(20)}
			r.Run.Seeds, sum = append(r.Run.Seeds, seed), sum.Plus(seed.Usage)
		}
		want = append(want, map[compare.Resource]float64{
			compare.Calls: float64(sum.Calls+sum.ToolCalls) / n, compare.Tokens: float64(sum.Tokens()) / n, compare.Cost: sum.Cost.USD() / n,
			compare.Latency: float64(sum.Latency) / 1e6 / n, compare.InputTokens: float64(sum.InputTokens) / n, compare.OutputTokens: float64(sum.OutputTokens) / n, "trials": n,
		})
	}
	return r, want
}

// TestEveryFaceChargesSeeds: over generated runs, whatever shows what a method costs (columns,
// ratios, front, plot, budgets, notes, exports) shows all that was charged to its trials and
// seeds, divided by its trials.
func TestEveryFaceChargesSeeds(t *testing.T) {
	random, fronts := rand.New(rand.NewPCG(17, 29)), 0
	for range 60 {
		r, want := seedRun(random)
		s, err := runner.Summarize(r)
		if err != nil {
			t.Fatal(err)
		}
		d, err := compare.FromTrials(runner.Labels(r.Run), r.Samples(), r.Trials)
		if err != nil {
			t.Fatal(err)
		}
		d.AddSeeds(func(_ *record.Run, label string) string { return label }, r.Run)
		c, err := compare.Compare(d, compare.Options{})
		if err != nil {
			t.Fatal(err)
		}
		near := func(face, method string, got, want, tolerance float64) {
			t.Helper()
			if !(math.Abs(got-want) <= tolerance*max(1e-9, want)) {
				t.Errorf("%s of %s: %v, want %v", face, method, got, want)
			}
		}
		shown, run := report.ComparisonSheet(c, report.ComparisonView{}), report.RunSheet(s, "")
		rows, amounts := exported(t, r), run.Tables[1]
		for m, w := range want {
			stats, name := c.Methods[m], c.Methods[m].Method
			for resource, amount := range w {
				if resource != "trials" {
					near("mean "+string(resource), name, stats.Usage[resource].Value, amount, 1e-9)
					near("summary's comparison "+string(resource), name, s.Comparison.Methods[m].Usage[resource].Value, amount, 1e-9)
					near("exported "+string(resource), name, rows[name][resource]/w["trials"], amount, 1e-9)
				}
			}
			near("total", name, *s.Methods[m].Usage.CostUSD/w["trials"], w[compare.Cost], 1e-9)
			if c.Common == nil { // else it is over the samples that all have
				near("Pareto", name, c.Pareto.Points[m].Cost.Value, w[compare.Cost], 1e-9)
				fronts++
			}
			near("comparison's table", name, dollars(t, shown.Tables[0].Rows[m][3]), w[compare.Cost], 0.01)
			near("Inspect's log", name, logged(t, r, name)/w["trials"], w[compare.Tokens], 1e-9)
			for _, row := range amounts.Rows {
				if row[0] == name {
					near("run's table", name, dollars(t, row[3]), w[compare.Cost], 0.01)
				}
			}
		}
		for _, p := range c.Pairs {
			a, b := want[p.A[0]-'a'], want[p.B[0]-'a']
			for _, resource := range compare.Resources() {
				if p.Ratios[resource].Ratio.N == len(r.Task.Samples) { // no sample is left out of the pair
					near("ratio "+string(resource), p.A+"/"+p.B, p.Ratios[resource].Ratio.Value, a[resource]/b[resource], 1e-9)
				}
			}
		}
		for m, p := range c.Pareto.Points { // whoever is called cheaper is
			for _, by := range p.By {
				if c.Common == nil && want[by[0]-'a'][c.Pareto.Resource] > want[m][c.Pareto.Resource] {
					t.Errorf("%s stands %q by %s, which is dearer", p.Method, p.Standing, by)
				}
			}
		}
	}
	if fronts < 30 {
		t.Errorf("only %d methods were placed on a front", fronts)
	}
}

// dollars reads the amount of a cell.
func dollars(t *testing.T, cell string) float64 {
	t.Helper()
	amount, _, _ := strings.Cut(strings.TrimPrefix(cell, "$"), " ")
	x, err := strconv.ParseFloat(amount, 64)
	if err != nil {
		t.Fatalf("cell %q: %v", cell, err)
	}
	return x
}

// exported sums the columns of the rows of each method's trials that did not fail.
func exported(t *testing.T, r *runner.Result) map[string]map[compare.Resource]float64 {
	t.Helper()
	var lines bytes.Buffer
	if err := (export.Source{Result: r}).Trials().JSONL(&lines); err != nil {
		t.Fatal(err)
	}
	sums := map[string]map[compare.Resource]float64{}
	for line := range strings.Lines(lines.String()) {
		var row map[string]any
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		if row["infrastructure_failure"].(bool) {
			continue
		}
		name := row["method"].(string)
		if sums[name] == nil {
			sums[name] = map[compare.Resource]float64{}
		}
		of := func(column string) float64 { return row[column].(float64) }
		for resource, amount := range map[compare.Resource]float64{
			compare.Calls: of("calls") + of("tool_calls"), compare.Tokens: of("input_tokens") + of("output_tokens"), compare.Cost: of("cost_usd"),
			compare.Latency: of("latency_ms"), compare.InputTokens: of("input_tokens"), compare.OutputTokens: of("output_tokens"),
		} {
			sums[name][resource] += amount
		}
	}
	return sums
}

// logged is the tokens of a method in Inspect's log.
func logged(t *testing.T, r *runner.Result, method string) float64 {
	t.Helper()
	var raw bytes.Buffer
	if err := (export.Source{Result: r}).EvalLog(&raw, method); err != nil {
		t.Fatal(err)
	}
	var log struct {
		Stats struct {
			Usage map[string]struct {
				Total float64 `json:"total_tokens"`
			} `json:"model_usage"`
		}
	}
	if err := json.Unmarshal(raw.Bytes(), &log); err != nil {
		t.Fatal(err)
	}
	for _, u := range log.Stats.Usage {
		return u.Total
	}
	t.Fatal("the log tells no use")
	return 0
}
