package compare

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"noema/kernel/base/score"
	"noema/kernel/result/record"
	"noema/kernel/task"
	"noema/methods"
)

// creditRun has n samples, in clusters of two if clustered and sharing a seed by
// fours, all right; under "drop" of the seed or of P1 all but the first are wrong.
func creditRun(n int, clustered bool) (*record.Run, []task.Sample, []*record.Trial) {
	run := &record.Run{Config: record.Config{Methods: []record.Method{{Label: "m"}}}}
	var samples []task.Sample
	var trials []*record.Trial
	labels := []string{"m"}
	for _, at := range []string{"P1", "seed"} {
		label := "m drop " + at
		labels = append(labels, label)
		run.Config.Methods = append(run.Config.Methods, record.Method{
			Label: label, Intervention: &record.Intervention{Of: "m", Kind: record.Drop, At: at, By: record.ByPhase},
		})
	}
	for i := range n {
		s := task.Sample{ID: fmt.Sprint("s", i), Target: []byte("1"), Problem: methods.Problem{Answer: methods.AnswerSpec{Kind: methods.Number}}}
		if clustered {
			s.Cluster = fmt.Sprint("c", i/2)
		}
		samples = append(samples, s)
		for j, label := range labels {
			t := &record.Trial{ID: record.TrialID{Method: label, Sample: s.ID}, Transcript: &record.Transcript{}, Target: s.Target, Score: score.Score{Values: map[string]float64{"accuracy": 0}}}
			t.Answer.Outcome = methods.Failed
			if j == 0 || i == 0 {
				t.Answer.Outcome, t.Score.Values["accuracy"] = methods.Answered, 1
			}
			t.Calls = []record.Call{
				{Path: "P1", Kind: record.CompletionCall, Digest: fmt.Sprint(j == 1), Usage: methods.Usage{Calls: 1, InputTokens: 300, OutputTokens: 200}},
				{Path: "seed/x", Kind: record.SeedCall, Key: fmt.Sprint("k", i/4), Digest: fmt.Sprint(j == 2)},
			}
			trials = append(trials, t)
		}
	}
	for i := range n / 4 {
		run.Seeds = append(run.Seeds, record.Seed{Key: fmt.Sprint("k", i), Kind: "x", Method: "m", Usage: methods.Usage{InputTokens: 4000}})
	}
	return run, samples, trials
}

// TestCreditOf: effects are paired, per token and corrected for all of them; samples
// that share a seed are one observation for what changes the seed, and only for that.
func TestCreditOf(t *testing.T) {
	for _, clustered := range []bool{false, true} {
		c, err := CreditOf(creditRunOf(creditRun(40, clustered)))
		if err != nil {
			t.Fatal(err)
		}
		if c.Recorded.Value != 1 || c.Trials != 40 || len(c.Places) != 2 || c.PairLevel != 0.975 {
			t.Fatalf("credit %+v", c)
		}
		p1, seed := c.Places[0], c.Places[1]
		if p1.Tokens != 500 || seed.Tokens != 1000 || p1.Calls != 40 || seed.Calls != 40 {
			t.Errorf("P1 takes %v tokens in %d calls, the seed %v in %d", p1.Tokens, p1.Calls, seed.Tokens, seed.Calls)
		}
		e, s := p1.Effects[0], seed.Effects[0]
		if v := e.Change.Difference.Value; v != -0.975 || e.Verdict() != "worse" || e.PerThousand.Value != -1.95 || e.Failed != 39 || e.Changed != 40 || e.Calls != 40 {
			t.Errorf("P1: %+v", e)
		}
		if math.Abs(s.PerThousand.Value+0.975) > 1e-12 || s.Changed != 40 {
			t.Errorf("seed: %+v", s)
		}
		want := map[bool]string{false: "", true: "(20 clusters)"}[clustered]
		if !strings.Contains(e.Change.Interval, want) || want == "" && strings.Contains(e.Change.Interval, "clusters") || !strings.Contains(s.Change.Interval, "(10 clusters)") {
			t.Errorf("intervals by %q and %q", e.Change.Interval, s.Change.Interval)
		}
	}
}

func creditRunOf(run *record.Run, samples []task.Sample, trials []*record.Trial) (*record.Run, []task.Sample, []*record.Trial, Options) {
	return run, samples, trials, Options{}
}

// TestContrasts refuses what is no pair.
func TestContrasts(t *testing.T) {
	if _, err := Contrasts([]Data{{Methods: []string{"a"}}}, Options{}); err == nil || !strings.Contains(err.Error(), "of two methods") {
		t.Error(err)
	}
}
