package pyexpr

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// method is a method of a builtin class.
type method func(m *machine, self Value, args []Value, kw []keyword) Value

func strMethod(name string) method {
	if change := strChange(name); change != nil {
		return func(m *machine, self Value, args []Value, kw []keyword) Value {
			m.bind(name, args, kw, 0)
			s := string(self.(Str))
			m.alloc(4 * len(s))
			m.work(4 * len(s))
			return m.str(change(s))
		}
	}
	if test := strTest(name); test != nil {
		return func(m *machine, self Value, args []Value, kw []keyword) Value {
			m.bind(name, args, kw, 0)
			m.work(4 * len(self.(Str)))
			return Bool(test(string(self.(Str))))
		}
	}
	if meth := strSearch(name); meth != nil {
		return meth
	}
	return strOther(name)
}

// strChange are the methods that make another string and take no argument.
func strChange(name string) func(string) string {
	switch name {
	case "lower":
		return lower
	case "upper":
		return upper
	case "title":
		return title
	case "capitalize":
		return capitalize
	case "swapcase":
		return swapcase
	case "casefold":
		return casefold
	}
	return nil
}

// strTest are the methods that ask something of every character.
func strTest(name string) func(string) bool {
	every := func(f func(rune) bool) func(string) bool {
		return func(s string) bool {
			return s != "" && strings.IndexFunc(s, func(r rune) bool { return !f(r) }) < 0
		}
	}
	switch name {
	case "isdigit":
		return every(isDigit)
	case "isdecimal":
		return every(isDecimal)
	case "isnumeric":
		return every(isNumeric)
	case "isalpha":
		return every(unicode.IsLetter)
	case "isalnum":
		return every(isAlnum)
	case "isspace":
		return every(isSpace)
	case "islower":
		return func(s string) bool {
			return strings.IndexFunc(s, isLower) >= 0 && strings.IndexFunc(s, func(r rune) bool { return isUpper(r) || unicode.IsTitle(r) }) < 0
		}
	case "isupper":
		return func(s string) bool {
			return strings.IndexFunc(s, isUpper) >= 0 && strings.IndexFunc(s, func(r rune) bool { return isLower(r) || unicode.IsTitle(r) }) < 0
		}
	case "istitle":
		return isTitle
	case "isascii":
		return isASCII
	}
	return nil
}

func isTitle(s string) bool {
	inWord, any := false, false
	for _, r := range s {
		switch {
		case isUpper(r) || unicode.IsTitle(r):
			if inWord {
				return false
			}
			inWord, any = true, true
		case isLower(r):
			if !inWord {
				return false
			}
			any = true
		default:
			inWord = false
		}
	}
	return any
}

func strOther(name string) method {
	switch name {
	case "strip", "lstrip", "rstrip":
		return func(m *machine, self Value, args []Value, kw []keyword) Value { return strip(m, name, self, args, kw) }
	case "split", "rsplit":
		return func(m *machine, self Value, args []Value, kw []keyword) Value { return split(m, name, self, args, kw) }
	case "splitlines":
		return splitLines
	case "join":
		return join
	case "replace":
		return replace
	case "format":
		return func(m *machine, self Value, args []Value, kw []keyword) Value {
			return m.strFormat(string(self.(Str)), args, kw)
		}
	case "removeprefix", "removesuffix":
		return func(m *machine, self Value, args []Value, kw []keyword) Value {
			a := m.bind(name, args, kw, 1, "affix/")
			cut := map[string]func(string, string) string{"removeprefix": strings.TrimPrefix, "removesuffix": strings.TrimSuffix}[name]
			return m.str(cut(string(self.(Str)), strArg(name, a[0])))
		}
	case "partition", "rpartition":
		return func(m *machine, self Value, args []Value, kw []keyword) Value {
			return partition(m, name, self, args, kw)
		}
	case "ljust", "rjust", "center", "zfill":
		return func(m *machine, self Value, args []Value, kw []keyword) Value {
			return justify(m, name, self, args, kw)
		}
	}
	return nil
}

