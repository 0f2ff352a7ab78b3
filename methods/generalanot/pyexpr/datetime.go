package pyexpr

import (
	"fmt"
	"math/big"
	"time"
)

// Dates and times. The names are those of "from datetime import date,
// datetime, timedelta". Nothing reads the clock: today and now are left out,
// because a formula must give the same result tomorrow.
type (
	// Date is a date of the years 1 to 9999.
	Date struct{ days int } // as Python's ordinal: 1 is 0001-01-01
	// DateTime is a date and a time of day, with a fixed offset from UTC or
	// without one.
	DateTime struct {
		days   int
		micros int64 // since midnight
		offset *int  // seconds east of UTC; nil for none
	}
	// Delta is the time between two dates: micros lies within one day.
	Delta struct {
		days   int64
		micros int64
	}
)

func (*Date) class() *Type     { return typeDate }
func (*DateTime) class() *Type { return typeDateTime }
func (*Delta) class() *Type    { return typeDelta }

const (
	microsPerSecond = 1_000_000
	microsPerDay    = 86_400 * microsPerSecond
	maxOrdinal      = 3_652_059
	maxDeltaDays    = 999_999_999
	unixOrdinal     = 719_163 // of 1970-01-01
)

func ordinal(y, m, d int) int {
	return int(time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC).Unix()/86_400) + unixOrdinal
}

// civil is the calendar day of an ordinal.
func civil(days int) time.Time {
	return time.Unix(int64(days-unixOrdinal)*86_400, 0).UTC()
}

// dateOf checks a calendar day.
func dateOf(y, m, d int) *Date {
	switch {
	case y < 1 || y > 9999:
		raise(valueError, "year %d is out of range", y)
	case m < 1 || m > 12:
		raise(valueError, "month must be in 1..12")
	case d < 1 || civil(ordinal(y, m, d)).Day() != d:
		raise(valueError, "day is out of range for month")
	}
	return &Date{ordinal(y, m, d)}
}

// timeOf checks a time of day.
func timeOf(date *Date, h, min, s, us int, offset *int) *DateTime {
	if h < 0 || h > 23 || min < 0 || min > 59 || s < 0 || s > 59 || us < 0 || us > 999_999 {
		raise(valueError, "hour, minute, second or microsecond out of range")
	}
	return &DateTime{date.days, int64((h*60+min)*60+s)*microsPerSecond + int64(us), offset}
}

func (d *DateTime) date() *Date { return &Date{d.days} }

// clock splits the time of day.
func (d *DateTime) clock() (h, min, s, us int) {
	sec := int(d.micros / microsPerSecond)
	return sec / 3600, sec / 60 % 60, sec % 60, int(d.micros % microsPerSecond)
}

func newDate(m *machine, args []Value, kw []keyword) Value {
	a := m.bind("date", args, kw, 3, "year", "month", "day")
	return dateOf(intArg(a[0], 0), intArg(a[1], 0), intArg(a[2], 0))
}

func newDateTime(m *machine, args []Value, kw []keyword) Value {
	a := m.bind("datetime", args, kw, 3, "year", "month", "day", "hour", "minute", "second", "microsecond")
	return timeOf(dateOf(intArg(a[0], 0), intArg(a[1], 0), intArg(a[2], 0)),
		intArg(a[3], 0), intArg(a[4], 0), intArg(a[5], 0), intArg(a[6], 0), nil)
}

// newDelta is timedelta(days, seconds, microseconds, milliseconds, minutes,
// hours, weeks); fractions are summed exactly and rounded half to even.
func newDelta(m *machine, args []Value, kw []keyword) Value {
	a := m.bind("timedelta", args, kw, 0, "days", "seconds", "microseconds", "milliseconds", "minutes", "hours", "weeks")
	units := []int64{microsPerDay, microsPerSecond, 1, 1000, 60 * microsPerSecond, 3600 * microsPerSecond, 7 * microsPerDay}
	total := new(big.Rat)
	for i, v := range a {
		if v != nil {
			total.Add(total, new(big.Rat).Mul(ratArg(v), new(big.Rat).SetInt64(units[i])))
		}
	}
	return deltaOf(roundRat(total))
}

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

