package tokenizer

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// addedToken is found in a text before the model sees it.
type addedToken struct {
	ID         int    `json:"id"`
	Content    string `json:"content"`
	SingleWord bool   `json:"single_word"`
	Lstrip     bool   `json:"lstrip"`
	Rstrip     bool   `json:"rstrip"`
	Normalized bool   `json:"normalized"`
	Special    bool   `json:"special"`
}

// matcher finds added tokens.
type matcher struct {
	byFirst map[byte][]addedToken
}

// add looks for a token under a text, which is its own or its normalised one.
func (m *matcher) add(a addedToken, text string) {
	if a.Content = text; text == "" {
		return
	}
	if m.byFirst == nil {
		m.byFirst = map[byte][]addedToken{}
	}
	m.byFirst[a.Content[0]] = append(m.byFirst[a.Content[0]], a)
}

// segment is a stretch of text, or an added token if id is not negative.
type segment struct {
	text string
	id   int
}

// split cuts a text at the added tokens that are allowed where they stand: at
// each place the longest one counts.
func (m *matcher) split(text string, allowed func(id, from, to int) bool) []segment {
	var all []segment
	start := 0
	for at := 0; at < len(text); {
		a, ok := m.at(text, at, allowed)
		if !ok {
			at++
			continue
		}
		left, right := at, at+len(a.Content)
		if a.Lstrip {
			left = start + len(strings.TrimRightFunc(text[start:at], unicode.IsSpace))
		}
		if a.Rstrip {
			right = len(text) - len(strings.TrimLeftFunc(text[right:], unicode.IsSpace))
		}
		if left > start {
			all = append(all, segment{text[start:left], -1})
		}
		all = append(all, segment{a.Content, a.ID})
		start, at = right, right
	}
	if start < len(text) {
		all = append(all, segment{text[start:], -1})
	}
	return all
}

func (m *matcher) at(text string, at int, allowed func(id, from, to int) bool) (addedToken, bool) {
	var best addedToken
	for _, a := range m.byFirst[text[at]] {
		if len(a.Content) > len(best.Content) && strings.HasPrefix(text[at:], a.Content) && allowed(a.ID, at, at+len(a.Content)) &&
			(!a.SingleWord || alone(text, at, at+len(a.Content))) {
			best = a
		}
	}
	return best, best.Content != ""
}

// alone reports whether no word continues at either end of a stretch.
func alone(text string, from, to int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:from])
	after, _ := utf8.DecodeRuneInString(text[to:])
	return (from == 0 || !isWord(before)) && (to == len(text) || !isWord(after))
}

func isWord(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)
}
