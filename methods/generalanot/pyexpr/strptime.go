package pyexpr

import (
	"slices"
	"strings"
)

// timeReader reads a text by a strptime format.
type timeReader struct {
	scanner
	parts  [7]int // as in timeParts
	offset *int
}

// strptime reads the directives Y m d H M S f y b B z and %. Like
// CPython's it takes one or two digits where two are usual.
func (m *machine) strptime(s, format string) Value {
	m.work(32 * (len(s) + len(format)))
	r := &timeReader{scanner: scanner{s, true}, parts: [7]int{1900, 1, 1}}
	for f := format; f != "" && r.ok; {
		switch {
		case f == "%":
			raise(valueError, "stray %% in format '%s'", format)
		case f[0] == '%':
			r.read(f[1])
			f = f[2:]
		case isSpace(rune(f[0])):
			f = strings.TrimLeftFunc(f, isSpace)
			rest := strings.TrimLeftFunc(r.s, isSpace)
			r.ok = len(rest) < len(r.s)
			r.s = rest
		default:
			r.word(f[:1])
			f = f[1:]
		}
	}
	if !r.ok || r.s != "" {
		raise(valueError, "time data %s does not match format %s", quote(s), quote(format))
	}
	return dateOf(typeDateTime, r.offset, r.parts[:]...)
}

// number reads up to two digits of a number within lo and hi, as few as needed
// to stay within.
func (r *timeReader) number(into *int, lo, hi int) {
	v, n := 0, 0
	for n < 2 && n < len(r.s) && r.s[n] >= '0' && r.s[n] <= '9' && v*10+int(r.s[n]-'0') <= hi {
		v = v*10 + int(r.s[n]-'0')
		n++
	}
	r.ok = r.ok && n > 0 && v >= lo
	*into, r.s = v, r.s[n:]
}

func (r *timeReader) read(c byte) {
	p := &r.parts
	switch c {
	case 'Y':
		p[0] = r.digits(4)
	case 'y':
		if p[0] = r.digits(2) + 1900; p[0] < 1969 {
			p[0] += 100
		}
	case 'm':
		r.number(&p[1], 1, 12)
	case 'd':
		r.number(&p[2], 1, 31)
	case 'H':
		r.number(&p[3], 0, 23)
	case 'M':
		r.number(&p[4], 0, 59)
	case 'S':
		r.number(&p[5], 0, 61)
	case 'f':
		before := len(r.s)
		p[6] = r.fraction()
		r.ok = r.ok && before-len(r.s) <= 6
	case 'z':
		r.ok = r.s != ""
		r.offset = r.isoOffset()
	case '%':
		r.word("%")
	case 'B', 'b':
		names := strings.Fields("January February March April May June July August September October November December")
		for i := range names {
			if c == 'b' {
				names[i] = names[i][:3]
			}
		}
		p[1] = r.word(names...) + 1
	default:
		raise(valueError, "'%c' is a bad or unsupported directive in format", c)
	}
}

// word reads one of some words in any case and returns which.
func (r *timeReader) word(words ...string) int {
	i := slices.IndexFunc(words, func(w string) bool { return len(r.s) >= len(w) && strings.EqualFold(r.s[:len(w)], w) })
	if i < 0 {
		r.ok = false
		return 0
	}
	r.s = r.s[len(words[i]):]
	return i
}
