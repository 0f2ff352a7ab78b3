package sim

import (
	"encoding/json"
	"fmt"
	"strings"

	"noema/kernel/task/arithmetic/words"
	"noema/methods"
)

// answerOf answers a prompt that wants a JSON object with the answer, of a
// ranking or fields, where tools are of no use.
func answerOf(head, prompt string, n noise) (string, bool) {
	switch {
	case strings.Contains(head, "(ranking)"):
		return answerDirectly(prompt, n)
	case strings.Contains(head, "(fields)"):
		return answerFields(prompt, n)
	}
	return "", false
}

// actInTurns is the next turn of a conversation that calls a tool for each step
// of a story and then answers. Each turn reads the story anew and may misread
// another step, as a model that sees the whole conversation again does.
func actInTurns(prompt string, after []methods.Message, n noise) (string, bool) {
	tools, _, _ := section(prompt, "tools")
	c, ok := calculate(prompt, n, step)
	if !ok {
		return "", false
	}
	var results []string
	for _, m := range after {
		if seen, is := strings.CutPrefix(m.Content, "Observation: "); is && m.Role == methods.User {
			results = append(results, seen)
		}
	}
	if len(toolNames(tools)) == 0 || len(results) >= len(c.steps) || failed(results) || demanded(after) {
		return c.told(results)
	}
	s := c.steps[len(results)]
	args := map[string]json.RawMessage{"a": given(s.A, results), "b": given(s.B, results)}
	return plainJSON(map[string]any{"thought": fmt.Sprintf("Step %d needs %s.", len(results)+1, s.Op), "tool": string(s.Op), "args": args}), true
}

// failed reports whether a tool has said that it cannot.
func failed(results []string) bool {
	return len(results) > 0 && strings.HasPrefix(results[len(results)-1], "error")
}

// demanded reports whether no further turn is left.
func demanded(after []methods.Message) bool {
	return len(after) > 0 && strings.HasPrefix(after[len(after)-1].Content, "There are no steps left.")
}

// told is the answer as far as the results go; a story that does not work out
// has none.
func (c calculation) told(results []string) (string, bool) {
	o := c.result
	switch {
	case o.Step == 0:
		return fmt.Sprintf(`{"thought": "No step is left.", "answer": %s}`, o.Value), true
	case o.Step <= len(results) && !strings.HasPrefix(results[o.Step-1], "error"):
		return fmt.Sprintf(`{"thought": "All steps are done.", "answer": %s}`, results[o.Step-1]), true
	}
	value, err := c.value(o)
	if err != nil {
		return undefinedReply, true
	}
	return fmt.Sprintf(`{"thought": "I work the rest out myself.", "answer": %s}`, value), true
}

// given is an operand as an argument, with the results seen so far.
func given(o words.Operand, results []string) json.RawMessage {
	if o.Step == 0 {
		return json.RawMessage(o.Value)
	}
	if result := results[o.Step-1]; json.Valid([]byte(result)) {
		return json.RawMessage(result)
	}
	return json.RawMessage("null")
}

// planCalls lists a tool call for each step of a story, and none where there is
// nothing to calculate.
func planCalls(prompt string, n noise) (string, bool) {
	tools, _, _ := section(prompt, "tools")
	type call struct {
		ID   int                        `json:"id"`
		Tool string                     `json:"tool"`
		Args map[string]json.RawMessage `json:"args"`
	}
	plan := struct {
		Calls []call `json:"calls"`
	}{[]call{}}
	if c, ok := calculate(prompt, n, step); ok && len(toolNames(tools)) > 0 {
		for i, s := range c.steps {
			plan.Calls = append(plan.Calls, call{i + 1, string(s.Op), map[string]json.RawMessage{"a": referred(s.A), "b": referred(s.B)}})
		}
	}
	return plainJSON(plan), true
}

// referred is an operand as a plan of calls writes it.
func referred(o words.Operand) json.RawMessage {
	if o.Step == 0 {
		return json.RawMessage(o.Value)
	}
	return json.RawMessage(fmt.Sprintf(`"$%d"`, o.Step))
}

// joinNumber takes the last result for the answer.
func joinNumber(prompt string, n noise) (string, bool) {
	results, _, _ := section(prompt, "results")
	last := ""
	for line := range strings.Lines(results) {
		if _, value, ok := strings.Cut(strings.TrimSpace(line), "): "); ok && strings.HasPrefix(line, "$") {
			last = value
		}
	}
	if last == "" {
		return answerNumber(prompt, n)
	}
	if !json.Valid([]byte(last)) {
		return undefinedReply, true
	}
	return `{"answer": ` + last + `}`, true
}
