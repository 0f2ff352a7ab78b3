package pyexpr

import (
	"math/big"
	"strings"
	"unicode/utf8"
)

// percent is the old formatting, format % args.
func (m *machine) percent(format string, args Value) Value {
	p := &percenter{m: m, args: []Value{args}, w: &writer{m: m}}
	if t, ok := args.(*Tuple); ok {
		p.args = t.items
	} else if d, ok := args.(*Dict); ok {
		p.dict = d
	}
	for format != "" {
		i := strings.IndexByte(format, '%')
		if i < 0 {
			p.w.put(format)
			break
		}
		p.w.put(format[:i])
		m.step(1)
		format = p.one(format[i+1:])
	}
	_, isTuple := args.(*Tuple)
	if p.next < len(p.args) && !p.named && (isTuple || !isMapping(args)) {
		raise(typeError, "not all arguments converted during string formatting")
	}
	m.alloc(32)
	return Str(p.w.String())
}

// isMapping says whether CPython's "%" takes v for a mapping whose use is
// optional: whatever has subscripts and is no tuple or string.
func isMapping(v Value) bool {
	switch v.(type) {
	case *Dict, *List, *Range:
		return true
	}
	return false
}

type percenter struct {
	m     *machine
	args  []Value
	next  int
	dict  *Dict
	named bool // some argument was taken by name
	w     *writer
}

func (p *percenter) arg() Value {
	if p.next >= len(p.args) {
		raise(typeError, "not enough arguments for format string")
	}
	p.next++
	return p.args[p.next-1]
}

// one formats what follows a percent sign and returns the rest.
func (p *percenter) one(s string) string {
	f := formatSpec{fill: ' ', sign: '-', prec: -1, align: '>'}
	var val Value
	if strings.HasPrefix(s, "(") {
		val, s = p.lookup(s)
	}
	zero := false
	for ; s != "" && strings.IndexByte("#0- +", s[0]) >= 0; s = s[1:] {
		switch s[0] {
		case '#':
			f.alt = true
		case '0':
			zero = true
		case '-':
			f.align = '<'
		case '+':
			f.sign = '+'
		case ' ':
			if f.sign != '+' {
				f.sign = ' '
			}
		}
	}
	f.width, s = p.number(s, &f)
	if strings.HasPrefix(s, ".") {
		f.prec, s = p.number(s[1:], nil)
		f.prec = max(f.prec, 0)
	}
	if s != "" && strings.IndexByte("hlL", s[0]) >= 0 {
		s = s[1:]
	}
	if s == "" {
		raise(valueError, "incomplete format")
	}
	if s[0] == '%' {
		p.w.put("%")
		return s[1:]
	}
	if val == nil {
		val = p.arg()
	}
	p.w.put(p.verb(val, s, f, zero && f.align != '<'))
	return s[1:]
}

func (p *percenter) lookup(s string) (Value, string) {
	if p.dict == nil {
		raise(typeError, "format requires a mapping")
	}
	depth := 0
	for i, c := range s {
		if c == '(' {
			depth++
		}
		if c == ')' {
			if depth--; depth == 0 {
				p.named = true
				name := Str(s[1:i])
				v := p.dict.get(p.m, name)
				if v == nil {
					raise(keyError, "%s", quote(string(name)))
				}
				return v, s[i+1:]
			}
		}
	}
	raise(valueError, "incomplete format key")
	return nil, ""
}

// number is a width or a precision, which "*" takes from the arguments.
func (p *percenter) number(s string, f *formatSpec) (int, string) {
	if !strings.HasPrefix(s, "*") {
		n, rest, _ := specNumber(s)
		return n, rest
	}
	n, ok := smallInt(p.arg())
	if !ok {
		raise(typeError, "* wants int")
	}
	if n < 0 && f != nil {
		f.align, n = '<', -n
	}
	return min(n, maxFormatWidth), s[1:]
}

func (p *percenter) verb(v Value, s string, f formatSpec, zero bool) string {
	switch c := s[0]; c {
	case 's', 'r', 'a':
		text := p.m.text(p.m.convert(v, c))
		if f.prec >= 0 && f.prec < utf8.RuneCountInString(text) {
			text = text[:runeOffset(text, f.prec)]
		}
		return p.m.pad("", text, f)
	case 'c':
		return p.m.pad("", p.char(v), f)
	case 'd', 'i', 'u', 'x', 'X', 'o':
		return p.integer(v, c, f, zero)
	case 'e', 'E', 'f', 'F', 'g', 'G':
		x, ok := toFloat(v)
		if !ok {
			raise(typeError, "must be real number, not %s", className(v))
		}
		f.verb = c
		if zero {
			f.fill, f.align = '0', '='
		}
		return p.m.formatFloat(x, f)
	default:
		raise(valueError, "unsupported format character %q", c)
	}
	return ""
}

func (p *percenter) char(v Value) string {
	if s, ok := v.(Str); ok && utf8.RuneCountInString(string(s)) == 1 {
		return string(s)
	}
	i, ok := integer(v)
	if !ok {
		raise(typeError, "%%c requires int or char")
	}
	n, ok := smallInt(i)
	if !ok || n < 0 || n > utf8.MaxRune {
		raise(overflowError, "%%c arg not in range(0x110000)")
	}
	return string(rune(n))
}

// integer formats for d, i, u, o, x and X; a precision is a number of digits.
func (p *percenter) integer(v Value, verb byte, f formatSpec, zero bool) string {
	if x, ok := v.(Float); ok && strings.IndexByte("diu", verb) >= 0 {
		v = truncate(float64(x))
	}
	i, ok := integer(v)
	if !ok {
		raise(typeError, "%%%c format: an integer is required, not %s", verb, className(v))
	}
	z := bigOf(i)
	digits, prefix := intDigits(new(big.Int).Abs(z), verb)
	if f.prec > len(digits) {
		p.m.alloc(f.prec)
		digits = strings.Repeat("0", f.prec-len(digits)) + digits
	}
	if !f.alt {
		prefix = ""
	}
	if zero {
		f.fill, f.align = '0', '='
	}
	return p.m.pad(signOf(z.Sign() < 0, f.sign)+prefix, digits, f)
}
