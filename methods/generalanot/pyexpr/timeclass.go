package pyexpr

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"
)

// The classes date, datetime and timedelta.

// timeParts name the arguments of dateOf.
const timeParts = "year month day hour minute second microsecond"

func dateClass() *class {
	return timeClass(typeDate, "date year month day")
}

func dateTimeClass() *class {
	c := timeClass(typeDateTime, "datetime year month day hour? minute? second? microsecond?")
	c.statics["strptime"] = def("strptime date_string/ format/", func(m *machine, a []Value) Value {
		return m.strptime(strArg(a[0]), strArg(a[1]))
	})
	c.methods["date"] = defMethod("date", func(_ *machine, a []Value) Value {
		y, mon, day := a[0].(*Date).t.Date()
		return dateOf(typeDate, nil, y, int(mon), day)
	})
	c.methods["time"] = defMethod("time", func(_ *machine, a []Value) Value {
		return timeOfDay(nil, a[0].(*Date).parts()[3:]...)
	})
	return c
}

// timeClass is what date and datetime share.
func timeClass(kind *Type, signature string) *class {
	c := &class{attrs: map[string]func(v Value) Value{}, methods: map[string]*builtin{}}
	c.make = def(signature, func(_ *machine, a []Value) Value {
		parts := make([]int, len(a))
		for i := range a {
			parts[i] = smallArg(a[i], 0)
		}
		return dateOf(kind, nil, parts...)
	})
	c.statics = byName(def("fromisoformat date_string/", func(_ *machine, a []Value) Value { return fromISO(kind, strArg(a[0])) }))
	for i, name := range strings.Fields(timeParts)[:len(c.make.params)] {
		c.attrs[name] = func(v Value) Value { return Int(v.(*Date).parts()[i]) }
	}
	number := func(name string, of func(d *Date) int) {
		c.methods[name] = defMethod(name, func(_ *machine, a []Value) Value { return Int(of(a[0].(*Date))) })
	}
	number("weekday", func(d *Date) int { return (d.ordinal() + 6) % 7 })
	number("isoweekday", func(d *Date) int { return (d.ordinal()+6)%7 + 1 })
	number("toordinal", (*Date).ordinal)
	c.methods["strftime"] = defMethod("strftime format", func(m *machine, a []Value) Value {
		return m.str(m.strftime(a[0].(*Date), strArg(a[1])))
	})
	c.methods["isoformat"] = defMethod("isoformat", func(m *machine, a []Value) Value { return m.str(a[0].(*Date).iso("T")) })
	return c
}

// timeOfDayClass is the class time.
func timeOfDayClass() *class {
	c := &class{attrs: map[string]func(v Value) Value{}}
	c.make = def("time hour? minute? second? microsecond?", func(_ *machine, a []Value) Value {
		parts := make([]int, len(a))
		for i := range a {
			parts[i] = smallArg(a[i], 0)
		}
		return timeOfDay(nil, parts...)
	})
	for i, name := range strings.Fields(timeParts)[3:] {
		c.attrs[name] = func(v Value) Value { return Int(v.(*Date).parts()[i]) }
	}
	c.methods = byName(
		defMethod("isoformat", func(m *machine, a []Value) Value { return m.str(a[0].(*Date).iso("")) }),
	)
	return c
}

// timeOfDay is a time on the day that CPython too takes for its strftime.
func timeOfDay(offset *int, parts ...int) *Date {
	return dateOf(typeTime, offset, append([]int{1900, 1, 1}, parts...)...)
}

func deltaClass() *class {
	units := []int64{microsPerDay, microsPerSecond, 1, 1000, 60 * microsPerSecond, 3600 * microsPerSecond, 7 * microsPerDay}
	return &class{
		make: def("timedelta days? seconds? microseconds? milliseconds? minutes? hours? weeks?", func(_ *machine, a []Value) Value {
			total := new(big.Rat)
			for i, v := range a {
				if v != nil {
					total.Add(total, new(big.Rat).Mul(ratArg(v), new(big.Rat).SetInt64(units[i])))
				}
			}
			return deltaOf(total)
		}),
		attrs: map[string]func(v Value) Value{
			"days":         func(v Value) Value { return Int(v.(*Delta).days) },
			"seconds":      func(v Value) Value { return Int(v.(*Delta).micros / microsPerSecond) },
			"microseconds": func(v Value) Value { return Int(v.(*Delta).micros % microsPerSecond) },
		},
		methods: byName(defMethod("total_seconds", func(_ *machine, a []Value) Value { return Float(a[0].(*Delta).seconds()) })),
	}
}

func (d *Date) iso(sep string) string {
	if d.kind == typeDate {
		return d.t.Format(time.DateOnly)
	}
	layout := "15:04:05"
	if d.t.Nanosecond() != 0 {
		layout += ".000000"
	}
	if d.kind == typeTime {
		return d.t.Format(layout) + d.zone()
	}
	return d.t.Format(time.DateOnly) + sep + d.t.Format(layout) + d.zone()
}

func (d *Delta) text() string {
	sec, us := d.micros/microsPerSecond, d.micros%microsPerSecond
	out := fmt.Sprintf("%d:%02d:%02d", sec/3600, sec/60%60, sec%60)
	if us != 0 {
		out += fmt.Sprintf(".%06d", us)
	}
	switch d.days {
	case 0:
		return out
	case 1, -1:
		return fmt.Sprintf("%d day, %s", d.days, out)
	}
	return fmt.Sprintf("%d days, %s", d.days, out)
}

func (d *Date) repr() string {
	parts := d.parts()
	least := 5
	if d.kind == typeTime {
		least = 2
	}
	for len(parts) > least && parts[len(parts)-1] == 0 {
		parts = parts[:len(parts)-1]
	}
	out := strings.Trim(strings.Join(strings.Fields(fmt.Sprint(parts)), ", "), "[]")
	switch {
	case d.offset == nil:
	case *d.offset == 0:
		out += ", tzinfo=datetime.timezone.utc"
	default:
		out += ", tzinfo=datetime.timezone(" + deltaInt(big.NewInt(int64(*d.offset)*microsPerSecond)).repr() + ")"
	}
	return d.kind.name + "(" + out + ")"
}

func (d *Delta) repr() string {
	parts := []string{
		fmt.Sprintf("days=%d", d.days),
		fmt.Sprintf("seconds=%d", d.micros/microsPerSecond),
		fmt.Sprintf("microseconds=%d", d.micros%microsPerSecond),
	}
	parts = slices.DeleteFunc(parts, func(p string) bool { return strings.HasSuffix(p, "=0") })
	if len(parts) == 0 {
		parts = []string{"0"}
	}
	return "datetime.timedelta(" + strings.Join(parts, ", ") + ")"
}
