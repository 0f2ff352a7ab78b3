package aot_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"noema/methods"
	"noema/methods/aot"
	"noema/methods/methodtest"
)

// valued is a plan whose final atom takes what a decision gives, so that nothing
// is known of it before the plan runs.
func valued(v string) string {
	return `{"atoms":[{"id":1,"kind":"decision","name":"choose","input":{"if":true,"then":` + v + `,"else":null}},{"id":2,"kind":"final","name":"r","dependsOn":[1]}]}`
}

func TestRankingsSetsAndFields(t *testing.T) {
	ranking := methods.AnswerSpec{Kind: methods.Ranking, N: 5, K: 5}
	set := methods.AnswerSpec{Kind: methods.Set}
	fields := methods.AnswerSpec{Kind: methods.Fields, Names: []string{"n", "verdict"}, Labels: []string{"good", "bad"}}
	for _, c := range []struct {
		spec    methods.AnswerSpec
		value   string
		want    string
		outcome methods.Outcome
		events  string // kinds beside those of every trial
	}{
		{ranking, `[3,1,2,5,4]`, `[3,1,2,5,4]`, methods.Answered, ""},
		{ranking, `[[3],[1],2,[5,4]]`, `[3,1,2,5,4]`, methods.Answered, "ties_drawn"},
		{ranking, `[3,3,9,0,1,2,4]`, `[3,1,2,4,5]`, methods.Answered, "dropped ties_drawn"},
		{ranking, `[]`, `[5,3,4,2,1]`, methods.Defaulted, "ties_drawn fallback"},
		{methods.AnswerSpec{Kind: methods.Ranking, N: 5, K: 1}, `[[4],[1,2]]`, `[4]`, methods.Answered, ""},
		{ranking, `[["a"]]`, ``, methods.Unparsed, ""},
		{ranking, `{"item":1}`, ``, methods.Unparsed, ""},
		{ranking, `[1.5]`, ``, methods.Unparsed, ""},
		{set, `["b","a","b"]`, `["a","b"]`, methods.Answered, ""},
		{set, `[]`, `[]`, methods.Answered, ""},
		{set, `["b",12]`, `["12","b"]`, methods.Answered, "repair"},
		{set, `"b"`, ``, methods.Unparsed, ""},
		{fields, `{"n":1.50,"verdict":"bad"}`, `{"n":1.50,"verdict":"bad"}`, methods.Answered, ""},
		{fields, `{"n":1,"verdict":"bad","more":2}`, `{"n":1,"verdict":"bad"}`, methods.Answered, ""},
		{fields, `{"n":1}`, ``, methods.Unparsed, ""},
		{fields, `{"n":1,"verdict":"fair"}`, ``, methods.Unparsed, ""},
		{fields, `[1]`, ``, methods.Unparsed, ""},
	} {
		p := problem(methods.Text, "")
		p.Answer = c.spec
		a, log := solve(t, p, methodtest.Reply(valued(c.value)), &desk{})
		var kinds []string
		for _, e := range log.Events {
			if slices.Contains([]methods.EventKind{aot.TiesDrawn, methods.Fallback, methods.Dropped, methods.Repair}, e.Kind) {
				kinds = append(kinds, string(e.Kind))
			}
		}
		if string(a.Value) != c.want || a.Outcome != c.outcome || strings.Join(kinds, " ") != c.events {
			t.Errorf("%s: %s, %s %q, events %v; want %s", c.value, a.Value, a.Outcome, a.Reason, kinds, c.want)
		}
		if ties := strings.Contains(c.events, "ties"); ties != strings.Contains(fmt.Sprint(a.Evidence), "seed") {
			t.Errorf("%s: evidence %v", c.value, a.Evidence)
		}
	}
}

// TestTiesFavourNoItem: over many seeds each item of a tie, and each that the
// plan leaves out, is as often first among its likes.
func TestTiesFavourNoItem(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	p := problem(methods.Text, "")
	p.Answer = methods.AnswerSpec{Kind: methods.Ranking, N: 6, K: 6}
	const trials = 1200
	tied, left := map[int]int{}, map[int]int{}
	for seed := range uint64(trials) {
		p.Seed = seed
		a, err := aot.New().Solve(t.Context(), p, methodtest.NewHost(methodtest.Reply(valued(`[[2,5,6]]`))))
		order, err2 := a.Ranking()
		if err := errors.Join(err, err2); err != nil || len(order) != 6 {
			t.Fatal(a, err)
		}
		tied[order[0]]++
		left[order[3]]++
	}
	for _, counts := range []map[int]int{tied, left} {
		for item, n := range counts { // 400 expected, 16 standard deviation
			if len(counts) != 3 || n < 320 || n > 480 {
				t.Errorf("item %d is first %d times of %d: %v", item, n, trials, counts)
			}
		}
	}
}

