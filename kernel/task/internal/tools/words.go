package tools

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Mentions reports where pattern occurs first in text as whole words, in any
// case: the byte at which it starts, or -1.
func Mentions(text, pattern string) int {
	text, pattern = strings.ToLower(text), strings.ToLower(strings.TrimSpace(pattern))
	for from := 0; pattern != ""; {
		at := strings.Index(text[from:], pattern)
		if at < 0 {
			break
		}
		start := from + at
		before, _ := utf8.DecodeLastRuneInString(text[:start])
		after, _ := utf8.DecodeRuneInString(text[start+len(pattern):])
		if !inWord(before) && !inWord(after) {
			return start
		}
		_, size := utf8.DecodeRuneInString(text[start:])
		from = start + size
	}
	return -1
}

// MentionsAny reports where the first of the patterns that text mentions starts;
// without patterns every text counts, from its start.
func MentionsAny(text string, patterns []string) (at int, ok bool) {
	for _, p := range patterns {
		if at := Mentions(text, p); at >= 0 {
			return at, true
		}
	}
	return 0, len(patterns) == 0
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// Excerpt is at most limit bytes of text around a place, cut between characters
// and marked where it is cut.
func Excerpt(text string, at, limit int) string {
	if len(text) <= limit {
		return text
	}
	start := max(0, min(at-limit/3, len(text)-limit))
	for start > 0 && !utf8.RuneStart(text[start]) {
		start--
	}
	end := min(len(text), start+limit)
	for end < len(text) && !utf8.RuneStart(text[end]) {
		end--
	}
	out := text[start:end]
	if start > 0 {
		out = "…" + out
	}
	if end < len(text) {
		out += "…"
	}
	return out
}
