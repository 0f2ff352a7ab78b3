package baseline

import (
	"encoding/json"
	"fmt"
	"strings"

	"noema/methods"
	"noema/methods/internal/trial"
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

// question is the part that all methods share: the data, the request and what is
// asked for beyond it.
func question(query, items, context string, spec methods.AnswerSpec) string {
	var b strings.Builder
	if items != "" {
		trial.Section(&b, "items", items)
	}
	if context != "" {
		trial.Section(&b, "data", context)
	}
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	b.WriteString(strings.TrimRight(query, "\n") + "\n\n" + wanted(spec))
	return b.String()
}

// wanted says in words which answer is wanted, where the form does not.
func wanted(spec methods.AnswerSpec) string {
	switch spec.Kind {
	case methods.Ranking:
		return fmt.Sprintf("Rank the items 1 to %d by how well they fit this request and name the best %d by their numbers, best first.\n", spec.N, spec.K)
	case methods.Choice:
		return "Choose one of these labels: " + trial.Quoted(spec.Labels) + ".\n"
	case methods.Set:
		if len(spec.Labels) > 0 {
			return "Choose all that are right of these labels: " + trial.Quoted(spec.Labels) + ".\n"
		}
	}
	return ""
}

// form shows the wanted form of an answer.
func form(spec methods.AnswerSpec) string {
	switch spec.Kind {
	case methods.Ranking:
		return "[number" + strings.Repeat(", number", min(spec.K, 3)-1) + map[bool]string{true: ", ..."}[spec.K > 3] + "]"
	case methods.Choice:
		return "label"
	case methods.Number:
		return "number"
	case methods.Set:
		return `["text", "text"]`
	case methods.Fields:
		fields := make([]string, len(spec.Names))
		for i, name := range spec.Names {
			fields[i] = quote(name) + ": value"
		}
		return "{" + strings.Join(fields, ", ") + "}"
	}
	return "short text"
}

// jsonForm is the form of an answer inside a JSON object.
func jsonForm(spec methods.AnswerSpec) string {
	if spec.Kind == methods.Choice || spec.Kind == methods.Text {
		return `"` + form(spec) + `"`
	}
	return form(spec)
}

func quote(name string) string { return oneLine(encode(name)) }

// The prompts that a user can replace, each with a text of the same form; see [inPlaces].
const (
	// directPrompt asks for nothing but the answer, as JSON.
	directPrompt = "{question}Reply with one JSON object only: {\"answer\": {form}}\n"
	// cotPrompt asks for reasoning first and the answer on a line of its own.
	cotPrompt = "{question}Think step by step, then end with one last line of this form:\nAnswer: {form}\n"
	// plannedPrompt asks for a plan and its solution.
	plannedPrompt = "{question}First say what is given and what is asked, and make a plan. Then carry the plan out step by step, with every intermediate result, " +
		"and end with one last line of this form:\nAnswer: {form}\n"
)

const questionPlace, formPlace = "{question}", "{form}"

// inPlaces puts a question and the form of its answer in their places. A prompt without a
// place for the question has it first.
func inPlaces(prompt, question, form string) string {
	if !strings.Contains(prompt, questionPlace) {
		prompt = questionPlace + prompt
	}
	return strings.NewReplacer(questionPlace, question, formPlace, form).Replace(prompt)
}

// example is a question with a reply, which shows the form of replies to
// questions of its kind.
type example struct {
	query, items string
	spec         methods.AnswerSpec
	plan, steps  string
	answer       string
}

// exampleOf is the example of a kind of answer. It is about nothing that tasks are
// about.
func exampleOf(kind methods.AnswerKind) example {
	spec := methods.AnswerSpec{Kind: kind}
	switch kind {
	case methods.Ranking:
		spec.N, spec.K = 2, 2
		return example{
			query: "Something blue.", items: `1: {"color":"red"}` + "\n" + `2: {"color":"blue"}`, spec: spec,
			plan: "Compare the colors.", steps: "Item 2 is blue, and item 1 is not.", answer: "[2, 1]",
		}
	case methods.Choice:
		spec.Labels = []string{"snow", "fire", "rain"}
		return example{
			query: "What is the hottest?", spec: spec,
			plan: "Look at each.", steps: "Snow is cold. Fire is hot. Rain is wet and cold.", answer: "fire",
		}
	case methods.Number:
		return example{
			query: "Tom has 3 pens and buys 2 more. How many pens does he have now?", spec: spec,
			plan: "Add the two numbers.", steps: "Tom has 3 pens and buys 2 more, so he has 3 + 2 = 5 pens.", answer: "5",
		}
	case methods.Set:
		return example{
			query: "Which of these are animals: cat, stone, horse?", spec: spec,
			plan: "Look at each.", steps: "A cat and a horse are animals, and a stone is not.", answer: `["cat", "horse"]`,
		}
	case methods.Fields:
		spec.Names = []string{"name", "age"}
		return example{
			query: "Ann is 31 years old.", spec: spec,
			plan: "Find the name and the age.", steps: "The name is Ann, and the age is 31.", answer: `{"name": "Ann", "age": 31}`,
		}
	}
	return example{
		query: "Ben lives in Oslo, and Ann lives with Ben. Where does Ann live?", spec: spec,
		plan: "Find where Ben lives.", steps: "Ben lives in Oslo, so Ann lives there, too.", answer: "Oslo",
	}
}

// conversation asks a question by a prompt of reasoning, after an example in turns of its
// own that was asked for in the same way.
func (t *solver) conversation(q string, planned bool) (turns []methods.Message) {
	if t.opts.Example {
		e := exampleOf(t.Answer.Kind)
		reply := e.steps + "\nAnswer: " + e.answer
		if planned {
			reply = "Plan: " + e.plan + "\n" + reply
		}
		turns = []methods.Message{
			{Role: methods.User, Content: inPlaces(t.opts.Prompt, question(e.query, e.items, "", e.spec), form(e.spec))},
			{Role: methods.Assistant, Content: reply},
		}
	}
	return append(turns, methods.Message{Role: methods.User, Content: inPlaces(t.opts.Prompt, q, form(t.Answer))})
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
		`Or, when you know the answer: {"thought": …, "action": {"answer": ` + jsonForm(spec) + "}}\n")
	return b.String()
}

// turnForm is the form of the turn that answers where there is nothing else to do.
func turnForm(spec methods.AnswerSpec) string {
	return `{"thought": …, "answer": ` + jsonForm(spec) + "}"
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
	b.WriteString("with one JSON object only: {\"answer\": " + jsonForm(spec) + "}\n")
	return b.String()
}
