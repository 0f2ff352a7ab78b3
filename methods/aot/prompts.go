package aot

import (
	"encoding/json"
	"slices"
	"strings"

	"noema/methods"
	"noema/methods/internal/trial"
)

// promptVersion identifies the wording below. It is part of the method's
// identity: whoever changes a prompt changes it.
const promptVersion = "1"

const planHead = `AoT: make a plan.
Break the request into atoms, each one operation. A machine checks the plan and runs it, so calculate nothing yourself and leave nothing out.
`

const planRules = `
An atom is {"id": 1, "kind": "tool", "name": "…", "input": {…}, "dependsOn": [ids]}:
- id: a whole number from 1, different for each atom.
- kind: "tool" for one of the tools, "decision" for one of the decisions, "final" for the answer.
- name: the name of the tool or decision; "report" for the final atom.
- input: the arguments, as the schema of the tool or decision demands. Write "<result_of_1>" in the place of a value that atom 1 gives.
- dependsOn: the ids of all atoms that must have run before.
There is exactly one final atom, with "input": {"answer": …}, and it needs all others, directly or through others. No atom may need itself.
`

const undoRule = `Tools with "effect" change something. An atom that calls one may say how it is undone if the plan fails later: "compensate": {"name": "…", "input": {…}}.
`

const planExample = `
A plan for "the greater of 6 and the sum of 3 and 4.5":
{"atoms": [{"id": 1, "kind": "decision", "name": "sum", "input": {"values": [3, 4.5]}, "dependsOn": []}, {"id": 2, "kind": "decision", "name": "max", "input": {"values": ["<result_of_1>", 6]}, "dependsOn": [1]}, {"id": 3, "kind": "final", "name": "report", "input": {"answer": "<result_of_2>"}, "dependsOn": [2]}]}

`

// planPrompt asks for a plan. Data are "name: JSON" lines.
func planPrompt(query, data string, tools []methods.ToolSpec, want methods.AnswerSpec) string {
	var b strings.Builder
	b.WriteString(planHead)
	trial.Section(&b, "request", query)
	if data != "" {
		trial.Section(&b, "data", data)
	}
	if len(tools) > 0 {
		trial.Section(&b, "tools", specLines(tools))
	}
	trial.Section(&b, "decisions", specLines(Decisions()))
	b.WriteString(planRules)
	if slices.ContainsFunc(tools, func(t methods.ToolSpec) bool { return !t.Pure }) {
		b.WriteString(undoRule)
	}
	b.WriteString(planExample)
	b.WriteString(wanted(want))
	b.WriteString("Reply with one JSON object only: {\"atoms\": [...]}\n")
	return b.String()
}

// wanted says in words which answer is wanted.
func wanted(want methods.AnswerSpec) string {
	switch want.Kind {
	case methods.Number:
		return "The final answer is one number.\n"
	case methods.Choice:
		return "The final answer is one of these labels: " + trial.Quoted(want.Labels) + ".\n"
	}
	return "The final answer is a short text.\n"
}

// specLines shows tools, one JSON object to a line.
func specLines(specs []methods.ToolSpec) string {
	lines := make([]string, len(specs))
	for i, s := range specs {
		lines[i] = string(encode(struct {
			Name        string          `json:"name"`
			Description string          `json:"description,omitempty"`
			Parameters  json.RawMessage `json:"parameters,omitempty"`
			Result      json.RawMessage `json:"result,omitempty"`
			Effect      bool            `json:"effect,omitempty"`
		}{s.Name, s.Description, s.Parameters, s.Result, !s.Pure}))
	}
	return strings.Join(lines, "\n")
}

// planSchema is the form of a plan. What depends on the tools is left to
// [Validate], which tells all faults at once in words of its own.
const planSchema = `{"type":"object","properties":{"atoms":{"type":"array","items":{"type":"object","properties":{` +
	`"id":{"type":"integer"},"kind":{"enum":["tool","decision","final"]},"name":{"type":"string"},"input":{"type":"object"},` +
	`"dependsOn":{"type":"array","items":{"type":"integer"}},` +
	`"compensate":{"type":"object","properties":{"name":{"type":"string"},"input":{"type":"object"}},"required":["name"],"additionalProperties":false}` +
	`},"required":["id","kind","name"],"additionalProperties":false}}},"required":["atoms"],"additionalProperties":false}`
