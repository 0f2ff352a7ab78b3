package pyexpr

import (
	"fmt"
	"strings"
)

// scanner reads numbers of fixed width; ok turns false at the first fault.
type scanner struct {
	s  string
	ok bool
}

func (p *scanner) digits(n int) int {
	if len(p.s) < n || strings.Trim(p.s[:n], decimals) != "" {
		p.ok = false
		return 0
	}
	v := 0
	for _, c := range []byte(p.s[:n]) {
		v = v*10 + int(c-'0')
	}
	p.s = p.s[n:]
	return v
}

func (p *scanner) skip(prefix string) bool {
	rest, ok := strings.CutPrefix(p.s, prefix)
	p.s = rest
	return ok
}

// fromISO reads YYYY-MM-DD or YYYYMMDD, and for a datetime a time of day behind
// any one character. Differs: not YYYY-Www-D.
func fromISO(kind *Type, s string) Value {
	p := &scanner{s, true}
	parts := make([]int, 7)
	parts[0] = p.digits(4)
	dashed := p.skip("-")
	parts[1] = p.digits(2)
	p.ok = p.ok && p.skip("-") == dashed
	parts[2] = p.digits(2)
	var offset *int
	if kind == typeDateTime && p.ok && p.s != "" {
		p.skip(string([]rune(p.s)[0]))
		p.isoClock(parts[3:])
		offset = p.isoOffset()
	}
	if !p.ok || p.s != "" {
		raise(valueError, "Invalid or unsupported isoformat string: %s: write YYYY-MM-DD", quote(s))
	}
	return dateOf(kind, offset, parts...)
}

// isoClock reads HH[:MM[:SS[.fff...]]], with or without colons.
func (p *scanner) isoClock(clock []int) {
	if clock[0] = p.digits(2); p.done() {
		return
	}
	colon := p.skip(":")
	if clock[1] = p.digits(2); p.done() {
		return
	}
	p.ok = p.skip(":") == colon
	clock[2] = p.digits(2)
	if p.skip(".") || p.skip(",") {
		clock[3] = p.fraction()
	}
}

// done says whether the time of day ends here.
func (p *scanner) done() bool {
	return !p.ok || p.s == "" || strings.IndexByte("+-Z", p.s[0]) >= 0
}

// fraction reads digits of a second; those after the sixth are dropped.
func (p *scanner) fraction() int {
	rest := strings.TrimLeft(p.s, decimals)
	text := p.s[:len(p.s)-len(rest)]
	p.ok = p.ok && text != ""
	v := (&scanner{(text + "000000")[:6], true}).digits(6)
	p.s = rest
	return v
}

// isoOffset reads Z or +HH[:MM], or nothing.
func (p *scanner) isoOffset() *int {
	var clock [4]int
	switch sign := 1; {
	case p.skip("Z"):
		return &clock[0]
	case p.s == "":
		return nil
	default:
		if p.skip("-") {
			sign = -1
		} else if !p.skip("+") {
			p.ok = false
		}
		p.isoClock(clock[:])
		sec := sign * (clock[0]*60 + clock[1]) * 60
		if p.ok && (clock[2] != 0 || clock[3] != 0) {
			raise(valueError, "offsets below a minute are not supported")
		}
		if p.ok && (sec <= -86_400 || sec >= 86_400) {
			raise(valueError, "offset must be strictly between -24 and 24 hours")
		}
		return &sec
	}
}

// strftime formats by the directives that do not depend on a locale or clock.
func (m *machine) strftime(d *Date, format string) string {
	w := &writer{m: m}
	for format != "" {
		text, rest, found := strings.Cut(format, "%")
		w.put(text)
		if !found {
			break
		}
		if rest == "" {
			w.put("%")
			break
		}
		w.put(d.directive(rest[0]))
		format = rest[1:]
	}
	return w.String()
}

func (d *Date) directive(c byte) string {
	layouts := map[byte]string{'m': "01", 'd': "02", 'y': "06", 'H': "15", 'I': "03", 'M': "04", 'S': "05",
		'p': "PM", 'j': "002", 'A': "Monday", 'a': "Mon", 'B': "January", 'b': "Jan"}
	switch layout, ok := layouts[c]; {
	case ok:
		return d.t.Format(layout)
	case c == 'Y':
		return fmt.Sprint(d.t.Year())
	case c == 'f':
		return fmt.Sprintf("%06d", d.t.Nanosecond()/1000)
	case c == '%':
		return "%"
	}
	raise(valueError, "the directive %%%c is not supported: use %%Y %%m %%d %%H %%M %%S and the like", c)
	return ""
}
