package score

import (
	"reflect"
	"strings"
	"testing"

	"noema/methods"
)

func TestParseGrading(t *testing.T) {
	for text, want := range map[string]Grading{
		"graded?model=a/b":                                {Models: []string{"a/b"}},
		"graded?model=a&model=b,c&self=true":              {Models: []string{"a", "b", "c"}, Self: true},
		"graded?model=sim%3Ferror=0.5&rubric=Is+it+so%3F": {Models: []string{"sim?error=0.5"}, Rubric: "Is it so?"},
	} {
		got, err := ParseGrading(text)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v (%v), want %+v", text, got, err, want)
		}
		if back, err := ParseGrading(got.String()); err != nil || !reflect.DeepEqual(back, got) {
			t.Errorf("%s is written as %s, which reads as %+v (%v)", text, got, back, err)
		}
	}
	for text, says := range map[string]string{
		"graded":                           "no model grades",
		"graded?model=a,":                  "no model grades",
		"graded?model=a,a":                 "named twice",
		"graded?model=a&self=maybe":        "no option",
		"graded?model=a&rubric=x&rubric=y": "rubric is given 2 times",
		"graded?model=a%":                  "invalid URL escape",
		"graded?model=a,b,c,d,e,f,g,h,i,j": "at most 9",
		"graded?model=a&rubric=" + strings.Repeat("x", maxRubric+1): "at most 65536",
		"json:field:graded?model=a":                                 "grades whole answers",
	} {
		if _, err := Choose([]string{text}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%.60s: %v, want %q", text, err, says)
		}
	}
}

// TestGradedScore: this package gives no verdict, and 0 for what is no answer.
func TestGradedScore(t *testing.T) {
	name, err := Choose([]string{"graded?model=a", "exact"})
	if err != nil {
		t.Fatal(err)
	}
	by, err := name.For(methods.AnswerSpec{})
	if err != nil {
		t.Fatal(err)
	}
	spec := methods.AnswerSpec{Kind: methods.Text}
	answered, err := by.Score(spec, methods.TextAnswer("x"), []byte(`"x"`))
	if _, has := answered.Get(Graded); err != nil || has || answered.Values[Exact] != 1 {
		t.Errorf("%+v (%v)", answered, err)
	}
	miss, err := by.Score(spec, methods.Answer{Outcome: methods.Unparsed}, []byte(`"x"`))
	if v, has := miss.Get(Graded); err != nil || !has || v != 0 {
		t.Errorf("%+v (%v)", miss, err)
	}
	alone, err := Named("graded?model=a").For(spec)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := alone.Score(spec, methods.TextAnswer("x"), nil); err != nil {
		t.Errorf("without a reference: %v", err)
	}
	if _, err := alone.Score(methods.AnswerSpec{Kind: methods.Ranking, N: 2, K: 1}, methods.RankingAnswer([]int{1}), nil); err == nil {
		t.Error("a ranking is graded")
	}
	if g, ok := name.Grading(); !ok || g.Models[0] != "a" {
		t.Errorf("%+v %v", g, ok)
	}
	if _, ok := Named("exact").Grading(); ok {
		t.Error("exact is graded")
	}
}
