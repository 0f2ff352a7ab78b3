package pyexpr

func (m *machine) lazy(it iterator) Value {
	m.alloc(96)
	return &Iter{it}
}

// together walks several values at once, to the end of the shortest. Strict
// ones must end together.
func (m *machine) together(vs []Value, strict bool) func(m *machine) ([]Value, bool) {
	m.alloc(32 * len(vs))
	its := make([]iterator, len(vs))
	for i, v := range vs {
		its[i] = m.iter(v)
	}
	return func(m *machine) ([]Value, bool) {
		vals := m.room(len(its))
		ended := 0
		for _, next := range its {
			m.step(1)
			v, ok := next(m)
			if ok && ended == 0 {
				vals = append(vals, v)
				continue
			}
			ended++
			if !strict {
				break
			}
			if ok || len(vals) > 0 {
				raise(valueError, "zip() arguments have different lengths")
			}
		}
		return vals, ended == 0
	}
}

func newMap(m *machine, a []Value) Value {
	next := m.together(a[1:], false)
	return m.lazy(func(m *machine) (Value, bool) {
		vals, ok := next(m)
		if !ok {
			return nil, false
		}
		return m.call(a[0], vals, nil), true
	})
}

func newZip(m *machine, a []Value) Value {
	next := m.together(a[1:], a[0] != nil && truth(a[0]))
	return m.lazy(func(m *machine) (Value, bool) {
		if len(a) == 1 {
			return nil, false
		}
		vals, ok := next(m)
		return &Tuple{items: vals}, ok
	})
}

func newFilter(m *machine, a []Value) Value {
	next := m.iter(a[1])
	return m.lazy(func(m *machine) (Value, bool) {
		for {
			v, ok := next(m)
			if !ok {
				return nil, false
			}
			m.step(1)
			var keep Value = v
			if !isNone(a[0]) {
				keep = m.call(a[0], []Value{v}, nil)
			}
			if truth(keep) {
				return v, true
			}
		}
	})
}

func newEnumerate(m *machine, a []Value) Value {
	var count Value = Int(intArg(a[1], 0))
	next := m.iter(a[0])
	return m.lazy(func(m *machine) (Value, bool) {
		v, ok := next(m)
		if !ok {
			return nil, false
		}
		m.alloc(64)
		p := pair(count, v)
		count = m.add(count, Int(1))
		return p, true
	})
}

func newReversed(m *machine, a []Value) Value {
	var at func(i int) Value
	n, _ := length(a[0])
	switch x := a[0].(type) {
	case *Range:
		at = func(i int) Value { return Int(x.at(i)) }
	case *List, *Tuple, Str, *Dict, *View:
		items, ok := items(x)
		if !ok {
			items = m.collect(x)
		}
		at = func(i int) Value { return items[i] }
	default:
		raise(typeError, "'%s' object is not reversible", className(a[0]))
	}
	return m.lazy(func(*machine) (Value, bool) {
		if n == 0 {
			return nil, false
		}
		n--
		return at(n), true
	})
}
