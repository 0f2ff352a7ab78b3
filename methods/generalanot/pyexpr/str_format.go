package pyexpr

import (
	"strconv"
	"strings"
)

// strFormatter is at work on one str.format.
type strFormatter struct {
	m    *machine
	args []Value
	kw   []keyword
	auto int // next automatic number, -1 once numbers are given by hand
}

// strFormat is format.format(*args, **kw).
func (m *machine) strFormat(format string, args []Value, kw []keyword) Value {
	f := &strFormatter{m: m, args: args, kw: kw}
	return m.str(f.expand(format, 2))
}

// expand replaces the fields of s; depth says how deep they may still nest.
func (f *strFormatter) expand(s string, depth int) string {
	if depth == 0 {
		raise(valueError, "Max string recursion exceeded")
	}
	w := &writer{m: f.m}
	for s != "" {
		f.m.step(1)
		i := strings.IndexAny(s, "{}")
		if i < 0 {
			w.put(s)
			break
		}
		w.put(s[:i])
		brace := s[i]
		s = s[i+1:]
		switch {
		case s != "" && s[0] == brace:
			w.put(string(brace))
			s = s[1:]
		case brace == '}':
			raise(valueError, "Single '}' encountered in format string")
		default:
			end := fieldEnd(s)
			w.put(f.field(s[:end], depth))
			s = s[end+1:]
		}
	}
	return w.String()
}

// fieldEnd is where the brace that closes a field stands.
func fieldEnd(s string) int {
	depth, brackets := 1, false
	for i := range len(s) {
		switch c := s[i]; {
		case c == '[' && depth == 1:
			brackets = true
		case c == ']':
			brackets = false
		case brackets:
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	if s == "" {
		raise(valueError, "Single '{' encountered in format string")
	}
	raise(valueError, "expected '}' before end of string")
	return 0
}

// field formats one name[.attribute|[key]]...[!conversion][:specification].
func (f *strFormatter) field(s string, depth int) string {
	end, brackets := len(s), false
	for i := range len(s) {
		if s[i] == '[' {
			brackets = true
		} else if s[i] == ']' {
			brackets = false
		} else if !brackets && (s[i] == '!' || s[i] == ':') {
			end = i
			break
		} else if !brackets && s[i] == '{' {
			raise(valueError, "unexpected '{' in field name")
		}
	}
	name, rest, conv := s[:end], s[end:], byte(0)
	if strings.HasPrefix(rest, "!") {
		if len(rest) < 2 {
			raise(valueError, "end of string while looking for conversion specifier")
		}
		conv, rest = rest[1], rest[2:]
		if rest != "" && rest[0] != ':' {
			raise(valueError, "expected ':' after conversion specifier")
		}
		if strings.IndexByte("rsa", conv) < 0 {
			raise(valueError, "Unknown conversion specifier %q", conv)
		}
	}
	v := f.m.convert(f.lookup(name), conv)
	spec := strings.TrimPrefix(rest, ":")
	if strings.ContainsAny(spec, "{}") {
		spec = f.expand(spec, depth-1)
	}
	return f.m.format(v, spec)
}

func (f *strFormatter) lookup(name string) Value {
	end := strings.IndexAny(name, ".[")
	if end < 0 {
		end = len(name)
	}
	v := f.first(name[:end])
	for rest := name[end:]; rest != ""; {
		if rest[0] == '.' {
			end := strings.IndexAny(rest[1:], ".[") + 1
			if end == 0 {
				end = len(rest)
			}
			attr := rest[1:end]
			if attr == "" {
				raise(valueError, "Empty attribute in format string")
			}
			if attr[0] == '_' {
				raise(attributeError, "attribute %q is not allowed: it begins with an underscore", attr)
			}
			v, rest = f.m.attr(v, attr), rest[end:]
			continue
		}
		v, rest = f.key(v, rest)
	}
	return v
}

// key is v[key], where rest begins with the bracket.
func (f *strFormatter) key(v Value, rest string) (Value, string) {
	if rest[0] != '[' {
		raise(valueError, "Only '.' or '[' may follow ']' in format field specifier")
	}
	end := strings.IndexByte(rest, ']')
	if end < 0 {
		raise(valueError, "Missing ']' in format string")
	}
	key := rest[1:end]
	if key == "" {
		raise(valueError, "Empty attribute in format string")
	}
	if n, err := strconv.Atoi(key); err == nil && key[0] != '-' && key[0] != '+' {
		return f.m.item(v, Int(n)), rest[end+1:]
	}
	return f.m.item(v, Str(key)), rest[end+1:]
}

// first is the argument that a field begins with.
func (f *strFormatter) first(name string) Value {
	n, err := strconv.Atoi(name)
	if name == "" {
		if f.auto < 0 {
			raise(valueError, "cannot switch from manual field specification to automatic field numbering")
		}
		n = f.auto
		f.auto++
	} else if err != nil || n < 0 || name[0] == '+' || name[0] == '-' {
		for _, k := range f.kw {
			if k.name == name {
				return k.val
			}
		}
		raise(keyError, "%s", quote(name))
	} else if f.auto > 0 {
		raise(valueError, "cannot switch from automatic field numbering to manual field specification")
	} else {
		f.auto = -1
	}
	if n >= len(f.args) {
		raise(indexError, "Replacement index %d out of range for positional args tuple", n)
	}
	return f.args[n]
}
