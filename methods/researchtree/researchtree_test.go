package researchtree

import (
	"context"
	"encoding/json"
	"fmt"
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

func correct(args string) string { return `{"tool":"correct_memory","args":{` + args + `}}` }

func keepBelow(parent string) string { return strings.Replace(keep, "root", parent, 1) }

var keepWrong = strings.Replace(keep, "Nolan", "Production", 1)

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
	if got := strings.Join(box.calls, " "); got != `search{"query":"Inception"} inspect{"size":600,"url":"wiki/Inception"} read_section{"section":"Production","size":1136,"url":"wiki/Inception"}` {
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
		"a whole article unseen":   {"", []string{reading, inspect, reading, keep, answer}, methods.Answered, `"Nolan"`, 2, "refused: inspect the article first"},
		"the same action again":    {`{"steps":4}`, []string{search, search, search, search, `{"answer":"x"}`}, methods.OverBudget, `"x"`, 1, "refused: turn 1 did the same, and it gave: r1 Inception"},
		"a missing section":        {"", []string{inspect, strings.Replace(reading, "Production", "Cast", 1), keep, answer}, methods.Answered, `"Nolan"`, 2, "error: article"},
		"evidence that is no one":  {`{"steps":2}`, []string{answer, answer, `{"answer":"y","evidence":["n9"]}`}, methods.OverBudget, `"y"`, 0, `refused: evidence "n1" is not a node; there are root`},
		"stuck for good":           {"", []string{search, search, search, search, search, search, search, `{"answer":"x"}`}, methods.OverBudget, `"x"`, 1, "No turns are left: 3 actions in a row were refused."},
		"stuck on several":         {`{"refusals":1,"retries":0}`, []string{reading, keepBelow("n9"), `{"answer":"w"}`}, methods.OverBudget, `"w"`, 0, "No turns are left: 2 actions in a row were refused."},
		"a finding corrected":      {"", []string{keepWrong, correct(`"id":"n1","content":"Nolan"`), answer}, methods.Answered, `"Nolan"`, 0, "n1 says Nolan [struck out: Production]"},
		"a correction of nothing":  {"", []string{correct(`"id":"n4"`), keep, answer}, methods.Answered, `"Nolan"`, 0, `refused: there is no node "n4"`},
		"a correction in a circle": {"", []string{keep, keepBelow("n1"), correct(`"id":"n1","parent":"n2"`), answer}, methods.Answered, `"Nolan"`, 0, "refused: put n1 below n2: that closes a cycle"},
		"evidence struck out":      {`{"steps":3}`, []string{keep, correct(`"id":"n1"`), answer, `{"answer":"v","evidence":["n1"]}`}, methods.OverBudget, `"v"`, 0, `refused: evidence "n1" is struck out`},
		"what is left":             {"", []string{search, inspect, inspect, keep, answer}, methods.Answered, `"Nolan"`, 2, "not read of Inception: Production"},
		"a parent that is no one":  {"", []string{strings.Replace(keep, "root", "n7", 1), keep, answer}, methods.Answered, `"Nolan"`, 0, `refused: there is no node "n7"`},
		"a wrong kind of answer":   {`{"steps":1}`, []string{`{"tool":"answer","args":{"answer":{"a":1}}}`, `{"answer":"z"}`}, methods.OverBudget, `"z"`, 0, "is not a text"},
		"broken JSON to the end":   {"", []string{"I would rather not."}, methods.Unparsed, "", 0, ""},
		"an unknown tool":          {"", []string{`{"tool":"fly","args":{}}`}, methods.Unparsed, "", 0, "value must be one of"},
		"only at the limit":        {`{"steps":3}`, []string{search, inspect, reading, `{"answer":"Nolan"}`}, methods.OverBudget, `"Nolan"`, 3, "No turns are left: 3 steps were taken."},
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

// TestACorrectionStaysHonest corrects a finding that another rests on, and finds
// what was struck out in the view, the observation and the evidence.
func TestACorrectionStaysHonest(t *testing.T) {
	a, _, host := solve(t, "", keepWrong, keepBelow("n1"), correct(`"id":"n1","content":"Nolan","source_url":"wiki/Other"`), answer)
	if len(a.Evidence) != 1 || a.Evidence[0].Text != "director: Nolan [struck out: Production]" || a.Evidence[0].Source != "wiki/Other" {
		t.Errorf("evidence is %+v", a.Evidence)
	}
	calls := host.Transcript().Calls
	last := calls[len(calls)-1].Request.Messages[0].Content
	for _, want := range []string{"n1 director: Nolan [struck out: Production]\n    n2", "these rest on it, check them: n2"} {
		if !strings.Contains(last, want) {
			t.Errorf("the prompt does not say %q:\n%s", want, last)
		}
	}
	tree := &Tree{}
	for _, parent := range []string{"root", "n1"} {
		if _, err := tree.Add(parent, "topic", "content of "+parent, ""); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ id, content, parent, want, fault string }{
		{"n2", "", "root", "n2 stands below root now", ""},
		{"n1", "", "n2", "n1 stands below n2 now", ""},
		{"n2", "", "n1", "", "closes a cycle"},
		{"n1", "", "n1", "", "closes a cycle"},
		{"n1", "", "n7", "", "no node"},
		{"root", "x", "", "", "no node"},
		{"n1", "content of root", "", "", "says that already"},
		{"n1", "", "", "n1 [struck out: content of root]", ""},
		{"n1", "", "", "", "struck out already"},
		{"n1", "new", "", "n1 says new [struck out: content of root]", ""},
	} {
		done, err := tree.Correct(c.id, c.content, "", c.parent)
		if done != c.want || (err == nil) != (c.fault == "") || err != nil && !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%+v gives %q (%v)", c, done, err)
		}
	}
}

// TestARefusedActionLeavesTheNextTurn checks the schema of each turn.
func TestARefusedActionLeavesTheNextTurn(t *testing.T) {
	_, _, host := solve(t, "", search, search, search, search, inspect, search, keep, answer)
	without := 0
	for _, c := range host.Transcript().Calls {
		if offers := strings.Contains(string(c.Request.Schema.JSON), `"search"`); !offers {
			without++
			if c.Request.Path != "turn/5" || strings.Contains(c.Request.Messages[0].Content, "\nsearch {") {
				t.Errorf("%s goes without search", c.Request.Path)
			}
		}
	}
	if without != 1 {
		t.Errorf("%d turns go without search", without)
	}
}

// long is a toolbox over one article whose lead and section have pages.
type long struct{}

func (long) CallTool(ctx context.Context, c methods.ToolCall) (methods.ToolResult, error) {
	var args struct{ Page, Size int }
	if err := json.Unmarshal(c.Arguments, &args); err != nil {
		return methods.ToolResult{}, err
	}
	if c.Name == "inspect" {
		return methods.ToolResult{Content: `{"title":"Inception","url":"wiki/Inception","lead":"It is a film.","lead_pages":3,"sections":["Plot","Production"]}`}, nil
	}
	return methods.ToolResult{Content: fmt.Sprintf(`{"title":"Inception","section":"Production","page":%d,"pages":3,"text":"part"}`, max(1, args.Page))}, nil
}

// TestPages shows the lead first, says how to read on, and lists pages not read.
func TestPages(t *testing.T) {
	host := methodtest.NewHost(script(inspect, reading, strings.Replace(reading, `"section"`, `"page":2,"section"`, 1), reading, keep, answer), methodtest.WithTools(long{}))
	if _, err := New().Solve(t.Context(), problem(""), host); err != nil {
		t.Fatal(err)
	}
	calls := host.Transcript().Calls
	prompt := calls[len(calls)-1].Request.Messages[0].Content
	for _, want := range []string{
		"Inception (r1)\nlead: It is a film.\n(page 1 of 3 of the lead: read_section \"Lead\", page 2, goes on)\nsections: Plot; Production\n",
		"Inception, Production, page 1 of 3:\npart\n", "Inception, Production, page 2 of 3:\npart\n",
		"not read of Inception: Production page 3 of 3; Plot",
	} {
		if !strings.Contains(strings.ReplaceAll(prompt, "Inception (wiki/Inception)", "Inception (r1)"), want) {
			t.Errorf("the prompt does not say %q:\n%s", want, prompt)
		}
	}
}
