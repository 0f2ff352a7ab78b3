package pyexpr

import (
	"strings"
	"unicode/utf8"
)

// formatSpec is a parsed format specification:
// [[fill]align][sign][z][#][0][width][grouping][.precision][type].
type formatSpec struct {
	fill  rune
	align byte // 0 for the type's own
	sign  byte
	z     bool
	alt   bool
	width int
	group byte
	prec  int // -1 where there is none
	verb  byte
}

// maxFormatWidth is far beyond what any text needs; CPython stops at 2^63.
const maxFormatWidth = 1 << 40

func parseSpec(s string) formatSpec {
	f := formatSpec{fill: ' ', sign: '-', prec: -1}
	s, filled := f.parseAlign(s)
	if s != "" && strings.IndexByte("+- ", s[0]) >= 0 {
		f.sign, s = s[0], s[1:]
	}
	take := func(c byte) bool {
		if s != "" && s[0] == c {
			s = s[1:]
			return true
		}
		return false
	}
	f.z = take('z')
	f.alt = take('#')
	if !filled && take('0') {
		f.fill = '0'
		if f.align == 0 {
			f.align = '0' // '=' for numbers, nothing for text
		}
	}
	f.width, s, _ = specNumber(s)
	for _, c := range []byte(",_,") {
		if !take(c) {
			continue
		}
		if f.group != 0 {
			raise(valueError, "Cannot specify ',' twice or with '_'.")
		}
		f.group = c
	}
	if take('.') {
		var ok bool
		if f.prec, s, ok = specNumber(s); !ok {
			raise(valueError, "Format specifier missing precision")
		}
	}
	if len(s) > 1 {
		raise(valueError, "Invalid format specifier")
	}
	if s != "" {
		f.verb = s[0]
	}
	f.checkGroup()
	return f
}

// parseAlign takes [[fill]align] off s and says whether there was a fill.
func (f *formatSpec) parseAlign(s string) (rest string, filled bool) {
	if r, n := utf8.DecodeRuneInString(s); n > 0 && len(s) > n && isAlign(s[n]) {
		f.fill, f.align = r, s[n]
		return s[n+1:], true
	}
	if s != "" && isAlign(s[0]) {
		f.align = s[0]
		return s[1:], false
	}
	return s, false
}

func (f *formatSpec) checkGroup() {
	switch {
	case f.group == 0:
	case f.verb == 0 || strings.IndexByte("deEfFgG%", f.verb) >= 0:
	case f.group == '_' && strings.IndexByte("boxX", f.verb) >= 0:
	default:
		raise(valueError, "Cannot specify '%c' with '%c'.", f.group, f.verb)
	}
}

func isAlign(c byte) bool { return strings.IndexByte("<>=^", c) >= 0 }

func specNumber(s string) (n int, rest string, ok bool) {
	i := 0
	for ; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
		if n = n*10 + int(s[i]-'0'); n > maxFormatWidth {
			raise(valueError, "Too many decimal digits in format string")
		}
	}
	return n, s[i:], i > 0
}

// format is format(v, spec).
func (m *machine) format(v Value, spec string) string {
	switch x := v.(type) {
	case *Date:
		if spec != "" {
			return m.strftime(x, spec)
		}
	case *DateTime:
		if spec != "" {
			return m.strftime(x, spec)
		}
	}
	if spec == "" {
		return m.text(v)
	}
	if s, ok := v.(Str); ok {
		return m.formatStr(string(s), parseSpec(spec))
	}
	if i, ok := integer(v); ok {
		return m.formatInt(i, parseSpec(spec))
	}
	if x, ok := v.(Float); ok {
		return m.formatFloat(float64(x), parseSpec(spec))
	}
	raise(typeError, "unsupported format string passed to %s.__format__", className(v))
	return ""
}

func (m *machine) formatStr(s string, f formatSpec) string {
	switch {
	case f.verb != 0 && f.verb != 's':
		raise(valueError, "Unknown format code '%c' for object of type 'str'", f.verb)
	case f.sign != '-' || f.z || f.alt || f.align == '=' || f.group != 0:
		raise(valueError, "Sign, z, #, = and grouping are not allowed in string format specifier")
	}
	if f.prec >= 0 && f.prec < utf8.RuneCountInString(s) {
		s = s[:runeOffset(s, f.prec)]
	}
	if f.align == 0 || f.align == '0' {
		f.align = '<'
	}
	return m.pad("", s, f)
}

// pad fills head+body up to the width; '=' fills between the two.
func (m *machine) pad(head, body string, f formatSpec) string {
	n := utf8.RuneCountInString(head) + utf8.RuneCountInString(body)
	m.alloc(len(head) + len(body) + 32)
	if n >= f.width {
		return head + body
	}
	m.alloc(times(f.width-n, utf8.RuneLen(f.fill)))
	fill := func(k int) string { return strings.Repeat(string(f.fill), k) }
	k := f.width - n
	switch f.align {
	case '<':
		return head + body + fill(k)
	case '^':
		return fill(k/2) + head + body + fill(k-k/2)
	case '=', '0':
		return head + fill(k) + body
	}
	return fill(k) + head + body
}

// formatted compiles an f-string.
func (c *compiler) formatted(n *formatted, s *scope) code {
	write := c.fparts(n.parts, s)
	return func(f *frame) Value {
		w := &writer{m: f.m}
		write(f, w)
		f.m.alloc(32)
		return Str(w.String())
	}
}

func (c *compiler) fparts(parts []fpart, s *scope) func(f *frame, w *writer) {
	type piece struct {
		fpart
		code code
		spec func(f *frame, w *writer)
		pos  int
	}
	ps := make([]piece, len(parts))
	for i, p := range parts {
		ps[i] = piece{fpart: p}
		if p.expr != nil {
			ps[i].code, ps[i].pos = c.expr(p.expr, s), p.expr.at()
			ps[i].spec = c.fparts(p.spec, s)
		}
	}
	return func(f *frame, w *writer) {
		for i := range ps {
			p := &ps[i]
			f.m.step(1)
			if p.expr == nil {
				w.put(p.lit)
				continue
			}
			v := f.m.convert(p.code(f), p.conv)
			spec := &writer{m: f.m}
			p.spec(f, spec)
			f.m.pos = p.pos
			w.put(f.m.format(v, spec.String()))
		}
	}
}

// convert is what !r, !s and !a do.
func (m *machine) convert(v Value, conv byte) Value {
	switch conv {
	case 'r':
		return Str(m.repr(v))
	case 's':
		return Str(m.text(v))
	case 'a':
		return Str(m.ascii(v))
	}
	return v
}
