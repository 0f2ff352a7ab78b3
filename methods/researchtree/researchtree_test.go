package researchtree

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"noema/methods"
	"noema/methods/methodtest"
)

// articles is a toolbox over two articles.
type articles struct{ calls []string }

func (a *articles) CallTool(_ context.Context, c methods.ToolCall) (methods.ToolResult, error) {
	a.calls = append(a.calls, c.Name+string(c.Arguments))
	var args struct{ URL, Section string }
	if err := json.Unmarshal(c.Arguments, &args); err != nil {
		return methods.ToolResult{}, err
	}
	switch {
	case c.Name == "search":
		return methods.ToolResult{Content: `{"results":[{"title":"Inception","url":"wiki/Inception","snippet":"a film"}]}`}, nil
	case c.Name == "inspect":
		return methods.ToolResult{Content: `{"title":"Inception","url":"wiki/Inception","lead":"It is a film.","sections":["Production"]}`}, nil
	case args.Section == "Production":
		return methods.ToolResult{Content: `{"title":"Inception","section":"Production","text":"Directed by Nolan."}`}, nil
	}
	return methods.ToolResult{Content: `article "Inception" has no section; it has: Production`, IsError: true}, nil
}

// script is a model that says one line after the other, the last for ever.
func script(lines ...string) methodtest.ModelFunc {
	n := 0
	return func(_ context.Context, r methods.Request) (methods.Completion, error) {
		line := lines[min(n, len(lines)-1)]
		n++
		return methods.Completion{Text: line, Finish: methods.FinishStop}, nil
	}
}

func problem(options string) methods.Problem {
	spec := func(name string) methods.ToolSpec {
		return methods.ToolSpec{Name: name, Parameters: json.RawMessage(`{"type":"object"}`), Pure: true}
	}
	p := methods.Problem{ID: "1", Query: "Who directed Inception?", Answer: methods.AnswerSpec{Kind: methods.Text},
		Tools: []methods.ToolSpec{spec("search"), spec("inspect"), spec("read_section")}}
	if options != "" {
		p.Options = json.RawMessage(options)
	}
	return p
}

func solve(t *testing.T, options string, lines ...string) (methods.Answer, *articles, *methodtest.Host) {
	t.Helper()
	box := &articles{}
	host := methodtest.NewHost(script(lines...), methodtest.WithTools(box))
	a, err := New().Solve(t.Context(), problem(options), host)
	if err != nil {
		t.Fatal(err)
	}
	return a, box, host
}

const (
	search  = `{"tool":"search","args":{"query":"Inception"}}`
	inspect = `{"tool":"inspect","args":{"url":"r1"}}`
	reading = `{"tool":"read_section","args":{"url":"wiki/Inception","section":"Production"}}`
	keep    = `{"tool":"add_to_memory","args":{"parent":"root","topic":"director","content":"Nolan","source_url":"wiki/Inception"}}`
	answer  = `{"tool":"answer","args":{"answer":"Nolan","evidence":["n1"]}}`
)

func TestAnAnswerEndsTheWork(t *testing.T) {
	a, box, host := solve(t, "", search, inspect, reading, keep, answer, search)
	if a.Outcome != methods.Answered || string(a.Value) != `"Nolan"` {
		t.Errorf("answer %s %s", a.Outcome, a.Value)
	}
	if len(a.Evidence) != 1 || a.Evidence[0].Source != "wiki/Inception" {
		t.Errorf("evidence %+v", a.Evidence)
	}
	if got := len(host.Transcript().Calls); got != 5 {
		t.Errorf("%d turns", got)
	}
	if got := strings.Join(box.calls, " "); got != `search{"query":"Inception"} inspect{"url":"wiki/Inception"} read_section{"section":"Production","url":"wiki/Inception"}` {
		t.Errorf("tools: %s", got)
	}
}

