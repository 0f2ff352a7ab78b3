package score_test

import (
	"encoding/json"
	"maps"
	"math"
	"strings"
	"testing"

	"noema/kernel/base/score"
	"noema/methods"
)

func raw(s string) json.RawMessage { return json.RawMessage(s) }

func given(value string, o methods.Outcome) methods.Answer {
	return methods.Answer{Value: raw(value), Outcome: o}
}

// sameValues demands the same names, and values equal to 12 digits.
func sameValues(t *testing.T, got, want map[string]float64) {
	t.Helper()
	for name := range want {
		if _, ok := got[name]; !ok {
			t.Errorf("%s is undefined, want %v", name, want[name])
		}
	}
	for name, g := range got {
		w, ok := want[name]
		if !ok {
			t.Errorf("%s = %v, want it undefined", name, g)
		} else if math.Abs(g-w) > 1e-12*max(1, math.Abs(w)) {
			t.Errorf("%s = %v, want %v", name, g, w)
		}
	}
}

// The nDCG values are those of scikit-learn 1.9:
//
//	s = np.zeros(n); for p, i in enumerate(ranking): s[i-1] = n-p
//	t = np.zeros(n); t[gold-1] = 1
//	sklearn.metrics.ndcg_score([t], [s], k=k)
func TestRanking(t *testing.T) {
	spec := func(n, k int) methods.AnswerSpec {
		return methods.AnswerSpec{Kind: methods.Ranking, N: n, K: k}
	}
	for _, c := range []struct {
		name, ranked, gold string
		spec               methods.AnswerSpec
		want               map[string]float64
	}{
		{"two gold items, found second and fifth", "[3,1,7,5,2]", "[1,2]", spec(10, 5), map[string]float64{
			"hits@1": 0, "hits@3": 1, "hits@5": 1, "mrr": 0.5, "ndcg@5": 0.6240505200038378, "first": 0}},
		{"second of three", "[3,1,7]", "[1]", spec(10, 3), map[string]float64{
			"hits@1": 0, "hits@3": 1, "mrr": 0.5, "ndcg@3": 0.6309297535714573, "first": 0}},
		{"more gold than places", "[1,2]", "[1,2,9]", spec(10, 2), map[string]float64{
			"hits@1": 1, "hits@2": 1, "mrr": 1, "ndcg@2": 1, "first": 1}},
		{"gold last", "[4,5,6]", "[1,6]", spec(6, 3), map[string]float64{
			"hits@1": 0, "hits@3": 1, "mrr": 1.0 / 3, "ndcg@3": 0.30657359638272924, "first": 0}},
		{"gold beyond K does not count", "[1,2,3,4]", "[4]", spec(4, 3), map[string]float64{
			"hits@1": 0, "hits@3": 0, "mrr": 0, "ndcg@3": 0, "first": 1}},
		{"K above N", "[2]", "[2]", spec(3, 10), map[string]float64{
			"hits@1": 1, "hits@3": 1, "hits@5": 1, "hits@10": 1, "mrr": 1, "ndcg@10": 1, "first": 0}},
		{"no K means all", "[2,1]", "[1]", spec(2, 0), map[string]float64{
			"hits@1": 0, "hits@2": 1, "mrr": 0.5, "ndcg@2": 0.6309297535714573, "first": 0}},
		{"empty ranking is a miss and has no first", "[]", "[1]", spec(4, 1), map[string]float64{
			"hits@1": 0, "mrr": 0, "ndcg@1": 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := score.For(c.spec).Score(c.spec, given(c.ranked, methods.Answered), raw(c.gold))
			if err != nil {
				t.Fatal(err)
			}
			sameValues(t, got.Values, c.want)
			if got.Given != nil {
				t.Errorf("Given = %v for an answered trial", got.Given)
			}
		})
	}
}

