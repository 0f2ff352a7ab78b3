package anot

import (
	"fmt"
	"strconv"
	"strings"

	"noema/methods"
	"noema/methods/anot/internal/lwt"
)

// compile writes the LWT of a strategy: a step for each condition that lists
// the values of all items, and a final step that applies the logic and names
// the best. It is what phase 2 asks a model to write.
func (t *solver) compile(s *Strategy) *lwt.Program {
	p := &lwt.Program{}
	for _, c := range s.Conditions {
		prompt := conditionPrompt
		if c.Type == Label {
			prompt = labelPrompt
		}
		p.Steps = append(p.Steps, lwt.Step{ID: stepID(c), Prompt: prompt(t.data, c, t.n)})
	}
	p.Steps = append(p.Steps, lwt.Step{ID: lwt.Final, Prompt: t.finalPrompt(s, t.n, t.k)})
	return p
}

func stepID(c Condition) string { return "c" + strconv.Itoa(c.Number) }

func conditionPrompt(data *lwt.Data, c Condition, n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Check condition %d: %s\n", c.Number, literal(c.String()))
	if c.Type == Social {
		friendLines(&b, data, c)
	}
	path := c.Path
	if c.Op == Mention {
		path = []string{"reviews"}
	}
	for i := range n {
		item := strconv.Itoa(i + 1)
		b.WriteString(item + ": " + lwt.Ref("context", append([]string{item}, path...)...) + "\n")
	}
	b.WriteString(stepQuestion)
	return b.String()
}

// friendLines lists the friends of the person and, for two hops, the friends
// of each of them.
func friendLines(b *strings.Builder, data *lwt.Data, c Condition) {
	line := func(name string) string {
		ref := lwt.Ref("friends", name)
		fmt.Fprintf(b, "Friends of %s: %s\n", literal(name), ref)
		return ref
	}
	ref, err := lwt.ParsePath(line(c.Person))
	if err != nil || c.Hops < 2 {
		return
	}
	friends, _ := data.Strings(ref)
	done := map[string]bool{c.Person: true}
	for _, f := range friends {
		if !done[f] {
			line(f)
		}
		done[f] = true
	}
}

func (t *solver) finalPrompt(s *Strategy, n, k int) string {
	var b strings.Builder
	head, question := fmt.Sprintf("Rank the items 1 to %d.", n), fmt.Sprintf(finalQuestion, k)
	if t.Answer.Kind == methods.Set {
		head, question = fmt.Sprintf("Pick from the items 1 to %d.", n), setQuestion
	}
	b.WriteString(head + "\n<request>\n{(query)}\n</request>\n")
	for _, c := range s.Conditions {
		fmt.Fprintf(&b, "Condition %d: %s\nSatisfied by: %s\n", c.Number, literal(c.String()), lwt.Ref(stepID(c)))
	}
	fmt.Fprintf(&b, "LOGIC: %s\n", s.Logic)
	b.WriteString(question)
	return b.String()
}

// literal keeps text from being read as a reference.
func literal(text string) string { return strings.ReplaceAll(text, "{(", "{ (") }
