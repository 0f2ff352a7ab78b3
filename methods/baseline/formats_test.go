package baseline_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"noema/methods"
	"noema/methods/baseline"
	"noema/methods/methodtest"
)

// format is a reply and the answer that every method must read from it; no answer
// if want is empty.
type format struct {
	kind        methods.AnswerKind
	reply, want string
}

func formats() []format {
	const n, c, r, s, f, x = methods.Number, methods.Choice, methods.Ranking, methods.Set, methods.Fields, methods.Text
	return []format{
		{n, `{"answer": 1234}`, `1234`}, {n, `{"answer": "1234"}`, `1234`}, {n, `{"answer": "$1,234.50"}`, `1234.5`},
		{n, `{"answer": "1 234"}`, `1234`}, {n, `{"answer": "42 apples"}`, `42`}, {n, `{'answer': '42'}`, `42`},
		{n, `{"Answer": 42, "Reason": "it is"}`, `42`}, {n, "```json\n{\"answer\": 42}\n```", `42`},
		{n, `{"answer": 42} I hope this helps with your 3 questions.`, `42`}, {n, `{"answer": 1,234}`, `1234`},
		{n, `42`, `42`}, {n, `"42"`, `42`}, {n, "There are 42 apples left.", `42`}, {n, "1 234 km", `1234`},
		{n, "6 times 7.\n#### 42", `42`}, {n, `So \boxed{42} it is, not 41.`, `42`}, {n, "6 × 7 = 42.\n**Answer:** 42 apples", `42`},
		{n, "The final answer is 42. It took 3 steps.", `42`}, {n, "6 times 7 is 42", ``}, {n, `{"answer": 42} or {"answer": 43}`, ``},
		{n, `{"answer": "12 or 13"}`, ``}, {n, `{"answer": null}`, ``}, {n, `{"answer": 12`, ``}, {n, `\boxed{41} or \boxed{42}`, ``},
		{c, `{"answer": "low risk."}`, `"Low Risk"`}, {c, `{"answer": Low Risk}`, `"Low Risk"`}, {c, `Low Risk`, `"Low Risk"`},
		{c, "I would say **low risk**, given the reviews.", `"Low Risk"`}, {c, "It is not high risk.", ``}, {c, "High risk or low risk.", ``},
		{c, "risk is low", ``}, {c, "Reviews are kind.\nAnswer: \"Low Risk\"", `"Low Risk"`},
		{r, `[3, 1, 2]`, `[3,1,2]`}, {r, `{"answer": "3, 1, 2"}`, `[3,1,2]`}, {r, "Best first: [3, 1, 2].", `[3,1,2]`}, {r, "[3, 1] or [1, 3]", ``},
		{s, `{"answer": ['b', 'a']}`, `["a","b"]`}, {s, `The members are ["b", "a"].`, `["a","b"]`}, {s, `{"answer": [2, "a"]}`, `["2","a"]`},
		{f, `{'a': True, 'b': None}`, `{"a":true,"b":null}`}, {f, "```\n{\"a\": 1, \"b\": 2}\n```\nDone.", `{"a":1,"b":2}`}, {f, `{"a": 1}`, ``},
		{x, `Paris`, `"Paris"`}, {x, `{"answer": 7}`, `"7"`}, {x, "It lies in France.\nAnswer: Paris", `"Paris"`},
		{x, "I looked for it in many places, and then again, and found nothing at all.", ``},
	}
}

// No method loses to another by the way in which it is quoted.
func TestFormatsAreReadAlike(t *testing.T) {
	solvers := map[string]methods.Method{
		"direct": baseline.Direct(), "cot": baseline.CoT(), "plan-and-solve": baseline.PlanAndSolve(),
		"self-consistency": baseline.SelfConsistency(), "react": baseline.ReAct(), "llm-compiler": baseline.LLMCompiler(),
	}
	for _, c := range formats() {
		for name, m := range solvers {
			options := `{"retries":0}`
			if name == "self-consistency" {
				options = `{"draws":1}`
			}
			model := methodtest.ModelFunc(func(_ context.Context, r methods.Request) (methods.Completion, error) {
				if strings.HasPrefix(r.Path, "plan/") {
					return methods.Completion{Text: `{"calls": []}`}, nil
				}
				return methods.Completion{Text: c.reply}, nil
			})
			p := problem(c.kind, options)
			a, _ := solve(t, m, p, model)
			got := string(a.Value)
			if a.Outcome != methods.Answered {
				got = ""
			}
			if got != c.want {
				t.Errorf("%s of %q by %s: %s %s %s, want %s", c.kind, c.reply, name, a.Value, a.Outcome, a.Reason, c.want)
			}
		}
	}
}

// A repair is counted unless the reply has the form that the method asks for.
func TestRepairsAreEvents(t *testing.T) {
	for _, c := range []struct {
		method   methods.Method
		kind     methods.AnswerKind
		reply    string
		repaired bool
	}{
		{baseline.Direct(), methods.Number, `{"answer": 4}`, false},
		{baseline.Direct(), methods.Number, `{"answer": "4"}`, true},
		{baseline.Direct(), methods.Number, `Answer: 4`, true},
		{baseline.Direct(), methods.Ranking, `[3, 1]`, true},
		{baseline.CoT(), methods.Number, `**Answer**: $4.`, false},
		{baseline.CoT(), methods.Number, `#### 4`, true},
		{baseline.CoT(), methods.Number, `{"answer": 4}`, true},
		{baseline.CoT(), methods.Choice, `Answer: low risk`, false},
		{baseline.CoT(), methods.Choice, `Answer: it is low risk`, true},
		{baseline.ReAct(), methods.Number, `{"thought": "so", "answer": 4}`, false},
		{baseline.ReAct(), methods.Number, `{"thought": "so", "answer": "4"}`, true},
	} {
		_, log := solve(t, c.method, problem(c.kind, `{"retries":0}`), methodtest.Reply(c.reply))
		repaired := false
		for _, e := range log.Events {
			repaired = repaired || e.Kind == methods.AnswerRepaired
		}
		if repaired != c.repaired {
			t.Errorf("%q: repaired %t, want %t: %+v", c.reply, repaired, c.repaired, log.Events)
		}
	}
}

// A plain number in the middle of a run is a thought and not the answer.
func TestReActWantsAMarkWhileItCanAct(t *testing.T) {
	p := problem(methods.Number, `{"retries":0,"steps":3}`)
	p.Tools = []methods.ToolSpec{{Name: "look", Parameters: json.RawMessage(`{"type":"object"}`)}}
	for text, want := range map[string]methods.Outcome{"I should look at item 3 first.": methods.Unparsed, "Answer: 3": methods.Answered} {
		if a, _ := solve(t, baseline.ReAct(), p, methodtest.Reply(text)); a.Outcome != want {
			t.Errorf("%q: %+v", text, a)
		}
	}
}
