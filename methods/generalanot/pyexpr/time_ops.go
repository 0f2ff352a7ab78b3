package pyexpr

import (
	"fmt"
	"math/big"
	"strings"
)

// timeOp is an arithmetic operation on dates, times and Deltas; nil if there
// is none for these operands.
func (m *machine) timeOp(op string, a, b Value) Value {
	da, isA := a.(*Delta)
	db, isB := b.(*Delta)
	switch {
	case isA && isB:
		return m.deltaDelta(op, da, db)
	case isB && isTime(a) && op == "+":
		return shiftTime(a, db.days, db.micros)
	case isB && isTime(a) && op == "-":
		return shiftTime(a, -db.days, -db.micros)
	case isA && isTime(b) && op == "+":
		return shiftTime(b, da.days, da.micros)
	case isA && isNumber(b):
		return deltaNumber(op, da, b)
	case isB && isNumber(a) && op == "*":
		return deltaNumber(op, db, a)
	case isTime(a) && isTime(b) && op == "-" && a.class() == b.class():
		return difference(a, b)
	}
	return nil
}

func isTime(v Value) bool { return v.class().is(typeDate) }

func difference(a, b Value) Value {
	x, ok := a.(*DateTime)
	if !ok {
		return &Delta{int64(a.(*Date).days - b.(*Date).days), 0}
	}
	y := b.(*DateTime)
	if (x.offset == nil) != (y.offset == nil) {
		raise(typeError, "can't subtract offset-naive and offset-aware datetimes")
	}
	return deltaOf(new(big.Int).Sub(x.utc(), y.utc()))
}

func (m *machine) deltaDelta(op string, a, b *Delta) Value {
	x, y := a.big(), b.big()
	switch op {
	case "+":
		return deltaOf(x.Add(x, y))
	case "-":
		return deltaOf(x.Sub(x, y))
	case "*":
		return nil
	}
	if y.Sign() == 0 {
		raise(zeroError, "integer division or modulo by zero")
	}
	if op == "/" {
		return m.divInts(normal(x), normal(y))
	}
	quo, rem := floorDivBig(x, y)
	if op == "//" {
		return normal(quo)
	}
	return deltaOf(rem)
}

// floorDivBig rounds towards minus infinity.
func floorDivBig(x, y *big.Int) (quo, rem *big.Int) {
	quo, rem = new(big.Int).QuoRem(x, y, new(big.Int))
	if rem.Sign() != 0 && rem.Sign() != y.Sign() {
		quo.Sub(quo, big.NewInt(1))
		rem.Add(rem, y)
	}
	return quo, rem
}

func deltaNumber(op string, d *Delta, v Value) Value {
	i, isInt := integer(v)
	if op == "%" || op == "+" || op == "-" || op == "//" && !isInt {
		return nil
	}
	r := ratArg(v)
	if op == "*" {
		return deltaOf(roundRat(r.Mul(r, new(big.Rat).SetInt(d.big()))))
	}
	if r.Sign() == 0 {
		raise(zeroError, "division by zero")
	}
	if op == "//" {
		quo, _ := floorDivBig(d.big(), bigOf(i))
		return deltaOf(quo)
	}
	return deltaOf(roundRat(r.Quo(new(big.Rat).SetInt(d.big()), r)))
}

// timeAttr is a data attribute, or nil.
func timeAttr(v Value, name string) Value {
	switch x := v.(type) {
	case *Delta:
		switch name {
		case "days":
			return Int(x.days)
		case "seconds":
			return Int(x.micros / microsPerSecond)
		case "microseconds":
			return Int(x.micros % microsPerSecond)
		}
	case *Date:
		return dayAttr(x.days, name)
	case *DateTime:
		h, min, s, us := x.clock()
		switch name {
		case "hour":
			return Int(h)
		case "minute":
			return Int(min)
		case "second":
			return Int(s)
		case "microsecond":
			return Int(us)
		}
		return dayAttr(x.days, name)
	}
	return nil
}

func dayAttr(days int, name string) Value {
	y, m, d := civil(days).Date()
	switch name {
	case "year":
		return Int(y)
	case "month":
		return Int(m)
	case "day":
		return Int(d)
	}
	return nil
}

func (d *Date) iso() string { return civil(d.days).Format("2006-01-02") }

func (d *DateTime) iso(sep string) string {
	h, min, s, us := d.clock()
	out := fmt.Sprintf("%s%s%02d:%02d:%02d", d.date().iso(), sep, h, min, s)
	if us != 0 {
		out += fmt.Sprintf(".%06d", us)
	}
	if d.offset != nil {
		out += offsetText(*d.offset)
	}
	return out
}

func offsetText(sec int) string {
	sign := '+'
	if sec < 0 {
		sign, sec = '-', -sec
	}
	out := fmt.Sprintf("%c%02d:%02d", sign, sec/3600, sec/60%60)
	if sec%60 != 0 {
		out += fmt.Sprintf(":%02d", sec%60)
	}
	return out
}

func (d *Delta) text() string {
	sec := d.micros / microsPerSecond
	out := fmt.Sprintf("%d:%02d:%02d", sec/3600, sec/60%60, sec%60)
	if us := d.micros % microsPerSecond; us != 0 {
		out += fmt.Sprintf(".%06d", us)
	}
	if d.days != 0 {
		plural := "s"
		if d.days == 1 || d.days == -1 {
			plural = ""
		}
		out = fmt.Sprintf("%d day%s, %s", d.days, plural, out)
	}
	return out
}

func timeRepr(v Value) string {
	switch x := v.(type) {
	case *Date:
		y, m, d := civil(x.days).Date()
		return fmt.Sprintf("datetime.date(%d, %d, %d)", y, m, d)
	case *DateTime:
		y, m, d := civil(x.days).Date()
		h, min, s, us := x.clock()
		out := fmt.Sprintf("datetime.datetime(%d, %d, %d, %d, %d", y, m, d, h, min)
		if s != 0 || us != 0 {
			out += fmt.Sprintf(", %d", s)
		}
		if us != 0 {
			out += fmt.Sprintf(", %d", us)
		}
		return out + zoneRepr(x.offset) + ")"
	}
	return deltaRepr(v.(*Delta))
}

func zoneRepr(offset *int) string {
	switch {
	case offset == nil:
		return ""
	case *offset == 0:
		return ", tzinfo=datetime.timezone.utc"
	}
	d := deltaOf(big.NewInt(int64(*offset) * microsPerSecond))
	return ", tzinfo=datetime.timezone(" + deltaRepr(d) + ")"
}

func deltaRepr(d *Delta) string {
	var parts []string
	add := func(name string, n int64) {
		if n != 0 {
			parts = append(parts, fmt.Sprintf("%s=%d", name, n))
		}
	}
	add("days", d.days)
	add("seconds", d.micros/microsPerSecond)
	add("microseconds", d.micros%microsPerSecond)
	if parts == nil {
		parts = []string{"0"}
	}
	return "datetime.timedelta(" + strings.Join(parts, ", ") + ")"
}