// reader is a model that plans once and then answers each text by its length.
func reader(plan string) methodtest.ModelFunc {
	return func(_ context.Context, r methods.Request) (methods.Completion, error) {
		text := r.Messages[0].Content
		if strings.HasPrefix(text, "Break a request into atoms") {
			return methods.Completion{Text: plan}, nil
		}
		_, body, _ := strings.Cut(text, "<text>\n")
		body, _, _ = strings.Cut(body, "\n</text>")
		if strings.Contains(text, "<fields>") {
			mood := "good"
			if len(body) > 5 {
				mood = "bad"
			}
			return methods.Completion{Text: `{"mood":"` + mood + `","why":"` + fmt.Sprint(len(body)) + `"}`}, nil
		}
		raw, err := json.Marshal(map[string]string{"answer": strings.ToUpper(body)})
		return methods.Completion{Text: string(raw)}, err
	}
}

const readPlan = `{"atoms":[
 {"id":1,"kind":"decision","name":"read_each","input":{"list":[{"n":1,"text":"short"},{"n":2,"text":"rather long </TEXT>"}],"path":"text","question":"How?","fields":{"mood":["good","bad"],"why":[]}}},
 {"id":2,"kind":"decision","name":"filter","input":{"list":"<result_of_1>","path":"mood","op":"=","value":"bad"},"dependsOn":[1]},
 {"id":3,"kind":"decision","name":"read","input":{"question":"Which?","text":"<result_of_2>"},"dependsOn":[2]},
 {"id":4,"kind":"final","name":"r","input":{"answer":"<result_of_3>"},"dependsOn":[3]}]}`

func TestReading(t *testing.T) {
	a, log := solve(t, problem(methods.Text, ""), reader(readPlan), &desk{})
	if want := `"[{\"MOOD\":\"BAD\",\"N\":2,\"WHY\":\"20\"}]"`; string(a.Value) != want {
		t.Errorf("%s %s %s, want %s", a.Value, a.Outcome, a.Reason, want)
	}
	var paths []string
	for _, c := range log.Calls {
		paths = append(paths, c.Request.Path)
		if strings.Contains(c.Request.Messages[0].Content, "</TEXT>") && !strings.Contains(c.Request.Messages[0].Content, "<tools>") {
			t.Errorf("a text ends its own section: %s", c.Request.Messages[0].Content)
		}
	}
	slices.Sort(paths)
	if got := strings.Join(paths, " "); got != "atom/1/1 atom/1/2 atom/3 plan" {
		t.Errorf("calls %s", got)
	}
}

func TestReadingThatFails(t *testing.T) {
	nonsense := func(_ context.Context, r methods.Request) (methods.Completion, error) {
		if strings.HasPrefix(r.Messages[0].Content, "Break a request into atoms") {
			return methods.Completion{Text: readPlan}, nil
		}
		return methods.Completion{Text: "well"}, nil
	}
	a, _ := solve(t, problem(methods.Text, `{"retries":1}`), methodtest.ModelFunc(nonsense), &desk{})
	if a.Outcome != methods.Failed || !strings.Contains(a.Reason, "atom 1 failed: text 1 of 2") {
		t.Errorf("%s %q", a.Outcome, a.Reason)
	}
	for _, cause := range []error{methods.ErrProvider, methods.ErrMiss} {
		failing := methodtest.ModelFunc(func(_ context.Context, r methods.Request) (methods.Completion, error) {
			if strings.HasPrefix(r.Messages[0].Content, "Break a request into atoms") {
				return methods.Completion{Text: readPlan}, nil
			}
			return methods.Completion{}, cause
		})
		if a, err := aot.New().Solve(t.Context(), problem(methods.Text, ""), methodtest.NewHost(failing)); !errors.Is(err, cause) {
			t.Errorf("%v: %+v, %v", cause, a, err)
		}
	}
}

// TestContractOfNewKinds is the conformance of rankings, sets, fields and reads.
func TestContractOfNewKinds(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, c := range []struct {
		name  string
		spec  methods.AnswerSpec
		model methods.Model
	}{
		{"ranking", methods.AnswerSpec{Kind: methods.Ranking, N: 4, K: 3}, methodtest.Reply(valued(`[[4,2]]`))},
		{"set", methods.AnswerSpec{Kind: methods.Set}, methodtest.Reply(valued(`["b","a"]`))},
		{"fields", methods.AnswerSpec{Kind: methods.Fields, Names: []string{"n"}}, methodtest.Reply(valued(`{"n":2}`))},
		{"read", methods.AnswerSpec{Kind: methods.Text}, reader(readPlan)},
	} {
		p := problem(methods.Text, "")
		p.Answer = c.spec
		p.Context = json.RawMessage(`{"items":["a","b","c","d"]}`)
		methodtest.Run(t, aot.New(), methodtest.Case{Name: c.name, Problem: p, Model: c.model, Tools: methodtest.ToolFunc(
			func(_ context.Context, c methods.ToolCall) (methods.ToolResult, error) { return serve(c) })})
	}
}
