package sim_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"noema/kernel/model/provider"
	"noema/methods"
	"noema/methods/aot"
)

// story takes two steps and has the answer 30.
const story = "Ana buys 3 boxes of 12 pencils each. Ana gives 6 pencils to Ben. How many pencils does Ana have now?"

func numberPrompt(head, query string) string {
	form := "Reply with one JSON object only: {\"answer\": number}\n"
	if head == cotNumber {
		form = "Answer: number\n"
	}
	return head + "\n<request>\n" + query + "\n</request>\n\nThe answer is one number.\n" + form
}

const (
	directNumber = "Answer directly (number)."
	cotNumber    = "Reason, then answer (number)."
)

// calculator lists the tools of arithmetic as AoT shows them.
const calculator = `{"name":"add","parameters":{"type":"object"}}
{"name":"subtract"}
{"name":"multiply"}
{"name":"divide"}`

func planPrompt(query, tools, wanted string) string {
	return "AoT: make a plan.\nBreak …\n<request>\n" + query + "\n</request>\n<tools>\n" + tools + "\n</tools>\n<decisions>\n{\"name\":\"sum\"}\n</decisions>\n" + wanted + "Reply with one JSON object only: {\"atoms\": [...]}\n"
}

const oneNumber = "The final answer is one number.\n"

func TestStories(t *testing.T) {
	p := model(t, "error=0")
	cases := []struct{ name, prompt, want string }{
		{"direct", numberPrompt(directNumber, story), `{"answer": 30}`},
		{"cot", numberPrompt(cotNumber, story), "The story gives these steps.\n1. multiply 3 and 12: 36.\n2. subtract the result of step 1 and 6: 30.\nAnswer: 30"},
		{"plan", planPrompt(story, calculator, oneNumber), `{"atoms":[` +
			`{"id":1,"kind":"tool","name":"multiply","input":{"a":3,"b":12},"dependsOn":[]},` +
			`{"id":2,"kind":"tool","name":"subtract","input":{"a":"<result_of_1>","b":6},"dependsOn":[1]},` +
			`{"id":3,"kind":"final","name":"report","input":{"answer":"<result_of_2>"},"dependsOn":[2]}]}`},
		{"no tool", planPrompt(story, `{"name":"multiply"}`, oneNumber), provider.NotUnderstood},
		{"no story", numberPrompt(directNumber, "Ana thinks about 3 boxes."), provider.NotUnderstood},
		{"a number without a form", planPrompt(strings.Replace(story, "6", "006", 1), calculator, oneNumber), provider.NotUnderstood},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := say(t, p, ask(c.prompt, 1)).Text; got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// tools are the specifications that plans of the calculator are checked by.
func tools() []methods.ToolSpec {
	var specs []methods.ToolSpec
	for _, name := range []string{"add", "subtract", "multiply", "divide"} {
		specs = append(specs, methods.ToolSpec{
			Name: name, Pure: true, Result: json.RawMessage(`{"type":"number"}`),
			Parameters: json.RawMessage(`{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"],"additionalProperties":false}`),
		})
	}
	return specs
}

// At rate 1 every step is wrong in one of three ways, and what is left is
// still a plan, though perhaps one that leaves a step unused.
func TestPlanErrors(t *testing.T) {
	const right = `{"a":3,"b":12}`
	seen := map[string]int{}
	p := model(t, "error=0&error.request=1")
	for seed := range uint64(200) {
		text := say(t, p, ask(planPrompt(story, calculator, oneNumber), seed)).Text
		var plan aot.Plan
		if err := json.Unmarshal([]byte(text), &plan); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		for _, f := range aot.Validate(plan, tools(), methods.AnswerSpec{Kind: methods.Number}) {
			if !strings.Contains(f.Text, "the final atom does not need it") {
				t.Fatalf("seed %d: fault %v in %s", seed, f, text)
			}
			seen["unused"]++
		}
		first := plan.Atoms[0]
		switch {
		case len(plan.Atoms) < 3:
			seen["lost"]++
		case first.Name != "multiply":
			seen["operation"]++
		case fmt.Sprintf(`{"a":%s,"b":%s}`, first.Input["a"], first.Input["b"]) != right:
			seen["operand"]++
		default:
			t.Fatalf("seed %d: the first step is right at rate 1: %s", seed, text)
		}
	}
	for _, kind := range []string{"lost", "operation", "operand"} {
		if seen[kind] < 20 {
			t.Errorf("misreadings %v, want some of each kind", seen)
		}
	}
}

// Two steps whose results a third combines: when that one is lost, the plan
// has a step that nothing needs, which validators see.
func TestLostStepsLeaveOthersUnused(t *testing.T) {
	const two = "Ana buys 3 boxes of 12 pencils each. Ben buys 2 boxes of 10 pencils each. How many pencils do Ana and Ben have together?"
	unused, p := 0, model(t, "error=0&error.request=0.3")
	for seed := range uint64(100) {
		var plan aot.Plan
		text := say(t, p, ask(planPrompt(two, calculator, oneNumber), seed)).Text
		if err := json.Unmarshal([]byte(text), &plan); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		if len(aot.Validate(plan, tools(), methods.AnswerSpec{Kind: methods.Number})) > 0 {
			unused++
		}
	}
	if unused < 3 || unused > 50 {
		t.Errorf("%d of 100 plans are invalid", unused)
	}
}

// A story that is misread as a division by zero has no value, and the model
// says so.
func TestDivisionByZero(t *testing.T) {
	const zero = "Ana has 12 pencils. Ana finds 0 more pencils. How many pencils does Ana have now?"
	p, undefined := model(t, "error=0&error.request=1"), 0
	for seed := range uint64(300) {
		for _, head := range []string{directNumber, cotNumber} {
			text := say(t, p, ask(numberPrompt(head, zero), seed)).Text
			switch {
			case strings.Contains(text, "divided by zero"):
				undefined++
				if strings.Contains(text, "nswer:") {
					t.Fatalf("an answer to a division by zero: %q", text)
				}
			case !strings.Contains(text, "nswer: ") && !strings.HasPrefix(text, `{"answer": `):
				t.Fatalf("no answer: %q", text)
			}
		}
	}
	if undefined == 0 {
		t.Error("no misreading divides by zero")
	}
}
