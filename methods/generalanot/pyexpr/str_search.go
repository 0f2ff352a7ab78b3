package pyexpr

import (
	"strings"
	"unicode/utf8"
)

// indexOf is the byte offset of sub in s, or -1.
func (m *machine) indexOf(s, sub string) int {
	m.work(len(s))
	return strings.Index(s, sub)
}

// strSearch are the methods that look for something in a part of a string.
func strSearch(name string) method {
	switch name {
	case "count", "find", "rfind", "index", "rindex":
		return func(m *machine, self Value, args []Value, kw []keyword) Value { return search(m, name, self, args, kw) }
	case "startswith", "endswith":
		return func(m *machine, self Value, args []Value, kw []keyword) Value { return affix(m, name, self, args, kw) }
	}
	return nil
}

// window is s[lo:hi] and where it starts, in characters; false if lo lies
// beyond the end or beyond hi.
func (m *machine) window(s string, lo, hi Value) (part string, start int, ok bool) {
	m.work(len(s))
	n := utf8.RuneCountInString(s)
	bound := func(v Value, def int) int {
		if v == nil {
			return def
		}
		k, ok := m.sliceIndex(v)
		if !ok {
			return def
		}
		if k < 0 {
			return max(k+n, 0)
		}
		return k
	}
	start, stop := bound(lo, 0), min(bound(hi, n), n)
	if start > n || start > stop {
		return "", 0, false
	}
	if n == len(s) {
		return s[start:stop], start, true
	}
	from := runeOffset(s, start)
	return s[from : from+runeOffset(s[from:], stop-start)], start, true
}

func search(m *machine, name string, self Value, args []Value, kw []keyword) Value {
	a := m.bind(name, args, kw, 1, "sub/", "start/", "end/")
	sub := strArg(name, a[0])
	part, start, ok := m.window(string(self.(Str)), a[1], a[2])
	m.work(len(part))
	if name == "count" {
		if !ok {
			return Int(0)
		}
		return Int(strings.Count(part, sub))
	}
	at := -1
	if ok {
		if at = strings.Index(part, sub); name[0] == 'r' {
			at = strings.LastIndex(part, sub)
		}
	}
	if at < 0 {
		if strings.HasSuffix(name, "index") {
			raise(valueError, "substring not found")
		}
		return Int(-1)
	}
	return Int(start + utf8.RuneCountInString(part[:at]))
}

func affix(m *machine, name string, self Value, args []Value, kw []keyword) Value {
	a := m.bind(name, args, kw, 1, "affix/", "start/", "end/")
	has := strings.HasPrefix
	if name == "endswith" {
		has = strings.HasSuffix
	}
	part, _, ok := m.window(string(self.(Str)), a[1], a[2])
	choices := []Value{a[0]}
	if t, isTuple := a[0].(*Tuple); isTuple {
		choices = t.items
	}
	for _, c := range choices {
		m.step(1)
		s, isStr := c.(Str)
		if !isStr {
			raise(typeError, "%s first arg must be str or a tuple of str, not %s", name, className(c))
		}
		if ok && has(part, string(s)) {
			return Bool(true)
		}
	}
	return Bool(false)
}

func split(m *machine, name string, self Value, args []Value, kw []keyword) Value {
	a := m.bind(name, args, kw, 0, "sep", "maxsplit")
	s, limit := string(self.(Str)), intArg(a[1], -1)
	m.work(2 * len(s))
	right := name == "rsplit"
	var parts []string
	if isNone(a[0]) {
		parts = m.fields(s, limit, right)
	} else {
		sep := strArg(name, a[0])
		if sep == "" {
			raise(valueError, "empty separator")
		}
		n := strings.Count(s, sep)
		if limit >= 0 {
			n = min(n, limit)
		}
		m.alloc(times(n+1, 32))
		parts = splitBy(s, sep, n, right)
	}
	return m.strList(parts)
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
	trim, find := strings.TrimLeftFunc, strings.IndexFunc
	if right {
		trim, find = strings.TrimRightFunc, strings.LastIndexFunc
	}
	for s = trim(s, isSpace); s != ""; s = trim(s, isSpace) {
		m.alloc(32)
		i := find(s, isSpace)
		if i < 0 || limit >= 0 && len(parts) == limit {
			parts = append(parts, s)
			break
		}
		if right {
			_, n := utf8.DecodeRuneInString(s[i:])
			parts, s = append(parts, s[i+n:]), s[:i]
		} else {
			parts, s = append(parts, s[:i]), s[i:]
		}
	}
	if right {
		for i, j := 0, len(parts)-1; i < j; i, j = i+1, j-1 {
			parts[i], parts[j] = parts[j], parts[i]
		}
	}
	return parts
}

func (m *machine) strList(parts []string) Value {
	out := m.room(2 * len(parts))
	for _, p := range parts {
		out = append(out, Str(p))
	}
	return &List{out}
}

func splitLines(m *machine, self Value, args []Value, kw []keyword) Value {
	a := m.bind("splitlines", args, kw, 0, "keepends")
	keep := a[0] != nil && truth(a[0])
	s := string(self.(Str))
	m.work(2 * len(s))
	var parts []string
	for s != "" {
		m.alloc(32)
		i := strings.IndexFunc(s, isLineEnd)
		if i < 0 {
			parts = append(parts, s)
			break
		}
		_, n := utf8.DecodeRuneInString(s[i:])
		if strings.HasPrefix(s[i:], "\r\n") {
			n = 2
		}
		end := i
		if keep {
			end = i + n
		}
		parts = append(parts, s[:end])
		s = s[i+n:]
	}
	return m.strList(parts)
}

func isLineEnd(r rune) bool {
	return r >= '\n' && r <= '\r' || r >= 0x1c && r <= 0x1e || r == 0x85 || r == 0x2028 || r == 0x2029
}
