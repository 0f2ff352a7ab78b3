package cafes

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

func (s *shelf) filterItems(args struct {
	Path, Op string
	Value    any
}) (any, error) {
	if err := s.check(args.Path); err != nil {
		return nil, err
	}
	items := []int{}
	for i, values := range s.values {
		if relates(values[args.Path], args.Op, args.Value) {
			items = append(items, i+1)
		}
	}
	return items, nil
}

// relates compares a value of an item with a wanted one.
func relates(have any, op string, want any) bool {
	switch op {
	case "=":
		return same(have, want)
	case "!=":
		return !same(have, want)
	case "contains":
		return contains(have, want)
	}
	order, ok := compare(have, want)
	switch op {
	case "<":
		return ok && order < 0
	case "<=":
		return ok && order <= 0
	case ">":
		return ok && order > 0
	}
	return ok && order >= 0
}

func same(have, want any) bool {
	if want, ok := want.(bool); ok {
		have, _ := have.(bool)
		return have == want
	}
	order, ok := compare(have, want)
	return ok && order == 0
}

// contains looks into a text for a text, and into a list for a value.
func contains(have, want any) bool {
	switch have := have.(type) {
	case string:
		text, ok := want.(string)
		return ok && strings.Contains(strings.ToLower(have), strings.ToLower(text))
	case []any:
		return slices.ContainsFunc(have, func(v any) bool { return same(v, want) })
	}
	return false
}

// compare orders two numbers, also those written as texts, or two texts in any
// case; nothing else has an order.
func compare(a, b any) (order int, ok bool) {
	x, ok1 := asNumber(a)
	y, ok2 := asNumber(b)
	if ok1 && ok2 {
		return cmp.Compare(x, y), true
	}
	s, ok1 := a.(string)
	t, ok2 := b.(string)
	return strings.Compare(strings.ToLower(s), strings.ToLower(t)), ok1 && ok2
}

func asNumber(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case string:
		x, err := strconv.ParseFloat(v, 64)
		return x, err == nil && x == x
	}
	return 0, false
}

type sortedItem struct {
	Item  int `json:"item"`
	Value any `json:"value"`
}

func (s *shelf) sortItems(args struct {
	Path       string
	Descending bool
}) (any, error) {
	if err := s.check(args.Path); err != nil {
		return nil, err
	}
	rows := []sortedItem{}
	for i, values := range s.values {
		switch v := values[args.Path].(type) {
		case float64, string:
			rows = append(rows, sortedItem{i + 1, v})
		}
	}
	slices.SortStableFunc(rows, func(a, b sortedItem) int {
		order := sortOrder(a.Value, b.Value)
		if args.Descending {
			return -order
		}
		return order
	})
	return rows, nil
}

// sortOrder puts numbers before other texts.
func sortOrder(a, b any) int {
	_, isNumber := asNumber(a)
	_, other := asNumber(b)
	switch {
	case isNumber == other:
		order, _ := compare(a, b)
		return order
	case isNumber:
		return -1
	}
	return 1
}
