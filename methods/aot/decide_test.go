package aot_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"noema/methods"
	"noema/methods/aot"
)

// decided runs a plan of one decision.
func decided(t *testing.T, name, input string) (string, error) {
	t.Helper()
	plan := fmt.Sprintf(`{"atoms":[{"id":1,"kind":"decision","name":%q,"input":%s},{"id":2,"kind":"final","name":"r","dependsOn":[1]}]}`, name, input)
	s, err := run(t, plan, &desk{}, aot.Options{})
	return string(s.Answer), err
}

func TestDecisions(t *testing.T) {
	const rows = `[{"item":3,"n":2,"at":{"x":"b"}},{"item":1,"n":10,"at":{"x":"a"}},{"item":2,"n":2.0},{"item":4}]`
	for _, c := range []struct{ name, input, want string }{
		{"product", `{"values":[2,0.5,-3]}`, `-3`},
		{"quotient", `{"a":1,"b":3}`, `0.333333333333`},
		{"quotient", `{"a":1,"b":0,"otherwise":7}`, `7`},
		{"quotient", `{"a":1,"b":0}`, `division by zero: give the value for it as "otherwise"`},
		{"round", `{"x":0.125,"places":2}`, `0.12`},
		{"round", `{"x":0.375,"places":2}`, `0.38`},
		{"round", `{"x":-2.5,"places":0}`, `-2`},
		{"round", `{"x":-3.5,"places":0}`, `-4`},
		{"round", `{"x":1250,"places":-2}`, `1200`},
		{"round", `{"x":1,"places":301}`, `maximum`},
		{"grade", `{"value":4,"bounds":[4,8],"values":["low","mid","high"]}`, `"mid"`},
		{"grade", `{"value":3.9,"bounds":[4,8],"values":["low","mid","high"]}`, `"low"`},
		{"grade", `{"value":9,"bounds":[4,8],"values":["low","mid","high"]}`, `"high"`},
		{"grade", `{"value":9,"bounds":[4,4],"values":["low","mid","high"]}`, `do not ascend`},
		{"grade", `{"value":9,"bounds":[4],"values":["low","mid","high"]}`, `give one value more than bounds`},
		{"count", `{"list":[1,1,[]]}`, `3`},
		{"total", `{"list":` + rows + `,"path":"n"}`, `value 4 of the list`},
		{"total", `{"list":[0.1,0.2]}`, `0.3`},
		{"total", `{"list":[],"path":"n"}`, `0`},
		{"field", `{"of":{"a":{"b":[1]},"a.b":2},"path":"a.b"}`, `2`},
		{"field", `{"of":{"a":{"b":[1]}},"path":"a.b"}`, `[1]`},
		{"field", `{"of":` + rows + `,"path":"at.x"}`, `["b","a"]`},
		{"field", `{"of":{"a":1},"path":"b"}`, `no value at "b"; its keys are a`},
		{"filter", `{"list":` + rows + `,"path":"n","op":"=","value":2}`, `[{"at":{"x":"b"},"item":3,"n":2},{"item":2,"n":2.0}]`},
		{"filter", `{"list":["Ab","b",3,null],"op":"contains","value":"B"}`, `["Ab","b"]`},
		{"filter", `{"list":[1,2,"10",null,"a"],"op":">=","value":2}`, `[2]`},
		{"filter", `{"list":["2023-05-01","2021"],"op":">=","value":"2023"}`, `["2023-05-01"]`},
		{"filter", `{"list":[true,null,1],"op":"!=","value":true}`, `[null,1]`},
		{"filter", `{"list":[[1,2],[3]],"op":"contains","value":2.0}`, `[[1,2]]`},
		{"sort", `{"list":["b",10,9,null,"a"],"order":"ascending"}`, `[9,10,"a","b",null]`},
		{"sort", `{"list":["b",10,9,null,"a"],"order":"descending"}`, `["b","a",10,9,null]`},
		{"union", `{"lists":[[1,"1"],[1.0,2]]}`, `[1,"1",2]`},
		{"intersect", `{"lists":[[3,1,3,2],[2,3,3],[3,2,9]]}`, `[3,2]`},
		{"intersect", `{"lists":[[1,1],[2]]}`, `[]`},
		{"difference", `{"a":[1,2,2,3],"b":[3,4]}`, `[1,2]`},
		{"rank", `{"lists":[[1,2],[2,3,3],[2]],"weights":[1,1,0.5]}`, `[[2],[1,3]]`},
		{"rank", `{"lists":[[1,2],[2,5]]}`, `[[2],[1,5]]`},
		{"rank", `{"lists":[[1,2]],"weights":[1,2]}`, `2 weights for 1 lists`},
		{"rank", `{"lists":[["a"]]}`, `got string, want integer`},
		{"rank_by", `{"list":` + rows + `,"path":"n","order":"descending"}`, `[[1],[2,3]]`},
		{"rank_by", `{"list":[{"id":2,"n":1}],"path":"n","order":"ascending"}`, `name the key as "item"`},
		{"rank_by", `{"list":[{"id":2,"n":1}],"path":"n","order":"ascending","item":"id"}`, `[[2]]`},
		{"extract", `{"pattern":"was (\\w+)","text":"it was good"}`, `"good"`},
		{"extract", `{"pattern":"\\d+","text":"room 12"}`, `"12"`},
		{"extract", `{"pattern":"\\d+","text":"room","otherwise":"none"}`, `"none"`},
		{"extract", `{"pattern":"\\d+","text":"room"}`, `nothing in the text matches`},
		{"extract", `{"pattern":"(?=x)","text":"room"}`, `write a regular expression of RE2`},
		{"extract", `{"pattern":"(((a{1000}){1000}){1000})","text":"a"}`, `pattern:`},
		{"read", `{"question":"who?","text":"a"}`, `asks a model, which a plan that is run by hand does not have`},
	} {
		got, err := decided(t, c.name, c.input)
		if err != nil {
			got = err.Error()
		}
		if got != c.want && (err == nil || !strings.Contains(got, c.want)) {
			t.Errorf("%s(%s) = %s\nwant %s", c.name, c.input, got, c.want)
		}
	}
}

