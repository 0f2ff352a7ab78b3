package display

import (
	"slices"
	"strings"
)

// Wrap breaks a text into lines of at most limit columns of a terminal, between
// words where it can. Lines of the text stay lines; what could steer a terminal
// becomes visible.
func Wrap(s string, limit int) []string {
	limit = max(limit, 2) // a wide character takes two
	var lines []string
	for line := range strings.Lines(strings.TrimRight(s, "\n")) {
		lines = append(lines, wrapLine(strings.TrimRight(strings.ReplaceAll(Visible(line), "\t", "    "), "\n"), limit)...)
	}
	return lines
}

// wrapLine keeps the indentation of the line's beginning, where there is room.
func wrapLine(line string, limit int) []string {
	words := strings.Split(line, " ")
	lines, now, used := []string{}, "", 0
	for i, word := range words {
		w := Width(word)
		if i > 0 && used+1+w <= limit {
			now, used = now+" "+word, used+1+w
			continue
		}
		if i > 0 {
			lines = append(lines, now)
		}
		for w > limit {
			head, rest := split(word, limit)
			lines = append(lines, head)
			word, w = rest, w-Width(head)
		}
		now, used = word, w
	}
	return append(lines, now)
}

// split cuts s after at most limit columns: behind a mark between parts, such as a
// comma or a slash, if there is one in the second half.
func split(s string, limit int) (head, rest string) {
	w, mark := 0, 0
	for i, r := range s {
		if w += runeWidth(r); w > limit {
			if mark > 0 {
				i = mark
			}
			return s[:i], s[i:]
		}
		if strings.ContainsRune(",;/|&=", r) && w > limit/2 {
			mark = i + 1
		}
	}
	return s, ""
}

// SideBySide puts columns of lines next to each other, each in a place of its own
// width.
func SideBySide(columns [][]string, each int) []string {
	rows := 0
	for _, c := range columns {
		rows = max(rows, len(c))
	}
	lines := make([]string, rows)
	for i := range lines {
		cells := make([]string, len(columns))
		for k, c := range columns {
			if i < len(c) {
				cells[k] = c[i]
			}
			cells[k] += strings.Repeat(" ", max(0, each-Width(cells[k])))
		}
		lines[i] = strings.TrimRight(strings.Join(cells, gap), " ")
	}
	return slices.Clip(lines)
}
