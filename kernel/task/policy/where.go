package policy

import (
	"fmt"
	"slices"
	"strings"
)

// Where selects reviews: those that pass every test and every bound.
type Where struct {
	Tests  []Test // at least one, and one of them for a telling value
	AtMost int    // the most stars; 0 for any
	Since  int    // the earliest year; 0 for any
}

// Test asks for one of some values of a field, or with Not for any but the one value.
type Test struct {
	Field  string
	Not    bool
	Values []string
}

func (w Where) english() string {
	var parts []string
	for _, t := range w.Tests {
		link := " "
		if t.Not {
			link = " other than "
		}
		parts = append(parts, t.Field+link+strings.Join(t.Values, " or "))
	}
	if w.AtMost > 0 {
		parts = append(parts, fmt.Sprintf("at most %d stars", w.AtMost))
	}
	if w.Since > 0 {
		parts = append(parts, fmt.Sprintf("a date in %d or later", w.Since))
	}
	return strings.Join(parts, " and ")
}

func (w Where) python() string {
	var parts []string
	for _, t := range w.Tests {
		field := "e[" + quote(t.Field) + "]"
		quoted := make([]string, len(t.Values))
		for i, v := range t.Values {
			quoted[i] = quote(v)
		}
		switch {
		case len(t.Values) > 1:
			parts = append(parts, field+" in ["+strings.Join(quoted, ", ")+"]")
		case t.Not:
			parts = append(parts, field+" != "+quoted[0])
		default:
			parts = append(parts, field+" == "+quoted[0])
		}
	}
	if w.AtMost > 0 {
		parts = append(parts, fmt.Sprintf("e['stars'] <= %d", w.AtMost))
	}
	if w.Since > 0 {
		parts = append(parts, fmt.Sprintf("e['year'] >= %d", w.Since))
	}
	return strings.Join(parts, " and ")
}

func (w Where) holds(r Review) bool {
	for _, t := range w.Tests {
		if slices.Contains(t.Values, r.Labels[t.Field]) == t.Not {
			return false
		}
	}
	return (w.AtMost == 0 || r.Stars <= w.AtMost) && r.Year >= w.Since
}

// sum adds up of over the selected reviews.
func (w Where) sum(reviews []Review, of func(Review) float64) float64 {
	sum := 0.0
	for _, r := range reviews {
		if w.holds(r) {
			sum += of(r)
		}
	}
	return sum
}
