package pyexpr

import (
	"slices"
	"strings"
)

// split cuts from the left. Cutting from the right is cutting the reversed text.
func split(m *machine, a []Value, right bool) Value {
	s, limit := strArg(a[0]), intArg(a[2], -1)
	m.work(2 * len(s))
	turn := func(s string) string { return s }
	if right {
		m.alloc(10 * len(s))
		turn = reversed
	}
	var parts []string
	if isNone(a[1]) {
		parts = m.fields(turn(s), limit)
	} else {
		sep := separator(a[1])
		n := strings.Count(s, sep)
		if limit >= 0 {
			n = min(n, limit)
		}
		m.alloc(times(n+1, 32))
		parts = strings.SplitN(turn(s), turn(sep), n+1)
	}
	for i := range parts {
		parts[i] = turn(parts[i])
	}
	if right {
		slices.Reverse(parts)
	}
	m.alloc(48 + 32*len(parts))
	return &List{strs(parts)}
}

func reversed(s string) string {
	rs := []rune(s)
	slices.Reverse(rs)
	return string(rs)
}

// fields cuts s at runs of white space, at most limit times.
func (m *machine) fields(s string, limit int) []string {
	var parts []string
	for s = strings.TrimLeftFunc(s, isSpace); s != ""; s = strings.TrimLeftFunc(s, isSpace) {
		m.alloc(32)
		cut := strings.IndexFunc(s, isSpace)
		if cut < 0 || limit >= 0 && len(parts) == limit {
			return append(parts, s)
		}
		parts, s = append(parts, s[:cut]), s[cut:]
	}
	return parts
}
