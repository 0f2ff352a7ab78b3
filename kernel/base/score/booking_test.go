package score

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"

	"noema/methods"
)

// TestBookings scores what the tools say they did, in any order and however often
// they say it.
func TestBookings(t *testing.T) {
	const target = `{"total":80,"money":500,"mine":[{"id":"old","offer":"M1","seats":1,"price":30}],"want":[{"offer":"M1","seats":1},{"offer":"T1","seats":2}]}`
	hold := `{"id":"a","offer":"T1","seats":2,"price":80,"state":"held"}`
	book := `{"id":"a","offer":"T1","seats":2,"price":80,"state":"booked"}`
	pay := `{"paid":["a"],"total":80}`
	other := `{"id":"b","offer":"C1","seats":2,"price":50,"state":"held"}`
	for _, c := range []struct {
		name                     string
		effects                  []string
		success, clean, balanced float64
	}{
		{"nothing", nil, 0, 1, 1},
		{"what is wanted", []string{hold, book, pay}, 1, 1, 1},
		{"a hold left", []string{hold}, 0, 0, 0},
		{"a booking that is not paid", []string{hold, book}, 0, 0, 0},
		{"given back", []string{hold, book, pay, `{"cancelled":"a","refund":80}`}, 0, 1, 1},
		{"a hold given back", []string{hold, `{"cancelled":"a","refund":0}`}, 0, 1, 1},
		{"one hold too many", []string{hold, book, pay, other}, 0, 0, 0},
		{"one booking too many", []string{hold, book, `{"id":"b","offer":"C1","seats":2,"price":50,"state":"booked"}`, other, `{"paid":["b","a"],"total":130}`}, 0, 0, 1},
		{"other seats", []string{`{"id":"a","offer":"T1","seats":1,"price":40,"state":"booked"}`, `{"paid":["a"],"total":40}`}, 0, 0, 1},
		{"what was there is gone", []string{hold, book, pay, `{"cancelled":"old","refund":30}`}, 0, 1, 1},
		{"the same seats twice", []string{hold, book, pay, `{"id":"c","offer":"T1","seats":2,"price":80,"state":"booked"}`, `{"paid":["c"],"total":80}`}, 0, 0, 1},
		{"what changes nothing", []string{`{"offers":[{"offer":"T1"}]}`, `{"money":1,"reservations":[]}`}, 0, 1, 1},
	} {
		for round := range 20 {
			var effects []methods.ToolResult
			for _, e := range append(c.effects, c.effects[:round%2*len(c.effects)]...) {
				effects = append(effects, methods.ToolResult{Content: e})
			}
			rand.New(rand.NewPCG(uint64(round), 1)).Shuffle(len(effects), func(i, j int) { effects[i], effects[j] = effects[j], effects[i] })
			spec := methods.AnswerSpec{Kind: methods.Number}
			by, err := Named("booking").For(spec)
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range []methods.Answer{methods.NumberAnswer(80), methods.NumberAnswer(7), {Outcome: methods.Failed}} {
				right := oneIf(string(a.Value) == "80")
				want := map[string]float64{Success: c.success, Clean: c.clean, Balanced: c.balanced, Accuracy: right}
				if s, err := Trial(by, spec, a, json.RawMessage(target), effects); err != nil || !reflect.DeepEqual(s.Values, want) {
					t.Fatalf("%s, round %d: %v, %v, want %v", c.name, round, s.Values, err, want)
				}
			}
		}
	}
}

// TestBookingsInPlaceOfOthers: what there was is no effect, until what should
// replace it is there, too.
func TestBookingsInPlaceOfOthers(t *testing.T) {
	const target = `{"total":80,"money":500,"mine":[{"id":"old","offer":"M1","seats":1,"price":30}],"want":[{"offer":"T1","seats":2}]}`
	swap := []string{`{"id":"a","offer":"T1","seats":2,"price":80,"state":"booked"}`, `{"paid":["a"],"total":80}`, `{"cancelled":"old","refund":30}`}
	for n, want := range []map[string]float64{
		0: {Success: 0, Clean: 1, Balanced: 1, Accuracy: 1},
		1: {Success: 0, Clean: 0, Balanced: 0, Accuracy: 1},
		2: {Success: 0, Clean: 0, Balanced: 1, Accuracy: 1},
		3: {Success: 1, Clean: 1, Balanced: 1, Accuracy: 1},
	} {
		var effects []methods.ToolResult
		for _, e := range swap[:n] {
			effects = append(effects, methods.ToolResult{Content: e})
		}
		s, err := bookingScorer{}.ScoreEffects(methods.AnswerSpec{Kind: methods.Number}, methods.NumberAnswer(80), json.RawMessage(target), effects)
		if err != nil || !reflect.DeepEqual(s.Values, want) {
			t.Errorf("after %d steps: %v, %v, want %v", n, s.Values, err, want)
		}
	}
}

func TestBookingTargets(t *testing.T) {
	spec := methods.AnswerSpec{Kind: methods.Number}
	by, err := Named("booking").For(spec)
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{``, `null`, `[]`, `{"want":[]}`, `{"total":"x"}`} {
		if _, err := by.Score(spec, methods.NumberAnswer(0), json.RawMessage(target)); err == nil {
			t.Errorf("target %q passes", target)
		}
	}
	if !Named("booking").ByEffects() || Named("research").ByEffects() || Named("").ByEffects() {
		t.Error("the wrong scorers judge by effects")
	}
	if s, err := Trial(For(spec), spec, methods.NumberAnswer(2), json.RawMessage(`2`), nil); err != nil || len(s.Values) != 1 {
		t.Errorf("%v, %v", s, err)
	}
}
