package pyexpr

import (
	"regexp"
	"strconv"
	"strings"
)

// strFormatter is at work on one str.format.
type strFormatter struct {
	m    *machine
	args []Value
	kw   *Dict
	auto int // next automatic number, -1 once numbers are given by hand
}

// fieldForm is a field of str.format: {name[!conversion][:specification]}, in
// which specifications may hold fields. A name is empty, a number or a word.
var fieldForm = regexp.MustCompile(`(?s)^\{(\w*)(?:!([rs]))?(?::((?:[^{}]|\{[^{}]*\})*))?\}`)

func strFormat(m *machine, a []Value) Value {
	f := &strFormatter{m: m, kw: a[1].(*Dict), args: a[2:]}
	return m.str(f.expand(strArg(a[0])))
}

func (f *strFormatter) expand(s string) string {
	w := &writer{m: f.m}
	for {
		f.m.step(1)
		i := strings.IndexAny(s, "{}")
		if i < 0 {
			w.put(s)
			return w.String()
		}
		w.put(s[:i])
		if s = s[i:]; strings.HasPrefix(s, "{{") || strings.HasPrefix(s, "}}") {
			w.put(s[:1])
			s = s[2:]
			continue
		}
		f.m.work(len(s))
		p := fieldForm.FindStringSubmatch(s)
		if p == nil {
			raise(valueError, "invalid or unsupported field at %s: write {name:specification}, or use an f-string", quote(s[:min(len(s), 20)]))
		}
		s = s[len(p[0]):]
		v := f.lookup(p[1])
		if p[2] != "" {
			v = f.m.convert(v, p[2][0])
		}
		if strings.Contains(p[3], "{") {
			p[3] = f.expand(p[3])
		}
		w.put(f.m.format(v, p[3]))
	}
}

func (f *strFormatter) lookup(name string) Value {
	n, err := strconv.Atoi(name)
	switch {
	case name == "":
		if f.auto < 0 {
			raise(valueError, "cannot switch from manual field specification to automatic field numbering")
		}
		n = f.auto
		f.auto++
	case err != nil:
		return f.m.item(f.kw, Str(name))
	case f.auto > 0:
		raise(valueError, "cannot switch from automatic field numbering to manual field specification")
	default:
		f.auto = -1
	}
	if n >= len(f.args) {
		raise(indexError, "Replacement index %d out of range for positional args tuple", n)
	}
	return f.args[n]
}