func TestAgentsThatGoWrong(t *testing.T) {
	for name, c := range map[string]struct {
		options string
		lines   []string
		outcome methods.Outcome
		value   string
		tools   int
		seen    string // in the prompts
	}{
		"a whole article unseen":  {"", []string{reading, inspect, reading, keep, answer}, methods.Answered, `"Nolan"`, 2, "refused: inspect the article first"},
		"the same action again":   {`{"steps":4}`, []string{search, search, search, search, `{"answer":"x"}`}, methods.OverBudget, `"x"`, 1, "refused: this is the action before again"},
		"a missing section":       {"", []string{inspect, strings.Replace(reading, "Production", "Cast", 1), keep, answer}, methods.Answered, `"Nolan"`, 2, "error: article"},
		"evidence that is no one": {`{"steps":2}`, []string{answer, answer, `{"answer":"y","evidence":["n9"]}`}, methods.OverBudget, `"y"`, 0, `refused: evidence "n1" is no node; there are root`},
		"a parent that is no one": {"", []string{strings.Replace(keep, "root", "n7", 1), keep, answer}, methods.Answered, `"Nolan"`, 0, `refused: there is no node "n7"`},
		"a wrong kind of answer":  {`{"steps":1}`, []string{`{"tool":"answer","args":{"answer":{"a":1}}}`, `{"answer":"z"}`}, methods.OverBudget, `"z"`, 0, "is no text"},
		"broken JSON to the end":  {"", []string{"I would rather not."}, methods.Unparsed, "", 0, ""},
		"an unknown tool":         {"", []string{`{"tool":"fly","args":{}}`}, methods.Unparsed, "", 0, "value must be one of"},
		"only at the limit":       {`{"steps":3}`, []string{search, inspect, reading, `{"answer":"Nolan"}`}, methods.OverBudget, `"Nolan"`, 3, "No steps are left."},
	} {
		t.Run(name, func(t *testing.T) {
			a, box, host := solve(t, c.options, c.lines...)
			if a.Outcome != c.outcome || string(a.Value) != c.value {
				t.Errorf("answer %s %s (%s), want %s %s", a.Outcome, a.Value, a.Reason, c.outcome, c.value)
			}
			if len(box.calls) != c.tools {
				t.Errorf("%d tool calls, want %d: %v", len(box.calls), c.tools, box.calls)
			}
			var prompts strings.Builder
			for _, call := range host.Transcript().Calls {
				for _, m := range call.Request.Messages {
					prompts.WriteString(m.Content)
				}
			}
			if !strings.Contains(prompts.String(), c.seen) {
				t.Errorf("no prompt says %q", c.seen)
			}
		})
	}
}

func TestTreeRefusesCycles(t *testing.T) {
	tree := &Tree{Question: "q"}
	for _, parent := range []string{"root", "n1", ""} {
		if _, err := tree.Add(parent, "topic", "content of "+parent, "wiki/X"); err != nil {
			t.Fatal(err)
		}
	}
	if err := tree.Link("n3", "n2"); err != nil {
		t.Errorf("a link across branches: %v", err)
	}
	for _, bad := range [][2]string{{"n1", "n3"}, {"n2", "n3"}, {"n1", "n1"}, {"n1", "n9"}, {"n9", "n1"}} {
		if bad == [2]string{"n1", "n3"} {
			continue // n3 rests on n2, which stands below n1, checked below
		}
		if err := tree.Link(bad[0], bad[1]); err == nil {
			t.Errorf("link %v is no error", bad)
		}
	}
	if err := tree.Link("n1", "n3"); err == nil {
		t.Error("a link that closes a cycle through a parent is no error")
	}
	want := "root: q\n  n1 topic: content of root\n    n2 topic: content of n1\n  n3 topic: content of (see n2)\n"
	if got := tree.View(1000); got != want {
		t.Errorf("view is\n%s\nwant\n%s", got, want)
	}
	if got := tree.View(40); !strings.HasSuffix(got, "… 2 more nodes\n") {
		t.Errorf("a short view is\n%s", got)
	}
	if g := tree.graph(); len(g.Nodes) != 4 || len(g.Edges) != 4 {
		t.Errorf("graph is %+v", g)
	}
}

func TestOptionsAndProblemsThatDoNotFit(t *testing.T) {
	p := problem(`{"steps":0}`)
	if _, err := New().Solve(t.Context(), p, methodtest.NewHost(script(answer))); err == nil {
		t.Error("no steps are no error")
	}
	p = problem("")
	p.Tools = p.Tools[:1]
	if _, err := New().Solve(t.Context(), p, methodtest.NewHost(script(answer))); err == nil || !strings.Contains(err.Error(), "inspect") {
		t.Errorf("missing tools give %v", err)
	}
}
