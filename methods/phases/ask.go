package phases

import (
	"strings"

	"noema/methods"
	"noema/methods/reply"
)

// FormOf shows the wanted form of an answer.
func FormOf(spec methods.AnswerSpec) string {
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

// JSONForm is the form of an answer inside a JSON object.
func JSONForm(spec methods.AnswerSpec) string {
	if spec.Kind == methods.Choice || spec.Kind == methods.Text {
		return `"` + FormOf(spec) + `"`
	}
	return FormOf(spec)
}

func quote(name string) string { return reply.Line(Encode(name)) }

// The prompts of one call, which a user can replace by another text; see [Fill].
const (
	// DirectPrompt asks for nothing but the answer, as JSON.
	DirectPrompt = "{question}Reply with one JSON object only: {\"answer\": {form}}\n"
	// ReasonPrompt asks for reasoning first and the answer on a line of its own.
	ReasonPrompt = "{question}Think step by step, then end with one last line of this form:\nAnswer: {form}\n"
)

const questionPlace, formPlace = "{question}", "{form}"

// Fill puts a question and the form of its answer in their places. A prompt without a
// place for the question has it first.
func Fill(prompt, question, form string) string {
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

// Conversation asks the question by a prompt of reasoning, if example is true after an
// example in turns of its own that was asked for in the same way; planned says that
// replies begin with a plan.
func (t *Trial) Conversation(prompt string, example, planned bool) (turns []methods.Message) {
	if example {
		e := exampleOf(t.Answer.Kind)
		answer := e.steps + "\nAnswer: " + e.answer
		if planned {
			answer = "Plan: " + e.plan + "\n" + answer
		}
		turns = []methods.Message{
			{Role: methods.User, Content: Fill(prompt, reply.Posed(e.query, e.items, "", e.spec), FormOf(e.spec))},
			{Role: methods.Assistant, Content: answer},
		}
	}
	return append(turns, methods.Message{Role: methods.User, Content: Fill(prompt, t.Question, FormOf(t.Answer))})
}
