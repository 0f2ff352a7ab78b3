package pyexpr

func classes() map[*Type]*class {
	return map[*Type]*class{
		typeInt: {make: def("int x?/", newInt)},
		typeFloat: {make: def("float x?/", newFloat), methods: byName(defMethod("is_integer", func(_ *machine, a []Value) Value {
			x := float64(a[0].(Float))
			return Bool(x == x && floatKey(x).kind != kindFloat)
		}))},
		typeBool:   {make: def("bool x?/", func(_ *machine, a []Value) Value { return Bool(a[0] != nil && truth(a[0])) })},
		typeStr:    {make: def("str object?", newStr), methods: strMethods()},
		typeList:   {make: def("list iterable?/", newList), methods: sequenceMethods(defMethod("copy", newList))},
		typeTuple:  {make: def("tuple iterable?/", newTuple), methods: sequenceMethods()},
		typeRange:  {make: def("range start/ stop?/ step?/", newRange), methods: sequenceMethods()},
		typeSet:    {make: def("set iterable?/", newSet), methods: setMethods()},
		typeFrozen: {make: def("frozenset iterable?/", newFrozen), methods: setMethods()},
		typeDict: {make: def("dict mapping?/ **", newDict), methods: dictMethods(),
			statics: byName(def("fromkeys iterable/ value?/", fromKeys))},
		typeCounter:  counterClass(),
		typeMatch:    matchClass(),
		typeTime:     timeOfDayClass(),
		typeDate:     dateClass(),
		typeDateTime: dateTimeClass(),
		typeDelta:    deltaClass(),
	}
}

func dictMethods() map[string]*builtin {
	view := func(name string, kind *Type) *builtin {
		return defMethod(name, func(m *machine, a []Value) Value {
			m.alloc(32)
			return &View{a[0].(*Dict), kind}
		})
	}
	return byName(
		view("keys", typeKeys), view("values", typeValues), view("items", typeItems),
		defMethod("copy", func(_ *machine, a []Value) Value { return a[0] }),
		defMethod("get key/ default?/", func(m *machine, a []Value) Value {
			if v := a[0].(*Dict).get(m, a[1]); v != nil {
				return v
			}
			return orNone(a[2])
		}),
	)
}

func sequenceMethods(more ...*builtin) map[string]*builtin {
	return byName(append(more, defMethod("index value/", sequenceIndex),
		defMethod("count value/", func(m *machine, a []Value) Value {
			n := 0
			m.each(a[0], func(v Value) bool {
				n += boolInt(m.eqItem(v, a[1]))
				return true
			})
			return Int(n)
		}))...)
}

func sequenceIndex(m *machine, a []Value) Value {
	at, i := -1, 0
	m.each(a[0], func(v Value) bool {
		if m.eqItem(v, a[1]) {
			at = i
		}
		i++
		return at < 0
	})
	if at < 0 {
		raise(valueError, "%s is not in %s", m.repr(a[1]), className(a[0]))
	}
	return Int(at)
}

func setMethods() map[string]*builtin {
	combine := func(name, op string) *builtin {
		return defMethod(name+" others...", func(m *machine, a []Value) Value {
			out := m.combine("|", a[0].(*Set), new(Set))
			for _, other := range a[1:] {
				out = m.combineAll(op, out, other)
			}
			out.frozen = a[0].(*Set).frozen
			return out
		})
	}
	test := func(name string, holds func(m *machine, s, other *Set) bool) *builtin {
		return defMethod(name+" other/", func(m *machine, a []Value) Value {
			return Bool(holds(m, a[0].(*Set), m.setOf(a[1])))
		})
	}
	return byName(
		combine("union", "|"), combine("intersection", "&"), combine("difference", "-"),
		defMethod("copy", func(_ *machine, a []Value) Value { return a[0] }),
		defMethod("symmetric_difference other/", func(m *machine, a []Value) Value {
			out := m.combineAll("^", a[0].(*Set), a[1])
			out.frozen = a[0].(*Set).frozen
			return out
		}),
		test("issubset", (*machine).subset),
		test("issuperset", func(m *machine, s, other *Set) bool { return m.subset(other, s) }),
		test("isdisjoint", func(m *machine, s, other *Set) bool { return len(m.combine("&", s, other).d.entries) == 0 }),
	)
}
