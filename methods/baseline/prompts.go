package baseline

import (
	"encoding/json"
	"fmt"
	"strings"

	"noema/methods"
	"noema/methods/internal/trial"
)

// promptVersion identifies the wording below; it is part of the methods'
// identity.
const promptVersion = "1"

const (
	directHead  = "Answer directly (%s).\n"
	cotHead     = "Reason, then answer (%s).\n"
	plannedHead = "Plan, solve, then answer (%s).\n"
	turnsHead   = "Think, act and observe in turns (%s).\n"
	callsHead   = "Plan tool calls that run in parallel.\n"
	joinHead    = "Join the results (%s).\n"
)

// question is the part that both methods share: the request, the data and
// what is asked for.
func question(query, items, context string, spec methods.AnswerSpec) string {
	var b strings.Builder
	trial.Section(&b, "request", query)
	if items != "" {
		trial.Section(&b, "items", items)
	}
	if context != "" {
		trial.Section(&b, "data", context)
	}
	b.WriteByte('\n')
	b.WriteString(wanted(spec))
	return b.String()
}

// wanted says in words which answer is wanted.
func wanted(spec methods.AnswerSpec) string {
	switch spec.Kind {
	case methods.Ranking:
		return fmt.Sprintf("Rank the items 1 to %d by how well they fit the request and name the best %d, best first, by their numbers.\n", spec.N, spec.K)
	case methods.Choice:
		return "Choose one of these labels: " + trial.Quoted(spec.Labels) + ".\n"
	case methods.Number:
		return "The answer is one number.\n"
	case methods.Set:
		if len(spec.Labels) > 0 {
			return "The answer is the set of those that are right of these labels: " + trial.Quoted(spec.Labels) + ".\n"
		}
		return "The answer is a set of texts.\n"
	case methods.Fields:
		return "The answer is a value for each of these fields: " + trial.Quoted(spec.Names) + ".\n"
	}
	return "The answer is a short text.\n"
}

// form shows the wanted JSON form of an answer.
func form(spec methods.AnswerSpec) string {
	switch spec.Kind {
	case methods.Ranking:
		return "[best, second best, and so on]"
	case methods.Choice:
		return "label"
	case methods.Number:
		return "number"
	case methods.Set:
		return `["text", "text"]`
	case methods.Fields:
		return `{"field": value}`
	}
	return "text"
}

// directPrompt asks for nothing but the answer, as JSON.
func directPrompt(question string, spec methods.AnswerSpec) string {
	f := form(spec)
	if spec.Kind == methods.Choice || spec.Kind == methods.Text {
		f = `"` + f + `"`
	}
	return fmt.Sprintf(directHead, spec.Kind) + question +
		"Give no explanation. Reply with one JSON object only: {\"answer\": " + f + "}\n"
}

// cotPrompt asks for reasoning first and the answer on a line of its own.
func cotPrompt(question string, spec methods.AnswerSpec) string {
	return fmt.Sprintf(cotHead, spec.Kind) + question +
		"Think step by step and write your reasoning down. Then end with one last line of this form:\nAnswer: " + form(spec) + "\n"
}

// plannedPrompt asks for a plan and its solution.
func plannedPrompt(question string, spec methods.AnswerSpec) string {
	return fmt.Sprintf(plannedHead, spec.Kind) + question +
		"First understand the problem, list what is given and what is asked, and devise a plan. Then carry the plan out step by step, with every intermediate result. " +
		"Then end with one last line of this form:\nAnswer: " + form(spec) + "\n"
}

// toolLines lists tools, a JSON object a line.
func toolLines(tools []methods.ToolSpec) string {
	lines := make([]string, len(tools))
	for i, tool := range tools {
		line := map[string]any{"name": tool.Name, "description": tool.Description, "parameters": tool.Parameters}
		raw, err := json.Marshal(line)
		if err != nil {
			raw = []byte(fmt.Sprintf("{%q: %q}", "name", tool.Name)) // its schema is no JSON
		}
		lines[i] = oneLine(raw)
	}
	return strings.Join(lines, "\n")
}

// jsonForm is the form of an answer inside a JSON object.
func jsonForm(spec methods.AnswerSpec) string {
	f := form(spec)
	if spec.Kind == methods.Choice || spec.Kind == methods.Text {
		f = `"` + f + `"`
	}
	return f
}

// turnsPrompt opens a conversation of thoughts and tool calls.
func turnsPrompt(question string, spec methods.AnswerSpec, tools []methods.ToolSpec) string {
	var b strings.Builder
	fmt.Fprintf(&b, turnsHead, spec.Kind)
	b.WriteString(question)
	if len(tools) > 0 {
		trial.Section(&b, "tools", toolLines(tools))
		b.WriteString("In each turn reply with one JSON object only. To call a tool: {\"thought\": \"why\", \"tool\": \"name\", \"args\": {…}}; you will then see its result. ")
	} else {
		b.WriteString("There are no tools. Reply with one JSON object only. ")
	}
	b.WriteString("When you know the answer: {\"thought\": \"why\", \"answer\": " + jsonForm(spec) + "}\n")
	return b.String()
}

// lastTurn demands the answer.
const lastTurn = "There are no steps left. Reply now with the object that has \"answer\"."

// callsPrompt asks for a plan of tool calls.
func callsPrompt(question string, tools []methods.ToolSpec, earlier string) string {
	var b strings.Builder
	b.WriteString(callsHead)
	b.WriteString(question)
	trial.Section(&b, "tools", toolLines(tools))
	if earlier != "" {
		trial.Section(&b, "results", strings.TrimRight(earlier, "\n"))
	}
	b.WriteString("List all tool calls that are needed, each with a number as its id. A call may use the result of an earlier one as the argument \"$ID\"; calls that do not depend on each other run at the same time. " +
		"Reply with one JSON object only: {\"calls\": [{\"id\": 1, \"tool\": \"name\", \"args\": {\"parameter\": value}}, {\"id\": 2, \"tool\": \"name\", \"args\": {\"parameter\": \"$1\"}}]}. If no call is needed, the list is empty.\n")
	return b.String()
}

// joinPrompt asks for the answer from the results.
func joinPrompt(question string, spec methods.AnswerSpec, results string, mayReplan bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, joinHead, spec.Kind)
	b.WriteString(question)
	trial.Section(&b, "results", strings.TrimRight(results, "\n"))
	b.WriteString("Reply with one JSON object only: {\"answer\": " + jsonForm(spec) + "}")
	if mayReplan {
		b.WriteString(", or, if the results do not suffice, {\"replan\": \"what is missing\"}")
	}
	b.WriteString("\n")
	return b.String()
}
