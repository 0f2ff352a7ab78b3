package score_test

import (
	"fmt"
	"math"
	"testing"

	"noema/kernel/base/score"
	"noema/methods"
)

var levels = []string{"low", "high", "critical"}

// verdicts makes one prediction a sample; level -1 is an answer that is no
// result. Each has one primitive, right with every second sample.
func verdicts(gold, predicted []int) [][]score.Prediction {
	spec := methods.AnswerSpec{Kind: methods.Fields, Names: []string{"n", methods.Verdict}, Labels: levels}
	var out [][]score.Prediction
	for i := range gold {
		p := score.Prediction{Spec: spec, Target: raw(fmt.Sprintf(`{"n":1,"verdict":%q}`, levels[gold[i]]))}
		p.Answer = methods.Answer{Outcome: methods.Refused}
		if predicted[i] >= 0 {
			p.Answer = given(fmt.Sprintf(`{"n":%d,"verdict":%q}`, (i+1)%2, levels[predicted[i]]), methods.Answered)
		}
		out = append(out, []score.Prediction{p})
	}
	return out
}

var (
	goldLevels      = []int{0, 0, 1, 2, 1, 0, 2, 1, 0, 2}
	predictedLevels = []int{0, 1, 1, 2, 0, 0, 1, -1, 0, 2}
)

// The values are those of scikit-learn 1.x:
//
//	f1_score(gold, pred, average='macro', labels=[0,1,2])
//	mean(average_precision_score([g>=t for g in gold], pred) for t in (1,2))
func TestCorpus(t *testing.T) {
	metrics, err := score.Corpus(verdicts(goldLevels, predictedLevels), nil, score.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{
		score.MacroF1: 0.6277777777777778, score.AUPRC: 0.8296296296296296, score.AdjustedAUPRC: 0.8296296296296296 * 0.5,
	}
	for _, m := range metrics {
		if math.Abs(m.Value-want[m.Name]) > 1e-12 || !m.Defined || m.N != 10 {
			t.Errorf("%s = %v (n %d), want %v", m.Name, m.Value, m.N, want[m.Name])
		}
		if !m.HasInterval() || m.Low > m.Value || m.High < m.Value {
			t.Errorf("%s: interval [%v, %v] around %v", m.Name, m.Low, m.High, m.Value)
		}
	}
	again, err := score.Corpus(verdicts(goldLevels, predictedLevels), nil, score.Options{})
	if err != nil || fmt.Sprint(again) != fmt.Sprint(metrics) {
		t.Errorf("the same seed gives %v, then %v, %v", metrics, again, err)
	}
}

func TestCorpusOfPerfectAndOneLevel(t *testing.T) {
	perfect, err := score.Corpus(verdicts(goldLevels, goldLevels), nil, score.Options{})
	if err != nil || perfect[0].Value != 1 || perfect[1].Value != 1 {
		t.Errorf("perfect verdicts: %+v, %v", perfect, err)
	}
	zeros := make([]int, 5)
	mild, err := score.Corpus(verdicts(zeros, zeros), nil, score.Options{})
	if err != nil || !mild[0].Defined || mild[1].Defined || len(mild[1].Warnings) == 0 {
		t.Errorf("only the mildest level: %+v, %v", mild, err)
	}
	for _, none := range [][][]score.Prediction{nil, {{{Spec: methods.AnswerSpec{Kind: methods.Number}}}}} {
		if m, err := score.Corpus(none, nil, score.Options{}); m != nil || err != nil {
			t.Errorf("no verdicts: %v, %v", m, err)
		}
	}
}

func TestMajority(t *testing.T) {
	var first []score.Prediction
	for _, s := range verdicts(goldLevels, predictedLevels) {
		first = append(first, s[0])
	}
	got, err := score.Majority(first)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{score.VerdictAccuracy: 0.4, score.MacroF1: 0.19047619047619047, score.AUPRC: 0.45}
	for name, v := range want {
		if math.Abs(got[name]-v) > 1e-12 {
			t.Errorf("majority %s = %v, want %v", name, got[name], v)
		}
	}
}

func TestVerdict(t *testing.T) {
	spec := methods.AnswerSpec{Kind: methods.Fields, Names: []string{"a", "b", methods.Verdict}, Labels: levels}
	target := raw(`{"a":1,"b":"x","verdict":"high"}`)
	for value, want := range map[string]map[string]float64{
		`{"a":1,"b":"x","verdict":"high"}`: {score.VerdictAccuracy: 1, score.PrimitiveAccuracy: 1},
		`{"a":1,"verdict":"high"}`:         {score.VerdictAccuracy: 1, score.PrimitiveAccuracy: 0.5},
		`{"a":2,"b":"x","verdict":"low"}`:  {score.VerdictAccuracy: 0, score.PrimitiveAccuracy: 0.5},
		`{}`:                               {score.VerdictAccuracy: 0, score.PrimitiveAccuracy: 0},
	} {
		got, err := score.For(spec).Score(spec, given(value, methods.Answered), target)
		if err != nil {
			t.Fatal(err)
		}
		sameValues(t, got.Values, want)
	}
	for _, bad := range []string{`{"a":1}`, `{"verdict":"splendid"}`, `{"verdict":2}`} {
		if _, err := score.For(spec).Score(spec, given(`{}`, methods.Answered), raw(bad)); err == nil {
			t.Errorf("target %s was accepted", bad)
		}
	}
}

// TestMissingEpochs: a sample of which an epoch is missing weighs as much as any other.
func TestMissingEpochs(t *testing.T) {
	once := verdicts(goldLevels, predictedLevels)
	thrice := verdicts(goldLevels, predictedLevels)
	for i, epochs := range thrice {
		for range i % 3 {
			thrice[i] = append(thrice[i], epochs[0])
		}
	}
	for i, clusters := range [][]string{nil, {"a", "a", "b", "b", "c", "c", "d", "d", "e", "e"}} {
		a, err := score.Corpus(once, clusters, score.Options{})
		if err != nil {
			t.Fatal(err)
		}
		b, err := score.Corpus(thrice, clusters, score.Options{})
		if err != nil || math.Abs(a[0].Value-b[0].Value) > 1e-12 || math.Abs(a[0].Low-b[0].Low) > 1e-12 {
			t.Errorf("clusters %d: %+v, with some epochs %+v, %v", i, a[0], b[0], err)
		}
	}
}

// TestCorpusContrasts: one who copies another differs by nothing, one who is always
// right by what the other lacks.
func TestCorpusContrasts(t *testing.T) {
	some, right := verdicts(goldLevels, predictedLevels), verdicts(goldLevels, goldLevels)
	same, err := score.CorpusContrasts(some, some, nil)
	if err != nil || same[0].A != same[0].B || same[0].SE != 0 || same[0].Units != 10 {
		t.Errorf("%+v, %v", same, err)
	}
	better, err := score.CorpusContrasts(right, some, nil)
	if err != nil || better[0].A != 1 || math.Abs(better[0].B-0.6277777777777778) > 1e-12 || better[0].SE <= 0 || math.Abs(better[0].DF-9) > 1e-9 {
		t.Errorf("%+v, %v", better, err)
	}
}
