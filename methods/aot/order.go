package aot

import (
	"math/big"
	"slices"
	"strings"
)

// relates compares two values. Only numbers and texts have an order.
func relates(have any, op string, want any) bool {
	switch op {
	case "=", "!=":
		return (key(have) == key(want)) == (op == "=")
	case "contains":
		if list, ok := have.([]any); ok {
			return slices.ContainsFunc(list, func(v any) bool { return key(v) == key(want) })
		}
		text, ok := have.(string)
		return ok && want != nil && strings.Contains(strings.ToLower(text), strings.ToLower(textOf(want)))
	}
	order, ok := order(have, want)
	return ok && inOrder(order, op)
}

// order compares two numbers or two texts.
func order(a, b any) (int, bool) {
	x, err1 := exact(a)
	y, err2 := exact(b)
	if err1 == nil && err2 == nil {
		return x.Cmp(y), true
	}
	s, ok1 := a.(string)
	t, ok2 := b.(string)
	return strings.Compare(s, t), ok1 && ok2
}

// sorted is a value with what it is sorted by.
type sorted struct {
	value, by any
	place     int // 0 numbers, 1 texts, 2 anything else
	number    *big.Rat
}

func sortable(v any, path string) sorted {
	s := sorted{value: v, place: 2}
	s.by, _ = valueAt(v, path)
	if x, err := exact(s.by); err == nil {
		s.place, s.number = 0, x
	} else if _, ok := s.by.(string); ok {
		s.place = 1
	}
	return s
}

// compare puts what has no order last, whatever the direction.
func (s sorted) compare(other sorted, sign int) int {
	switch {
	case s.place == 2 || other.place == 2:
		return s.place/2 - other.place/2
	case s.place != other.place:
		return (s.place - other.place) * sign
	case s.place == 0:
		return s.number.Cmp(other.number) * sign
	}
	return strings.Compare(textOf(s.by), textOf(other.by)) * sign
}

func direction(input map[string]any) int {
	if input["order"] == "descending" {
		return -1
	}
	return 1
}

func sortedList(input map[string]any, path string) []sorted {
	list := values(input["list"])
	all := make([]sorted, len(list))
	for i, v := range list {
		all[i] = sortable(v, path)
	}
	sign := direction(input)
	slices.SortStableFunc(all, func(a, b sorted) int { return a.compare(b, sign) })
	return all
}

func sortList(input map[string]any) (any, error) {
	path, _ := input["path"].(string)
	out := []any{}
	for _, s := range sortedList(input, path) {
		out = append(out, s.value)
	}
	return out, nil
}
