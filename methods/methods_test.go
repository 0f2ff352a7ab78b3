package methods_test

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"noema/methods"
)

func TestCheck(t *testing.T) {
	specs := map[methods.AnswerKind]methods.AnswerSpec{
		methods.Ranking: {Kind: methods.Ranking, N: 3, K: 2},
		methods.Choice:  {Kind: methods.Choice, Labels: []string{"yes", "no"}},
		methods.Number:  {Kind: methods.Number},
		methods.Text:    {Kind: methods.Text},
		methods.Set:     {Kind: methods.Set},
		methods.Fields:  {Kind: methods.Fields, Names: []string{"a"}},
	}
	for _, c := range []struct {
		kind    methods.AnswerKind
		value   string
		outcome methods.Outcome
		fault   string // in the error; empty if the answer is well formed
	}{
		{methods.Ranking, `[3,1]`, methods.Answered, ""},
		{methods.Ranking, `[]`, methods.Answered, ""},
		{methods.Ranking, `[0]`, methods.Answered, "item 0 is not within 1..3"},
		{methods.Ranking, `[4]`, methods.Answered, "item 4 is not within 1..3"},
		{methods.Ranking, `[1,1]`, methods.Defaulted, "ranked twice"},
		{methods.Ranking, `[1.5]`, methods.Answered, "decode answer"},
		{methods.Choice, `"no"`, methods.Answered, ""},
		{methods.Choice, `"maybe"`, methods.Answered, "none of the labels yes, no"},
		{methods.Number, `-4.5e3`, methods.Answered, ""},
		{methods.Number, `"4"`, methods.Answered, "decode answer"},
		{methods.Text, `"x"`, methods.Answered, ""},
		{methods.Set, `["b","a"]`, methods.Answered, ""},
		{methods.Fields, `{"a":1}`, methods.Answered, ""},
		{methods.Fields, `[1]`, methods.Answered, "decode answer"},
		{methods.Number, ``, methods.Answered, "outcome answered needs a value"},
		{methods.Number, ``, methods.Defaulted, "outcome defaulted needs a value"},
		{methods.Number, ``, methods.Refused, ""},
		{methods.Number, ` null `, methods.Answered, "the value is null"},
		{methods.Number, `1`, "splendid", "unknown outcome"},
		{methods.Number, `1`, "", "unknown outcome"},
		{methods.Number, `{`, methods.Unparsed, "decode answer"},
	} {
		a := methods.Answer{Outcome: c.outcome}
		if c.value != "" {
			a.Value = json.RawMessage(c.value)
		}
		err := specs[c.kind].Check(a)
		switch {
		case c.fault == "" && err != nil:
			t.Errorf("%s %s (%s): %v", c.kind, c.value, c.outcome, err)
		case c.fault != "" && (err == nil || !strings.Contains(err.Error(), c.fault)):
			t.Errorf("%s %s (%s): err = %v, want %q in it", c.kind, c.value, c.outcome, err, c.fault)
		}
	}
	if err := (methods.AnswerSpec{Kind: "riddle"}).Check(methods.TextAnswer("x")); err == nil {
		t.Error("an unknown answer kind passed the check")
	}
}

func TestConstructorsRoundTrip(t *testing.T) {
	if r, err := methods.RankingAnswer([]int{3, 1}).Ranking(); err != nil || !reflect.DeepEqual(r, []int{3, 1}) {
		t.Errorf("ranking = %v, %v", r, err)
	}
	if s, err := methods.SetAnswer([]string{"b", "a", "b"}).Set(); err != nil || !reflect.DeepEqual(s, []string{"a", "b"}) {
		t.Errorf("set = %v, %v", s, err)
	}
	if s, err := methods.TextAnswer("a\x00\"b").Text(); err != nil || s != "a\x00\"b" {
		t.Errorf("text = %q, %v", s, err)
	}
	for _, x := range []float64{math.NaN(), math.Inf(1)} {
		if a := methods.NumberAnswer(x); a.Outcome != methods.Unparsed || a.Value != nil || a.Reason == "" {
			t.Errorf("NumberAnswer(%v) = %+v", x, a)
		}
	}
	if _, err := methods.FieldsAnswer(map[string]any{"f": func() {}}); err == nil {
		t.Error("a func was encoded")
	}
	if _, err := (methods.Answer{Outcome: methods.Refused}).Number(); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("no value: %v", err)
	}
}

// TestUsagePlus fills every field, so a field that Plus forgets is noticed.
func TestUsagePlus(t *testing.T) {
	var u methods.Usage
	v := reflect.ValueOf(&u).Elem()
	for i := range v.NumField() {
		v.Field(i).SetInt(int64(i + 1))
	}
	sum := reflect.ValueOf(u.Plus(u))
	for i := range sum.NumField() {
		if got, want := sum.Field(i).Int(), int64(2*(i+1)); got != want {
			t.Errorf("%s = %d, want %d", sum.Type().Field(i).Name, got, want)
		}
	}
}

