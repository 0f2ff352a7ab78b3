package pyexpr

import (
	"strings"
	"time"
)

// timeReader reads a text by a strptime format.
type timeReader struct {
	scanner
	year, month, day, hour, min, sec, us int
	twelve                               bool
	pm                                   bool
	yearDay                              int
	offset                               *int
}

// strptime reads the directives Y m d H M S f y b B a A j I p z and %. Like
// CPython's it takes one or two digits where two are usual.
func (m *machine) strptime(s, format string) Value {
	m.work(32 * (len(s) + len(format)))
	r := &timeReader{scanner: scanner{s, true}, year: 1900, month: 1, day: 1}
	for f := format; f != "" && r.ok; {
		switch {
		case f[0] == '%':
			if len(f) < 2 {
				raise(valueError, "stray %% in format '%s'", format)
			}
			r.read(f[1])
			f = f[2:]
		case isSpace(rune(f[0])):
			f = strings.TrimLeftFunc(f, isSpace)
			rest := strings.TrimLeftFunc(r.s, isSpace)
			r.ok = len(rest) < len(r.s)
			r.s = rest
		default:
			r.ok = len(r.s) > 0 && lowerASCII(r.s[0]) == lowerASCII(f[0])
			if r.ok {
				r.s = r.s[1:]
			}
			f = f[1:]
		}
	}
	if !r.ok {
		raise(valueError, "time data %s does not match format %s", quote(s), quote(format))
	}
	if r.s != "" {
		raise(valueError, "unconverted data remains: %s", r.s)
	}
	return r.value()
}

func (r *timeReader) value() Value {
	if r.twelve {
		if r.hour %= 12; r.pm {
			r.hour += 12
		}
	}
	if r.yearDay > 0 {
		t := civil(ordinal(r.year, 1, 1) + r.yearDay - 1)
		r.month, r.day = int(t.Month()), t.Day()
	}
	return timeOf(dateOf(r.year, r.month, r.day), r.hour, r.min, r.sec, r.us, r.offset)
}

// number reads up to width digits of a number within lo and hi, as few as
// needed to stay within.
func (r *timeReader) number(width, lo, hi int) int {
	v, n := 0, 0
	for n < width && n < len(r.s) && r.s[n] >= '0' && r.s[n] <= '9' {
		next := v*10 + int(r.s[n]-'0')
		if next > hi {
			break
		}
		v = next
		n++
	}
	r.ok = r.ok && n > 0 && v >= lo
	r.s = r.s[n:]
	return v
}

func (r *timeReader) read(c byte) {
	switch c {
	case 'Y':
		r.year = r.digits(4)
	case 'y':
		if r.year = r.digits(2) + 1900; r.year < 1969 {
			r.year += 100
		}
	case 'm':
		r.month = r.number(2, 1, 12)
	case 'd':
		r.day = r.number(2, 1, 31)
	case 'H':
		r.hour = r.number(2, 0, 23)
	case 'I':
		r.hour, r.twelve = r.number(2, 1, 12), true
	case 'M':
		r.min = r.number(2, 0, 59)
	case 'S':
		r.sec = r.number(2, 0, 61)
	case 'j':
		r.yearDay = r.number(3, 1, 366)
	case 'f':
		before := len(r.s)
		r.us = r.fraction()
		r.ok = r.ok && before-len(r.s) <= 6
	case 'p':
		r.pm = r.word("am", "pm") == 1
	case 'z':
		r.ok = r.s != "" && strings.IndexByte("+-Z", r.s[0]) >= 0
		r.offset = r.isoOffset()
	case '%':
		r.ok = r.skip("%")
	default:
		r.name(c)
	}
}

// name reads a month or a day of the week, in full or in three letters.
func (r *timeReader) name(c byte) {
	var names []string
	switch c {
	case 'B', 'b':
		for m := time.January; m <= time.December; m++ {
			names = append(names, m.String())
		}
	case 'A', 'a':
		for d := time.Sunday; d <= time.Saturday; d++ {
			names = append(names, d.String())
		}
	default:
		raise(valueError, "'%c' is a bad or unsupported directive in format", c)
	}
	if c == 'b' || c == 'a' {
		for i := range names {
			names[i] = names[i][:3]
		}
	}
	if at := r.word(names...); c == 'B' || c == 'b' {
		r.month = at + 1
	}
}

// word reads one of some words in any case and returns which.
func (r *timeReader) word(words ...string) int {
	for i, w := range words {
		if len(r.s) >= len(w) && strings.EqualFold(r.s[:len(w)], w) {
			r.s = r.s[len(w):]
			return i
		}
	}
	r.ok = false
	return 0
}
