package wiki

import (
	"strings"
	"unicode/utf8"
)

// pages cuts a text into pages of at most size bytes each, at the end of a
// paragraph where one ends in the second half of the page, or else at the end of a
// sentence there, or else between words.
func pages(text string, size int) []string {
	var list []string
	for text = strings.TrimSpace(text); len(text) > size; {
		at := cutAt(text, size)
		list = append(list, strings.TrimSpace(text[:at]))
		text = strings.TrimSpace(text[at:])
	}
	return append(list, text)
}

// cutAt is where the first page of a text ends that is longer than size.
func cutAt(text string, size int) int {
	for size > 1 && !utf8.RuneStart(text[size]) {
		size--
	}
	for _, ends := range [][]string{{"\n"}, {". ", "! ", "? ", ".\n", "。"}, {" "}} {
		last := 0
		for _, end := range ends {
			if i := strings.LastIndex(text[:size], end); i >= 0 {
				last = max(last, i+len(end))
			}
		}
		if last > size/2 {
			return last
		}
	}
	return size
}
