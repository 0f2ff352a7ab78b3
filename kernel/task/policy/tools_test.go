package policy

import (
	"encoding/json"
	"strings"
	"testing"

	"noema/methods"
)

const threeReviews = `{"restaurant":{"name":"Oven","categories":["Thai"]},"reviews":[
 {"author":"A","stars":5,"date":"2024-05-02","useful":3,"text":"No peanut allergy problem."},
 {"author":"B","stars":2,"date":"2023-01-31","useful":0,"text":"Allergic to ALLERGY signs, ` + "é" + `."},
 {"author":"C","stars":1,"date":"","useful":1,"text":""}]}`

func TestTools(t *testing.T) {
	e, err := environment().Of(methods.Problem{Context: json.RawMessage(threeReviews)})
	if err != nil {
		t.Fatal(err)
	}
	const first = `{"review":1,"author":"A","stars":5,"date":"2024-05-02","year":2024,"useful":3,"text":"No peanut allergy problem."}`
	for _, c := range []struct{ name, arguments, want, fault string }{
		{"about_restaurant", ``, `{"name":"Oven","categories":["Thai"],"reviews":3,"last":"2024-05-02","mean_stars":2.67}`, ""},
		{"find_reviews", `{"words":["allergy"],"min_stars":3}`, "[" + first + "]", ""},
		{"count_reviews", `{"words":["allergy"]}`, "2", ""},
		{"count_reviews", `{"since":"2024"}`, "1", ""},
		{"count_reviews", `{"since":"2023-01-31","until":"2023-01"}`, "1", ""},
		{"count_reviews", `{"max_stars":1}`, "1", ""},
		{"find_reviews", `{"words":["lobster"]}`, "[]", ""},
		{"read_review", `{"review":1}`, first, ""},
		{"read_review", `{"review":4}`, "", "name one of 1 to 3"},
		{"read_review", `{"review":0}`, "", "minimum"},
		{"read_review", `{}`, "", "missing propert"},
		{"find_reviews", `{"words":"allergy"}`, "", "got string, want array"},
		{"count_reviews", `{"full":true}`, "", "additional"},
	} {
		r, err := e.Call(t.Context(), methods.ToolCall{Name: c.name, Arguments: json.RawMessage(c.arguments)})
		if err != nil || r.IsError != (c.fault != "") || c.fault == "" && r.Content != c.want || !strings.Contains(r.Content, c.fault) {
			t.Errorf("%s(%s) = %+v, %v\nwant %s%s", c.name, c.arguments, r, err, c.want, c.fault)
		}
	}
	if _, err := environment().Call(t.Context(), methods.ToolCall{Name: "find_reviews"}); err == nil {
		t.Error("the tools ran without a problem")
	}
	if _, err := environment().Of(methods.Problem{Context: json.RawMessage(`{"reviews":1}`)}); err == nil {
		t.Error("a context without reviews was read")
	}
}

// TestToolsFitThePresentedProblem holds the tools against the reviews of a
// generated problem, all of which fit into one result.
func TestToolsFitThePresentedProblem(t *testing.T) {
	made, err := New(Options{Policy: "allergy", Restaurants: 1, K: 200})
	if err != nil {
		t.Fatal(err)
	}
	p := made.Samples[0].Problem
	e, err := environment().Of(p)
	if err != nil {
		t.Fatal(err)
	}
	r, err := e.Call(t.Context(), methods.ToolCall{Name: "find_reviews", Arguments: json.RawMessage(`{"full":true}`)})
	var rows []reviewRow
	if err != nil || json.Unmarshal([]byte(r.Content), &rows) != nil || len(rows) != 200 {
		t.Fatalf("%d reviews, %v: %.200s", len(rows), err, r.Content)
	}
	var f file
	if err := json.Unmarshal(p.Context, &f); err != nil {
		t.Fatal(err)
	}
	for i, row := range rows {
		if row.Text != f.Reviews[i].Text || row.Review != i+1 || row.Year < 2019 {
			t.Errorf("review %d: %+v, want %+v", i+1, row, f.Reviews[i])
		}
	}
}
