package redact

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
)

// encoding is a key as base64 or hexadecimal digits have it, whatever stands beside it.
type encoding struct {
	text string
	hex  bool
}

// encodings are those of a key: in base64 a byte may stand at three places of a group, and
// only the characters count that hold nothing but bits of the key.
func encodings(key string) []encoding {
	all := []encoding{{hex.EncodeToString([]byte(key)), true}}
	for before := range 3 {
		text := base64.RawStdEncoding.EncodeToString(append(make([]byte, before), key...))
		first, last := (8*before+5)/6, 8*(before+len(key))/6
		all = append(all, encoding{text[first:last], false})
	}
	return all
}

// encoded returns s without keys in base64, of either alphabet, or hexadecimal digits of
// either case, themselves written as JSON and URLs write them and in lines. Of base64 all
// that stands in one piece goes: what follows a key in it depends on the key's length.
func (r *Redactor) encoded(s string) string {
	if longestRun(s) < r.run {
		return s
	}
	text, at := compact(s)
	lower := strings.ToLower(text)
	var spans [][2]int
	for _, e := range r.encodings {
		in := text
		if e.hex {
			in = lower
		}
		for from := 0; ; {
			i := strings.Index(in[from:], e.text)
			if i < 0 {
				break
			}
			begin, end := from+i, from+i+len(e.text)
			from = end
			if !e.hex {
				begin, end = piece(s, text, at, begin, end)
			}
			spans = append(spans, [2]int{at[begin], endOf(s, at, end)})
		}
	}
	return without(s, spans)
}

// without returns s with a mark in the place of each span.
func without(s string, spans [][2]int) string {
	if len(spans) == 0 {
		return s
	}
	slices.SortFunc(spans, func(a, b [2]int) int { return a[0] - b[0] })
	var clean strings.Builder
	done := 0
	for i, span := range spans {
		if i > 0 && span[0] < done { // within the one before
			if span[1] > done {
				done = span[1]
			}
			continue
		}
		clean.WriteString(s[done:span[0]])
		clean.WriteString(Mark)
		done = span[1]
	}
	return clean.String() + s[done:]
}

// piece widens a place in a compact text to the base64 around it, which no space ends.
func piece(s, text string, at []int, begin, end int) (int, int) {
	joined := func(i int) bool { // the characters i and i+1
		return !strings.ContainsAny(s[at[i]:at[i+1]], " \t\r\n") && !broken(s[at[i]:at[i+1]])
	}
	for begin > 0 && sixBits(text[begin-1]) && joined(begin-1) {
		begin--
	}
	for end < len(text) && (sixBits(text[end]) || text[end] == '=') && joined(end-1) {
		end++
	}
	return begin, end
}

// endOf is where in s the characters before the n-th end: what was left out after them is
// not theirs.
func endOf(s string, at []int, n int) int {
	_, _, size := character(s[at[n-1]:])
	return at[n-1] + size
}

// broken reports whether a line's end is written in s as JSON writes it.
func broken(s string) bool {
	return strings.Contains(s, `\n`) || strings.Contains(s, `\r`) || strings.Contains(s, `\t`)
}

func sixBits(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '+' || c == '/'
}

// longestRun is the length of the longest part of s that encoded text can be.
func longestRun(s string) (longest int) {
	run := 0
	for i := range len(s) {
		if !spelling[s[i]] {
			run = 0
			continue
		}
		if run++; run > longest {
			longest = run
		}
	}
	return longest
}

// spelling holds the bytes of which encoded text is made.
var spelling = func() (all [256]bool) {
	for c := range 256 {
		all[c] = sixBits(byte(c)) || strings.IndexByte(`-_\%`, byte(c)) >= 0
	}
	return all
}()

// compact returns s without spaces, lines' ends and spelling, in base64's first alphabet.
// at says where in s each character begins, and where s ends.
func compact(s string) (text string, at []int) {
	var b strings.Builder
	b.Grow(len(s))
	at = make([]int, 0, len(s)+1)
	for i := 0; i < len(s); {
		c, ok, n := character(s[i:])
		if ok {
			b.WriteByte(c)
			at = append(at, i)
		}
		i += n
	}
	return b.String(), append(at, len(s))
}

// character reads what the first n bytes of s stand for; nothing if ok is false. Spelling
// in spelling is read through, as backslashes before backslashes.
func character(s string) (c byte, ok bool, n int) {
	for n < len(s) && s[n] == '\\' {
		n++
	}
	escaped := n > 0
	if n == len(s) {
		return 0, false, n
	}
	c = s[n]
	switch {
	case escaped && strings.IndexByte("nrtx", c) >= 0:
		return 0, false, n + 1
	case c == '%':
		if o, size := octet(s[n:]); size > 0 {
			c, n = o, n+size-1
		}
	case escaped && c == 'u':
		if r, found := unit(s[n:]); found && r < 0x80 {
			c, n = byte(r), n+len("0000")
		}
	}
	switch c {
	case ' ', '\t', '\r', '\n', '\\':
		return 0, false, n + 1
	case '-':
		c = '+'
	case '_':
		c = '/'
	}
	return c, true, n + 1
}
