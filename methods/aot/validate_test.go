package aot_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"noema/methods"
	"noema/methods/aot"
)

const (
	ok1   = `{"id":1,"kind":"tool","name":"add","input":{"a":1,"b":2}}`
	final = `{"id":9,"kind":"final","name":"report","input":{"answer":"<result_of_1>"},"dependsOn":[1]}`
	there = "there are add, book, cancel, divide, multiply, subtract, weekday"
)

// Each malformed plan names all its faults at once and nothing else.
func TestMalformedPlans(t *testing.T) {
	atoms := func(list ...string) string { return `{"atoms":[` + strings.Join(list, ",") + `]}` }
	for name, c := range map[string]struct {
		plan   string
		faults []string
	}{
		"not json":            {`atoms: 1`, []string{`plan: want a JSON object`, `plan: it has 0 atoms`}},
		"a list":              {`[]`, []string{`plan: want a JSON object`, `plan: it has 0 atoms`}},
		"two values":          {`{"atoms":[]} {}`, []string{`plan: want a JSON object`, `plan: it has 0 atoms`}},
		"no atoms":            {`{"atoms":[]}`, []string{`plan: it has 0 atoms; want 1 to 10000`}},
		"too many":            {`{"atoms":[` + strings.Repeat("{},", 10_000) + `{}]}`, []string{`plan: it has 10001 atoms`}},
		"not objects":         {atoms(`7`, ok1, final), []string{`the atom at position 1: it is not an object`, `the atom at position 1: "id" must be a whole number from 1`, `the atom at position 1: unknown kind ""`, `the atom at position 1: the final atom does not need it`}},
		"no id":               {atoms(`{"kind":"final","name":"r","input":{"answer":1}}`), []string{`the atom at position 1: "id" must be a whole number from 1`}},
		"bad id":              {atoms(`{"id":"one","kind":"final","name":"r","input":{"answer":1}}`), []string{`the atom at position 1: "id" must be a whole number from 1`}},
		"fractional id":       {atoms(`{"id":1.5,"kind":"final","name":"r","input":{"answer":1}}`), []string{`the atom at position 1: "id" must be a whole number from 1`}},
		"negative id":         {atoms(`{"id":-1,"kind":"final","name":"r","input":{"answer":1}}`), []string{`the atom at position 1: "id" must be a whole number from 1`}},
		"duplicate ids":       {atoms(ok1, ok1, final), []string{`atom 1: its id is taken by the atom at position 1`, `atom 1: the final atom does not need it`}},
		"wrong field types":   {atoms(ok1, `{"id":9,"kind":"final","name":7,"input":[],"dependsOn":"1"}`), []string{`atom 9: "dependsOn" must be a list of ids`, `atom 9: "input" must be an object`, `atom 9: "name" must be a text`, `atom 9: it does not say what the answer is`, `atom 1: the final atom does not need it`}},
		"unknown key":         {atoms(ok1, `{"id":9,"kind":"final","name":"r","input":{"answer":"<result_of_1>"},"depends_on":[1]}`), []string{`atom 9: unknown key "depends_on"`}},
		"unknown kind":        {atoms(`{"id":1,"kind":"thought","name":"add","input":{"a":1,"b":2}}`, final), []string{`atom 1: unknown kind "thought"; there are tool, decision and final`}},
		"unknown tool":        {atoms(`{"id":1,"kind":"tool","name":"power","input":{"a":1,"b":2}}`, final), []string{`atom 1: unknown tool "power"; ` + there}},
		"unknown decision":    {atoms(`{"id":1,"kind":"decision","name":"add","input":{"a":1,"b":2}}`, final), []string{`atom 1: unknown decision "add"; there are average, choose, compare, count, difference`}},
		"missing argument":    {atoms(`{"id":1,"kind":"tool","name":"add","input":{"a":1}}`, final), []string{`atom 1: input: missing property 'b'`}},
		"no input":            {atoms(`{"id":1,"kind":"tool","name":"add"}`, final), []string{`atom 1: input: missing properties 'a', 'b'`}},
		"extra argument":      {atoms(`{"id":1,"kind":"tool","name":"add","input":{"a":1,"b":2,"c":3}}`, final), []string{`atom 1: input: additional properties 'c' not allowed`}},
		"wrong argument type": {atoms(`{"id":1,"kind":"tool","name":"add","input":{"a":"1","b":null}}`, final), []string{`atom 1: input a: got string, want number`, `atom 1: input b: got null, want number`}},
		"argument out of range": {atoms(`{"id":1,"kind":"tool","name":"book","input":{"room":"","nights":0}}`, final), []string{
			`atom 1: input nights: minimum: got 0, want 1`, `atom 1: input room: minLength: got 0, want 1`, `atom 9: the answer: atom 1 gives a value of type string, want number`}},
		"reference of the wrong type": {atoms(`{"id":2,"kind":"tool","name":"weekday","input":{"date":"x"}}`, `{"id":1,"kind":"tool","name":"add","input":{"a":"<result_of_2>","b":"about <result_of_2>"}}`, final), []string{
			`atom 1: input a: atom 2 gives a value of type string, want number`, `atom 1: input b: atom 2 gives a value of type string, want number`}},
		"reference inside a list": {atoms(`{"id":2,"kind":"decision","name":"compare","input":{"a":1,"op":"<","b":2}}`, `{"id":1,"kind":"decision","name":"sum","input":{"values":[1,"<result_of_2>"]}}`, final), []string{
			`atom 1: input values.1: atom 2 gives a value of type boolean, want number`}},
		"unknown reference":   {atoms(`{"id":1,"kind":"tool","name":"add","input":{"a":"<result_of_5>","b":2},"dependsOn":[6]}`, final), []string{`atom 1: dependsOn names atom 6, which does not exist`, `atom 1: its input names atom 5, which does not exist`}},
		"malformed reference": {atoms(`{"id":1,"kind":"tool","name":"weekday","input":{"date":"<result_of_x> and <result_of_9"}}`, final), []string{`atom 1: "<result_of_x> and <result_of_9" is not a reference`, `atom 9: the answer: atom 1 gives a value of type string, want number`}},
		"self reference":      {atoms(`{"id":1,"kind":"tool","name":"add","input":{"a":"<result_of_1>","b":2},"dependsOn":[1]}`, final), []string{`atom 1: dependsOn names the atom itself`, `atom 1: its input names the atom itself`}},
		"cycle": {atoms(`{"id":3,"kind":"tool","name":"add","input":{"a":"<result_of_2>","b":2}}`, `{"id":2,"kind":"tool","name":"add","input":{"a":"<result_of_1>","b":2}}`, `{"id":1,"kind":"tool","name":"add","input":{"a":1,"b":2},"dependsOn":[3]}`, final), []string{
			`plan: a cycle: 1 needs 3 needs 2 needs 1`}},
		"two cycles": {atoms(`{"id":1,"kind":"tool","name":"add","input":{"a":1,"b":2},"dependsOn":[2]}`, `{"id":2,"kind":"tool","name":"add","input":{"a":"<result_of_1>","b":2},"dependsOn":[4]}`,
			`{"id":3,"kind":"tool","name":"add","input":{"a":1,"b":"<result_of_4>"}}`, `{"id":4,"kind":"tool","name":"add","input":{"a":"<result_of_3>","b":2}}`, final), []string{
			`plan: a cycle: 1 needs 2 needs 1`, `plan: a cycle: 3 needs 4 needs 3`}},
		"no final":               {atoms(ok1), []string{`plan: it has 0 final atoms; want one`}},
		"several finals":         {atoms(ok1, final, strings.Replace(final, "9", "8", 1)), []string{`plan: it has 2 final atoms; want one`}},
		"needs a final":          {atoms(ok1, final, `{"id":2,"kind":"tool","name":"add","input":{"a":"<result_of_9>","b":1}}`), []string{`atom 2: its input names atom 9, which is final`, `atom 2: the final atom does not need it`}},
		"unreachable":            {atoms(ok1, `{"id":2,"kind":"tool","name":"add","input":{"a":"<result_of_1>","b":1}}`, `{"id":3,"kind":"tool","name":"add","input":{"a":"<result_of_2>","b":1}}`, final), []string{`atom 2: the final atom does not need it`, `atom 3: the final atom does not need it`}},
		"answer of wrong type":   {atoms(`{"id":9,"kind":"final","name":"r","input":{"answer":"fifty-six"}}`), []string{`atom 9: the answer: got string, want number`}},
		"answer from a text":     {atoms(`{"id":1,"kind":"tool","name":"weekday","input":{"date":"x"}}`, final), []string{`atom 9: the answer: atom 1 gives a value of type string, want number`}},
		"answer is not said":     {atoms(ok1, `{"id":2,"kind":"tool","name":"add","input":{"a":1,"b":1}}`, `{"id":9,"kind":"final","name":"r","dependsOn":[1,2]}`), []string{`atom 9: it does not say what the answer is`}},
		"compensation":           {atoms(`{"id":1,"kind":"tool","name":"add","input":{"a":1,"b":2},"compensate":{"name":"undo","input":{"x":"<result_of_9>"}}}`, final), []string{`atom 1: compensate: unknown tool "undo"; ` + there, `atom 1: compensate refers to atom 9, which is neither`}},
		"compensation's input":   {atoms(`{"id":1,"kind":"tool","name":"add","input":{"a":1,"b":2},"compensate":{"name":"cancel","input":{"booking":"<result_of_1>"}}}`, final), []string{`atom 1: compensate booking: atom 1 gives a value of type number, want string`}},
		"compensation elsewhere": {atoms(`{"id":1,"kind":"decision","name":"sum","input":{"values":[1]},"compensate":{"name":"cancel","input":{"booking":"x"}}}`, final), []string{`atom 1: only a tool atom can have a compensation`}},
		"compensation's form":    {atoms(`{"id":1,"kind":"tool","name":"add","input":{"a":1,"b":2},"compensate":{"tool":"cancel"}}`, final), []string{`atom 1: "compensate" must be an object with "name" and "input"`}},
		"many at once": {atoms(`{"id":1,"kind":"tool","name":"ad","input":{}}`, `{"id":1,"kind":"tool","name":"add","input":{"a":true}}`, `{"id":3,"kind":"step"}`), []string{
			`plan: it has 0 final atoms`, `atom 1: unknown tool "ad"`, `atom 1: its id is taken`, `atom 1: input: missing property 'b'`, `atom 1: input a: got boolean, want number`, `atom 3: unknown kind "step"`}},
	} {
		t.Run(name, func(t *testing.T) {
			plan, found := aot.ParsePlan([]byte(c.plan))
			have := map[string]bool{}
			for _, f := range aot.Faults(found, aot.Validate(plan, tools(), methods.AnswerSpec{Kind: methods.Number})) {
				have[f.String()] = true
			}
			for _, want := range c.faults {
				matched := ""
				for f := range have {
					if strings.HasPrefix(f, want) {
						matched = f
					}
				}
				if matched == "" {
					t.Errorf("no fault %q", want)
				}
				delete(have, matched)
			}
			for f := range have {
				t.Errorf("fault %q as well", f)
			}
		})
	}
}

