package sim

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"noema/kernel/task/cafes"
)

// review is what is read of a review.
type review struct {
	Author string `json:"author"`
	Text   string `json:"text"`
}

// valueHolds judges a value as prompts show it: True, free, 2, or nothing
// where the data has none. What is missing counts as false, as no number, and
// as different from every text.
func (t test) valueHolds(value string) bool {
	value = strings.TrimSpace(value)
	switch t.op {
	case "=":
		return t.equals(value)
	case "!=":
		return !t.equals(value)
	case "contains":
		return value != "" && strings.Contains(strings.ToLower(value), strings.ToLower(t.want))
	}
	have, err1 := strconv.ParseFloat(value, 64)
	want, err2 := strconv.ParseFloat(t.want, 64)
	if err1 != nil || err2 != nil {
		return false
	}
	switch t.op {
	case "<":
		return have < want
	case "<=":
		return have <= want
	case ">":
		return have > want
	}
	return have >= want
}

func (t test) equals(value string) bool {
	if t.quoted {
		return strings.EqualFold(value, t.want)
	}
	switch t.want {
	case "True":
		return strings.EqualFold(value, "true")
	case "False":
		return value == "" || strings.EqualFold(value, "false") || value == "None"
	case "None":
		return value == "" || value == "None"
	}
	have, err1 := strconv.ParseFloat(value, 64)
	want, err2 := strconv.ParseFloat(t.want, 64)
	if err1 == nil && err2 == nil {
		return have == want
	}
	return strings.EqualFold(value, t.want)
}

const day = 24 * 60

// hoursHold judges opening hours such as "7:00-19:00". Hours that end at or
// before their start pass midnight.
func (t test) hoursHold(value string) bool {
	open, end, err := cafes.Span(value)
	if err != nil {
		return false // closed, or nothing is known
	}
	to := t.to
	if to <= t.from {
		to += day
	}
	return open <= t.from && to <= end
}

// reviewsHold judges reviews. authors is who may have written them; nil means
// anyone.
func (t test) reviewsHold(reviews []review, authors map[string]bool, n noise) bool {
	return slices.ContainsFunc(reviews, func(r review) bool { return (authors == nil || authors[r.Author]) && mentioned(r.Text, t.pattern, n) })
}

func parseReviews(value string) []review {
	var reviews []review
	if json.Unmarshal([]byte(value), &reviews) != nil {
		return nil // no reviews to read; the verdict is then no
	}
	return reviews
}

// mentioned reports whether text holds pattern as whole words, in any case.
// An empty pattern is mentioned by every text.
func mentioned(text, pattern string, n noise) bool {
	return (pattern == "" || cafes.Mentions(text, pattern)) != n.errs(judge, pattern, text)
}
