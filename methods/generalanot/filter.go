package generalanot

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/cases"
)

// The ways to filter, besides "semantic".
const (
	filterWords     = "words"
	filterSubstring = "substring"
	filterNone      = "none"
	filterUnion     = "union" // words or meaning
)

// matcher finds reviews that contain a keyword.
type matcher struct {
	phrases  map[string][][]string // by their first word
	literals []string              // to be contained anywhere
	all      bool
}

// newMatcher prepares keywords. In words mode a keyword matches as a sequence
// of whole words; one without a letter or digit, such as "$$", matches
// anywhere. The original's substring match found "nut" in "minute".
func newMatcher(keywords []string, mode string) *matcher {
	m := &matcher{phrases: map[string][][]string{}, all: mode == filterNone || len(keywords) == 0}
	for _, k := range keywords {
		folded := fold(strings.TrimSpace(k))
		parts := words(folded)
		if mode == filterSubstring || len(parts) == 0 {
			m.literals = append(m.literals, folded)
			continue
		}
		m.phrases[parts[0]] = append(m.phrases[parts[0]], parts)
	}
	return m
}

func (m *matcher) matches(text string) bool {
	if m.all {
		return true
	}
	text = fold(text)
	if slices.ContainsFunc(m.literals, func(l string) bool { return strings.Contains(text, l) }) {
		return true
	}
	list := words(text)
	for i, w := range list {
		for _, phrase := range m.phrases[w] {
			if len(phrase) <= len(list)-i && slices.Equal(phrase, list[i:i+len(phrase)]) {
				return true
			}
		}
	}
	return false
}

// fold removes the differences of case, ß and SS included.
func fold(s string) string { return cases.Fold().String(s) }

// words are the runs of letters, marks and digits in s.
func words(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	})
}
