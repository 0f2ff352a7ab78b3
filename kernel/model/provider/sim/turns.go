package sim

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"noema/kernel/model/provider"
	"noema/kernel/task/arithmetic"
	"noema/methods"
)

// toolUse is one call of a tool.
type toolUse struct {
	thought, tool string
	args          map[string]any
}

// work is what remains to do with tools: the next call, or the answer if there
// is none.
type work struct {
	next  *toolUse
	after string // the thought with the answer
	solution
}

// workOn finds out what to do next with the tools of a conversation.
func workOn(p prompt, n noise) (work, bool) {
	if asksLogs(p) {
		return search(p, n)
	}
	for _, find := range []func(prompt, noise) (work, bool){findArticles, bookInTurns} {
		if w, ok := find(p, n); ok {
			return w, true
		}
	}
	c, ok := calculate(p, n)
	if !ok {
		return work{}, false
	}
	results := p.results()
	if len(p.tools()) == 0 || len(results) >= len(c.steps) || failed(results) || demanded(p.after) {
		return c.slipped(n).told(results), true
	}
	s := c.steps[len(results)]
	return work{next: &toolUse{
		fmt.Sprintf("Step %d needs %s.", len(results)+1, s.Op), string(s.Op),
		map[string]any{"a": given(s.A, results), "b": given(s.B, results)},
	}}, true
}

// actInTurns is the next turn of a conversation that calls a tool or answers, as
// a JSON object. A question for which tools are of no use is answered at once.
func actInTurns(p prompt, n noise) (string, bool) {
	w, ok := workOn(p, n)
	switch {
	case !ok && asksLogs(p):
		return "", false
	case !ok:
		return p.reply(n)
	case w.next != nil:
		return plainJSON(map[string]any{"thought": w.next.thought, "action": map[string]any{"tool": w.next.tool, "args": w.next.args}}), true
	case w.none != "":
		return w.none, w.none != provider.NotUnderstood
	}
	form := `{"thought": %s, "answer": %s}`
	if p.wants(`"action"`) && !demanded(p.after) {
		form = `{"thought": %s, "action": {"answer": %s}}`
	}
	return fmt.Sprintf(form, plainJSON(w.after), w.value), true
}

// callTool is the next call of a tool that the request itself offers.
func (p prompt) callTool(n noise) (methods.ToolCall, bool) {
	if len(p.request.Tools) == 0 {
		return methods.ToolCall{}, false
	}
	w, ok := workOn(p, n)
	if !ok || w.next == nil || !slices.Contains(p.tools(), w.next.tool) {
		return methods.ToolCall{}, false
	}
	id := fmt.Sprintf("call_%d", len(p.results())+1)
	return methods.ToolCall{ID: id, Name: w.next.tool, Arguments: json.RawMessage(plainJSON(w.next.args))}, true
}

// failed reports whether a tool has said that it cannot.
func failed(results []string) bool {
	return len(results) > 0 && strings.HasPrefix(results[len(results)-1], "error")
}

// demanded reports whether the last message asks for the answer and for nothing
// else.
func demanded(after []methods.Message) bool {
	if len(after) == 0 {
		return false
	}
	last := after[len(after)-1]
	return last.Role == methods.User && strings.Contains(last.Content, "Reply now") && strings.Contains(last.Content, `"answer"`)
}

// told is the answer as far as the results go; a story that does not work out
// has none.
func (c calculation) told(results []string) work {
	o := c.result
	switch {
	case o.Step == 0:
		return work{after: "No step is left.", solution: solution{value: o.Value}}
	case o.Step <= len(results) && !strings.HasPrefix(results[o.Step-1], "error"):
		return work{after: "All steps are done.", solution: solution{value: results[o.Step-1]}}
	}
	value, err := c.value(o)
	if err != nil {
		return work{solution: solution{none: undefinedReply}}
	}
	return work{after: "I work the rest out myself.", solution: solution{value: value}}
}

// given is an operand as an argument, with the results seen so far.
func given(o arithmetic.Operand, results []string) json.RawMessage {
	if o.Step == 0 {
		return json.RawMessage(o.Value)
	}
	if result := results[o.Step-1]; json.Valid([]byte(result)) {
		return json.RawMessage(result)
	}
	return json.RawMessage("null")
}

// planCalls lists the tool calls that a question needs, and none where there is
// nothing to calculate or to search.
func planCalls(p prompt, n noise) (string, bool) {
	calls := []any{}
	uses, ok := plannedErrand(p, n)
	switch {
	case ok:
	case asksLogs(p):
		if uses, _, ok = plannedSearches(p, n); !ok {
			return "", false
		}
		uses = writtenCalls(uses, n)
		for i, u := range uses[1:] {
			u.args["selection"] = callRef(i + 1)
		}
	default:
		uses, ok = plannedReadings(p, n)
	}
	for i, u := range uses {
		calls = append(calls, map[string]any{"id": i + 1, "tool": u.tool, "args": u.args})
	}
	if c, sums := calculate(p, n); !ok && sums && len(p.tools()) > 0 {
		for i, s := range c.written(n).steps {
			calls = append(calls, struct {
				ID   int            `json:"id"`
				Tool string         `json:"tool"`
				Args map[string]any `json:"args"`
			}{i + 1, string(s.Op), map[string]any{"a": written(s.A, callRef), "b": written(s.B, callRef)}})
		}
	}
	return plainJSON(map[string]any{"calls": calls}), true
}

// callRef stands for the result of a call in a plan of calls.
func callRef(id int) any { return fmt.Sprintf("$%d", id) }

// written is an operand in a plan: a number as it stands in the text, or what stands
// for the result of a step.
func written(o arithmetic.Operand, ref func(step int) any) any {
	if o.Step == 0 {
		return json.RawMessage(o.Value)
	}
	return ref(o.Step)
}

// joinResults answers from the last of the planned calls' results, which stand a
// line each, as in "$2 = add(…): 7".
func joinResults(p prompt, n noise) (string, bool) {
	if text, ok := joinErrand(p, n); ok {
		return text, true
	}
	results, rest, _ := section(p.text, "results")
	last := ""
	if all := earlier(p); len(all) > 0 {
		last = all[len(all)-1]
	}
	if strings.Contains(results+rest, "search_logs(") {
		answer, ok := conclusion(last, !p.wants(`["text"`), n)
		return `{"answer": ` + answer + `}`, ok
	}
	if strings.Contains(results, "inspect(") {
		return joinReadings(p, n)
	}
	if _, err := findStory(p); err != nil || last == "" {
		return p.reply(n)
	}
	if !json.Valid([]byte(last)) {
		return undefinedReply, true
	}
	return `{"answer": ` + last + `}`, true
}
