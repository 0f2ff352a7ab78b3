package generalanot_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"noema/methods"
	"noema/methods/generalanot"
)

// tiny is a program with one enum field and the given steps, all of them
// output fields: "name: formula".
func tiny(t *testing.T, steps ...string) *generalanot.FormulaSeed {
	t.Helper()
	s := &generalanot.FormulaSeed{
		TaskName: "tiny", FilterKeywords: []string{}, ExtractionPrompt: "{review_text}",
		ExtractionFields: []generalanot.ExtractionField{{Name: "tone", Type: "enum", Values: []string{"good", "bad"}}, {Name: "n", Type: "integer"}},
	}
	for _, line := range steps {
		name, formula, _ := strings.Cut(line, ": ")
		s.ComputeDAG = append(s.ComputeDAG, generalanot.ComputeStep{Name: name, Formula: formula})
		s.OutputFields = append(s.OutputFields, name)
	}
	return s
}

func program(t *testing.T, s *generalanot.FormulaSeed) *generalanot.Program {
	t.Helper()
	p, faults := generalanot.NewProgram(s, methods.AnswerSpec{Labels: []string{"Low", "High"}})
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	return p
}

func contextFrom(t *testing.T, raw string) *generalanot.Context {
	t.Helper()
	c, err := generalanot.ParseContext([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const threeReviews = `{"restaurant": {"name": "Alba", "cuisine": "Thai", "open": true, "price": 2}, "reviews": [
	{"text": "good", "stars": 4, "date": "2023-05-01", "useful": 2},
	{"text": "bad", "stars": 2.5, "date": "2024-05-01 10:00:00"},
	{"text": "ok", "date": "yesterday"}]}`

func threeExtractions() []generalanot.Extraction {
	return []generalanot.Extraction{
		{Review: 3, Fields: map[string]any{"tone": "good", "n": int64(5)}},
		{Review: 1, Fields: map[string]any{"tone": "good", "n": int64(2)}},
		{Review: 2, Fields: map[string]any{"tone": "bad", "n": int64(3)}},
	}
}

func compute(t *testing.T, s *generalanot.FormulaSeed) generalanot.Result {
	t.Helper()
	r, err := program(t, s).Compute(t.Context(), contextFrom(t, threeReviews), threeExtractions())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Formulas see the extractions in the order of the reviews, and the metadata.
func TestComputeValues(t *testing.T) {
	for formula, want := range map[string]string{
		"[e['n'] for e in extractions]":     "[2,3,5] from [1 2 3]",
		"[e['stars'] for e in extractions]": "[4,2.5,null] from [1 2 3]",
		"[e['year'] for e in extractions]":  "[2023,2024,null] from [1 2 3]",
		"[r['date'] for r in reviews]":      `["2023-05-01","2024-05-01","yesterday"] from []`,
		"[(date.fromisoformat('2024-06-01') - date.fromisoformat(e['date'])).days for e in extractions[:2]]": "[397,31] from [1 2 3]",
		"len(reviews)":                                      "3 from []",
		"sum(e['n'] for e in extractions)":                  "10 from [1 2 3]",
		"sum(1 for e in extractions if e['tone']=='good')":  "2 from [1 3]",
		"max((e['n'] for e in extractions), default=0)":     "5 from [1 2 3]",
		"any(e['tone']=='bad' for e in extractions)":        "true from [2]",
		"all(e['tone']=='good' for e in extractions)":       "false from [2]",
		"sum(e['n'] for e in extractions)/len(extractions)": "3.3333333333333335 from [1 2 3]",
		"1 if len(extractions) >= 3 else 0":                 "1 from [1 2 3]",
		"7":                                                 "7 from []",
		"'text'":                                            `"text" from []`,
		"2**70":                                             "1180591620717411303424 from []",
		"{'a': (1, 2.0, None)}":                             `{"a":[1,2.0,null]} from []`,
	} {
		r := compute(t, tiny(t, "x: "+formula))
		got := fmt.Sprintf("%s from %v", r.Fields["x"], r.Steps[0].Sources)
		if got != want && strings.ReplaceAll(want, "2.0", "2") != got {
			t.Errorf("%s = %s, want %s (%v)", formula, got, want, r.Lost)
		}
	}
}

// A step that fails takes with it what uses it and nothing else.
func TestComputeFailsInPart(t *testing.T) {
	r := compute(t, tiny(t, "a: 1", "b: a / (a - 1)", "c: b + 1", "d: a + 1", "e: [i for i in range(3)][d + 1]", "f: c if c else 1"))
	for name, want := range map[string]string{
		"b": "step b: evaluate expression: line 1, column 3: ZeroDivisionError", "c": "step c: it uses b, which is undefined",
		"e": "step e: evaluate expression: line 1, column 22: IndexError", "f": "step f: it uses c, which is undefined",
	} {
		c, ok := r.Step(name)
		if !ok || c.Err == nil || !strings.HasPrefix(c.Err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, c.Err, want)
		}
	}
	if string(r.Fields["a"]) != "1" || string(r.Fields["d"]) != "2" || len(r.Fields) != 2 || len(r.Lost) != 4 {
		t.Errorf("fields %s, lost %q", r.Fields, r.Lost)
	}
}

func TestOutputsThatAreNoJSON(t *testing.T) {
	r := compute(t, tiny(t, "a: 1e308 * 10", "b: (e for e in extractions)", "c: len", "verdict: 'low'", "d: lambda x: x"))
	if len(r.Fields) != 0 || len(r.Lost) != 5 {
		t.Fatalf("fields %s, lost %q", r.Fields, r.Lost)
	}
	for i, want := range []string{"step a: its value inf", "step b: ", "step c: ", `step verdict: "low" is not among the verdicts Low, High`, "step d: "} {
		if !strings.HasPrefix(r.Lost[i], want) {
			t.Errorf("lost %q, want %q", r.Lost[i], want)
		}
	}
}

func TestSolveWithAFailingFormula(t *testing.T) {
	m := working(t)
	m.compile = []string{broken(t, "n_mild * 2 + n_moderate * 5", "n_mild // n_severe")}
	a, log := solve(t, problem(""), m)
	if string(a.Value) != `{"n_total_incidents":3,"recency_decay":0.5}` || a.Outcome != methods.Failed {
		t.Errorf("answer %s %s", a.Value, a.Outcome)
	}
	want := "step incident_score: evaluate expression: line 1, column 8: ZeroDivisionError"
	if !strings.HasPrefix(a.Reason, want) || !strings.Contains(a.Reason, "step verdict: it uses final_risk_score, which is undefined") {
		t.Errorf("reason %q, want %q", a.Reason, want)
	}
	if got := events(log, methods.StepError); strings.Count(got, "\n") != 4 {
		t.Errorf("step errors:\n%s", got)
	}
}

func TestLookupsAndValidity(t *testing.T) {
	s := tiny(t, "x: factor * sum(e['n'] for e in extractions)", "y: flag", "z: missing")
	s.Lookups = []generalanot.Lookup{
		{Name: "factor", Field: "restaurant.cuisine", Table: []generalanot.LookupEntry{{Key: "thai", Value: 1.5}}, Default: 1},
		{Name: "flag", Field: "restaurant.open", Table: []generalanot.LookupEntry{{Key: "true", Value: "yes"}}, Default: "no"},
		{Name: "missing", Field: "restaurant.name.first", Table: []generalanot.LookupEntry{{Key: "Alba", Value: "yes"}}, Default: "no"},
	}
	s.ReviewValidity = &generalanot.ReviewValidity{Field: "tone", Keep: []string{"good"}}
	r := compute(t, s)
	if got := fmt.Sprintf("%s", r.Fields); got != `map[x:10.5 y:"yes" z:"no"]` {
		t.Errorf("fields %s, lost %q", got, r.Lost)
	}
	if fmt.Sprint(r.Invalid, r.Missed) != "[2] [missing]" {
		t.Errorf("invalid %v, missed %v", r.Invalid, r.Missed)
	}
}

func TestComputeErrors(t *testing.T) {
	p := program(t, tiny(t, "x: 1"))
	c := contextFrom(t, threeReviews)
	for want, list := range map[string][]generalanot.Extraction{
		"the context has only 3 reviews": {{Review: 4}},
		"review 2 has two extractions":   {{Review: 2}, {Review: 2}},
	} {
		if _, err := p.Compute(t.Context(), c, list); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Compute(ctx, c, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v after cancellation", err)
	}
}

func TestParseContextErrors(t *testing.T) {
	for raw, want := range map[string]string{
		"": "read context: empty", "[]": "read context", "{}": `the list "reviews" is missing`, `{"reviews": 1}`: "read context",
		`{"reviews": [{}, 3]}`: "review 2", `{"reviews": [{"stars": "many"}]}`: "review 1",
	} {
		if _, err := generalanot.ParseContext([]byte(raw)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseContext(%q): %v, want %q", raw, err, want)
		}
	}
}

func TestRelevant(t *testing.T) {
	for _, c := range []struct {
		keyword, text    string
		words, substring bool
	}{
		{"nut", "a minute", false, true},
		{"nut", "NUT-free", true, true},
		{"Nut", "nuts", false, true},
		{"nut free", "It is nut-free!", true, false},
		{"nut free", "nut, but not free", false, false},
		{"straße", "STRASSE", true, true},
		{"chef's", "the Chef's table", true, true},
		{"$$", "costs $$$", true, true},
		{" wait ", "wait", true, true},
		{"a b", "a", false, false},
		{"été", "l'ÉTÉ", true, true},
	} {
		s := tiny(t, "x: 1")
		s.FilterKeywords = []string{c.keyword}
		p := program(t, s)
		data := &generalanot.Context{Reviews: []generalanot.Review{{N: 1, Text: c.text}}}
		for filter, want := range map[string]bool{"words": c.words, "substring": c.substring, "none": true} {
			if got := len(p.Relevant(data, filter)) == 1; got != want {
				t.Errorf("%s: %q in %q is %v", filter, c.keyword, c.text, got)
			}
		}
	}
	data := contextFrom(t, threeReviews)
	if got := len(program(t, tiny(t, "x: 1")).Relevant(data, "words")); got != 3 {
		t.Errorf("without keywords %d of 3 reviews are relevant", got)
	}
}

func TestLongReviewsAreCut(t *testing.T) {
	list := reviews()[:1]
	list[0].text = "peanut äöü and a long tail: ugh"
	for options, want := range map[string]string{
		`{"max_review_chars":10}`:                       "<review>\npeanut äöü\n(cut)\n</review>",
		`{"max_review_chars":3,"strategy":"tail"}`:      "<review>\n(cut)\nugh\n</review>",
		`{"max_review_chars":9,"strategy":"head+tail"}`: "<review>\npeanu\n(cut)\n ugh\n</review>",
		`{"max_review_chars":31}`:                       "<review>\n" + list[0].text + "\n</review>",
		``:                                              "<review>\npeanut\n(cut)\n</review>",
	} {
		m := working(t)
		m.compile = []string{broken(t, `"review_handling": null`, `"review_handling": {"max_length": 6, "strategy": "truncate_head"}`)}
		p := problem(options)
		p.Context = contextOf(list)
		_, log := solve(t, p, m)
		if prompt := log.Calls[0].Request.Messages[0].Content; !strings.Contains(prompt, want) {
			t.Errorf("%s: no %q in\n%s", options, want, prompt)
		}
		if cut := events(log, methods.Truncated); (cut == "") != strings.Contains(want, list[0].text) {
			t.Errorf("%s: truncated events %q", options, cut)
		}
	}
}

// Without extraction fields there is nothing to ask, and formulas have the
// metadata.
func TestNoFieldsNoCalls(t *testing.T) {
	s := tiny(t, "n: len(extractions)", "verdict: 'Low' if sum(r['useful'] for r in reviews) < 4 else 'High'")
	s.ExtractionFields, s.ExtractionPrompt = []generalanot.ExtractionField{}, ""
	raw, err := generalanot.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	p := problem(fmt.Sprintf(`{"seed":%q}`, raw))
	p.Answer = methods.AnswerSpec{Kind: methods.Fields, Labels: []string{"Low", "High"}}
	a, log := solve(t, p, model{})
	if string(a.Value) != `{"n":8,"verdict":"High"}` || len(log.Calls) != 0 {
		t.Errorf("answer %s %s after %d calls", a.Value, a.Reason, len(log.Calls))
	}
}

// TestLookupsOverLists: over generated data a lookup finds in a list what it finds in the text of
// all its elements, as the original has them, and a key without asterisks only a whole element.
func TestLookupsOverLists(t *testing.T) {
	random := rand.New(rand.NewPCG(14, 1))
	kinds := []string{"Thai", "Italian", "Pizza", "Noodle Bar", "Bar", "Sushi"}
	found := 0
	for range 300 {
		var have []string
		for range random.IntN(4) {
			have = append(have, kinds[random.IntN(len(kinds))])
		}
		raw, err := json.Marshal(map[string]any{"restaurant": map[string]any{"categories": append([]string{}, have...), "joined": strings.Join(have, ", ")}, "reviews": []any{}})
		if err != nil {
			t.Fatal(err)
		}
		var anywhere, whole []generalanot.LookupEntry
		want := 0
		for i, k := range random.Perm(len(kinds))[:3] {
			key := kinds[k]
			anywhere = append(anywhere, generalanot.LookupEntry{Key: "*" + strings.ToLower(key) + "*", Value: i + 1})
			whole = append(whole, generalanot.LookupEntry{Key: strings.ToUpper(key), Value: i + 1})
			if want == 0 && slices.Contains(have, key) {
				want = i + 1
			}
		}
		s := tiny(t, "a: in_list", "b: in_text", "c: elements")
		s.Lookups = []generalanot.Lookup{
			{Name: "in_list", Field: "restaurant.categories", Table: anywhere, Default: 0},
			{Name: "in_text", Field: "restaurant.joined", Table: anywhere, Default: 0},
			{Name: "elements", Field: "restaurant.categories", Table: whole, Default: 0},
		}
		r, err := program(t, s).Compute(t.Context(), contextFrom(t, string(raw)), nil)
		if err != nil {
			t.Fatal(err)
		}
		if string(r.Fields["a"]) != string(r.Fields["b"]) || string(r.Fields["c"]) != fmt.Sprint(want) {
			t.Fatalf("%s: %s in the list, %s in the text; %s of whole elements, want %d", raw, r.Fields["a"], r.Fields["b"], r.Fields["c"], want)
		}
		if want > 0 {
			found++
		}
		absent, err := generalanot.Absent(s, methods.Problem{Context: raw, Answer: spec()})
		if err != nil || len(absent) > 0 {
			t.Fatalf("absent %v, %v", absent, err)
		}
		s.Lookups[random.IntN(3)].Field = "business.categories"
		if absent, err = generalanot.Absent(s, methods.Problem{Context: raw, Answer: spec()}); err != nil || len(absent) != 1 {
			t.Fatalf("absent %v, %v", absent, err)
		}
	}
	if found < 50 {
		t.Errorf("only %d lookups found a key", found)
	}
}
