package pyexpr

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

func strMethods() map[string]*builtin {
	rows := []*builtin{
		defMethod("strip chars?/", func(m *machine, a []Value) Value { return strip(m, a, true, true) }),
		defMethod("lstrip chars?/", func(m *machine, a []Value) Value { return strip(m, a, true, false) }),
		defMethod("rstrip chars?/", func(m *machine, a []Value) Value { return strip(m, a, false, true) }),
		defMethod("split sep? maxsplit?", func(m *machine, a []Value) Value { return split(m, a, false) }),
		defMethod("rsplit sep? maxsplit?", func(m *machine, a []Value) Value { return split(m, a, true) }),
		defMethod("join iterable/", join),
		defMethod("replace old/ new/ count?/", replace),
		defMethod("format args... **", strFormat),
		defMethod("removeprefix prefix/", func(m *machine, a []Value) Value { return m.str(strings.TrimPrefix(strArg(a[0]), strArg(a[1]))) }),
		defMethod("removesuffix suffix/", func(m *machine, a []Value) Value { return m.str(strings.TrimSuffix(strArg(a[0]), strArg(a[1]))) }),
		defMethod("partition sep/", func(m *machine, a []Value) Value { return partition(m, a, strings.Index) }),
		defMethod("rpartition sep/", func(m *machine, a []Value) Value { return partition(m, a, strings.LastIndex) }),
		defMethod("zfill width/", zfill),
		defMethod("count sub/", count),
		defMethod("find sub/", func(m *machine, a []Value) Value { return find(m, a, strings.Index, false) }),
		defMethod("rfind sub/", func(m *machine, a []Value) Value { return find(m, a, strings.LastIndex, false) }),
		defMethod("index sub/", func(m *machine, a []Value) Value { return find(m, a, strings.Index, true) }),
		defMethod("rindex sub/", func(m *machine, a []Value) Value { return find(m, a, strings.LastIndex, true) }),
		defMethod("startswith prefix/", func(m *machine, a []Value) Value { return affix(m, a, strings.HasPrefix) }),
		defMethod("endswith suffix/", func(m *machine, a []Value) Value { return affix(m, a, strings.HasSuffix) }),
	}
	for name, change := range map[string]func(string) string{
		"lower": lower, "upper": upper, "casefold": casefold,
	} {
		rows = append(rows, defMethod(name, func(m *machine, a []Value) Value {
			s := strArg(a[0])
			m.alloc(4 * len(s))
			m.work(4 * len(s))
			return m.str(change(s))
		}))
	}
	for name, test := range strTests() {
		rows = append(rows, defMethod(name, func(m *machine, a []Value) Value {
			s := strArg(a[0])
			m.work(4 * len(s))
			return Bool(test(s))
		}))
	}
	return byName(rows...)
}

// strTests are the methods that ask something of every character.
func strTests() map[string]func(string) bool {
	every := func(f func(rune) bool) func(string) bool {
		return func(s string) bool { return s != "" && strings.TrimLeftFunc(s, f) == "" }
	}
	cased := func(want, other func(rune) bool) func(string) bool {
		return func(s string) bool {
			return strings.IndexFunc(s, want) >= 0 && strings.IndexFunc(s, other) < 0 && strings.IndexFunc(s, unicode.IsTitle) < 0
		}
	}
	return map[string]func(string) bool{
		"isdigit": every(isDigit), "isalpha": every(unicode.IsLetter),
		"isalnum": every(func(r rune) bool { return unicode.IsLetter(r) || isNumeric(r) }), "isspace": every(isSpace),
		"islower": cased(isLower, isUpper), "isupper": cased(isUpper, isLower),
	}
}

func strip(m *machine, a []Value, left, right bool) Value {
	s, drop := strArg(a[0]), isSpace
	m.work(len(s))
	if !isNone(a[1]) {
		chars := strArg(a[1])
		m.step(times(len(s), len(chars)) >> 6)
		drop = func(r rune) bool { return strings.ContainsRune(chars, r) }
	}
	if left {
		s = strings.TrimLeftFunc(s, drop)
	}
	if right {
		s = strings.TrimRightFunc(s, drop)
	}
	return m.str(s)
}

func join(m *machine, a []Value) Value {
	if _, ok := m.tryIter(a[1]); !ok {
		raise(typeError, "can only join an iterable")
	}
	w := &writer{m: m}
	for i, v := range m.collect(a[1]) {
		s, ok := v.(Str)
		if !ok {
			raise(typeError, "sequence item %d: expected str instance, %s found", i, className(v))
		}
		if i > 0 {
			w.put(strArg(a[0]))
		}
		w.put(string(s))
	}
	return m.str(w.String())
}

func replace(m *machine, a []Value) Value {
	s, old, with := strArg(a[0]), strArg(a[1]), strArg(a[2])
	n := intArg(a[3], -1)
	m.work(len(s))
	found := strings.Count(s, old)
	if n >= 0 {
		found = min(found, n)
	}
	m.alloc(len(s) + times(found, max(len(with)-len(old), 0)) + 32)
	return Str(strings.Replace(s, old, with, n))
}

// separator is an argument that must be a text with something in it.
func separator(v Value) string {
	sep := strArg(v)
	if sep == "" {
		raise(valueError, "empty separator")
	}
	return sep
}

func partition(m *machine, a []Value, index func(s, sep string) int) Value {
	s, sep := strArg(a[0]), separator(a[1])
	m.alloc(128)
	m.work(len(s))
	parts := []string{s, "", ""}
	if i := index(s, sep); i >= 0 {
		parts = []string{s[:i], sep, s[i+len(sep):]}
	} else if index("ab", "") == 2 { // from the right
		parts = []string{"", "", s}
	}
	return &Tuple{items: strs(parts)}
}

func strs(parts []string) []Value {
	out := make([]Value, len(parts))
	for i, p := range parts {
		out[i] = Str(p)
	}
	return out
}

func zfill(m *machine, a []Value) Value {
	body := strings.TrimLeft(strArg(a[0]), "+-")
	head := strArg(a[0])
	if head = head[:len(head)-len(body)]; len(head) > 1 {
		head, body = head[:1], head[1:]+body
	}
	return Str(m.pad(head, body, formatSpec{fill: '0', align: '=', width: intArg(a[1], 0)}))
}

func count(m *machine, a []Value) Value {
	m.work(len(strArg(a[0])))
	return Int(strings.Count(strArg(a[0]), strArg(a[1])))
}

func find(m *machine, a []Value, index func(s, sub string) int, must bool) Value {
	s, sub := strArg(a[0]), strArg(a[1])
	m.work(2 * len(s))
	at := index(s, sub)
	switch {
	case at >= 0:
		return Int(utf8.RuneCountInString(s[:at]))
	case must:
		raise(valueError, "substring not found")
	}
	return Int(-1)
}

func affix(m *machine, a []Value, has func(s, affix string) bool) Value {
	choices := []Value{a[1]}
	if t, ok := a[1].(*Tuple); ok {
		choices = t.items
	}
	for _, c := range choices {
		m.step(1)
		if has(strArg(a[0]), strArg(c)) {
			return Bool(true)
		}
	}
	return Bool(false)
}

// indexOf is the byte offset of sub in s, or -1.
func (m *machine) indexOf(s, sub string) int {
	m.work(len(s))
	return strings.Index(s, sub)
}
