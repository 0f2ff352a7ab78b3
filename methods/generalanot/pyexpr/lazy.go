package pyexpr

// lazy is the constructor of a class whose values are walked once.
func lazy(t *Type) function {
	open := map[*Type]func(*machine, []Value, []keyword) iterator{
		typeMap: newMap, typeFilter: newFilter, typeZip: newZip, typeEnum: newEnumerate, typeReversed: newReversed,
	}[t]
	return func(m *machine, args []Value, kw []keyword) Value {
		m.alloc(96)
		return &Iter{open(m, args, kw), t}
	}
}

func noKeywords(name string, kw []keyword) {
	if len(kw) > 0 {
		raise(typeError, "%s() takes no keyword arguments", name)
	}
}

func newMap(m *machine, args []Value, kw []keyword) iterator {
	noKeywords("map", kw)
	if len(args) < 2 {
		raise(typeError, "map() must have at least two arguments.")
	}
	its := m.iters(args[1:])
	return funcIter(func(m *machine) (Value, bool) {
		vals := m.room(len(its))
		for _, it := range its {
			v, ok := it.next(m)
			if !ok {
				return nil, false
			}
			vals = append(vals, v)
		}
		return m.call(args[0], vals, nil), true
	})
}

func (m *machine) iters(vs []Value) []iterator {
	m.alloc(32 * len(vs))
	its := make([]iterator, len(vs))
	for i, v := range vs {
		its[i] = m.iter(v)
	}
	return its
}

func newFilter(m *machine, args []Value, kw []keyword) iterator {
	a := m.bind("filter", args, kw, 2, "function/", "iterable/")
	it := m.iter(a[1])
	return funcIter(func(m *machine) (Value, bool) {
		for {
			v, ok := it.next(m)
			if !ok {
				return nil, false
			}
			m.step(1)
			keep := v
			if !isNone(a[0]) {
				keep = m.call(a[0], []Value{v}, nil)
			}
			if truth(keep) {
				return v, true
			}
		}
	})
}

func newZip(m *machine, args []Value, kw []keyword) iterator {
	a := m.bind("zip", nil, kw, 0, "*strict")
	strict := a[0] != nil && truth(a[0])
	its := m.iters(args)
	return funcIter(func(m *machine) (Value, bool) {
		if len(its) == 0 {
			return nil, false
		}
		vals := m.room(len(its))
		for i, it := range its {
			m.step(1)
			v, ok := it.next(m)
			if !ok {
				if strict {
					zipEnds(m, its, i)
				}
				return nil, false
			}
			vals = append(vals, v)
		}
		return &Tuple{vals}, true
	})
}

// zipEnds raises unless all iterators end together; the one at i ended first.
func zipEnds(m *machine, its []iterator, i int) {
	if i > 0 {
		raise(valueError, "zip() argument %d is shorter than argument 1", i+1)
	}
	for j, it := range its[1:] {
		if _, ok := it.next(m); ok {
			raise(valueError, "zip() argument %d is longer than argument 1", j+2)
		}
	}
}

func newEnumerate(m *machine, args []Value, kw []keyword) iterator {
	a := m.bind("enumerate", args, kw, 1, "iterable", "start")
	n := Int(0)
	if a[1] != nil {
		n = Int(intArg(a[1], 0))
	}
	it := m.iter(a[0])
	var count Value = n
	return funcIter(func(m *machine) (Value, bool) {
		v, ok := it.next(m)
		if !ok {
			return nil, false
		}
		m.alloc(64)
		p := pair(count, v)
		count = m.add(count, Int(1))
		return p, true
	})
}

func newReversed(m *machine, args []Value, kw []keyword) iterator {
	a := m.bind("reversed", args, kw, 1, "sequence/")
	switch x := a[0].(type) {
	case *List:
		return backwards(x.items)
	case *Tuple:
		return backwards(x.items)
	case *Range:
		n := x.len()
		return funcIter(func(*machine) (Value, bool) {
			n--
			if n < 0 {
				n = 0
				return nil, false
			}
			return Int(x.at(n)), true
		})
	case Str, *Dict, *View:
		return backwards(m.collect(x))
	}
	raise(typeError, "'%s' object is not reversible", className(a[0]))
	return nil
}

func backwards(items []Value) iterator {
	n := len(items)
	return funcIter(func(*machine) (Value, bool) {
		if n == 0 {
			return nil, false
		}
		n--
		return items[n], true
	})
}
