package compare

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"noema/kernel/base/score"
	"noema/kernel/result/record"
	"noema/kernel/task"
	"noema/methods"
)

// choices makes n samples with two labels, of which "yes" is always right.
func choices(n int) []task.Sample {
	samples := make([]task.Sample, n)
	for i := range samples {
		samples[i] = task.Sample{
			ID: fmt.Sprintf("s%d", i), Target: json.RawMessage(`"yes"`),
			Problem: methods.Problem{Answer: methods.AnswerSpec{Kind: methods.Choice, Labels: []string{"yes", "no"}}},
		}
	}
	return samples
}

// trial is an answered trial that earned that accuracy, at 10 calls, 100
// tokens, a cent and a second.
func trial(method, sample string, epoch int, accuracy float64) *record.Trial {
	return &record.Trial{
		ID: record.TrialID{Method: method, Sample: sample, Epoch: epoch}, Transcript: &record.Transcript{},
		Answer: methods.Answer{Outcome: methods.Answered},
		Score:  score.Score{Values: map[string]float64{score.Accuracy: accuracy}},
		Usage: methods.Usage{
			Calls: 10, InputTokens: 90, OutputTokens: 10, Cost: 10_000_000, Latency: time.Second,
		},
	}
}

// failed is a trial that the infrastructure failed. As in runs, it has the
// scores of a miss.
func failed(method, sample string, epoch int) *record.Trial {
	t := trial(method, sample, epoch, 0)
	t.Infra, t.Failure = true, `provider: gave up after 3 attempts on "x"`
	t.Answer = methods.Answer{Outcome: methods.Failed, Reason: "see failure"}
	t.Usage = methods.Usage{Calls: 1}
	return t
}

// outcomes makes the trials of methods on samples s0, s1, …: a 1 or 0 in the
// text of a method is its score on the sample at that place, an x a failure of
// the infrastructure, a - an unparsed answer, and a blank no trial.
func outcomes(byMethod map[string]string) []*record.Trial {
	var trials []*record.Trial
	for method, marks := range byMethod {
		for i, mark := range marks {
			id := fmt.Sprintf("s%d", i)
			switch mark {
			case '1', '0':
				trials = append(trials, trial(method, id, 0, float64(mark-'0')))
			case 'x':
				trials = append(trials, failed(method, id, 0))
			case '-':
				t := trial(method, id, 0, 0)
				t.Answer = methods.Answer{Outcome: methods.Unparsed, Reason: fmt.Sprintf("no label in reply %d", i)}
				trials = append(trials, t)
			}
		}
	}
	return trials
}

// marks repeats pieces: marks(3, "1", 2, "0") is 11100.
func marks(pieces ...any) string {
	var b strings.Builder
	for i := 0; i < len(pieces); i += 2 {
		b.WriteString(strings.Repeat(pieces[i+1].(string), pieces[i].(int)))
	}
	return b.String()
}

// compared compares methods by their marks.
func compared(t *testing.T, o Options, labels []string, byMethod map[string]string) *Comparison {
	t.Helper()
	n := 0
	for _, m := range byMethod {
		n = max(n, len(m))
	}
	return compareTrials(t, o, labels, choices(n), outcomes(byMethod))
}

func compareTrials(t *testing.T, o Options, labels []string, samples []task.Sample, trials []*record.Trial) *Comparison {
	t.Helper()
	d, err := FromTrials(labels, samples, trials)
	if err != nil {
		t.Fatal(err)
	}
	c, err := Compare(d, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func noted(c *Comparison, text string) bool {
	return slices.ContainsFunc(c.Notes, func(n string) bool { return strings.Contains(n, text) })
}
