package sim_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"noema/kernel/model/provider"
	"noema/kernel/task"
	"noema/kernel/task/arithmetic"
	"noema/kernel/task/cafes"
	"noema/kernel/task/logs"
	"noema/kernel/task/multihop"
	"noema/kernel/task/policy"
	"noema/methods"
)

// sample is one sample of a generated task, with its tools.
func sampleOf(t *testing.T, name string, at int) (task.Sample, task.Environment) {
	t.Helper()
	made, err := map[string]func() (*task.Task, error){
		"arithmetic": func() (*task.Task, error) { return arithmetic.New(arithmetic.Options{N: 20}) },
		"cafes":      func() (*task.Task, error) { return cafes.New(cafes.Options{Requests: 20}) },
		"policy":     func() (*task.Task, error) { return policy.New(policy.Options{Restaurants: 1}) },
		"multihop":   func() (*task.Task, error) { return multihop.New(multihop.Options{Questions: 6, Words: 100}) },
		"logs":       func() (*task.Task, error) { return logs.New(logs.Options{Queries: 12}) },
	}[name]()
	if err != nil {
		t.Fatal(err)
	}
	return made.Samples[at%len(made.Samples)], made.Environment
}

// A method with a wording of its own gets the right answer in the form that it
// asks for, wherever the question stands.
func TestPromptsInOtherWords(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	p := model(t, "error=0")
	for name, c := range map[string]struct{ task, prompt, schema, want string }{
		"a label":            {"arithmetic", "You are good at sums.\n\nQuestion: {query}\n\nThink aloud, then finish with\nFinal answer: <number>", "", "(?s)^The story.*\nFinal answer: {target}$"},
		"a key":              {"arithmetic", "Here is a puzzle. {query} Reply with {\"result\": NUMBER} only.", "", `^\{"result": {target}\}$`},
		"form first":         {"arithmetic", "Write {\"n\": 1} for the number one.\n<puzzle>{query}</puzzle>", "", `^\{"n": {target}\}$`},
		"nothing else":       {"arithmetic", "{query}", "", "^{target}$"},
		"another before":     {"arithmetic", "Example: Ana has 3 pencils. Ana finds 4 more pencils. How many pencils does Ana have now? 7\n\n{query}", "", "^{target}$"},
		"a schema":           {"arithmetic", "Solve: {query}", `{"type":"object","properties":{"reasoning":{"type":"string"},"value":{"type":"number"}},"required":["reasoning","value"]}`, `^\{"reasoning": "The story gives[^"]*", "value": {target}\}$`},
		"a bare schema":      {"arithmetic", "Solve: {query}", `{"type":"number"}`, "^{target}$"},
		"a ranking":          {"cafes", "{context}\n\nWhich of these suits somebody who says: \"{query}\"\nName the top 1 as {\"ids\": [number]}.", "", `^\{"ids": {target}\}$`},
		"a ranking, schema":  {"cafes", "Data: {context}\n{query}", `{"type":"object","properties":{"why":{"type":"string"},"best":{"type":"array","items":{"type":"integer"}}}}`, `"best": \[{first}, `},
		"a verdict":          {"policy", "Rules:\n{query}\nCase:\n{context}\nOutput JSON.", "", "^{target}$"},
		"a verdict, schema":  {"policy", "{query}\n\n{context}", `{"type":"object","properties":{"verdict":{"type":"string"}}}`, `^\{"verdict": {verdict}\}$`},
		"articles":           {"multihop", "{context}\n\nQ: {query}\nA:", "", "^{answer}$"},
		"articles, in a key": {"multihop", "{query} Use {context} and reply {\"who\": \"name\"}", "", `^\{"who": ?"{answer}"\}$`},
	} {
		t.Run(name, func(t *testing.T) {
			for at := range 20 {
				s, _ := sampleOf(t, c.task, at)
				prompt := strings.NewReplacer("{query}", s.Problem.Query, "{context}", string(s.Problem.Context)).Replace(c.prompt)
				r := ask(prompt, 1)
				if c.schema != "" {
					r.Schema = &methods.Schema{Name: "reply", JSON: json.RawMessage(c.schema)}
				}
				var target struct{ Answer, Verdict string }
				_ = json.Unmarshal(s.Target, &target) // some targets are objects
				want := strings.NewReplacer("{target}", regexp.QuoteMeta(string(s.Target)), "{first}", strings.Trim(string(s.Target), "[]"),
					"{answer}", target.Answer, "{verdict}", `"`+target.Verdict+`"`).Replace(c.want)
				got := say(t, p, r).Text
				if c.want == "^{target}$" && c.task == "policy" {
					if share, _ := marks(t, methods.Answer{Value: json.RawMessage(got)}, s.Target); share != 1 {
						t.Errorf("%s: got %s, want %s", s.ID, got, s.Target)
					}
				} else if !regexp.MustCompile(want).MatchString(got) {
					t.Fatalf("%s: got %q, want %s for\n%.600s", s.ID, got, want, prompt)
				}
			}
		})
	}
}

