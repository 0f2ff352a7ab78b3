package compare

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"noema/kernel/base/score"
	"noema/kernel/result/record"
	"noema/kernel/task"
	"noema/methods"
)

// gradedTrials makes trials of samples s0, s1, …: 1 and 0 are verdicts of the graders,
// a ? none, a - a trial without an answer. The answer is the method's name.
func gradedTrials(byMethod map[string]string) (trials []*record.Trial) {
	for method, marks := range byMethod {
		for i, mark := range marks {
			t := trial(method, fmt.Sprintf("s%d", i), 0, 0)
			t.Score.Values = map[string]float64{score.Graded: float64(mark - '0')}
			t.Answer = methods.TextAnswer(method)
			t.Grading = []record.Call{{Path: "grade/1", Usage: methods.Usage{Calls: 1, Cost: 5}}}
			switch mark {
			case '?':
				delete(t.Score.Values, score.Graded)
			case '-':
				t.Score.Values[score.Graded] = 0
				t.Answer = methods.Answer{Outcome: methods.Unparsed}
			}
			trials = append(trials, t)
		}
	}
	return trials
}

// free are n samples of free text; without a reference there is no target.
func free(n int, target string) []task.Sample {
	samples := choices(n)
	for i := range samples {
		samples[i].Target, samples[i].Problem.Answer = json.RawMessage(target), methods.AnswerSpec{Kind: methods.Text}
	}
	return samples
}

// labelled is what people say of a method's answers to s0, s1, …: y, n, or nothing.
func labelled(method, marks string) (labels []record.Label) {
	for i, mark := range marks {
		l := record.Label{Sample: fmt.Sprintf("s%d", i), Answer: methods.TextAnswer(method).Value, Label: record.JudgedRight}
		switch mark {
		case 'n':
			l.Label = record.JudgedWrong
		case 's':
			l.Label = record.Skipped
		case ' ':
			continue
		}
		labels = append(labels, l)
	}
	return labels
}