// The faults of a plan are in one order, since they go into a prompt.
func TestFaultsAreOrdered(t *testing.T) {
	plan, _ := aot.ParsePlan([]byte(`{"atoms":[{"id":2,"kind":"tool","name":"add","input":{"a":"<result_of_7>","b":{"x":["<result_of_y>"]},"z":1,"y":2}},{"id":1,"kind":"x"}]}`))
	first := fmt.Sprint(aot.Validate(plan, tools(), methods.AnswerSpec{}))
	for range 20 {
		if again := fmt.Sprint(aot.Validate(plan, tools(), methods.AnswerSpec{})); again != first {
			t.Fatalf("%s\nand then\n%s", first, again)
		}
	}
}

func TestRepairCompletesDependencies(t *testing.T) {
	plan := parse(t, seedPlan)
	repaired, added := aot.Repair(plan)
	if want := []string{"atom 2 depends on [1], to which it refers", "atom 3 depends on [2], to which it refers"}; !reflect.DeepEqual(added, want) {
		t.Errorf("added %q, want %q", added, want)
	}
	if !reflect.DeepEqual(repaired.Atoms[2].DependsOn, []int{2}) || plan.Atoms[2].DependsOn != nil {
		t.Errorf("repaired %+v, before %+v", repaired.Atoms[2], plan.Atoms[2])
	}
	if _, again := aot.Repair(repaired); len(again) > 0 {
		t.Errorf("added again: %q", again)
	}
}