// toolCaller is a method that uses tools in the way of chat APIs.
type toolCaller struct{}

func (toolCaller) Solve(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
	r := methods.Request{
		Messages: methods.Ask(fmt.Sprintf("Use the tools.\nTask: %s\nContext: %s", p.Query, p.Context)), Tools: p.Tools,
		Schema: &methods.Schema{Name: "final", JSON: json.RawMessage(`{"type":"object","properties":{"final":{}},"required":["final"]}`)},
	}
	for range 20 {
		c, err := h.Complete(ctx, r)
		if err != nil {
			return methods.Answer{}, err
		}
		if len(c.ToolCalls) == 0 {
			var reply struct{ Final json.RawMessage }
			if err := json.Unmarshal([]byte(c.Text), &reply); err != nil {
				return methods.Answer{Outcome: methods.Unparsed, Reason: c.Text}, nil
			}
			return methods.Answer{Outcome: methods.Answered, Value: reply.Final}, nil
		}
		r.Messages = append(r.Messages, methods.Message{Role: methods.Assistant, ToolCalls: c.ToolCalls})
		for _, call := range c.ToolCalls {
			result, err := h.CallTool(ctx, call)
			if err != nil {
				return methods.Answer{}, err
			}
			r.Messages = append(r.Messages, methods.Message{Role: methods.Tool, Content: result.Content, CallID: call.ID})
		}
	}
	return methods.Answer{Outcome: methods.Unparsed, Reason: "no end"}, nil
}

func TestToolsOfTheRequest(t *testing.T) {
	p := model(t, "error=0")
	for _, name := range []string{"arithmetic", "logs"} {
		for at := range 12 {
			s, env := sampleOf(t, name, at)
			a, target, h := attempt(t, toolCaller{}, p, env, s, 1, "")
			if string(a.Value) != string(target) && !equalJSON(a.Value, target) {
				t.Errorf("%s: got %s %s, want %s for %q", s.ID, a.Value, a.Reason, target, s.Problem.Query)
			}
			if h.usage.Calls < 2 {
				t.Errorf("%s: no tool was called", s.ID)
			}
		}
	}
}

func equalJSON(a, b json.RawMessage) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && fmt.Sprint(x) == fmt.Sprint(y)
}

// What is no whole question of a generated task is not understood.
func TestHalfQuestionsAreNotUnderstood(t *testing.T) {
	p := model(t, "error=0")
	s, _ := sampleOf(t, "cafes", 0)
	for _, prompt := range []string{
		"Question: What is 2+2?\nAnswer:", s.Problem.Query, "Ana has 3 pencils. Ana finds 4 more pencils.", "What is the capital of France?",
		"How many logs mention X?", "Noise policy\n\nJudge.",
	} {
		if got := say(t, p, ask(prompt, 1)).Text; got != provider.NotUnderstood {
			t.Errorf("%q: got %q", prompt, got)
		}
	}
}