// roundRat is the nearest integer, half to even.
func roundRat(r *big.Rat) *big.Int {
	quo, rem := new(big.Int).QuoRem(r.Num(), r.Denom(), new(big.Int))
	c := new(big.Int).Lsh(new(big.Int).Abs(rem), 1).Cmp(r.Denom())
	if c > 0 || c == 0 && quo.Bit(0) == 1 {
		quo.Add(quo, big.NewInt(int64(r.Sign())))
	}
	return quo
}

// deltaOf is a Delta of so many microseconds.
func deltaOf(micros *big.Int) *Delta {
	days, rest := new(big.Int).DivMod(micros, big.NewInt(microsPerDay), new(big.Int))
	if !days.IsInt64() || days.Int64() > maxDeltaDays || days.Int64() < -maxDeltaDays {
		raise(overflowError, "days=%.20s; must have magnitude <= 999999999", days)
	}
	return &Delta{days.Int64(), rest.Int64()}
}

func (d *Delta) big() *big.Int {
	z := new(big.Int).Mul(big.NewInt(d.days), big.NewInt(microsPerDay))
	return z.Add(z, big.NewInt(d.micros))
}

func (d *Delta) times(n int64) *Delta { return deltaOf(new(big.Int).Mul(d.big(), big.NewInt(n))) }

// seconds is the whole length in seconds, correctly rounded.
func (d *Delta) seconds() float64 {
	f, _ := new(big.Rat).SetFrac(d.big(), big.NewInt(microsPerSecond)).Float64()
	return f
}

// shiftTime moves a date or a time; a date ignores the part of a day.
func shiftTime(v Value, days, micros int64) Value {
	at, ok := v.(*DateTime)
	if !ok {
		return &Date{checkOrdinal(int64(v.(*Date).days) + days)}
	}
	days, micros = days+int64(at.days), micros+at.micros
	if micros < 0 {
		days, micros = days-1, micros+microsPerDay
	}
	return &DateTime{checkOrdinal(days + micros/microsPerDay), micros % microsPerDay, at.offset}
}

func checkOrdinal(days int64) int {
	if days < 1 || days > maxOrdinal {
		raise(overflowError, "date value out of range")
	}
	return int(days)
}

// utc is the number of microseconds since the year 1, in UTC where the time
// says how far it is from it.
func (d *DateTime) utc() *big.Int {
	z := (&Delta{int64(d.days), d.micros}).big()
	if d.offset != nil {
		z.Sub(z, big.NewInt(int64(*d.offset)*microsPerSecond))
	}
	return z
}

// compareTimes compares two dates, two times or two Deltas. It is false where
// CPython refuses; for equality it answers then with "different".
func compareTimes(a, b Value, equality bool) (int, bool) {
	switch x := a.(type) {
	case *Date:
		if y, ok := b.(*Date); ok {
			return cmpInts(int64(x.days), int64(y.days)), true
		}
	case *Delta:
		if y, ok := b.(*Delta); ok {
			return x.big().Cmp(y.big()), true
		}
	case *DateTime:
		y, ok := b.(*DateTime)
		if !ok {
			break
		}
		if (x.offset == nil) != (y.offset == nil) {
			if !equality {
				raise(typeError, "can't compare offset-naive and offset-aware datetimes")
			}
			return 1, true
		}
		return x.utc().Cmp(y.utc()), true
	}
	return 0, false
}

func timeKey(v Value) key {
	switch x := v.(type) {
	case *Date:
		return key{kind: kindDate, n: uint64(x.days)}
	case *Delta:
		return key{kind: kindDate, s: "delta" + x.big().String()}
	case *DateTime:
		naive := map[bool]string{true: "naive", false: "aware"}[x.offset == nil]
		return key{kind: kindDate, s: naive + x.utc().String()}
	}
	panic(fmt.Sprintf("pyexpr: timeKey of %T", v))
}
