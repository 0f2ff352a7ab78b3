package sim

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
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
	opens, closes, ok := strings.Cut(value, "-")
	if !ok {
		return false // closed, or nothing is known
	}
	open, ok1 := minuteOfDay(opens)
	end, ok2 := minuteOfDay(closes)
	if !ok1 || !ok2 {
		return false
	}
	if end <= open {
		end += day
	}
	to := t.to
	if to <= t.from {
		to += day
	}
	return open <= t.from && to <= end
}

func minuteOfDay(s string) (int, bool) {
	hour, minute, ok := strings.Cut(strings.TrimSpace(s), ":")
	h, err1 := strconv.Atoi(hour)
	m, err2 := strconv.Atoi(minute)
	return h*60 + m, ok && err1 == nil && err2 == nil
}

// reviewsHold judges reviews. authors is who may have written them; nil means
// anyone.
func (t test) reviewsHold(reviews []review, authors map[string]bool) bool {
	for _, r := range reviews {
		if (authors == nil || authors[r.Author]) && mentioned(r.Text, t.pattern) {
			return true
		}
	}
	return false
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
func mentioned(text, pattern string) bool {
	text, pattern = strings.ToLower(text), strings.ToLower(pattern)
	if pattern == "" {
		return true
	}
	for from := 0; ; {
		i := strings.Index(text[from:], pattern)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(pattern)
		before, _ := utf8.DecodeLastRuneInString(text[:start])
		after, _ := utf8.DecodeRuneInString(text[end:])
		if !wordRune(before) && !wordRune(after) {
			return true
		}
		_, size := utf8.DecodeRuneInString(text[start:])
		from = start + size
	}
}

func wordRune(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// circle is who stands near a person within the given hops: the friends, and
// for two hops their friends as well, but never the person.
func circle(friends map[string][]string, person string, hops int) map[string]bool {
	near := map[string]bool{}
	for _, friend := range friends[person] {
		near[friend] = true
		if hops < 2 {
			continue
		}
		for _, further := range friends[friend] {
			near[further] = true
		}
	}
	delete(near, person)
	return near
}