func strip(m *machine, name string, self Value, args []Value, kw []keyword) Value {
	a := m.bind(name, args, kw, 0, "chars/")
	s, drop := string(self.(Str)), isSpace
	m.work(len(s))
	if !isNone(a[0]) {
		chars := strArg(name, a[0])
		m.step(times(len(s), len(chars)) >> 6)
		drop = func(r rune) bool { return strings.ContainsRune(chars, r) }
	}
	if name != "rstrip" {
		s = strings.TrimLeftFunc(s, drop)
	}
	if name != "lstrip" {
		s = strings.TrimRightFunc(s, drop)
	}
	return m.str(s)
}

func join(m *machine, self Value, args []Value, kw []keyword) Value {
	a := m.bind("join", args, kw, 1, "iterable/")
	if _, ok := m.tryIter(a[0]); !ok {
		raise(typeError, "can only join an iterable")
	}
	w := &writer{m: m}
	sep := string(self.(Str))
	for i, v := range m.collect(a[0]) {
		s, ok := v.(Str)
		if !ok {
			raise(typeError, "sequence item %d: expected str instance, %s found", i, className(v))
		}
		if i > 0 {
			w.put(sep)
		}
		w.put(string(s))
	}
	return m.str(w.String())
}

func replace(m *machine, self Value, args []Value, kw []keyword) Value {
	a := m.bind("replace", args, kw, 2, "old/", "new/", "count/")
	s, old, with := string(self.(Str)), strArg("replace", a[0]), strArg("replace", a[1])
	n := intArg(a[2], -1)
	m.work(len(s))
	found := strings.Count(s, old)
	if n >= 0 {
		found = min(found, n)
	}
	m.alloc(len(s) + times(found, max(len(with)-len(old), 0)) + 32)
	return Str(strings.Replace(s, old, with, n))
}

func partition(m *machine, name string, self Value, args []Value, kw []keyword) Value {
	a := m.bind(name, args, kw, 1, "sep/")
	s, sep := string(self.(Str)), strArg(name, a[0])
	if sep == "" {
		raise(valueError, "empty separator")
	}
	m.alloc(128)
	m.work(len(s))
	i := strings.Index(s, sep)
	if name == "rpartition" {
		i = strings.LastIndex(s, sep)
	}
	switch {
	case i >= 0:
		return &Tuple{[]Value{Str(s[:i]), Str(sep), Str(s[i+len(sep):])}}
	case name == "partition":
		return &Tuple{[]Value{Str(s), Str(""), Str("")}}
	}
	return &Tuple{[]Value{Str(""), Str(""), Str(s)}}
}

// justify pads a string; center puts the odd space where CPython does.
func justify(m *machine, name string, self Value, args []Value, kw []keyword) Value {
	names := []string{"width/", "fillchar/"}
	if name == "zfill" {
		names = names[:1]
	}
	a := m.bind(name, args, kw, 1, names...)
	s, fill := string(self.(Str)), " "
	if len(a) > 1 && a[1] != nil {
		if fill = strArg(name, a[1]); utf8.RuneCountInString(fill) != 1 {
			raise(typeError, "The fill character must be exactly one character long")
		}
	}
	width := intArg(a[0], 0)
	room := max(width-utf8.RuneCountInString(s), 0)
	m.alloc(len(s) + 32)
	m.alloc(times(room, len(fill)))
	switch name {
	case "ljust":
		return Str(s + strings.Repeat(fill, room))
	case "rjust":
		return Str(strings.Repeat(fill, room) + s)
	case "zfill":
		sign := ""
		if s != "" && (s[0] == '+' || s[0] == '-') {
			sign, s = s[:1], s[1:]
		}
		return Str(sign + strings.Repeat("0", room) + s)
	}
	left := room/2 + room&width&1
	return Str(strings.Repeat(fill, left) + s + strings.Repeat(fill, room-left))
}
