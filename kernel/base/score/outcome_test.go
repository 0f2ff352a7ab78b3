package score

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"noema/methods"
)

// TestOnlyAnsweredScores: what scores a right answer, of each kind and by each name, gives 0
// for it under every other outcome, but for habits and for what tools left behind.
func TestOnlyAnsweredScores(t *testing.T) {
	unmet := own()
	for _, c := range []struct {
		scorer        string
		kind          methods.AnswerKind
		value, target string
	}{
		{"", methods.Ranking, `[1,2]`, `[1]`},
		{"", methods.Choice, `"a"`, `"a"`},
		{"", methods.Number, `2`, `2`},
		{"", methods.Text, `"x"`, `"x"`},
		{"", methods.Set, `["x"]`, `["x"]`},
		{"", methods.Fields, `{"verdict":"a","x":1}`, `{"verdict":"a","x":1}`},
		{"game24", methods.Text, `"4 * (5 + 1)"`, `{"numbers":[1,4,5]}`},
		{"research", methods.Text, `"x"`, `{"answer":"x","evidence":["Here"]}`},
		{"booking", methods.Number, `2`, `{"total":2,"mine":[],"want":[]}`},
		{"tests", methods.Text, `"def f(): return 1"`, `{"names":["f"],"tests":"assert f() == 1"}`},
		{"exact", methods.Text, `"x"`, `"x"`},
		{"includes", methods.Text, `"x"`, `"x"`},
		{"f1", methods.Text, `"x"`, `"x"`},
		{"math", methods.Text, `"1/2"`, `"0.5"`},
		{"number:1", methods.Text, `"2"`, `"2"`},
		{"choice", methods.Text, `"A"`, `"A"`},
		{"pattern:(x)", methods.Text, `"x"`, `"x"`},
	} {
		delete(unmet, c.scorer)
		spec := methods.AnswerSpec{Kind: c.kind, N: 3, K: 2, Labels: []string{"a", "b"}}
		by, err := Named(c.scorer).For(spec)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range methods.Outcomes() {
			a := methods.Answer{Value: json.RawMessage(c.value), Outcome: o, Evidence: []methods.Evidence{{Source: "Here"}}}
			s, err := Trial(by, spec, a, json.RawMessage(c.target), nil)
			if err != nil {
				t.Errorf("%q, %s, %s: %v", c.scorer, c.kind, o, err)
			}
			for metric, v := range s.Values {
				right := o == methods.Answered || slices.Contains([]string{Success, Clean, Balanced}, metric)
				if !IsBias(metric) && (v > 0) != right {
					t.Errorf("%q, %s, %s: %s is %v", c.scorer, c.kind, o, metric, v)
				}
			}
		}
	}
	if len(unmet) > 0 {
		t.Errorf("no case of %v", slices.Sorted(maps.Keys(unmet)))
	}
}