func TestOtherKinds(t *testing.T) {
	choice := methods.AnswerSpec{Kind: methods.Choice, Labels: []string{"low", "high"}}
	number := methods.AnswerSpec{Kind: methods.Number}
	text := methods.AnswerSpec{Kind: methods.Text}
	set := methods.AnswerSpec{Kind: methods.Set}
	fields := methods.AnswerSpec{Kind: methods.Fields, Names: []string{"a", "b"}}
	acc := func(x float64) map[string]float64 { return map[string]float64{"accuracy": x} }
	words := func(em, f1 float64) map[string]float64 {
		return map[string]float64{"accuracy": em, "em": em, "f1": f1}
	}
	both := func(all, share float64) map[string]float64 {
		return map[string]float64{"accuracy": all, "field_accuracy": share}
	}
	for _, c := range []struct {
		name          string
		spec          methods.AnswerSpec
		value, target string
		want          map[string]float64
	}{
		{"choice right", choice, `"low"`, `"low"`, acc(1)},
		{"choice wrong", choice, `"high"`, `"low"`, acc(0)},
		{"number in other notation", number, `4.50`, `45e-1`, acc(1)},
		{"number of more digits", number, `0.3333333333`, `0.33333333333333`, acc(0)},
		{"number to the last digit", number, `0.30000000000000000001`, `0.3`, acc(0)},
		{"number beyond doubles' digits", number, `12345678901234567890.50`, `12345678901234567890.5`, acc(1)},
		{"number rounded too far", number, `0.33`, `0.33333333333333`, acc(0)},
		{"counts are exact", number, `10000001`, `10000000`, acc(0)},
		{"zero is a number", number, `0`, `0`, acc(1)},
		{"near zero is not zero", number, `1e-10`, `0`, acc(0)},
		{"text normalised", text, `"The  “Eiffel” Tower!"`, `"eiffel tower"`, words(1, 1)},
		{"text overlap", text, `"the big red house"`, `"red house"`, words(0, 0.8)},
		{"text repeats count once each", text, `"red red"`, `"red house"`, words(0, 0.5)},
		{"text, best of several", text, `"NYC"`, `["New York","nyc"]`, words(1, 1)},
		{"text of an article alone", text, `"A"`, `"a"`, words(1, 1)},
		{"text of symbols alone", text, `"+"`, `"-"`, words(0, 0)},
		{"text empty against words", text, `""`, `"x"`, words(0, 0)},
		{"text empty, as wanted", text, `""`, `""`, words(1, 1)},
		{"set in other order with repeats", set, `["b","a","a"]`, `["a","b"]`, map[string]float64{
			"accuracy": 1, "precision": 1, "recall": 1, "f1": 1}},
		{"set partly", set, `["a","c"]`, `["a","b","d"]`, map[string]float64{
			"accuracy": 0, "precision": 0.5, "recall": 1.0 / 3, "f1": 0.4}},
		{"empty set has no precision", set, `[]`, `["a"]`, map[string]float64{
			"accuracy": 0, "recall": 0, "f1": 0}},
		{"empty target has no recall", set, `["a"]`, `[]`, map[string]float64{
			"accuracy": 0, "precision": 0, "f1": 0}},
		{"both sets empty", set, `[]`, `[]`, map[string]float64{
			"accuracy": 1, "precision": 1, "recall": 1, "f1": 1}},
		{"fields right", fields, `{"b":[1,{"x":null}],"a":2.0,"extra":1}`, `{"a":2,"b":[1.0,{"x":null}]}`, both(1, 1)},
		{"missing field is wrong", fields, `{"a":1}`, `{"a":1,"b":null}`, both(0, 0.5)},
		{"field of another type", fields, `{"a":"1","b":false}`, `{"a":1,"b":0}`, both(0, 0)},
		{"big integers stay apart", fields, `{"a":9007199254740993}`, `{"a":9007199254740992}`, both(0, 0)},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := score.For(c.spec).Score(c.spec, given(c.value, methods.Answered), raw(c.target))
			if err != nil {
				t.Fatal(err)
			}
			sameValues(t, got.Values, c.want)
		})
	}
}

// A fallback that happens to be right earns nothing, and what it would have
// earned stands apart. A non-answer earns nothing at all.
func TestFallbackIsNoResult(t *testing.T) {
	ranking := methods.AnswerSpec{Kind: methods.Ranking, N: 5, K: 1}
	miss := map[string]float64{"hits@1": 0, "mrr": 0, "ndcg@1": 0}
	for _, o := range methods.Outcomes() {
		if o == methods.Answered {
			continue
		}
		got, err := score.For(ranking).Score(ranking, given(`[1]`, o), raw(`[1]`))
		if err != nil {
			t.Fatal(err)
		}
		sameValues(t, got.Values, miss)
		sameValues(t, got.Given, map[string]float64{"hits@1": 1, "mrr": 1, "ndcg@1": 1, "first": 1})
	}
	got, err := score.For(ranking).Score(ranking, given("", methods.Unparsed), raw(`[1]`))
	if err != nil {
		t.Fatal(err)
	}
	sameValues(t, got.Values, miss)
	if got.Given != nil {
		t.Errorf("Given = %v, want nil", got.Given)
	}
}

// A null decodes to 0, which must not make it the right answer 0.
func TestNullIsNoAnswer(t *testing.T) {
	for _, kind := range []methods.AnswerKind{methods.Number, methods.Text, methods.Set, methods.Fields} {
		spec := methods.AnswerSpec{Kind: kind}
		if got, err := score.For(spec).Score(spec, given(" null\n", methods.Answered), raw(`0`)); err == nil {
			t.Errorf("%s: null scored %v, want an error", kind, got)
		}
	}
}

