package sim

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"noema/kernel/task/cafes"
)

// list is a full list of items as direct prompts show it.
type list struct {
	items   []map[string]any // item i has the number i+1
	friends map[string][]string
}

// solveRanking answers a request for the items of a list.
func solveRanking(p prompt, n noise) (solution, bool) {
	j, order, ok := readAndRank(p, n)
	if !ok {
		return solution{}, false
	}
	var b strings.Builder
	b.WriteString("The request sets these conditions.\n")
	for i, t := range j.tests {
		fmt.Fprintf(&b, "%d. %s: items %s.\n", i+1, t, listOf(j.yes[i]))
	}
	fmt.Fprintf(&b, "They combine as %s.\n", j.logic)
	return solution{steps: b.String(), value: listOf(order)}, true
}

// judged is a plan with the items that satisfy each test.
type judged struct {
	plan
	yes [][]int
}

// readAndRank reads the request and the whole list, judges every item by
// every condition, with the reading errors, and ranks.
func readAndRank(p prompt, n noise) (judged, []int, bool) {
	wish, understood := understand(p.asked(cafes.FindRequest))
	l, shown := readList(p)
	if !understood || !shown {
		return judged{}, nil, false
	}
	best := len(l.items)
	if m := bestItems.FindStringSubmatch(p.frame); m != nil {
		best, _ = strconv.Atoi(m[1]) // digits; a number too large is no bound
	}
	j := judged{plan: wish, yes: make([][]int, len(wish.tests))}
	verdicts := make([][]bool, len(wish.tests))
	for c, t := range wish.tests {
		verdicts[c] = make([]bool, len(l.items))
		var authors map[string]bool
		if t.kind == "SOCIAL" {
			authors = cafes.Nearby(l.friends, t.friend, t.hops)
		}
		for i, item := range l.items {
			if verdicts[c][i] = t.holds(item, authors) != n.errs(read, i, c); verdicts[c][i] {
				j.yes[c] = append(j.yes[c], i+1)
			}
		}
	}
	order := ranking(len(l.items), wish.logic, func(item, condition int) bool { return verdicts[condition-1][item-1] })
	return j, order[:min(best, len(order))], true
}

// bestItems is how many items are to be named.
var bestItems = regexp.MustCompile(`(?i)\b(?:best|top) (\d+)`)

// readList reads the items, numbered a line each or as a list in JSON, and the
// friends if there are any.
func readList(p prompt) (list, bool) {
	var l list
	p.read("friends", &l.friends)
	text := p.text
	if items, _, ok := section(text, "items"); ok {
		text = items
	} else if p.read("items", &l.items) {
		return l, len(l.items) > 0
	}
	for line := range strings.Lines(text) {
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
	return l, len(l.items) > 0
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
