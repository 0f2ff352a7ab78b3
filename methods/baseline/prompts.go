package baseline

import (
	"fmt"
	"strings"

	"noema/methods"
)

// promptVersion identifies the wording below; it is part of the methods'
// identity.
const promptVersion = "1"

const (
	directHead = "Answer directly (%s).\n"
	cotHead    = "Reason, then answer (%s).\n"
)

// question is the part that both methods share: the request, the data and
// what is asked for.
func question(query, items, context string, spec methods.AnswerSpec) string {
	var b strings.Builder
	section(&b, "request", query)
	if items != "" {
		section(&b, "items", items)
	}
	if context != "" {
		section(&b, "data", context)
	}
	b.WriteByte('\n')
	b.WriteString(wanted(spec))
	return b.String()
}

func section(b *strings.Builder, tag, text string) {
	fmt.Fprintf(b, "<%s>\n%s\n</%s>\n", tag, text, tag)
}

// wanted says in words which answer is wanted.
func wanted(spec methods.AnswerSpec) string {
	switch spec.Kind {
	case methods.Ranking:
		return fmt.Sprintf("Rank the items 1 to %d by how well they fit the request and name the best %d, best first, by their numbers.\n", spec.N, spec.K)
	case methods.Choice:
		return "Choose one of these labels: " + strings.Join(quoteAll(spec.Labels), ", ") + ".\n"
	case methods.Number:
		return "The answer is one number.\n"
	case methods.Set:
		return "The answer is a set of texts.\n"
	case methods.Fields:
		return "The answer is a value for each of these fields: " + strings.Join(quoteAll(spec.Names), ", ") + ".\n"
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

func quoteAll(list []string) []string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = `"` + s + `"`
	}
	return quoted
}
