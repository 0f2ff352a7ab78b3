package researchtree

import (
	"fmt"
	"strings"
)

// promptVersion identifies the wording below; it is part of the method's
// identity.
const promptVersion = "1"

// The first lines of the prompts.
const (
	turnHead   = "Research Tree: choose the next action.\n"
	forcedHead = "Research Tree: answer now.\n"
)

// turnPrompt shows the question, what is known, and what was done lately.
func turnPrompt(question, form, view, tasks, history string) string {
	var b strings.Builder
	b.WriteString(turnHead)
	body(&b, question, view, tasks, history)
	b.WriteString(`Reply with one JSON object only: {"thought": "why", "tool": "name", "args": {…}}. The tools:
search {"query"}: five articles, each with its address and two lines
inspect {"url"}: an article's lead and its table of contents; an address or a title
read_section {"url", "section"}: one section of an inspected article; there is no way to read a whole article
add_to_memory {"parent", "topic", "content", "source_url", "links"}: keep a finding below "root" or a node; links to other nodes may be left out
manage_tasks {"add": ["open question"], "complete": [number]}: the list of open questions
answer {"answer", "evidence": ["n1"]}: the answer, ` + form + `, with the nodes that it rests on; this ends the work
Read only the section that will hold what is missing, keep each finding, and answer as soon as the findings suffice.
`)
	return b.String()
}

// forcedPrompt asks for the answer when no steps are left.
func forcedPrompt(question, form, view, history string) string {
	var b strings.Builder
	b.WriteString(forcedHead)
	body(&b, question, view, "", history)
	b.WriteString("No steps are left. Reply with one JSON object only: {\"answer\": …, \"evidence\": [\"n1\"]}. The answer is " + form + ", the best that the findings allow.\n")
	return b.String()
}

func body(b *strings.Builder, question, view, tasks, history string) {
	for _, part := range []struct{ tag, text string }{{"question", question}, {"tree", view}, {"tasks", tasks}, {"history", history}} {
		if part.text != "" || part.tag == "history" {
			fmt.Fprintf(b, "<%s>\n%s\n</%s>\n", part.tag, strings.TrimRight(part.text, "\n"), part.tag)
		}
	}
}
