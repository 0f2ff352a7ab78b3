package pyexpr

import (
	"slices"
	"strings"
	"unicode/utf8"
)

func split(m *machine, a []Value, right bool) Value {
	s, limit := strArg(a[0]), intArg(a[2], -1)
	m.work(2 * len(s))
	var parts []string
	if isNone(a[1]) {
		parts = m.fields(s, limit, right)
	} else {
		sep := separator(a[1])
		n := strings.Count(s, sep)
		if limit >= 0 {
			n = min(n, limit)
		}
		m.alloc(times(n+1, 32))
		parts = splitBy(s, sep, n, right)
	}
	m.alloc(48 + 32*len(parts))
	return &List{strs(parts)}
}

// splitBy cuts s at n separators, counted from either end.
func splitBy(s, sep string, n int, right bool) []string {
	if !right {
		return strings.SplitN(s, sep, n+1)
	}
	parts := make([]string, n+1)
	for i := n; i > 0; i-- {
		at := strings.LastIndex(s, sep)
		parts[i], s = s[at+len(sep):], s[:at]
	}
	parts[0] = s
	return parts
}

// fields cuts s at runs of white space, at most limit times.
func (m *machine) fields(s string, limit int, right bool) []string {
	var parts []string
	trim := strings.TrimLeftFunc
	if right {
		trim = strings.TrimRightFunc
	}
	for s = trim(s, isSpace); s != ""; s = trim(s, isSpace) {
		m.alloc(32)
		cut := strings.IndexFunc(s, isSpace)
		if right {
			cut = strings.LastIndexFunc(s, isSpace)
		}
		if cut < 0 || limit >= 0 && len(parts) == limit {
			parts = append(parts, s)
			break
		}
		if right {
			_, n := utf8.DecodeRuneInString(s[cut:])
			parts, s = append(parts, s[cut+n:]), s[:cut]
		} else {
			parts, s = append(parts, s[:cut]), s[cut:]
		}
	}
	if right {
		slices.Reverse(parts)
	}
	return parts
}

func splitLines(m *machine, a []Value) Value {
	s := strings.ReplaceAll(strArg(a[0]), "\r\n", "\n")
	m.work(2 * len(s))
	m.alloc(len(s))
	var parts []string
	for s != "" {
		m.alloc(64)
		i := strings.IndexFunc(s, isLineEnd)
		if i < 0 {
			parts = append(parts, s)
			break
		}
		_, n := utf8.DecodeRuneInString(s[i:])
		parts, s = append(parts, s[:i]), s[i+n:]
	}
	return &List{strs(parts)}
}

func isLineEnd(r rune) bool {
	return r >= '\n' && r <= '\r' || r >= 0x1c && r <= 0x1e || r == 0x85 || r == 0x2028 || r == 0x2029
}
