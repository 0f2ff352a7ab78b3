package lwt

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// A template is a prompt cut into literal text and references.
type template struct {
	parts     []part
	malformed []string // what begins like a reference and is not one
}

// part is literal text, or a reference if ref is set.
type part struct {
	text string
	ref  *Reference
}

// Reference is a reference in a prompt.
type Reference struct {
	Name string
	Path []Accessor
	Text string // as written
}

// Accessor is one [key] of a reference.
type Accessor struct {
	Key   string // the key, for dicts; empty for a slice
	Index int    // the key as a number for lists, or -1 if it is not a number or quoted
	Slice bool   // [From:To] instead of a key
	From  int    // where a slice begins, as written; -1 if left out
	To    int    // where it ends, as written; -1 if left out
}

const refOpen = "{("

func parseTemplate(prompt string) template {
	var t template
	literal := 0 // where the current literal text begins
	for pos := 0; ; {
		i := strings.Index(prompt[pos:], refOpen)
		if i < 0 {
			break
		}
		start := pos + i
		ref, end := parseReference(prompt, start)
		if ref == nil {
			t.malformed = append(t.malformed, prompt[start:min(len(prompt), start+20)])
			pos = start + len(refOpen)
			continue
		}
		if start > literal {
			t.parts = append(t.parts, part{text: prompt[literal:start]})
		}
		t.parts = append(t.parts, part{ref: ref})
		literal, pos = end, end
	}
	if literal < len(prompt) {
		t.parts = append(t.parts, part{text: prompt[literal:]})
	}
	return t
}

// parseReference reads the reference at start, and returns nil if there is
// none.
func parseReference(s string, start int) (*Reference, int) {
	pos := start + len(refOpen)
	end := pos
	for end < len(s) && isIDByte(s[end]) {
		end++
	}
	if !IsID(s[pos:end]) || !strings.HasPrefix(s[end:], ")}") {
		return nil, 0
	}
	ref := &Reference{Name: s[pos:end]}
	path, end := parsePath(s, end+2)
	ref.Path, ref.Text = path, s[start:end]
	return ref, end
}

// parsePath reads the accessors at pos and returns where they end.
func parsePath(s string, pos int) ([]Accessor, int) {
	var path []Accessor
	for {
		a, end, ok := parseAccessor(s, pos)
		if !ok {
			return path, pos
		}
		path, pos = append(path, a), end
	}
}

func parseAccessor(s string, pos int) (Accessor, int, bool) {
	if pos >= len(s) || s[pos] != '[' {
		return Accessor{}, 0, false
	}
	pos++
	if pos < len(s) && (s[pos] == '"' || s[pos] == '\'') {
		key, end, ok := quotedKey(s, pos)
		if !ok || end >= len(s) || s[end] != ']' {
			return Accessor{}, 0, false
		}
		return Accessor{Key: key, Index: -1}, end + 1, true
	}
	n := strings.IndexAny(s[pos:], "[]\"'\n\r")
	if n < 0 || s[pos+n] != ']' {
		return Accessor{}, 0, false
	}
	key := strings.TrimSpace(s[pos : pos+n])
	if key == "" {
		return Accessor{}, 0, false
	}
	return bareAccessor(key), pos + n + 1, true
}

// maxKey bounds a quoted key in bytes, so that quotes without an end cost
// nothing.
const maxKey = 1000

func quotedKey(s string, pos int) (string, int, bool) {
	quote := s[pos]
	s = s[:min(len(s), pos+maxKey)]
	var b strings.Builder
	for pos++; pos < len(s); pos++ {
		switch c := s[pos]; {
		case c == quote:
			return b.String(), pos + 1, true
		case c == '\\' && pos+1 < len(s) && strings.IndexByte(`"'\`, s[pos+1]) >= 0:
			pos++
			b.WriteByte(s[pos])
		default:
			b.WriteByte(c)
		}
	}
	return "", 0, false
}

func bareAccessor(key string) Accessor {
	if from, to, ok := strings.Cut(key, ":"); ok {
		f, okFrom := bound(from)
		t, okTo := bound(to)
		if okFrom && okTo {
			return Accessor{Slice: true, Index: -1, From: f, To: t}
		}
	}
	i, ok := number(key)
	if !ok {
		i = -1
	}
	return Accessor{Key: key, Index: i}
}

// bound reads one side of a slice; -1 stands for a side that is left out.
func bound(s string) (int, bool) {
	if s = strings.TrimSpace(s); s == "" {
		return -1, true
	}
	return number(s)
}

// number reads digits; beyond the range of int it is the largest int, which
// is out of range for any list.
func number(s string) (int, bool) {
	if s == "" || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	i, err := strconv.Atoi(s)
	if err != nil {
		return math.MaxInt, true
	}
	return i, true
}

// elision matches dots where an item of a list would stand. Dots that end a
// word or stand in quotes are text.
var elision = regexp.MustCompile(`(?:^|[\s,;])(?:\.\.\.|…)`)

// hasDots reports whether text elides something. Most texts have no dots at
// all, and looking for them is cheaper than the expression.
func hasDots(text string) bool {
	return (strings.Contains(text, "...") || strings.Contains(text, "…")) && elision.MatchString(text)
}

// elides reports whether there are such dots between two references to items.
func (t template) elides() bool {
	dots := false // since the last item
	items := false
	for _, p := range t.parts {
		switch {
		case p.ref == nil:
			dots = dots || items && hasDots(p.text)
		case isItems(p.ref.Name):
			if dots {
				return true
			}
			items = true
		}
	}
	return false
}
