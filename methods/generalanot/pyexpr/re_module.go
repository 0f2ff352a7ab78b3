package pyexpr

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// reModule is what re holds, by name.
func reModule() map[string]Value {
	out := map[string]Value{}
	for name, flag := range map[string]int{"I": foldCase, "IGNORECASE": foldCase, "M": multi, "MULTILINE": multi, "S": dotAll, "DOTALL": dotAll} {
		out[name] = Int(flag)
	}
	add := func(bs ...*builtin) {
		for _, b := range bs {
			out[b.name] = b.value()
		}
	}
	one := func(name string, only, full bool) *builtin {
		return def(name+" pattern string flags?", func(m *machine, a []Value) Value {
			r := m.matcher(a[0], a[1], a[2])
			defer r.done()
			if r.full = full; !r.search(0, only) {
				return None{}
			}
			return r.match()
		})
	}
	add(one("search", false, false), one("match", true, false), one("fullmatch", true, true),
		def("findall pattern string flags?", func(m *machine, a []Value) Value {
			found := m.room(0)
			m.matcher(a[0], a[1], a[2]).each(-1, func(r *reRunner) {
				m.alloc(32)
				found = append(found, r.found())
			})
			return &List{found}
		}),
		def("finditer pattern string flags?", func(m *machine, a []Value) Value {
			found := m.room(0)
			m.matcher(a[0], a[1], a[2]).each(-1, func(r *reRunner) { found = append(found, r.match()) })
			return m.lazy(overItems(found))
		}),
		def("sub pattern repl string count? flags?", reSub),
		def("split pattern string maxsplit? flags?", reSplitText),
		def("escape pattern", func(m *machine, a []Value) Value { return reEscape(m, strArg(a[0])) }))
	return out
}

// matcher is a pattern about to be looked for in a text.
func (m *machine) matcher(pattern, text, flags Value) *reRunner {
	return m.runner(m.pattern(pattern, flags), text)
}

func (m *machine) pattern(pattern, flags Value) *regex {
	f := intArg(flags, 0)
	if f&^(foldCase|multi|dotAll|32) != 0 { // 32 is UNICODE, which is always on
		raise(valueError, "these flags of re are not supported: use re.I, re.M and re.S")
	}
	src, ok := pattern.(Str)
	if !ok {
		raise(typeError, "first argument must be string or compiled pattern")
	}
	return m.regex(string(src), f)
}

// found is a match in the form of findall.
func (r *reRunner) found() Value {
	if r.x.groups <= 2 {
		return r.group(r.x.groups-1, Str(""))
	}
	return r.groups(r.m, Str(""))
}

func reSplitText(m *machine, a []Value) Value {
	r, limit := m.matcher(a[0], a[1], a[3]), limitOf(a[2])
	parts, from := m.room(0), 0
	r.each(limit, func(r *reRunner) {
		m.alloc(32 * r.x.groups)
		parts = append(parts, Str(r.whole[from:r.slots[0]]))
		for i := 1; i < r.x.groups; i++ {
			parts = append(parts, r.group(i, nil))
		}
		from = r.slots[1]
	})
	return &List{append(parts, Str(r.whole[from:]))}
}

// limitOf is how often to split or replace: 0 is always, which is -1 here, and
// what is negative never.
func limitOf(v Value) int {
	if n := intArg(v, 0); n != 0 {
		return max(n, 0)
	}
	return -1
}

func reSub(m *machine, a []Value) Value {
	x, limit := m.pattern(a[0], a[4]), limitOf(a[3])
	write := m.replacement(x, a[1])
	r := m.runner(x, a[2])
	w, from := &writer{m: m}, 0
	r.each(limit, func(r *reRunner) {
		w.put(r.whole[from:r.slots[0]])
		write(w, r)
		from = r.slots[1]
	})
	w.put(r.whole[from:])
	return m.str(w.String())
}

// replacement is how sub writes: by a function of the match, or a template.
func (m *machine) replacement(x *regex, v Value) func(w *writer, r *reRunner) {
	switch fn := v.(type) {
	case Str:
		return m.template(x, string(fn))
	case *Func, *Type:
		return func(w *writer, r *reRunner) {
			switch got := m.call(fn, []Value{r.match()}, nil).(type) {
			case Str:
				w.put(string(got))
			case None:
			default:
				raise(typeError, "expected str instance, %s found: the function must return a text", className(got))
			}
		}
	}
	raise(typeError, "the replacement must be a text or a function, not %s", className(v))
	return nil
}

// template is a replacement with \1 and \g<name> for groups.
func (m *machine) template(x *regex, src string) func(w *writer, r *reRunner) {
	type piece struct {
		text  string
		group int
	}
	m.alloc(8 * len(src))
	m.step(len(src))
	p := &reParser{m: m, src: src, groups: x.groups, names: x.names}
	var pieces []piece
	for p.pos < len(src) {
		text, _, found := strings.Cut(src[p.pos:], `\`)
		pieces = append(pieces, piece{text, -1})
		if p.pos += len(text); found {
			p.pos++
			text, group := p.templateEscape()
			pieces = append(pieces, piece{text, group})
		}
	}
	return func(w *writer, r *reRunner) {
		for _, piece := range pieces {
			if w.put(piece.text); piece.group >= 0 {
				w.put(r.part(piece.group))
			}
		}
	}
}

// templateEscape is a text, or a group if that is not negative.
func (p *reParser) templateEscape() (string, int) {
	switch r := p.rune(); {
	case r == 'g':
		if !p.accept("<") {
			p.fail("missing <")
		}
		return "", p.templateGroup()
	case r >= '1' && r <= '9':
		digits := string(r)
		for rest := p.src[p.pos:]; rest != "" && strings.Contains(decimals, rest[:1]); rest = p.src[p.pos:] {
			digits, p.pos = digits+rest[:1], p.pos+1
		}
		return "", p.backref(digits)
	case strings.ContainsRune(`abfnrtv\`, r):
		return string(p.char(r)), -1
	case r == '0':
		p.lacks("an octal escape", "use \\x41")
		return "", -1
	case r < utf8.RuneSelf && (r|0x20 >= 'a' && r|0x20 <= 'z'):
		p.fail("bad escape \\%c", r)
		return "", -1
	default:
		return `\` + string(r), -1
	}
}

func (p *reParser) templateGroup() int {
	name, rest, ok := strings.Cut(p.src[p.pos:], ">")
	if !ok || name == "" {
		p.fail("missing group name, or a group name without its end")
	}
	p.pos = len(p.src) - len(rest)
	if isIdentifier(name) {
		n, ok := p.names[name]
		if !ok {
			raise(indexError, "unknown group name %q", name)
		}
		return n
	}
	return p.backref(name)
}

// backref is the group of a number in a template.
func (p *reParser) backref(digits string) int {
	n, err := strconv.Atoi(digits)
	switch {
	case err != nil || strings.Trim(digits, decimals) != "":
		p.fail("bad character in group name %q", digits)
	case len(digits) > 2:
		p.lacks("a number of three digits", "use \\g<name>")
	case n >= p.groups:
		p.fail("invalid group reference %d", n)
	}
	return n
}

func isIdentifier(s string) bool {
	for i, r := range s {
		if !isWord(r) || i == 0 && r >= '0' && r <= '9' {
			return false
		}
	}
	return s != ""
}

func reEscape(m *machine, s string) Value {
	w := &writer{m: m}
	for _, r := range s {
		if strings.ContainsRune("()[]{}?*+-|^$\\.&~# \t\n\r\v\f", r) {
			w.put(`\`)
		}
		w.put(string(r))
	}
	return m.str(w.String())
}
