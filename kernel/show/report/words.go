package report

import (
	"slices"
	"strings"
	"unicode"

	"github.com/sergi/go-diff/diffmatchpatch"
)

// piece is a run of words that both texts have, or only the first or the second.
type piece = diffmatchpatch.Diff

const (
	equal    = diffmatchpatch.DiffEqual
	deleted  = diffmatchpatch.DiffDelete
	inserted = diffmatchpatch.DiffInsert
)

// effort bounds what a diff costs: some texts that models write would keep a page
// busy for minutes.
const effort = 10_000 * 10_000

// cost is what comparing two texts takes at most: the product of their numbers of
// parts, without those that they begin and end with in common.
func cost(a, b []string) int {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return len(a) * len(b)
}

// diffWords compares two texts word by word: a word, a run of spaces and every
// other character count as one. Joined, the pieces that are not inserted give a,
// and those that are not deleted give b. Long texts are compared line by line, and
// word by word within the lines that differ as far as the effort allows.
func diffWords(a, b string) []piece {
	wordsA, wordsB := splitWords(a), splitWords(b)
	if cost(wordsA, wordsB) <= effort {
		return diffParts(wordsA, wordsB)
	}
	linesA, linesB := strings.SplitAfter(a, "\n"), strings.SplitAfter(b, "\n")
	if cost(linesA, linesB) > effort {
		return []piece{{Type: deleted, Text: a}, {Type: inserted, Text: b}}
	}
	left := effort
	var pieces []piece
	lines := diffParts(linesA, linesB)
	for i := 0; i < len(lines); i++ {
		if i+1 < len(lines) && lines[i].Type == deleted && lines[i+1].Type == inserted {
			wordsA, wordsB = splitWords(lines[i].Text), splitWords(lines[i+1].Text)
			if c := cost(wordsA, wordsB); c <= left {
				left -= c
				pieces = append(pieces, diffParts(wordsA, wordsB)...)
				i++
				continue
			}
		}
		pieces = append(pieces, lines[i])
	}
	return pieces
}

// diffParts compares two texts that are cut into parts.
func diffParts(a, b []string) []piece {
	names := map[string]rune{}
	var parts []string
	code := func(text []string) []rune {
		runes := make([]rune, len(text))
		for i, w := range text {
			r, ok := names[w]
			if !ok {
				r = symbol(len(parts))
				names[w] = r
				parts = append(parts, w)
			}
			runes[i] = r
		}
		return runes
	}
	ra, rb := code(a), code(b)
	m := diffmatchpatch.New()
	m.DiffTimeout = 0 // its result must not depend on the machine's speed
	pieces := m.DiffMainRunes(ra, rb, false)
	for i, d := range pieces {
		var text strings.Builder
		for _, r := range d.Text {
			text.WriteString(parts[index(r)])
		}
		pieces[i].Text = text.String()
	}
	return pieces
}

// surrogates are not characters: the numbers of words skip them.
const surrogates, surrogatesEnd = 0xd800, 0xe000

func symbol(i int) rune {
	if i+1 >= surrogates {
		return rune(i + 1 + surrogatesEnd - surrogates)
	}
	return rune(i + 1)
}

func index(r rune) int {
	if r >= surrogatesEnd {
		r -= surrogatesEnd - surrogates
	}
	return int(r) - 1
}

// splitWords cuts a text into words, runs of spaces, and single other
// characters.
func splitWords(s string) []string {
	var out []string
	start, kind := 0, -1
	for i, r := range s {
		k := 2
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_':
			k = 0
		case unicode.IsSpace(r) && r != '\n':
			k = 1
		}
		if i > start && (k != kind || k == 2) {
			out = append(out, s[start:i])
			start = i
		}
		kind = k
	}
	if start < len(s) {
		out = append(out, s[start:])
	}
	return out
}

// hunks keeps of a diff what differs with a little around it: of equal pieces
// at most context characters remain on each side, and "…" stands for the rest.
func hunks(pieces []piece, context int) []piece {
	var out []piece
	for i, p := range pieces {
		r := []rune(p.Text)
		if p.Type != equal || len(r) <= 2*context {
			out = append(out, p)
			continue
		}
		head, tail := string(r[:context]), string(r[len(r)-context:])
		switch {
		case i == 0 && i == len(pieces)-1:
			p.Text = ""
		case i == 0:
			p.Text = "…" + tail
		case i == len(pieces)-1:
			p.Text = head + "…"
		default:
			p.Text = head + " … " + tail
		}
		if p.Text != "" {
			out = append(out, p)
		}
	}
	return out
}

// LineDiff compares two texts line by line: removed lines begin with "-", added
// ones with "+", and up to two lines around them with a space. Long lines are cut.
// Equal texts have none.
func LineDiff(a, b string) string {
	const around = 2
	var out strings.Builder
	linesA, linesB := slices.Collect(strings.Lines(a)), slices.Collect(strings.Lines(b))
	pieces := []piece{{Type: deleted, Text: a}, {Type: inserted, Text: b}}
	if cost(linesA, linesB) <= effort {
		pieces = diffParts(linesA, linesB)
	}
	signs := map[diffmatchpatch.Operation]string{equal: "  ", deleted: "- ", inserted: "+ "}
	for i, p := range pieces {
		lines := strings.Split(strings.TrimSuffix(p.Text, "\n"), "\n")
		for j, line := range lines {
			near := i > 0 && j < around || i < len(pieces)-1 && j >= len(lines)-around
			if p.Type != equal || near {
				out.WriteString(signs[p.Type] + clip(Plain(line), DefaultWidth-1) + "\n")
			}
		}
	}
	return out.String()
}
