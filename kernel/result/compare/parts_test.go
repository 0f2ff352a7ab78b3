package compare

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"noema/kernel/base/score"
	"noema/kernel/result/record"
	"noema/kernel/task"
	"noema/methods"
)

func TestGroups(t *testing.T) {
	samples := choices(40)
	for i := range samples {
		samples[i].Group = fmt.Sprintf("G%d", []int{2, 10}[i%2])
	}
	samples[39].Group = ""
	c := compareTrials(t, Options{}, []string{"a", "b"}, samples, outcomes(map[string]string{
		"a": strings.Repeat("10", 20), "b": strings.Repeat("00", 20),
	}))
	var names []string
	for _, g := range c.Groups {
		names = append(names, g.Group)
	}
	if !slices.Equal(names, []string{"", "G2", "G10"}) {
		t.Fatalf("groups %q", names)
	}
	two, ten := c.Groups[1], c.Groups[2]
	if two.Samples != 20 || ten.Samples != 19 || two.Methods[0].Value != 1 || two.Pairs[0].Value != 1 || !two.Pairs[0].HasInterval() ||
		ten.Pairs[0].Value != 0 || two.Chance != 0.5 {
		t.Errorf("%+v; %+v", two, ten)
	}
	if plain := compared(t, Options{}, []string{"a"}, map[string]string{"a": "10"}); plain.Groups != nil {
		t.Errorf("samples without groups have %+v", plain.Groups)
	}
}

func TestClusters(t *testing.T) {
	samples := choices(24)
	for i := range samples {
		samples[i].Cluster = fmt.Sprint(i / 2)
	}
	c := compareTrials(t, Options{}, []string{"a", "b"}, samples, outcomes(map[string]string{
		"a": marks(14, "1", 10, "0"), "b": marks(24, "0"),
	}))
	d := c.Pairs[0].Metrics["accuracy"]
	if c.Clusters != 12 || d.Interval != exactName+" (12 clusters)" || d.Test != d.Interval || !noted(c, "in 12 clusters") {
		t.Errorf("%d clusters, %s, %s, notes %q", c.Clusters, d.Interval, d.Test, c.Notes)
	}
	if d.P < 0.01 || d.P > 0.1 { // seven clusters, all on one side
		t.Errorf("p = %v", d.P)
	}
	one := make([]string, 6)
	for i := range one {
		one[i] = "all"
	}
	p, err := Paired("x", []float64{1, 1, 1, 1, 1, 1}, make([]float64, 6), one, Options{})
	if err != nil || p.Difference.HasInterval() || p.P.Defined() || p.Winner != "" || p.Detectable.Defined() {
		t.Errorf("one cluster: %+v, %v", p, err)
	}
}

func TestShared(t *testing.T) {
	trials := outcomes(map[string]string{"a": "1111", "b": "1111"})
	for _, tr := range trials {
		keys := map[string][]string{
			"a/s0": {"k1", "k2"}, "b/s0": {"k1", "k3", "k1"}, "a/s1": {"k4"}, "b/s1": {"k4"}, "a/s2": {"k5"}, "b/s2": {"k6"},
		}[tr.ID.Method+"/"+tr.ID.Sample]
		for _, k := range keys {
			tr.Calls = append(tr.Calls, record.Call{Kind: record.CompletionCall, Key: k, Digest: "d"})
		}
		tr.Calls = append(tr.Calls, record.Call{Kind: record.ToolCall, Key: "tool"},
			record.Call{Kind: record.CompletionCall, Key: "lost", Fault: record.ProviderFault})
	}
	c := compareTrials(t, Options{}, []string{"a", "b"}, choices(4), trials)
	if s := c.Pairs[0].Shared; s.Trials != 4 || s.Common != 2 || s.Share != 0.5 || !near(float64(s.Completions), 2.0/6, 1e-12) {
		t.Errorf("%+v", s)
	}
	if !noted(c, "in 2 of 4 pairs of trials (common random numbers)") {
		t.Errorf("notes %q", c.Notes)
	}
}

// rankings makes trials of a method that puts the item shown first on top in
// the first firsts of n samples of size items.
func rankings(n, size, firsts int) ([]task.Sample, []*record.Trial) {
	var samples []task.Sample
	var trials []*record.Trial
	for i := range n {
		id := fmt.Sprintf("s%d", i)
		samples = append(samples, task.Sample{
			ID: id, Target: json.RawMessage(`[2]`),
			Problem: methods.Problem{Answer: methods.AnswerSpec{Kind: methods.Ranking, N: size}},
		})
		tr := trial("a", id, 0, 0)
		tr.Target, tr.Answer.Value = json.RawMessage(`[2]`), json.RawMessage(`[3,2]`)
		tr.Score.Values = map[string]float64{score.Hits(1): 0, score.MRR: 0.5, score.First: 0}
		if i < firsts {
			tr.Score.Values[score.First] = 1
			tr.Answer.Value = json.RawMessage(`[1,2]`)
		}
		trials = append(trials, tr)
	}
	return samples, trials
}

