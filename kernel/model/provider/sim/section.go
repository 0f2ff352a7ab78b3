package sim

import (
	"strconv"
	"strings"
)

// section is the text between a pair of tags that stand on lines of their
// own, and what follows it.
func section(text, tag string) (inside, rest string, ok bool) {
	_, after, ok := strings.Cut(text, "<"+tag+">\n")
	if !ok {
		return "", text, false
	}
	if rest, empty := strings.CutPrefix(after, "</"+tag+">"); empty {
		return "", rest, true
	}
	return strings.Cut(after, "\n</"+tag+">")
}

// numbered splits a line such as "12: value".
func numbered(line string) (number int, value string, ok bool) {
	head, value, ok := strings.Cut(line, ":")
	if !ok {
		return 0, "", false
	}
	number, err := strconv.Atoi(strings.TrimSpace(head))
	return number, strings.TrimSpace(value), err == nil && number > 0
}

// between is the first integer that stands between two texts.
func between(text, before, after string) (int, bool) {
	_, rest, ok := strings.Cut(text, before)
	if !ok {
		return 0, false
	}
	digits, _, ok := strings.Cut(rest, after)
	n, err := strconv.Atoi(strings.TrimSpace(digits))
	return n, ok && err == nil && n > 0
}

// listOf writes item numbers as JSON, as in "[1, 5, 10]".
func listOf(items []int) string {
	parts := make([]string, len(items))
	for i, item := range items {
		parts[i] = strconv.Itoa(item)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}
