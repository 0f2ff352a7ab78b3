package reply

import (
	"regexp"
	"strconv"
	"strings"
)

// Ranked is what [Ranking] read from a text.
type Ranked struct {
	Items    []int    // 1-based item numbers, best first, each once
	Dropped  []string // what was left out: numbers out of range or repeated
	FromLine bool     // there was no list, so the last line was read
}

// intList matches a JSON-like list of integers; a last comma and quotes around
// the numbers are let pass.
var intList = regexp.MustCompile(`\[\s*["']?-?\d+["']?(?:\s*,\s*["']?-?\d+["']?)*\s*,?\s*\]`)

// Ranking reads a ranking of the items 1..n from text: the first JSON-like
// list of integers in it, or else the integers of its last line that is not
// empty, after its last colon if it has one. Such a line must hold at least as
// many integers as other words: "3, then 1" is a ranking, "none of the 3 fits"
// is prose. Digits that belong to a word or a decimal number are never taken.
// Numbers out of range and repeated ones are left out and reported.
//
// Source: seed 000 §Phase 3. Differs: the original took every number in the
// text, so "Top-5: [3, 1]" ranked 5 first.
func Ranking(text string, n int) Ranked {
	var r Ranked
	var words []string
	if list := intList.FindString(text); list != "" {
		words = fields(strings.Trim(list, "[]"))
	} else {
		r.FromLine = true
		if words = fields(lastLine(text)); isProse(words) {
			return r
		}
	}
	seen := map[int]bool{}
	for _, w := range words {
		if !isInt(w) {
			continue
		}
		i, err := strconv.Atoi(w)
		if err != nil || i < 1 || i > n || seen[i] {
			r.Dropped = append(r.Dropped, OneLine(w, 20))
			continue
		}
		seen[i] = true
		r.Items = append(r.Items, i)
	}
	return r
}

// fields splits at what separates the items of a ranking, and takes off what
// decorates them, as in "#3", "**3**" and "3.".
func fields(s string) []string {
	words := strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(" \t\r\n,;>()[]{}\"'", r) })
	for i, w := range words {
		words[i] = strings.TrimRight(strings.Trim(w, "*_`#"), ".!")
	}
	return words
}

// isProse reports whether most words are not integers.
func isProse(words []string) bool {
	ints := 0
	for _, w := range words {
		if isInt(w) {
			ints++
		}
	}
	return 2*ints < len(words)
}

func isInt(w string) bool {
	digits := strings.TrimPrefix(w, "-")
	return digits != "" && strings.Trim(digits, "0123456789") == ""
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	line := text[strings.LastIndexByte(text, '\n')+1:]
	return line[strings.LastIndexByte(line, ':')+1:]
}
