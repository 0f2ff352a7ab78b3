package aot

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"

	"noema/methods"
)

// The schemas of the decisions that rank.
const (
	rankIn    = `{"type":"object","properties":{"lists":{"type":"array","items":{"type":"array","items":{"type":"integer"}},"minItems":1},"weights":{"type":"array","items":{"type":"number"}}},"required":["lists"],"additionalProperties":false}`
	rankByIn  = `{"type":"object","properties":{"list":{"type":"array","items":{"type":"object"}},"path":{"type":"string","minLength":1},"order":{"enum":["ascending","descending"]},"item":{"type":"string"}},"required":["list","path","order"],"additionalProperties":false}`
	groupsOut = `{"type":"array","items":{"type":"array","items":{"type":"integer"}}}`
)

func rankDecisions() []decision {
	return []decision{
		newDecision("rank", "item numbers by the sum of the weights of the lists that they are in (1 for each list without weights), greatest first, as lists of equal rank, such as [[3], [1, 7]]", rankIn, groupsOut, rank),
		newDecision("rank_by", `the item numbers of objects such as {"item": 3, "count": 2} (in the key item, or in the one named) by the value at a dotted path, as lists of equal rank; objects without a value are left out`, rankByIn, groupsOut, rankBy),
	}
}

// itemNumber reads an item number.
func itemNumber(v any) (int, error) {
	n, _ := v.(json.Number)
	i, err := strconv.Atoi(string(n))
	if err != nil {
		return 0, fmt.Errorf("%.40q is not an item number", textOf(v))
	}
	return i, nil
}

func rank(input map[string]any) (any, error) {
	lists, weights := values(input["lists"]), values(input["weights"])
	if len(weights) > 0 && len(weights) != len(lists) {
		return nil, fmt.Errorf("%d weights for %d lists: give one for each", len(weights), len(lists))
	}
	scores := map[int]*big.Rat{}
	for i, list := range lists {
		weight := big.NewRat(1, 1)
		if len(weights) > 0 {
			var err error
			if weight, err = exact(weights[i]); err != nil {
				return nil, err
			}
		}
		seen := map[int]bool{} // a list counts once for an item
		for _, v := range values(list) {
			item, err := itemNumber(v)
			if err != nil {
				return nil, err
			}
			if scores[item] == nil {
				scores[item] = new(big.Rat)
			}
			if !seen[item] {
				scores[item].Add(scores[item], weight)
			}
			seen[item] = true
		}
	}
	items := make([]int, 0, len(scores))
	for item := range scores {
		items = append(items, item)
	}
	slices.SortFunc(items, func(a, b int) int { return cmp.Or(scores[b].Cmp(scores[a]), cmp.Compare(a, b)) })
	return grouped(items, func(a, b int) bool { return scores[a].Cmp(scores[b]) == 0 }), nil
}

// grouped cuts items in order into lists of equal ones.
func grouped(items []int, equal func(a, b int) bool) []any {
	groups := []any{}
	for i, item := range items {
		n := json.Number(strconv.Itoa(item))
		if i > 0 && equal(items[i-1], item) {
			last := len(groups) - 1
			groups[last] = append(groups[last].([]any), n)
			continue
		}
		groups = append(groups, []any{n})
	}
	return groups
}

func rankBy(input map[string]any) (any, error) {
	path, name := textOf(input["path"]), "item"
	if named, ok := input["item"]; ok {
		name = textOf(named)
	}
	var items []int
	by := map[int]sorted{}
	for _, s := range sortedList(input, path) {
		if s.place == 2 {
			continue
		}
		v, ok := valueAt(s.value, name)
		if !ok {
			return nil, fmt.Errorf("an object of the list has no item number at %.60q: name the key as \"item\"", name)
		}
		item, err := itemNumber(v)
		if err != nil {
			return nil, err
		}
		if _, twice := by[item]; !twice {
			by[item] = s
			items = append(items, item)
		}
	}
	groups := grouped(items, func(a, b int) bool { return by[a].compare(by[b], 1) == 0 })
	for _, g := range groups {
		slices.SortFunc(g.([]any), func(a, b any) int { return cmp.Compare(methods.Must(itemNumber(a)), methods.Must(itemNumber(b))) })
	}
	return groups, nil
}
