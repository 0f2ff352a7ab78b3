package sim

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"noema/kernel/task/cafes"
)

// The first lines of the steps that buildLWT writes, and that ANoT's prompt shows.
const (
	conditionStep = "Check condition "
	finalStep     = "Rank the items 1 to "
)

var checkLine = regexp.MustCompile(`^` + conditionStep + `\d+: (.*)$`)

// checkCondition answers a condition step of phase 3: which items satisfy it.
func checkCondition(head, body string, n noise) (string, bool) {
	m := checkLine.FindStringSubmatch(head)
	if m == nil {
		return "", false
	}
	t, ok := parseTest(m[1])
	if !ok {
		return "", false
	}
	friends := map[string][]string{}
	var authors map[string]bool
	var yes []int
	for line := range strings.Lines(body) {
		line = strings.TrimRight(line, "\r\n")
		if person, list, ok := friendsLine(line); ok {
			friends[person] = list
			continue
		}
		item, value, ok := numbered(line)
		if !ok {
			continue
		}
		if t.kind == "SOCIAL" && authors == nil {
			authors = cafes.Nearby(friends, t.friend, t.hops)
		}
		if t.shown(value, authors, n, item) {
			yes = append(yes, item)
		}
	}
	return listOf(yes), true
}

// shown judges the value that a prompt shows for one item, whose name tells it apart.
// What is read in reviews goes wrong by the review.
func (t test) shown(value string, authors map[string]bool, n noise, name any) bool {
	holds := false
	switch {
	case t.pattern != "":
		return t.reviewsHold(parseReviews(value), authors, n)
	case t.kind == "SOCIAL":
		holds = t.reviewsHold(parseReviews(value), authors, noise{})
	case t.kind == "HOURS":
		holds = t.hoursHold(value)
	default:
		holds = t.valueHolds(value)
	}
	return holds != n.errs(judge, t.String(), name)
}

// friendsLine reads "Friends of Ann: [...]". Anything but a list gives no friends.
func friendsLine(line string) (person string, friends []string, ok bool) {
	rest, ok := strings.CutPrefix(line, "Friends of ")
	if !ok {
		return "", nil, false
	}
	person, list, ok := strings.Cut(rest, ": ")
	if !ok {
		return strings.TrimRight(rest, ": "), nil, true
	}
	if json.Unmarshal([]byte(list), &friends) != nil {
		friends = nil
	}
	return person, friends, true
}

var satisfiedLine = regexp.MustCompile(`^Condition (\d+): `)

// rankItems answers the final step of phase 3 from the outputs of the others.
func rankItems(head, body string, n noise) (string, bool) {
	_, rest, ok := section(body, "request")
	if !ok {
		rest = body
	}
	satisfied, formula := outputs(rest)
	l, ok1 := parseLogic(formula, maxConditions)
	total, ok2 := between(head, finalStep, ".")
	best, ok3 := between(rest, "list of the best ", " item")
	if !ok1 || !ok2 || !ok3 || total > maxItems {
		return "", false
	}
	order := ranking(total, l, func(item, condition int) bool { return satisfied[condition][item] })
	return listOf(misplaced(order, best, n)), true
}

// misplaced is the beginning of an order in which two neighbours may have changed
// places.
func misplaced(order []int, best int, n noise) []int {
	for i := range min(best, len(order)-1) {
		if n.errs(compute, i, order[i], order[i+1]) {
			order[i], order[i+1] = order[i+1], order[i]
		}
	}
	return order[:min(best, len(order))]
}

// maxItems bounds the number of items of a prompt.
const maxItems = 100_000

// ranking orders the items 1 to total: those that fulfil the logic first,
// then by how near they come to it, then by their number.
func ranking(total int, l logic, verdict func(item, condition int) bool) []int {
	type place struct {
		item      int
		holds     bool
		closeness float64
	}
	places := make([]place, total)
	for i := range places {
		of := func(condition int) bool { return verdict(i+1, condition) }
		places[i] = place{i + 1, l.holds(of), l.closeness(of)}
	}
	slices.SortStableFunc(places, func(a, b place) int {
		if a.holds != b.holds {
			if a.holds {
				return -1
			}
			return 1
		}
		return cmp.Compare(b.closeness, a.closeness)
	})
	order := make([]int, total)
	for i, p := range places {
		order[i] = p.item
	}
	return order
}

// maxConditions bounds the condition numbers of a final step.
const maxConditions = 10_000

// outputs reads the "Satisfied by" lines, by condition, and the logic.
func outputs(text string) (satisfied map[int]map[int]bool, formula string) {
	satisfied = map[int]map[int]bool{}
	condition := 0
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if m := satisfiedLine.FindStringSubmatch(line); m != nil {
			condition, _ = strconv.Atoi(m[1]) // digits; a number too large is not a condition
		} else if list, ok := strings.CutPrefix(line, "Satisfied by: "); ok {
			satisfied[condition] = firstList(list)
		} else if rest, ok := strings.CutPrefix(line, "LOGIC: "); ok {
			formula = rest
		}
	}
	return satisfied, formula
}

var integers = regexp.MustCompile(`\[[\d\s,]*\]`)

// firstList is the first list of integers in a text, as a set.
func firstList(text string) map[int]bool {
	set := map[int]bool{}
	for _, part := range strings.Split(strings.Trim(integers.FindString(text), "[]"), ",") {
		if item, err := strconv.Atoi(strings.TrimSpace(part)); err == nil {
			set[item] = true
		}
	}
	return set
}
