package pyexpr

import (
	"fmt"
	"math/big"
	"time"
)

// Dates and times. The names are those of "from datetime import date,
// datetime, time, timedelta". Nothing reads the clock: today and now are left out,
// because a formula must give the same result tomorrow.
type (
	// Date is a date, a date and a time of day, of the years 1 to 9999, or a
	// time of day alone.
	Date struct {
		t      time.Time // what calendar and clock show, as if in UTC
		kind   *Type     // typeDate, typeDateTime or typeTime
		offset *int      // seconds east of UTC; nil for none
	}
	// Delta is the time between two dates: micros lies within one day.
	Delta struct{ days, micros int64 }
)

func (d *Date) class() *Type { return d.kind }
func (*Delta) class() *Type  { return typeDelta }

const (
	microsPerSecond = 1_000_000
	microsPerDay    = 86_400 * microsPerSecond
)

func (d *Date) utc() time.Time {
	if d.offset == nil {
		return d.t
	}
	return d.t.Add(-time.Duration(*d.offset) * time.Second)
}

// zone is the offset as text, +05:30, or empty.
func (d *Date) zone() string {
	if d.offset == nil {
		return ""
	}
	sign, min := '+', *d.offset/60
	if min < 0 {
		sign, min = '-', -min
	}
	return fmt.Sprintf("%c%02d:%02d", sign, min/60, min%60)
}

// ordinal is Python's number of a day: 1 is 0001-01-01.
func (d *Date) ordinal() int { return int((d.t.Unix()-time.Time{}.Unix())/86_400) + 1 }

// dateOf checks the parts of a date or a time: year, month, day, hour, minute,
// second and microsecond. Missing ones at the end are zero.
func dateOf(kind *Type, offset *int, parts ...int) *Date {
	var p [7]int
	copy(p[:], parts)
	t := time.Date(p[0], time.Month(p[1]), p[2], p[3], p[4], p[5], p[6]*1000, time.UTC)
	h, m, s := t.Clock()
	switch {
	case p[0] < 1 || p[0] > 9999:
		raise(valueError, "year %d is out of range", p[0])
	case p[1] < 1 || p[1] > 12:
		raise(valueError, "month must be in 1..12")
	case p[2] < 1 || p[2] > 31 || time.Date(p[0], time.Month(p[1]), p[2], 0, 0, 0, 0, time.UTC).Day() != p[2]:
		raise(valueError, "day is out of range for month")
	case h != p[3] || m != p[4] || s != p[5] || p[6] < 0 || p[6] > 999_999:
		raise(valueError, "hour, minute, second or microsecond is out of range")
	}
	return &Date{t, kind, offset}
}

// parts are the arguments of dateOf that make d.
func (d *Date) parts() []int {
	y, mon, day := d.t.Date()
	h, min, s := d.t.Clock()
	all := []int{y, int(mon), day, h, min, s, d.t.Nanosecond() / 1000}
	if d.kind == typeDate {
		return all[:3]
	}
	if d.kind == typeTime {
		return all[3:]
	}
	return all
}

// shift moves d by a Delta, forwards or, with sign -1, backwards; a date moves
// by the Delta's days.
func (d *Date) shift(by *Delta, sign int) Value {
	at := d.t.AddDate(0, 0, sign*int(by.days))
	if d.kind == typeDateTime {
		at = at.Add(time.Duration(sign) * time.Duration(by.micros) * time.Microsecond)
	}
	if y := at.Year(); y < 1 || y > 9999 {
		raise(overflowError, "date value out of range")
	}
	return &Date{at, d.kind, d.offset}
}

// deltaOf is a Delta of so many microseconds, rounded half to even.
func deltaOf(micros *big.Rat) *Delta {
	n := roundQuo(micros.Num(), micros.Denom(), false)
	days, rest := new(big.Int).DivMod(n, big.NewInt(microsPerDay), new(big.Int))
	if days.CmpAbs(big.NewInt(999_999_999)) > 0 {
		raise(overflowError, "days=%.20s; must have magnitude <= 999999999", days)
	}
	return &Delta{days.Int64(), rest.Int64()}
}

func deltaInt(micros *big.Int) *Delta { return deltaOf(new(big.Rat).SetInt(micros)) }

func (d *Delta) big() *big.Int {
	z := new(big.Int).Mul(big.NewInt(d.days), big.NewInt(microsPerDay))
	return z.Add(z, big.NewInt(d.micros))
}

func (d *Delta) negative() *Delta { return deltaInt(new(big.Int).Neg(d.big())) }

func (d *Delta) seconds() float64 {
	f, _ := new(big.Rat).SetFrac(d.big(), big.NewInt(microsPerSecond)).Float64()
	return f
}

// ratArg is a number that counts units of time.
func ratArg(v Value) *big.Rat {
	if i, ok := integer(v); ok {
		return new(big.Rat).SetInt(bigOf(i))
	}
	x, ok := v.(Float)
	if !ok {
		raise(typeError, "unsupported type for timedelta component: %s", className(v))
	}
	truncate(float64(x)) // raises what is not finite
	return new(big.Rat).SetFloat64(float64(x))
}

// timeOp is an arithmetic operation on dates, times and Deltas; nil if there
// is none for these operands.
func (m *machine) timeOp(op string, a, b Value) Value {
	x, isX := a.(*Delta)
	y, isY := b.(*Delta)
	d, isDate := a.(*Date)
	e, isEnd := b.(*Date)
	isDate, isEnd = isDate && d.kind != typeTime, isEnd && e.kind != typeTime
	switch {
	case isX && isY:
		return m.deltaOp(op, x, y)
	case isDate && isY && op == "+":
		return d.shift(y, 1)
	case isDate && isY && op == "-":
		return d.shift(y, -1)
	case isX && isEnd && op == "+":
		return e.shift(x, 1)
	case isDate && isEnd && op == "-" && d.kind == e.kind:
		if (d.offset == nil) != (e.offset == nil) {
			raise(typeError, "can't subtract offset-naive and offset-aware datetimes")
		}
		return deltaInt(big.NewInt(d.utc().UnixMicro() - e.utc().UnixMicro()))
	case isX && isNumber(b):
		return m.scale(op, x, b)
	case isY && isNumber(a) && op == "*":
		return m.scale(op, y, a)
	}
	return nil
}

func (m *machine) deltaOp(op string, a, b *Delta) Value {
	x, y := a.big(), b.big()
	switch op {
	case "+":
		return deltaInt(x.Add(x, y))
	case "-":
		return deltaInt(x.Sub(x, y))
	case "/":
		return divInts(m, x, y)
	case "//":
		quo, _ := m.floorDiv(x, y)
		return normal(quo)
	case "%":
		_, rem := m.floorDiv(x, y)
		return deltaInt(rem)
	}
	return nil
}

func (m *machine) scale(op string, d *Delta, v Value) Value {
	i, isInt := integer(v)
	switch {
	case op == "*":
		return deltaOf(new(big.Rat).Mul(new(big.Rat).SetInt(d.big()), ratArg(v)))
	case op == "//" && isInt:
		quo, _ := m.floorDiv(d.big(), bigOf(i))
		return deltaInt(quo)
	case op == "/":
		r := ratArg(v)
		if r.Sign() == 0 {
			raise(zeroError, "division by zero")
		}
		return deltaOf(new(big.Rat).Quo(new(big.Rat).SetInt(d.big()), r))
	}
	return nil
}
