package engineplanner

import (
	"cmp"
	"regexp"
	"strings"
	"unicode"

	"noema/methods/workflow"
)

// identifier is a word that looks like the name of a device: it has a digit.
var identifier = regexp.MustCompile(`[A-Za-z0-9][A-Za-z0-9:._-]*[0-9][A-Za-z0-9:._-]*|[0-9]`)

// likelyValue is the word of a query that looks most like a name: one of an entity's
// form, or else one with letters, or else the longest. A time is not a name.
func likelyValue(query string, entities map[string]workflow.Entity) string {
	best, words := "", strings.Fields(query)
	for i, w := range words {
		if ofTime(words, i) {
			continue
		}
		for _, name := range identifier.FindAllString(w, -1) {
			name = strings.TrimRight(name, ".:-_")
			if c := cmp.Compare(likeness(name, entities), likeness(best, entities)); c > 0 || c == 0 && len(name) > len(best) {
				best = name
			}
		}
	}
	return best
}

// likeness is how much a word looks like the name of an entity.
func likeness(word string, entities map[string]workflow.Entity) int {
	for _, e := range entities {
		if ok, err := regexp.MatchString(e.Pattern, word); ok && err == nil && e.Pattern != "" {
			return 2
		}
	}
	if strings.ContainsFunc(word, unicode.IsLetter) {
		return 1
	}
	return 0
}

// The words of a time: a date, a time of day or both in one word, also as digits alone
// or in seconds since 1970; a zone; a month; and the day or the year beside a month.
var (
	moment = regexp.MustCompile(`(?i)^(?:` + day + `(?:[T:]` + clock + `)?|` + clock + `|` + digits + `(?:T\d{6}Z?)?|1\d{9}(?:\d{3}){0,3}(?:\.\d+)?|[+-]\d{2}:?\d{2})$`)
	month  = regexp.MustCompile(`(?i)^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*$`)
	short  = regexp.MustCompile(`^\d{1,4}(?:st|nd|rd|th)?$`)
	rest   = regexp.MustCompile(`^\d{6}$`)
	date   = regexp.MustCompile(`^` + digits + `$`)
)

const (
	day    = `(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.](?:\d{1,2}|[a-z]{3})[-/.]\d{2,4})`
	clock  = `\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?`
	digits = `(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:[0-2]\d|3[01])`
)

// ofTime reports whether a word of a query belongs to a time.
func ofTime(words []string, i int) bool {
	at := func(i int) string {
		if i < 0 || i >= len(words) {
			return ""
		}
		return strings.Trim(words[i], `.,;:?!"'()[]`)
	}
	switch w := at(i); {
	case moment.MatchString(w):
		return true
	case rest.MatchString(w):
		return date.MatchString(at(i - 1))
	case short.MatchString(w):
		for _, near := range []int{i - 4, i - 3, i - 2, i - 1, i + 1} {
			if month.MatchString(at(near)) {
				return true
			}
		}
	}
	return false
}
