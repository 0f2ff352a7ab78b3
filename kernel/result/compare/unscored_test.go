package compare

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"noema/kernel/result/record"
	"noema/methods"
)

// unscored takes the targets of samples and the scores of their trials away.
func unscored(trials []*record.Trial, answers map[string]string, ids ...string) {
	for _, t := range trials {
		for _, id := range ids {
			if t.ID.Sample == id {
				t.Score.Values = nil
				if a := answers[t.ID.Method+"/"+id]; a != "" {
					t.Answer.Value = json.RawMessage(a)
				}
			}
		}
	}
}

// TestSamplesWithoutATarget: of a mixed task the metrics, chance and groups are those
// of the scored samples alone, and what is used is that of all.
func TestSamplesWithoutATarget(t *testing.T) {
	labels := []string{"a", "b"}
	whole := compareTrials(t, Options{}, labels, choices(8), outcomes(map[string]string{"a": "11110110", "b": "00110100"}))
	samples := choices(10)
	samples[8].Target, samples[9].Target = nil, json.RawMessage("null")
	samples[8].Group = "open"
	trials := outcomes(map[string]string{"a": "1111011000", "b": "0011010000"})
	unscored(trials, map[string]string{"a/s8": `"yes"`, "b/s8": `"yes"`, "a/s9": `"no"`, "b/s9": `"yes"`}, "s8", "s9")
	for _, tr := range trials {
		if tr.ID.Sample == "s9" {
			tr.Usage.Calls = 30
		}
	}
	mixed := compareTrials(t, Options{}, labels, samples, trials)
	if mixed.Samples != 10 || mixed.Unscored != 2 || mixed.Methods[0].N != 8 || mixed.Methods[0].Trials != 10 {
		t.Errorf("%d samples, %d unscored, n %d of %d trials", mixed.Samples, mixed.Unscored, mixed.Methods[0].N, mixed.Methods[0].Trials)
	}
	for i := range labels {
		was, now := whole.Methods[i].Metrics["accuracy"].Value, mixed.Methods[i].Metrics["accuracy"].Value
		if was.Value != now.Value || was.Low != now.Low || now.N != 8 || len(now.Warnings) != len(was.Warnings) {
			t.Errorf("%s: %+v, want %+v", labels[i], now, was)
		}
		if calls := mixed.Methods[i].Usage[Calls]; calls.N != 10 || calls.Value != 12 {
			t.Errorf("%s used %+v", labels[i], calls)
		}
	}
	was, now := whole.Pairs[0].Metrics["accuracy"], mixed.Pairs[0].Metrics["accuracy"]
	if was.P != now.P || was.Difference.Value != now.Difference.Value || was.Ties != now.Ties || whole.Verdict != mixed.Verdict {
		t.Errorf("pair %+v, want %+v", now, was)
	}
	if g := mixed.Pairs[0].Agreement; g == nil || *g != (Agreement{Same: 1, Both: 2, Pairs: 2}) {
		t.Errorf("agreement %+v", g)
	}
	if mixed.Chance["accuracy"] != 0.5 || len(mixed.Groups) != 0 || whole.Pairs[0].Agreement != nil {
		t.Errorf("chance %v, groups %+v, agreement of scored samples %+v", mixed.Chance, mixed.Groups, whole.Pairs[0].Agreement)
	}
}

// TestNothingIsJudged: without any target there are usage, answers and agreement, and
// no statistic.
func TestNothingIsJudged(t *testing.T) {
	samples := choices(3)
	for i := range samples {
		samples[i].Target = nil
	}
	trials := outcomes(map[string]string{"a": "000", "b": "00-"})
	unscored(trials, map[string]string{"a/s0": `"A b."`, "b/s0": `"a B"`, "a/s1": `4`, "b/s1": `4.0`, "a/s2": `"x"`}, "s0", "s1", "s2")
	c := compareTrials(t, Options{}, []string{"a", "b"}, samples, trials)
	if c.Verdict != "no sample has a target: answers are shown and not judged" || c.Metric != "" || len(c.Pareto.Points) != 0 || c.Groups != nil {
		t.Errorf("%+v", c)
	}
	p := c.Pairs[0]
	if p.Winner != "" || len(p.Metrics) != 0 || *p.Agreement != (Agreement{Same: 2, Both: 2, Pairs: 3}) || !strings.Contains(p.Verdict, "the same answer in 2 of 2 trials") {
		t.Errorf("pair %+v, agreement %+v", p, p.Agreement)
	}
	if m := c.Methods[1]; m.N != 0 || m.Trials != 3 || m.Outcomes[methods.Unparsed] != 1 || m.Usage[Calls].N != 3 || len(m.Metrics) != 0 {
		t.Errorf("method %+v", m)
	}
	raw, err := json.Marshal(c)
	if err != nil || strings.Contains(string(raw), "NaN") || !strings.Contains(string(raw), `"unscored":3`) {
		t.Errorf("%s (%v)", raw, err)
	}
	if _, err := FromTrials([]string{"a"}, samples, trials, "accuracy"); err == nil || !strings.Contains(err.Error(), "no sample has a target") {
		t.Errorf("a measure gives %v", err)
	}
	if ratio := p.Ratios[Calls].Ratio; !ratio.Defined || math.Abs(ratio.Value-1) > 1e-9 {
		t.Errorf("ratio %+v", ratio)
	}
}

// TestWrongNeedsATarget keeps unscored trials out of what a method got wrong.
func TestWrongNeedsATarget(t *testing.T) {
	open := trial("a", "s0", 0, 0)
	open.Score.Values = nil
	if Wrong(open) || Right(open) {
		t.Error("a trial without a target is right or wrong")
	}
	known := trial("a", "s0", 0, 0)
	known.Target = json.RawMessage(`"yes"`)
	if !Wrong(known) {
		t.Error("a miss is not wrong")
	}
}
