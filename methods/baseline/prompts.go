package baseline

import (
	"encoding/json"
	"fmt"
	"strings"

	"noema/methods"
	"noema/methods/internal/trial"
	"noema/methods/phases"
	"noema/methods/reply"
)

// The prompts have versions, which are part of the methods' identity; see the
// field prompts of [Method].
//
// Version 2 was written with SmolLM2-135M-Instruct, on word problems: without
// a headline such as "Reason, then answer (number)." and without the sentence
// "The answer is one number.", which the model gave back as its answer; with the
// request after the data and in no tags, and the form last. Of 8 replies to direct
// without a schema 7 had the form, 1 before; with the same words in a system
// message none had. For cot only an example helped, and only as turns of its own:
// 5 of 6 replies within 120 tokens ended on a line "Answer: …", against 0 before;
// of 8 with the example inside the prompt 3 did. Turns and plans of tool calls are asked
// for with a schema: without one this model wrote Python.
//
// Version 3 has another example of a choice. The one before had two labels and the
// steps "It ends with a question mark", which the model repeated in each of 40 trials
// of choosing a word: none was answered, and 30 of 40 are now, 34 of plan-and-solve.
// A turn has its action in an object of its own, whose schema has an alternative for
// each tool, and the join of llm-compiler has a schema: of 6 word problems llm-compiler
// answered 6 (0 of 3 before) and react 5 (0 of 2). Words in the place of values, as in
// "thought": "why", went, since the model repeated them.

// plannedPrompt asks for a plan and its solution.
const plannedPrompt = "{question}First say what is given and what is asked, and make a plan. Then carry the plan out step by step, with every intermediate result, " +
	"and end with one last line of this form:\nAnswer: {form}\n"

// toolLines lists tools, a JSON object a line.
func toolLines(tools []methods.ToolSpec) string {
	lines := make([]string, len(tools))
	for i, tool := range tools {
		line := map[string]any{"name": tool.Name, "description": tool.Description, "parameters": tool.Parameters}
		raw, err := json.Marshal(line)
		if err != nil {
			raw = []byte(fmt.Sprintf("{%q: %q}", "name", tool.Name)) // its schema is no JSON
		}
		lines[i] = reply.Line(raw)
	}
	return strings.Join(lines, "\n")
}

// turnsPrompt opens a conversation of thoughts and tool calls.
func turnsPrompt(question string, spec methods.AnswerSpec, tools []methods.ToolSpec) string {
	if len(tools) == 0 {
		return question + "Reply with one JSON object only: " + turnForm(spec) + "\n"
	}
	var b strings.Builder
	trial.Section(&b, "tools", toolLines(tools))
	b.WriteString("\n" + question)
	b.WriteString("Work in turns. Reply with one JSON object only in each turn: what you think, and what you do.\n" +
		`Call a tool, whose result you will see then: {"thought": …, "action": {"tool": …, "args": {…}}}` + "\n" +
		`Or, when you know the answer: {"thought": …, "action": {"answer": ` + phases.JSONForm(spec) + "}}\n")
	return b.String()
}

// turnForm is the form of the turn that answers where there is nothing else to do.
func turnForm(spec methods.AnswerSpec) string {
	return `{"thought": …, "answer": ` + phases.JSONForm(spec) + "}"
}

// lastTurn demands the answer.
func lastTurn(spec methods.AnswerSpec) string {
	return "There are no turns left. Reply now with your answer: " + turnForm(spec)
}

// callsPrompt asks for a plan of tool calls.
func callsPrompt(question string, tools []methods.ToolSpec, earlier string) string {
	var b strings.Builder
	trial.Section(&b, "tools", toolLines(tools))
	b.WriteString("\n" + question)
	if earlier != "" {
		trial.Section(&b, "results", strings.TrimRight(earlier, "\n"))
	}
	b.WriteString("Do not answer yet. Plan the tool calls that are needed, each with a number as its id. A call may use the result of an earlier one as the argument \"$ID\"; calls that do not depend on each other run at the same time. If no call is needed, the list is empty.\n" +
		"Reply with one JSON object only: {\"calls\": [{\"id\": 1, \"tool\": \"name\", \"args\": {\"parameter\": value}}, {\"id\": 2, \"tool\": \"name\", \"args\": {\"parameter\": \"$1\"}}]}\n")
	return b.String()
}

// joinPrompt asks for the answer from the results.
func joinPrompt(question string, spec methods.AnswerSpec, results string, mayReplan bool) string {
	var b strings.Builder
	trial.Section(&b, "results", strings.TrimRight(results, "\n"))
	b.WriteString("\n" + question)
	if mayReplan {
		b.WriteString("If the results do not suffice, say what is missing: {\"replan\": …}. Otherwise reply ")
	} else {
		b.WriteString("Reply ")
	}
	b.WriteString("with one JSON object only: {\"answer\": " + phases.JSONForm(spec) + "}\n")
	return b.String()
}