// TestPatternsMatchReferencesAsTheyAre: what a reference puts into a pattern
// cannot be an operator.
func TestPatternsMatchReferencesAsTheyAre(t *testing.T) {
	s, err := run(t, `{"atoms":[{"id":1,"kind":"decision","name":"choose","input":{"if":true,"then":"A.B (1+1)","else":""}},
	 {"id":2,"kind":"decision","name":"extract","input":{"pattern":"<result_of_1> married (.+?)\\.","text":"AxB (1+1) married no one. A.B (1+1) married Cy."}},
	 {"id":3,"kind":"final","name":"r","dependsOn":[2]}]}`, &desk{}, aot.Options{})
	if err != nil || string(s.Answer) != `"Cy"` {
		t.Errorf("%s, %v", s.Answer, err)
	}
}

// TestShapes: what is known of results is held against what takes them, before
// anything runs.
func TestShapes(t *testing.T) {
	shelf := []methods.ToolSpec{
		{Name: "items", Pure: true, Result: json.RawMessage(`{"type":"array","items":{"type":"integer"}}`)},
		{Name: "rows", Pure: true, Result: json.RawMessage(`{"type":"array","items":{"type":"object","properties":{"item":{"type":"integer"},"name":{"type":"string"},"tags":{"type":"array","items":{"type":"string"}}}}}`)},
	}
	ranking, set := methods.AnswerSpec{Kind: methods.Ranking, N: 5, K: 3}, methods.AnswerSpec{Kind: methods.Set}
	fields := methods.AnswerSpec{Kind: methods.Fields, Names: []string{"n", "verdict"}, Labels: []string{"good", "bad"}}
	const tool, rows = `{"id":1,"kind":"tool","name":"items"}`, `{"id":1,"kind":"tool","name":"rows"}`
	of := func(name, input string) string {
		return `{"id":2,"kind":"decision","name":"` + name + `","input":` + input + `}`
	}
	end := func(answer string) string {
		return `{"id":9,"kind":"final","name":"r","input":{"answer":` + answer + `},"dependsOn":[1,2]}`
	}
	for _, c := range []struct {
		want  methods.AnswerSpec
		atoms []string
		fault string // the only one; none if empty
	}{
		{ranking, []string{tool, of("rank", `{"lists":["<result_of_1>"]}`), end(`"<result_of_2>"`)}, ""},
		{ranking, []string{tool, of("count", `{"list":"<result_of_1>"}`), end(`["<result_of_2>", "<result_of_1>"]`)}, ""},
		{ranking, []string{tool, of("count", `{"list":"<result_of_1>"}`), end(`"<result_of_2>"`)}, "atom 9: the answer: atom 2 gives a value of type integer, want array"},
		{ranking, []string{rows, of("field", `{"of":"<result_of_1>","path":"name"}`), end(`"<result_of_2>"`)}, "atom 9: the answer: atom 2 gives a value whose items are of type string, want integer or array"},
		{ranking, []string{rows, of("rank", `{"lists":["<result_of_1>"]}`), end(`"<result_of_2>"`)}, "atom 2: input lists.0: atom 1 gives a value whose items are of type object, want integer"},
		{ranking, []string{rows, of("sort", `{"list":"<result_of_1>","order":"ascending"}`), end(`"<result_of_2>"`)}, "atom 9: the answer: atom 2 gives a value whose items are of type object, want integer or array"},
		{ranking, []string{tool, of("difference", `{"a":"<result_of_1>","b":[1]}`), end(`[6, "<result_of_2>"]`)}, "atom 9: the answer 0: maximum: got 6, want 5"},
		{set, []string{rows, of("field", `{"of":"<result_of_1>","path":"name"}`), end(`"<result_of_2>"`)}, ""},
		{set, []string{rows, of("field", `{"of":"<result_of_1>","path":"item"}`), end(`"<result_of_2>"`)}, "atom 9: the answer: atom 2 gives a value whose items are of type integer, want string"},
		{set, []string{rows, of("field", `{"of":"<result_of_1>","path":"nothing"}`), end(`"<result_of_2>"`)}, ""},
		{set, []string{rows, of("field", `{"of":"<result_of_1>","path":"tags"}`), end(`"<result_of_2>"`)}, "atom 9: the answer: atom 2 gives a value whose items are of type array, want string"},
		{set, []string{rows, of("union", `{"lists":[["a"],["b"]]}`), end(`"<result_of_2>"`)}, ""},
		{set, []string{rows, of("union", `{"lists":[["a"],"<result_of_1>"]}`), end(`"<result_of_2>"`)}, ""},
		{set, []string{rows, of("read_each", `{"list":"<result_of_1>","path":"name","question":"?","fields":{"mood":["good","bad"]}}`), end(`"<result_of_2>"`)}, "atom 9: the answer: atom 2 gives a value whose items are of type object, want string"},
		{fields, []string{tool, of("count", `{"list":"<result_of_1>"}`), end(`{"n":"<result_of_2>","verdict":"good"}`)}, ""},
		{fields, []string{tool, of("count", `{"list":"<result_of_1>"}`), end(`{"n":"<result_of_2>","verdict":"fair"}`)}, "atom 9: the answer verdict: value must be one of 'good', 'bad'"},
		{fields, []string{tool, of("count", `{"list":"<result_of_1>"}`), end(`{"n":"<result_of_2>"}`)}, "atom 9: the answer: missing property 'verdict'"},
		{fields, []string{tool, of("count", `{"list":"<result_of_1>"}`), end(`"<result_of_2>"`)}, "atom 9: the answer: atom 2 gives a value of type integer, want object"},
	} {
		plan, faults := aot.ParsePlan([]byte(`{"atoms":[` + strings.Join(c.atoms, ",") + `]}`))
		plan, _ = aot.Repair(plan)
		faults = append(faults, aot.Validate(plan, shelf, c.want)...)
		if c.fault == "" && len(faults) > 0 || c.fault != "" && (len(faults) != 1 || !strings.HasPrefix(faults[0].String(), c.fault)) {
			t.Errorf("%s\nfaults %s\nwant   %s", c.atoms, faults, c.fault)
		}
	}
}