func TestPosition(t *testing.T) {
	samples, trials := rankings(20, 11, 7)
	c := compareTrials(t, Options{}, []string{"a"}, samples, trials)
	p := c.Methods[0].First
	if p == nil || p.First != 7 || p.Trials != 20 || !near(float64(p.Chance), 0.1, 1e-12) || !near(float64(p.P), 0.002386089408966118, 1e-9) || p.Holm != p.P || !p.Rate.HasInterval() {
		t.Errorf("%+v", p)
	}
	if !slices.Equal(c.Metrics, []string{"hits@1", "mrr"}) || !near(c.Chance["hits@1"], 1.0/11, 1e-12) {
		t.Errorf("metrics %q, chance %v", c.Metrics, c.Chance)
	}
	for _, tr := range trials { // the right item is always shown first, and always found
		tr.Target, tr.Answer.Value, tr.Score.Values[score.First] = json.RawMessage(`[1]`), json.RawMessage(`[1]`), 1
	}
	if p := compareTrials(t, Options{}, []string{"a"}, samples, trials).Methods[0].First; p == nil || p.P.Defined() || p.Trials != 0 || p.Rate.Value != 1 {
		t.Errorf("a method that is always right is accused: %+v", p)
	}
	if q := compared(t, Options{}, []string{"a"}, map[string]string{"a": "10"}).Methods[0].First; q != nil {
		t.Errorf("choices have a first-position rate: %+v", q)
	}
}

func TestBaselinesOfTheTask(t *testing.T) {
	samples := choices(4)
	samples[3].Target = json.RawMessage(`"no"`)
	c := compareTrials(t, Options{}, []string{"a"}, samples, outcomes(map[string]string{"a": "1111"}))
	if c.Chance["accuracy"] != 0.5 || c.Majority["accuracy"] != 0.75 {
		t.Errorf("chance %v, majority %v", c.Chance, c.Majority)
	}
	for i := range samples { // a target in a form of the task's own
		samples[i].Target = json.RawMessage(`{"numbers": [1]}`)
	}
	c = compareTrials(t, Options{}, []string{"a"}, samples, outcomes(map[string]string{"a": "1111"}))
	if len(c.Chance) != 0 || c.Majority != nil {
		t.Errorf("chance %v, majority %v of targets that no scorer knows", c.Chance, c.Majority)
	}
}

func TestFromTrials(t *testing.T) {
	good := outcomes(map[string]string{"a": "10", "b": "11"})
	for _, c := range []struct {
		says    string
		trials  []*record.Trial
		metrics []string
	}{
		{"a/s0/1 occurs twice", append(good, trial("a", "s0", 0, 1)), nil},
		{"a/elsewhere/1 is not in the task", append(good, trial("a", "elsewhere", 0, 1)), nil},
		{"has no record", append(good, nil), nil},
		{`unknown metric "acuracy", did you mean "accuracy"?: the metrics are accuracy`, good, []string{"acuracy"}},
		{"no trial has a score: finish the run first", nil, []string{"accuracy"}},
		{`unknown metric "mrr": the metrics are accuracy`, good, []string{"mrr"}},
	} {
		if _, err := FromTrials([]string{"a", "b"}, choices(2), c.trials, c.metrics...); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("error %v does not say %q", err, c.says)
		}
	}
	d, err := FromTrials([]string{"b"}, choices(2), good, "accuracy")
	if err != nil || len(d.Samples[0].Cells) != 1 || d.Samples[0].Cells[0][0].Trial != "b/s0/1" {
		t.Errorf("%+v, %v", d, err)
	}
	late := []*record.Trial{trial("a", "s0", 2, 1), trial("a", "s0", 0, 0)}
	d, err = FromTrials([]string{"a"}, choices(2), late)
	if err != nil || d.Samples[0].Cells[0][0].Epoch != 0 {
		t.Errorf("%+v, %v", d, err)
	}
	if c, err := Compare(d, Options{}); err != nil || c.Methods[0].Missing != 4 || !noted(c, "4 trials are not finished") {
		t.Errorf("%+v, %v", c, err)
	}
}

// FuzzPaired: whatever the values, intervals hold the mean, probabilities are
// such, a winner has an interval off zero, and nothing panics.
func FuzzPaired(f *testing.F) {
	f.Add([]byte{1, 0, 1, 1, 0, 0, 255, 3}, []byte{0, 0, 1, 0, 254, 7, 7, 1}, uint8(3), true)
	f.Add([]byte{1, 1, 1, 1, 1, 1, 1, 1}, []byte{0, 0, 0, 0, 0, 0, 0, 0}, uint8(0), true)
	f.Add([]byte{9, 9, 9, 9, 9, 9, 9}, []byte{1, 2, 3, 4, 5, 6, 200}, uint8(2), false)
	f.Fuzz(func(t *testing.T, x, y []byte, per uint8, binary bool) {
		n := min(len(x), len(y), 64)
		value := func(b byte) float64 {
			switch {
			case b == 255:
				return math.NaN()
			case b == 254:
				return math.Inf(1)
			case binary:
				return float64(b % 2)
			}
			return float64(b) * math.Pow(10, float64(b%40)-20)
		}
		var a, b []float64
		var clusters []string
		for i := range n {
			a, b = append(a, value(x[i])), append(b, value(y[i]))
			if per > 0 {
				clusters = append(clusters, fmt.Sprint(i/int(per)))
			}
		}
		d, err := Paired("x", a, b, clusters, Options{})
		if err != nil {
			t.Fatal(err)
		}
		m := d.Difference
		switch {
		case m.HasInterval() && !(m.Low <= m.Value && m.Value <= m.High):
			t.Errorf("%v is not within %v..%v", m.Value, m.Low, m.High)
		case m.N > 0 && !(d.P > 0 && d.P <= 1):
			t.Errorf("p = %v", d.P)
		case d.Winner != "" && !(m.Low > 0 || m.High < 0):
			t.Errorf("a winner with %v..%v", m.Low, m.High)
		case d.Detectable.Defined() && d.Detectable <= 0:
			t.Errorf("detectable from %v", d.Detectable)
		case d.Wins+d.Losses+d.Ties != m.N || d.Verdict() == "":
			t.Errorf("%+v", d)
		}
		if _, err := json.Marshal(d); err != nil {
			t.Error(err)
		}
	})
}