func TestDecodeOptions(t *testing.T) {
	type options struct {
		Retries int    `json:"retries"`
		Builder string `json:"builder"`
	}
	for _, c := range []struct {
		raw   string
		want  options
		fault string
	}{
		{``, options{2, "react"}, ""},
		{`{"retries":0}`, options{0, "react"}, ""},
		{`{"retries":"0"}`, options{}, "retries"},
		{`{"retrys":0}`, options{}, `unknown option "retrys", did you mean "retries"?`},
		{`{} {}`, options{}, "more than one value"},
		{`[`, options{}, "decode options"},
	} {
		got := options{2, "react"}
		err := methods.DecodeOptions(methods.Problem{Options: json.RawMessage(c.raw)}, &got)
		switch {
		case c.fault == "" && (err != nil || got != c.want):
			t.Errorf("%s: %+v, %v", c.raw, got, err)
		case c.fault != "" && (err == nil || !strings.Contains(err.Error(), c.fault)):
			t.Errorf("%s: err = %v, want %q in it", c.raw, err, c.fault)
		}
	}
}

func TestParseOptions(t *testing.T) {
	type options struct {
		N       int      `json:"n" default:"10" min:"2" max:"50" doc:"items"`
		Seed    uint64   `json:"seed" doc:"random seed"`
		Builder string   `json:"builder" default:"react" choices:"react,compiled"`
		Price   *float64 `json:"price" min:"0"`
		Fast    bool     `json:"fast"`
	}
	for _, c := range []struct {
		given map[string]string
		want  string // the filled struct, or the error
	}{
		{nil, `{"n":10,"seed":0,"builder":"react","price":null,"fast":false}`},
		{map[string]string{"n": "20", "seed": "18446744073709551615", "price": "0.5", "fast": "true"},
			`{"n":20,"seed":18446744073709551615,"builder":"react","price":0.5,"fast":true}`},
		{map[string]string{"n": "0"}, `option "n": 0 is too small: the minimum is 2`},
		{map[string]string{"n": "51"}, `option "n": 51 is too large: the maximum is 50`},
		{map[string]string{"n": "ten"}, `option "n": "ten" is not a whole number`},
		{map[string]string{"seed": "-1"}, `option "seed": -1 does not fit type uint64`},
		{map[string]string{"price": "NaN"}, `option "price": "NaN" is not a number`},
		{map[string]string{"builder": "x"}, `option "builder": "x" is not among react, compiled`},
		{map[string]string{"fast": "maybe"}, `option "fast": "maybe" is not true or false`},
		{map[string]string{"sede": "1"}, `unknown option "sede", did you mean "seed"?: the options are n, seed, builder, price, fast`},
		{map[string]string{"colour": "1"}, `unknown option "colour": the options are n, seed, builder, price, fast`},
	} {
		var o options
		err := methods.ParseOptions(c.given, &o)
		raw, _ := json.Marshal(o)
		if got := string(raw); err == nil && got != c.want || err != nil && err.Error() != c.want {
			t.Errorf("%v: %s, %v, want %s", c.given, got, err, c.want)
		}
	}
	want := methods.Option{Name: "n", Type: methods.IntOption, Default: "10", Doc: "items, 2 to 50"}
	if got := methods.OptionsOf(options{})[0]; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestDidYouMean(t *testing.T) {
	for _, known := range [][]string{{"cat", "bat", "hat"}, {"hat", "cat", "bat"}} {
		if got := methods.DidYouMean("zat", known); got != `, did you mean "bat"?` {
			t.Errorf("of %v: %q", known, got)
		}
	}
	if got := methods.DidYouMean("zebra", []string{"cat"}); got != "" {
		t.Errorf("nothing is near: %q", got)
	}
}

func TestSupports(t *testing.T) {
	if d := (methods.Description{}); !d.Supports(methods.Set) {
		t.Error("no kinds must mean all kinds")
	}
	d := methods.Description{Answers: []methods.AnswerKind{methods.Ranking}}
	if !d.Supports(methods.Ranking) || d.Supports(methods.Set) {
		t.Error("kinds are not looked up")
	}
}

func TestModelIDString(t *testing.T) {
	for want, id := range map[string]methods.ModelID{
		"sim":                {Provider: "sim"},
		"openai/gpt-5-nano":  {Provider: "openai", Model: "gpt-5-nano", Endpoint: "http://localhost"},
		"sim?error=0.05&v=1": {Provider: "sim", Config: "error=0.05&v=1"},
	} {
		if got := id.String(); got != want {
			t.Errorf("%+v is %q, want %q", id, got, want)
		}
	}
}

func ExampleUsage_Plus() {
	a := methods.Usage{Calls: 1, InputTokens: 100, Cost: 250_000, Latency: time.Second}
	b := methods.Usage{Calls: 1, InputTokens: 50, Unpriced: 1}
	sum := a.Plus(b)
	fmt.Println(sum.Calls, sum.InputTokens, sum.Cost.USD(), "and", sum.Unpriced, "call of unknown price")
	// Output: 2 150 0.00025 and 1 call of unknown price
}
