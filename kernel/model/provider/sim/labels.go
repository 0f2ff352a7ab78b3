package sim

import (
	"fmt"
	"strings"

	"noema/kernel/task/policy"
)

// The dialogue of ANoT where its items are labels: the levels of a policy's
// verdict. Its one condition is that the policy leads to the label.
const (
	labelMark = "[LABEL] "
	labelTest = labelMark + `"the policy, applied to all of the data, leads to this verdict"`
)

// labelStrategy answers phase 1 of a policy.
func labelStrategy(p prompt) (string, bool) {
	query, _ := p.question()
	_, rest, ok := section(p.text, "request")
	items, counted := between(rest, "The list has ", " items")
	if _, known := policy.FindPolicy(query); !known || !ok || !counted {
		return "", false
	}
	return fmt.Sprintf("===STRATEGY===\nCONDITIONS:\n  1. %s\n\nLOGIC: 1\nTOTAL_ITEMS: %d\n\n===MESSAGE===\n", labelTest, items), true
}

// buildLabels answers a turn of phase 2: all steps at once, with all of the data
// that the prompt names.
func buildLabels(p prompt) (string, bool) {
	strategy, rest, ok := section(p.text, "strategy")
	items, counted := between(rest, "The list has ", " items")
	b := builder{items: items, best: items, known: map[string]string{}}
	for line := range strings.Lines(strategy) {
		if m := conditionLine.FindStringSubmatch(strings.TrimRight(line, "\r\n")); m != nil {
			b.conditions = append(b.conditions, condition{number: len(b.conditions) + 1, text: literal(m[2])})
		} else if logic, found := strings.CutPrefix(line, "LOGIC: "); found {
			b.logic = strings.TrimRight(logic, "\r\n")
		}
	}
	if !ok || !counted || items > maxItems || len(b.conditions) == 0 {
		return "", false
	}
	var data strings.Builder
	_, names, _ := strings.Cut(rest, "Data by name: ")
	names, _, _ = strings.Cut(names, ".\n")
	for name := range strings.SplitSeq(names, ", ") {
		if key := strings.TrimSuffix(strings.TrimPrefix(name, "{("), ")}"); key != "" {
			fmt.Fprintf(&data, "%s: %s\n", key, name)
		}
	}
	var steps []string
	for _, c := range b.conditions {
		var step strings.Builder
		fmt.Fprintf(&step, conditionStep+"%d: %s\n<request>\n{(query)}\n</request>\n<data>\n%s</data>\n", c.number, c.text, data.String())
		for i := range items {
			fmt.Fprintf(&step, "%d: {(context)}[%d]\n", i+1, i+1)
		}
		step.WriteString("Which labels satisfy the condition? Reply with a JSON list of their numbers only, [] if none.")
		steps = append(steps, fmt.Sprintf("(c%d)=LLM(%s)", c.number, escape(step.String())))
	}
	steps = append(steps, "(final)=LLM("+escape(b.final())+")")
	return b.write(steps, b.observe(p.after)), true
}

// checkLabels answers a condition step on labels: which of them the policy leads to.
func checkLabels(p prompt, n noise) (string, bool) {
	a, ok := assess(p, n)
	if !ok {
		return "", false
	}
	_, labels, _ := section(p.text, "data")
	var yes []int
	for line := range strings.Lines(labels) {
		if item, label, ok := numbered(strings.TrimRight(line, "\r\n")); ok && label == a.values[policy.VerdictName] {
			yes = append(yes, item)
		}
	}
	return listOf(yes), true
}
