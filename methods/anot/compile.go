package anot

import (
	"fmt"
	"strconv"
	"strings"

	"noema/methods/anot/internal/lwt"
)

// compile writes the LWT of a strategy: a step for each condition that lists
// the values of all n items, and a final step that applies the logic and
// names the best k. It is what phase 2 asks a model to write.
func compile(data *lwt.Data, s *Strategy, n, k int) *lwt.Program {
	p := &lwt.Program{}
	for _, c := range s.Conditions {
		p.Steps = append(p.Steps, lwt.Step{ID: stepID(c), Prompt: conditionPrompt(data, c, n)})
	}
	p.Steps = append(p.Steps, lwt.Step{ID: lwt.Final, Prompt: finalPrompt(s, n, k)})
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

func finalPrompt(s *Strategy, n, k int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Rank the items 1 to %d.\n<request>\n{(query)}\n</request>\n", n)
	for _, c := range s.Conditions {
		fmt.Fprintf(&b, "Condition %d: %s\nSatisfied by: %s\n", c.Number, literal(c.String()), lwt.Ref(stepID(c)))
	}
	fmt.Fprintf(&b, "LOGIC: %s\n"+finalQuestion, s.Logic, k)
	return b.String()
}

// literal keeps text from being read as a reference.
func literal(text string) string { return strings.ReplaceAll(text, "{(", "{ (") }
