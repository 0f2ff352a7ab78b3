package score_test

import (
	"testing"

	"noema/kernel/base/score"
	"noema/methods"
)

func TestNamed(t *testing.T) {
	spec := methods.AnswerSpec{Kind: methods.Text}
	s, err := score.Named("game24").For(spec)
	if err != nil {
		t.Fatal(err)
	}
	target := raw(`{"numbers":[3,3,8,8]}`)
	for value, want := range map[string]float64{`"8/(3-8/3)"`: 1, `"8*3"`: 0, `"twenty-four"`: 0, "": 0} {
		outcome := methods.Answered
		if value == "" {
			outcome = methods.Refused
		}
		got, err := s.Score(spec, given(value, outcome), target)
		if err != nil {
			t.Fatal(err)
		}
		sameValues(t, got.Values, map[string]float64{score.Accuracy: want})
	}
	lucky, err := s.Score(spec, given(`"8/(3-8/3)"`, methods.Defaulted), target)
	if err != nil {
		t.Fatal(err)
	}
	sameValues(t, lucky.Values, map[string]float64{score.Accuracy: 0})
	sameValues(t, lucky.Given, map[string]float64{score.Accuracy: 1})
	if _, err := s.Score(spec, given(`"1"`, methods.Answered), raw(`[]`)); err == nil {
		t.Error("a target without numbers was accepted")
	}
	if _, err := score.Named("riddle").For(spec); err == nil {
		t.Error("an unknown scorer was found")
	}
	if same, err := score.Named("").For(spec); err != nil || same != score.For(spec) {
		t.Errorf("no name: %v, %v", same, err)
	}
}
