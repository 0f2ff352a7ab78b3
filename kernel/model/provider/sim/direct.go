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
// every condition and ranks, each with its errors.
func readAndRank(p prompt, n noise) (judged, []int, bool) {
	wish, understood := understand(p.asked(cafes.FindRequest), n)
	l, shown := readList(p)
	if !understood || !shown {
		return judged{}, nil, false
	}
	best := len(l.items)
	if m := bestItems.FindStringSubmatch(p.frame); m != nil {
		best, _ = strconv.Atoi(m[1]) // digits; a number too large sets no bound
	}
	j := judged{plan: wish, yes: make([][]int, len(wish.tests))}
	verdicts := make([][]bool, len(wish.tests))
	names := l.names()
	for c, t := range wish.tests {
		verdicts[c] = make([]bool, len(l.items))
		var authors map[string]bool
		if t.kind == "SOCIAL" {
			authors = cafes.Nearby(l.friends, t.friend, t.hops)
		}
		for i, item := range l.items {
			if verdicts[c][i] = t.holds(item, authors, n, names[i]); verdicts[c][i] {
				j.yes[c] = append(j.yes[c], i+1)
			}
		}
	}
	order := ranking(len(l.items), wish.logic, func(item, condition int) bool { return verdicts[condition-1][item-1] })
	return j, misplaced(order, best, n), true
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

// names tell the items of a list apart: their numbers, and for a pair, which is shown
// without those that its items have in the whole list, what they are.
func (l list) names() []any {
	names := make([]any, len(l.items))
	for i, item := range l.items {
		if names[i] = i + 1; len(l.items) == 2 {
			names[i] = plainJSON(item)
		}
	}
	return names
}

// holds judges an item by its own data; name tells it apart.
func (t test) holds(item map[string]any, authors map[string]bool, n noise, name any) bool {
	var value any = item
	for _, key := range t.fields() {
		fields, _ := value.(map[string]any)
		value = fields[key]
	}
	return t.shown(show(value), authors, n, name)
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
