package compare

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"noema/kernel/base/score"
	"noema/kernel/result/record"
	"noema/kernel/task"
	"noema/methods"
)

// TestDescribe: a method has the same numbers by itself and in a comparison, and
// a run without a finished trial can be described.
func TestDescribe(t *testing.T) {
	byMethod := map[string]string{"a": marks(17, "x", 7, "1", 16, "0"), "b": marks(40, "1")}
	d, err := FromTrials([]string{"a", "b"}, choices(40), outcomes(byMethod))
	if err != nil {
		t.Fatal(err)
	}
	alone, err := Describe(d, Options{})
	if err != nil {
		t.Fatal(err)
	}
	both := compared(t, Options{}, []string{"a", "b"}, byMethod)
	if encoded(t, alone.Methods) != encoded(t, both.Methods) || len(alone.Pairs) != 0 || alone.Verdict != "" {
		t.Errorf("%+v\n%+v", alone.Methods, both.Methods)
	}
	a := alone.Methods[0]
	if m := a.Metrics["accuracy"].Value; a.N != 23 || m.N != 23 || m.Value != 7.0/23 || len(m.Warnings) != 0 || a.Failed != 17 {
		t.Errorf("%+v", a)
	}
	if *a.Total.Calls != 23*10 || a.Lost == nil || *a.Lost.Calls != 17 || a.Usage[Calls].Value != 10 || a.Usage[InputTokens].Value != 90 || a.Usage[OutputTokens].Value != 10 {
		t.Errorf("total %+v, mean %+v", a.Total, a.Usage)
	}
	nothing, err := FromTrials([]string{"a"}, choices(4), nil)
	if err != nil {
		t.Fatal(err)
	}
	if c, err := Describe(nothing, Options{}); err != nil || c.Metric != "" || len(c.Methods[0].Metrics) != 0 || c.Methods[0].N != 0 {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := Compare(nothing, Options{}); err == nil || !strings.Contains(err.Error(), "no trial has a score: finish the run") {
		t.Errorf("error %v", err)
	}
}

// TestSensitivity: what failed trials would do if they were wrong is said where
// that changes who is ahead, of another method or of guessing.
func TestSensitivity(t *testing.T) {
	for _, c := range []struct {
		a, b string
		says bool
	}{
		{marks(2, "x", 37, "1", 1, "0"), marks(20, "0", 20, "1"), false}, // ahead in either case
		{marks(20, "x", 20, "1"), marks(10, "0", 30, "1"), true},         // first ahead, then behind
		{marks(20, "x", 17, "1", 3, "0"), "", true},                      // above chance, then below
		{marks(40, "x"), "", true},
		{marks(3, "x", 36, "1", 1, "0"), "", false},
	} {
		labels, byMethod := []string{"a"}, map[string]string{"a": c.a}
		if c.b != "" {
			labels, byMethod["b"] = append(labels, "b"), c.b
		}
		got := compared(t, Options{}, labels, byMethod)
		if !noted(got, "failed for other reasons than the method and are left out: ") || noted(got, "if they were wrong: accuracy 0.") != c.says {
			t.Errorf("%s against %s: %q", c.a, c.b, got.Notes)
		}
	}
}

// verdicts are trials on samples with two levels, of which those in failed
// failed.
func verdicts(n int, failed map[int]bool) ([]task.Sample, []*record.Trial) {
	spec := methods.AnswerSpec{Kind: methods.Fields, Labels: []string{"low", "high"}}
	var samples []task.Sample
	var trials []*record.Trial
	for i := range n {
		level := json.RawMessage(fmt.Sprintf(`{"verdict":%q}`, spec.Labels[i%2]))
		samples = append(samples, task.Sample{ID: fmt.Sprintf("s%d", i), Target: level, Metadata: map[string]string{"hops": "2"}, Problem: methods.Problem{Answer: spec}})
		tr := trial("a", samples[i].ID, 0, 0)
		tr.Answer.Value, tr.Target, tr.Score.Values = level, level, map[string]float64{score.VerdictAccuracy: 1}
		if failed[i] {
			tr.Infra, tr.Answer, tr.Score.Values = true, methods.Answer{Outcome: methods.Failed}, map[string]float64{score.VerdictAccuracy: 0}
		}
		trials = append(trials, tr)
	}
	return samples, trials
}

// TestMeasuresOfAllVerdicts leave failed trials out, as the others do.
func TestMeasuresOfAllVerdicts(t *testing.T) {
	samples, trials := verdicts(12, map[int]bool{0: true, 1: true, 2: true})
	a := compareTrials(t, Options{}, []string{"a"}, samples, trials).Methods[0]
	for _, name := range []string{score.VerdictAccuracy, score.MacroF1} {
		if m := a.Metrics[name]; m.Value.Value != 1 || m.Value.N != 9 || m.FailedAsWrong == nil || m.FailedAsWrong.Value >= 1 || m.FailedAsWrong.N != 12 {
			t.Errorf("%s: %+v", name, m)
		}
	}
	if a.Hops == nil || a.Hops.Tokens != 50 || a.Hops.Steps != 10 {
		t.Errorf("per hop %+v", a.Hops)
	}
}

// TestPairsOnAllVerdicts: measures of all samples together have differences, with an
// interval and a test, and can be the headline.
func TestPairsOnAllVerdicts(t *testing.T) {
	samples, trials := verdicts(40, nil)
	for _, tr := range slices.Clone(trials) {
		other := *tr
		other.ID.Method = "b"
		if i := slices.Index(trials, tr); i%3 == 0 {
			other.Answer.Value = json.RawMessage(`{}`)
		}
		trials = append(trials, &other)
	}
	d, err := FromTrials([]string{"a", "b"}, samples, trials, score.MacroF1)
	if err != nil {
		t.Fatal(err)
	}
	c, err := Compare(d, Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := c.Pairs[0].Metrics[score.MacroF1]
	if c.Metric != score.MacroF1 || p.Winner != "a" || !p.Difference.HasInterval() || p.P > 0.01 || float64(p.MeanA) != 1 || p.Difference.N != 40 {
		t.Errorf("%s: %+v", c.Verdict, p)
	}
}

// TestTally: the mean while trials come in ends as that of the comparison.
func TestTally(t *testing.T) {
	trials := outcomes(map[string]string{"a": "1x0-1"})
	trials = append(trials, trial("a", "s2", 1, 1))
	var tally Tally
	if _, n := tally.Mean(); n != 0 {
		t.Errorf("%d samples of nothing", n)
	}
	for _, tr := range trials {
		tally.Add(tr)
	}
	c := compareTrials(t, Options{}, []string{"a"}, choices(5), trials)
	mean, n := tally.Mean()
	if want := c.Methods[0].Metrics["accuracy"].Value; n != want.N || !near(mean, want.Value, 1e-12) {
		t.Errorf("%v of %d, want %+v", mean, n, want)
	}
}
