package pyexpr

import "strings"

// bind sorts a builtin's arguments into the slots of names; the first
// required of them must be there, a slot without an argument is nil. A name
// that ends in "/" cannot be given by keyword, one that begins with "*" can
// be given in no other way.
func (m *machine) bind(fn string, args []Value, kw []keyword, required int, names ...string) []Value {
	m.alloc(16 * len(names))
	out := make([]Value, len(names))
	positional := 0
	for positional < len(names) && names[positional][0] != '*' {
		positional++
	}
	if len(args) > positional {
		raise(typeError, "%s() takes at most %d positional arguments (%d given)", fn, positional, len(args))
	}
	copy(out, args)
	for _, k := range kw {
		i := 0
		for i < len(names) && strings.TrimPrefix(names[i], "*") != k.name {
			i++
		}
		if i == len(names) {
			raise(typeError, "'%s' is an invalid keyword argument for %s()", k.name, fn)
		}
		if out[i] != nil {
			raise(typeError, "argument for %s() given by name ('%s') and position", fn, k.name)
		}
		out[i] = k.val
	}
	for i := range required {
		if out[i] == nil {
			raise(typeError, "%s() missing required argument '%s'", fn, strings.Trim(names[i], "*/"))
		}
	}
	return out
}

// intArg is an argument that must be an integer; def stands for a missing one.
func intArg(v Value, def int) int {
	if v == nil {
		return def
	}
	i, ok := integer(v)
	if !ok {
		raise(typeError, "'%s' object cannot be interpreted as an integer", className(v))
	}
	n, ok := smallInt(i)
	if !ok {
		raise(overflowError, "Python int too large to convert to C ssize_t")
	}
	return n
}

func strArg(fn string, v Value) string {
	s, ok := v.(Str)
	if !ok {
		raise(typeError, "%s() argument must be str, not %s", fn, className(v))
	}
	return string(s)
}

func isNone(v Value) bool {
	_, ok := v.(None)
	return v == nil || ok
}
