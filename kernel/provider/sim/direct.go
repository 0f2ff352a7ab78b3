package sim

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// list is a full list of items as direct prompts show it.
type list struct {
	items   []map[string]any // item i has the number i+1
	friends map[string][]string
}

// answerDirectly answers a direct ranking prompt.
func answerDirectly(prompt string, n noise) (string, bool) {
	_, order, ok := readAndRank(prompt, n)
	if !ok {
		return "", false
	}
	return `{"answer": ` + listOf(order) + `}`, true
}

// reason answers a chain-of-thought ranking prompt: the same reading as
// answerDirectly, written down.
func reason(prompt string, n noise) (string, bool) {
	p, order, ok := readAndRank(prompt, n)
	if !ok {
		return "", false
	}
	var b strings.Builder
	b.WriteString("The request sets these conditions.\n")
	for i, t := range p.tests {
		fmt.Fprintf(&b, "%d. %s: items %s.\n", i+1, t, listOf(p.yes[i]))
	}
	fmt.Fprintf(&b, "They combine as %s.\nAnswer: %s", p.logic, listOf(order))
	return b.String(), true
}

// judged is a plan with the items that satisfy each test.
type judged struct {
	plan
	yes [][]int
}

// readAndRank reads the request and the whole list, judges every item by
// every condition, with the reading errors, and ranks.
func readAndRank(prompt string, n noise) (judged, []int, bool) {
	query, rest, ok1 := section(prompt, "request")
	p, ok2 := understand(query)
	l, rest, ok3 := readList(rest)
	best, ok4 := between(rest, "name the best ", ",")
	if !ok1 || !ok2 || !ok3 || !ok4 {
		return judged{}, nil, false
	}
	j := judged{plan: p, yes: make([][]int, len(p.tests))}
	verdicts := make([][]bool, len(p.tests))
	for c, t := range p.tests {
		verdicts[c] = make([]bool, len(l.items))
		var authors map[string]bool
		if t.kind == "SOCIAL" {
			authors = circle(l.friends, t.friend, t.hops)
		}
		for i, item := range l.items {
			if verdicts[c][i] = t.holds(item, authors) != n.errs(read, i, c); verdicts[c][i] {
				j.yes[c] = append(j.yes[c], i+1)
			}
		}
	}
	order := ranking(len(l.items), p.logic, func(item, condition int) bool { return verdicts[condition-1][item-1] })
	return j, order[:min(best, len(order))], true
}

// readList reads the items, and the friends if there are any.
func readList(text string) (list, string, bool) {
	var l list
	items, rest, ok := section(text, "items")
	if !ok {
		return l, text, false
	}
	for line := range strings.Lines(items) {
		number, value, ok := numbered(line)
		if !ok || number != len(l.items)+1 {
			continue
		}
		var item map[string]any
		if json.Unmarshal([]byte(value), &item) != nil {
			item = nil // cut short, perhaps: it has no values then
		}
		l.items = append(l.items, item)
	}
	if data, after, ok := section(rest, "data"); ok {
		rest = after
		for line := range strings.Lines(data) {
			if value, ok := strings.CutPrefix(line, "friends: "); ok && json.Unmarshal([]byte(value), &l.friends) != nil {
				l.friends = nil
			}
		}
	}
	return l, rest, len(l.items) > 0
}

// holds judges an item by its own data.
func (t test) holds(item map[string]any, authors map[string]bool) bool {
	var value any = item
	for _, key := range t.fields() {
		fields, _ := value.(map[string]any)
		value = fields[key]
	}
	switch t.kind {
	case "HOURS":
		hours, _ := value.(string)
		return t.hoursHold(hours)
	case "REVIEW_TEXT", "SOCIAL":
		return t.reviewsHold(reviewsOf(value), authors)
	}
	return t.valueHolds(show(value))
}

func reviewsOf(value any) []review {
	entries, _ := value.([]any)
	reviews := make([]review, 0, len(entries))
	for _, e := range entries {
		fields, _ := e.(map[string]any)
		author, _ := fields["author"].(string)
		text, _ := fields["text"].(string)
		reviews = append(reviews, review{author, text})
	}
	return reviews
}

// show writes a value as steps show it; a missing one is empty.
func show(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case bool:
		if v {
			return "True"
		}
		return "False"
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	raw, err := json.Marshal(value)
	if err != nil { // it came from JSON
		return ""
	}
	return string(raw)
}