func TestScoreRefuses(t *testing.T) {
	ranking := methods.AnswerSpec{Kind: methods.Ranking, N: 3, K: 3}
	choice := methods.AnswerSpec{Kind: methods.Choice, Labels: []string{"x"}}
	fields := methods.AnswerSpec{Kind: methods.Fields, Names: []string{"a"}}
	for _, c := range []struct {
		spec          methods.AnswerSpec
		value, target string
		cause         string
	}{
		{ranking, `[1]`, ``, "target is missing"},
		{ranking, `[1]`, `null`, "target is missing"},
		{ranking, `[1]`, `[]`, "no gold item"},
		{ranking, `[1]`, `[4]`, "gold item 4"},
		{ranking, `[1]`, `["1"]`, "ranking target [\"1\"] must be a list of item numbers"},
		{ranking, `[0]`, `[1]`, "item 0"},
		{ranking, `[2,2]`, `[1]`, "ranked twice"},
		{ranking, `{"a":`, `[1]`, "decode answer"},
		{methods.AnswerSpec{Kind: methods.Ranking}, `[]`, `[1]`, "cannot score a ranking of 0 items"},
		{choice, `"x"`, `"y"`, "not one of the labels"},
		{choice, `"y"`, `"x"`, "none of the labels"},
		{methods.AnswerSpec{Kind: methods.Number}, `1`, `"1"`, "must be a number, not a text"},
		{methods.AnswerSpec{Kind: methods.Number}, `1`, `1e999`, "exponent"},
		{methods.AnswerSpec{Kind: methods.Text}, `"x"`, `[]`, "no accepted answer"},
		{methods.AnswerSpec{Kind: methods.Text}, `"x"`, `{}`, "text target {} must be a text or a list of accepted texts"},
		{methods.AnswerSpec{Kind: methods.Set}, `["x"]`, `"x"`, "set target \"x\" must be a list of texts"},
		{fields, `{}`, `{}`, "names no field"},
		{fields, `{}`, `{"z":1}`, "does not ask for"},
		{methods.AnswerSpec{Kind: "poem"}, `1`, `1`, `answer kind "poem"`},
	} {
		_, err := score.For(c.spec).Score(c.spec, given(c.value, methods.Answered), raw(c.target))
		if err == nil || !strings.Contains(err.Error(), c.cause) {
			t.Errorf("Score(%s, answer %s, target %s) = %v, want an error with %q", c.spec.Kind, c.value, c.target, err, c.cause)
		}
	}
	if _, err := score.For(choice).Score(ranking, given(`[1]`, methods.Answered), raw(`[1]`)); err == nil {
		t.Error("the scorer of choices scored a ranking")
	}
	if _, err := score.Chance(ranking, raw(`[9]`)); err == nil {
		t.Error("Chance took a gold item that is not there")
	}
}

// Whatever a scorer gives has a place in the table, and a miss has all of it.
func TestNamesCoverValues(t *testing.T) {
	for kind, target := range map[methods.AnswerKind]string{
		methods.Ranking: `[2]`, methods.Choice: `"x"`, methods.Number: `1`,
		methods.Text: `"x"`, methods.Set: `["x"]`, methods.Fields: `{"x":1,"verdict":"x"}`,
	} {
		spec := methods.AnswerSpec{Kind: kind, N: 9, K: 7, Labels: []string{"x", "y"}}
		value := target // the right answer defines all values
		got, err := score.For(spec).Score(spec, given(value, methods.Answered), raw(target))
		if err != nil {
			t.Fatal(err)
		}
		names := score.Names(spec)
		for _, n := range names {
			if _, ok := got.Get(n); !ok {
				t.Errorf("%s: %s is named but not given", kind, n)
			}
		}
		if len(names) != len(got.Values) {
			t.Errorf("%s: values %v, names %v", kind, got.Values, names)
		}
		miss, err := score.For(spec).Score(spec, given("", methods.Failed), raw(target))
		if err != nil {
			t.Fatal(err)
		}
		delete(got.Values, score.First)
		for n := range maps.Keys(got.Values) {
			if v, ok := miss.Get(n); !ok || v != 0 {
				t.Errorf("%s: a miss has %s = %v, %t", kind, n, v, ok)
			}
		}
	}
}

func FuzzScore(f *testing.F) {
	for _, kind := range []string{"ranking", "choice", "number", "text", "set", "fields"} {
		f.Add(kind, `[1,2]`, `[2]`)
		f.Add(kind, `"x"`, `"x"`)
		f.Add(kind, `{"a":1e400}`, `{"a":1e400}`)
		f.Add(kind, `1e308`, `-1e308`)
	}
	f.Fuzz(func(t *testing.T, kind, value, target string) {
		spec := methods.AnswerSpec{Kind: methods.AnswerKind(kind), N: 3, K: 2, Labels: []string{"x"}}
		got, err := score.For(spec).Score(spec, given(value, methods.Answered), raw(target))
		if err != nil {
			return
		}
		for name, v := range got.Values {
			if !(v >= 0 && v <= 1) {
				t.Errorf("%s = %v for answer %q, target %q", name, v, value, target)
			}
		}
	})
}