func comparedGraded(t *testing.T, samples []task.Sample, byMethod map[string]string, labels ...record.Label) *Comparison {
	t.Helper()
	d, err := FromTrials([]string{"a", "b"}, samples, gradedTrials(byMethod))
	if err != nil {
		t.Fatal(err)
	}
	d.AddLabels(labels)
	c, err := Compare(d, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestUncalibrated: however sure the graders are, nobody wins by their word, with or
// without a reference.
func TestUncalibrated(t *testing.T) {
	for _, target := range []string{`"x"`, "null"} {
		c := comparedGraded(t, free(60, target), map[string]string{"a": strings.Repeat("1", 60), "b": strings.Repeat("0", 60)}, labelled("a", "yyy")...)
		p := c.Pairs[0]
		if p.Winner != "" || !strings.HasPrefix(c.Verdict, "uncalibrated between a and b: ") || !strings.Contains(c.Verdict, "labelled samples would decide it") {
			t.Errorf("target %s: winner %q, %s", target, p.Winner, c.Verdict)
		}
		if d := p.Metrics[score.Graded]; d.Difference.HasInterval() || d.P.Defined() || d.Difference.Value != 1 {
			t.Errorf("target %s: %+v", target, d)
		}
		if !c.Uncalibrated() || c.Methods[0].Grading.Corrected != nil {
			t.Errorf("target %s: it counts as calibrated", target)
		}
	}
}

// TestCalibrated: labels turn the graders' word around where these are wrong, and
// confirm it where they are right.
func TestCalibrated(t *testing.T) {
	graders := map[string]string{"a": strings.Repeat("1", 100), "b": strings.Repeat("0", 100)}
	yes, no := strings.Repeat("y", 40), strings.Repeat("n", 40)
	agree := comparedGraded(t, free(100, `"x"`), graders, append(labelled("a", yes), labelled("b", no)...)...)
	if d := agree.Pairs[0].Metrics[score.Graded]; d.Winner != "a" || d.Calibration.Labelled != 40 || d.Difference.Value < 0.9 {
		t.Errorf("%s: %+v", agree.Verdict, d.Calibration)
	}
	against := comparedGraded(t, free(100, `"x"`), graders, append(labelled("a", no), labelled("b", yes)...)...)
	if against.Pairs[0].Winner != "b" {
		t.Errorf("people contradict the graders: %s", against.Verdict)
	}
	if g := against.Grading; g.TooKind != 40 || g.TooHard != 40 || g.Kappa != -1 || *g.Usage.Calls != 200 {
		t.Errorf("%+v", g)
	}
	if m := against.Methods[0].Grading.Corrected; m == nil || m.Value > 0.1 || m.Low < 0 || m.High > 1 {
		t.Errorf("corrected mean of a: %+v", m)
	}
}

// TestUngraded: what graders could not judge is in no mean, is counted, and helps
// neither method; what is no answer is wrong without a label.
func TestUngraded(t *testing.T) {
	c := comparedGraded(t, free(40, `"x"`), map[string]string{"a": strings.Repeat("1?", 20), "b": strings.Repeat("1-", 20)})
	a, b := c.Methods[0], c.Methods[1]
	if v := a.Metrics[score.Graded].Value; v.Value != 1 || v.N != 20 || a.Grading.Ungraded != 20 || a.Grading.Graded != 20 {
		t.Errorf("a: %+v, %+v", v, a.Grading)
	}
	if v := b.Metrics[score.Graded].Value; v.Value != 0.5 || b.Grading.Ungraded != 0 {
		t.Errorf("b: %+v, %+v", v, b.Grading)
	}
	if d := c.Pairs[0].Metrics[score.Graded]; d.Difference.Value != 0.25 || c.Common != nil {
		t.Errorf("difference %v, want half of a half; common %v", d.Difference.Value, c.Common)
	}
	if !noted(c, "a: 20 answers are ungraded") {
		t.Errorf("notes %q", c.Notes)
	}
	// All answers of both are labelled on 20 samples; the other 20 have none of b.
	labels := append(labelled("a", strings.Repeat("y", 40)), labelled("b", strings.Repeat("y", 40))...)
	if d := comparedGraded(t, free(40, `"x"`), map[string]string{"a": strings.Repeat("1?", 20), "b": strings.Repeat("1-", 20)}, labels...).Pairs[0].Metrics[score.Graded]; math.Abs(d.Difference.Value-0.5) > 0.01 || d.Calibration.Labelled != 40 {
		t.Errorf("with labels: %+v, %+v", d.Difference, d.Calibration)
	}
}

// TestNoAnswerNeedsNoLabel: samples that neither method answers are known, and count.
func TestNoAnswerNeedsNoLabel(t *testing.T) {
	graders := map[string]string{"a": strings.Repeat("1", 50) + strings.Repeat("-", 50), "b": strings.Repeat("0", 50) + strings.Repeat("-", 50)}
	labels := append(labelled("a", strings.Repeat("y", 50)), labelled("b", strings.Repeat("n", 50))...)
	d := comparedGraded(t, free(100, `"x"`), graders, labels...).Pairs[0].Metrics[score.Graded]
	if math.Abs(d.Difference.Value-0.5) > 1e-9 || d.Winner != "a" || d.Calibration.Labelled != 50 {
		t.Errorf("%+v, %+v", d.Difference, d.Calibration)
	}
	// Half of the samples tell, as if they were drawn: the interval is that of a share.
	if low, high := score.Proportion(0.5, 100, 1.96); d.Difference.Low > low+0.02 || d.Difference.High < high-0.02 {
		t.Errorf("interval [%v, %v] is narrower than that of 50 of 100, [%v, %v]", d.Difference.Low, d.Difference.High, low, high)
	}
}

// TestKappa: the example of Cohen's coefficient in every textbook, and the case that
// has none.
func TestKappa(t *testing.T) {
	g := Grading{Labelled: 50, Right: 25, TooHard: 5, TooKind: 10} // 20 yes, 15 no, 5 and 10 apart
	if k := g.kappa(); math.Abs(float64(k)-0.4) > 1e-12 {
		t.Errorf("kappa %v, want 0.4", k)
	}
	if k := (&Grading{Labelled: 10, Right: 10}).kappa(); k.Defined() {
		t.Errorf("one verdict on all: kappa %v", k)
	}
	if k := (&Grading{}).kappa(); k.Defined() {
		t.Errorf("no label: kappa %v", k)
	}
}

// TestHeadlineOfScorers: a grader that is named first decides, and one named after
// others does not.
func TestHeadlineOfScorers(t *testing.T) {
	for _, c := range []struct {
		values map[string]float64
		want   string
	}{
		{map[string]float64{score.Graded: 1, score.Exact: 0, score.F1: 0}, score.Graded},
		{map[string]float64{score.Graded: 1, score.Accuracy: 0}, score.Accuracy},
	} {
		one := trial("a", "s0", 0, 0)
		one.Score.Values = c.values
		d, err := FromTrials([]string{"a"}, free(1, `"x"`), []*record.Trial{one})
		if err != nil || d.Metrics[0] != c.want {
			t.Errorf("%v: headline %v (%v), want %s", c.values, d.Metrics, err, c.want)
		}
	}
}