func TestDraw(t *testing.T) {
	plan := parse(t, `{"atoms":[`+ok1+`,{"id":2,"kind":"decision","name":"max","input":{"values":["<result_of_1>",3]}},{"id":9,"kind":"final","name":"say \"hi\"","dependsOn":[2]}]}`)
	var nodes, edges []string
	g := plan.Graph()
	for _, n := range g.Nodes {
		nodes = append(nodes, n.Kind+" "+n.Label)
	}
	for _, e := range g.Edges {
		edges = append(edges, e.From+"-"+e.To)
	}
	want := `tool 1: add(a=1, b=2); decision 2: max(values=["<result_of_1>",3]); final 9: say "hi"(); a1-a2 a2-a9`
	if got := strings.Join(nodes, "; ") + "; " + strings.Join(edges, " "); got != want {
		t.Errorf("graph %s, want %s", got, want)
	}
}

// Whatever a model writes, reading, checking and drawing it ends in faults or
// in a plan that can be run.
func FuzzPlan(f *testing.F) {
	for _, s := range []string{seedPlan, branches, bookings, readPlan, valued(`[[1,"a"],{"b":2}]`), `{"atoms":[{"id":1,"dependsOn":[1]}]}`, `{"atoms":[null]}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		plan, faults := aot.ParsePlan([]byte(text))
		_ = plan.Graph()
		repaired, _ := aot.Repair(plan)
		faults = append(faults, aot.Validate(repaired, tools(), methods.AnswerSpec{})...)
		if len(faults) > 0 {
			return
		}
		s, err := aot.Execute(t.Context(), repaired, &desk{}, aot.Options{Tools: tools()})
		if (err == nil) != (s.Answer != nil) {
			t.Errorf("answer %s, %v", s.Answer, err)
		}
	})
}
