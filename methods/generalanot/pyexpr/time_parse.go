package pyexpr

import (
	"fmt"
	"strings"
	"time"
)

// scanner reads numbers of fixed width; ok turns false at the first fault.
type scanner struct {
	s  string
	ok bool
}

func (p *scanner) digits(n int) int {
	if len(p.s) < n {
		p.ok = false
		return 0
	}
	v := 0
	for _, c := range []byte(p.s[:n]) {
		if c < '0' || c > '9' {
			p.ok = false
			return 0
		}
		v = v*10 + int(c-'0')
	}
	p.s = p.s[n:]
	return v
}

func (p *scanner) skip(prefix string) bool {
	if strings.HasPrefix(p.s, prefix) {
		p.s = p.s[len(prefix):]
		return true
	}
	return false
}

// fromISO reads what CPython 3.11 reads: YYYY-MM-DD, YYYYMMDD, YYYY-Www[-D],
// and for a datetime a time behind any one character.
func fromISO(t *Type, s string) Value {
	p := &scanner{s, true}
	d := p.isoDate()
	if t == typeDate {
		if !p.ok || p.s != "" {
			raise(valueError, "Invalid isoformat string: %s", quote(s))
		}
		return d()
	}
	var h, min, sec, us int
	var offset *int
	if p.ok && p.s != "" {
		sep := []rune(p.s)[0]
		p.s = strings.TrimPrefix(p.s, string(sep))
		h, min, sec, us = p.isoClock()
		offset = p.isoOffset()
	}
	if !p.ok || p.s != "" {
		raise(valueError, "Invalid isoformat string: %s", quote(s))
	}
	return timeOf(d(), h, min, sec, us, offset)
}

func (p *scanner) isoDate() func() *Date {
	year := p.digits(4)
	dashed := p.skip("-")
	if p.skip("W") {
		week, day := p.digits(2), 1
		if dashed && len(p.s) > 1 && p.s[0] == '-' && p.s[1] >= '0' && p.s[1] <= '9' {
			p.s = p.s[1:]
			day = p.digits(1)
		} else if !dashed && p.s != "" && p.s[0] >= '0' && p.s[0] <= '9' {
			day = p.digits(1)
		}
		return func() *Date { return isoWeek(year, week, day) }
	}
	month := p.digits(2)
	if dashed && !p.skip("-") {
		p.ok = false
	}
	day := p.digits(2)
	return func() *Date { return dateOf(year, month, day) }
}

func isoWeek(year, week, day int) *Date {
	if year < 1 || week < 1 || week > 53 || day < 1 || day > 7 {
		raise(valueError, "Invalid week or day of %d", year)
	}
	jan4 := time.Date(year, 1, 4, 0, 0, 0, 0, time.UTC)
	monday := ordinal(year, 1, 4) - (int(jan4.Weekday())+6)%7
	days := monday + (week-1)*7 + day - 1
	if y, w := civil(monday + (week-1)*7).ISOWeek(); y != year || w != week {
		raise(valueError, "Invalid week: %d", week)
	}
	if days < 1 || days > maxOrdinal {
		raise(valueError, "year is out of range")
	}
	return &Date{days}
}

// isoClock reads HH[:MM[:SS[.fff...]]], with or without colons.
func (p *scanner) isoClock() (h, min, s, us int) {
	if h = p.digits(2); p.done() {
		return
	}
	colon := p.skip(":")
	if min = p.digits(2); p.done() {
		return
	}
	if p.skip(":") != colon {
		p.ok = false
	}
	s = p.digits(2)
	if p.skip(".") || p.skip(",") {
		us = p.fraction()
	}
	return
}

// done says whether the time of day ends here.
func (p *scanner) done() bool {
	return !p.ok || p.s == "" || strings.IndexByte("+-Z", p.s[0]) >= 0
}

// fraction reads digits of a second; those after the sixth are dropped.
func (p *scanner) fraction() int {
	n, v := 0, 0
	for p.s != "" && p.s[0] >= '0' && p.s[0] <= '9' {
		if n < 6 {
			v = v*10 + int(p.s[0]-'0')
		}
		n++
		p.s = p.s[1:]
	}
	p.ok = p.ok && n > 0
	for ; n < 6; n++ {
		v *= 10
	}
	return v
}

func (p *scanner) isoOffset() *int {
	zero := 0
	switch {
	case p.skip("Z"):
		return &zero
	case p.skip("+"):
		return p.offset(1)
	case p.skip("-"):
		return p.offset(-1)
	}
	return nil
}

func (p *scanner) offset(sign int) *int {
	h, min, s, us := p.isoClock()
	sec := sign * ((h*60+min)*60 + s)
	if p.ok && us != 0 {
		raise(valueError, "offsets below a second are not supported")
	}
	if p.ok && (sec <= -86_400 || sec >= 86_400) {
		raise(valueError, "offset must be strictly between -24 and 24 hours")
	}
	return &sec
}

// strftime formats by the directives that do not depend on a locale or clock.
func (m *machine) strftime(v Value, format string) string {
	at := &DateTime{days: dayOf(v)}
	if d, ok := v.(*DateTime); ok {
		at = d
	}
	t, w := civil(at.days), &writer{m: m}
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			w.put(format[i : i+1])
			continue
		}
		i++
		w.put(directive(at, t, format[i]))
	}
	return w.String()
}

func directive(at *DateTime, t time.Time, c byte) string {
	h, min, s, us := at.clock()
	switch c {
	case 'Y':
		return fmt.Sprint(t.Year())
	case 'm':
		return fmt.Sprintf("%02d", t.Month())
	case 'd':
		return fmt.Sprintf("%02d", t.Day())
	case 'y':
		return fmt.Sprintf("%02d", t.Year()%100)
	case 'H':
		return fmt.Sprintf("%02d", h)
	case 'I':
		return fmt.Sprintf("%02d", (h+11)%12+1)
	case 'M':
		return fmt.Sprintf("%02d", min)
	case 'S':
		return fmt.Sprintf("%02d", s)
	case 'f':
		return fmt.Sprintf("%06d", us)
	case 'p':
		return map[bool]string{true: "AM", false: "PM"}[h < 12]
	case 'j':
		return fmt.Sprintf("%03d", t.YearDay())
	case 'A':
		return t.Weekday().String()
	case 'a':
		return t.Weekday().String()[:3]
	case 'B':
		return t.Month().String()
	case 'b', 'h':
		return t.Month().String()[:3]
	case 'F':
		return at.date().iso()
	case 'T':
		return fmt.Sprintf("%02d:%02d:%02d", h, min, s)
	case 'u':
		return fmt.Sprint((int(t.Weekday())+6)%7 + 1)
	case 'w':
		return fmt.Sprint(int(t.Weekday()))
	case '%':
		return "%"
	}
	raise(valueError, "the directive %%%c is not supported", c)
	return ""
}
