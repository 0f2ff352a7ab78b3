package pyexpr

// timeMethod are the methods of dates, times and Deltas.
func timeMethod(t *Type, name string) method {
	plain := func(f func(v Value) Value) method {
		return func(m *machine, self Value, args []Value, kw []keyword) Value {
			m.bind(name, args, kw, 0)
			m.alloc(64)
			return f(self)
		}
	}
	if t == typeDelta {
		if name == "total_seconds" {
			return plain(func(v Value) Value { return Float(v.(*Delta).seconds()) })
		}
		return nil
	}
	switch name {
	case "weekday":
		return plain(func(v Value) Value { return Int((dayOf(v) + 6) % 7) })
	case "isoweekday":
		return plain(func(v Value) Value { return Int((dayOf(v)+6)%7 + 1) })
	case "toordinal":
		return plain(func(v Value) Value { return Int(dayOf(v)) })
	case "date":
		if t == typeDateTime {
			return plain(func(v Value) Value { return v.(*DateTime).date() })
		}
	case "isoformat":
		return isoFormat
	case "strftime":
		return func(m *machine, self Value, args []Value, kw []keyword) Value {
			a := m.bind(name, args, kw, 1, "format")
			return m.str(m.strftime(self, strArg(name, a[0])))
		}
	case "replace":
		return replaceTime
	}
	return nil
}

func dayOf(v Value) int {
	if d, ok := v.(*DateTime); ok {
		return d.days
	}
	return v.(*Date).days
}

func isoFormat(m *machine, self Value, args []Value, kw []keyword) Value {
	d, ok := self.(*DateTime)
	if !ok {
		m.bind("isoformat", args, kw, 0)
		return m.str(self.(*Date).iso())
	}
	a := m.bind("isoformat", args, kw, 0, "sep")
	sep := "T"
	if a[0] != nil {
		if sep = strArg("isoformat", a[0]); len([]rune(sep)) != 1 {
			raise(typeError, "isoformat() argument 1 must be a unicode character, not str")
		}
	}
	return m.str(d.iso(sep))
}

func replaceTime(m *machine, self Value, args []Value, kw []keyword) Value {
	y, mon, day := civil(dayOf(self)).Date()
	d, ok := self.(*DateTime)
	names := []string{"year", "month", "day", "hour", "minute", "second", "microsecond"}
	if !ok {
		names = names[:3]
	}
	a := m.bind("replace", args, kw, 0, names...)
	date := dateOf(intArg(a[0], y), intArg(a[1], int(mon)), intArg(a[2], day))
	if !ok {
		return date
	}
	h, min, s, us := d.clock()
	return timeOf(date, intArg(a[3], h), intArg(a[4], min), intArg(a[5], s), intArg(a[6], us), d.offset)
}

// classAttr are the functions of the classes date and datetime, or nil.
func classAttr(t *Type, name string) Value {
	if !t.is(typeDate) {
		return nil
	}
	parse := func(f func(m *machine, a []Value) Value, names ...string) Value {
		return &Func{name, func(m *machine, args []Value, kw []keyword) Value {
			return f(m, m.bind(name, args, kw, len(names), names...))
		}}
	}
	switch name {
	case "fromisoformat":
		return parse(func(m *machine, a []Value) Value {
			s, ok := a[0].(Str)
			if !ok {
				raise(typeError, "fromisoformat: argument must be str")
			}
			return fromISO(t, string(s))
		}, "date_string/")
	case "fromordinal":
		return parse(func(m *machine, a []Value) Value {
			n := intArg(a[0], 0)
			if n < 1 || n > maxOrdinal {
				raise(valueError, "ordinal must be between 1 and %d", maxOrdinal)
			}
			if t == typeDateTime {
				return &DateTime{days: n}
			}
			return &Date{n}
		}, "ordinal/")
	case "strptime":
		if t == typeDateTime {
			return parse(func(m *machine, a []Value) Value {
				return m.strptime(strArg(name, a[0]), strArg(name, a[1]))
			}, "date_string/", "format/")
		}
	case "today", "now", "utcnow":
		raise(attributeError, "%s.%s reads the clock, which a formula cannot do: pass the day as an input", t.name, name)
	}
	return nil
}
