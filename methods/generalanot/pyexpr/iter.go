package pyexpr

import "unicode/utf8"

// iterator yields values until its second result is false.
type iterator func(m *machine) (Value, bool)

// walkTo yields what at gives for 0 up to n.
func walkTo(n int, at func(m *machine, i int) Value) iterator {
	i := 0
	return func(m *machine) (Value, bool) {
		if i >= n {
			return nil, false
		}
		i++
		return at(m, i-1), true
	}
}

func overItems(items []Value) iterator {
	i := 0
	return func(*machine) (Value, bool) {
		if i >= len(items) {
			return nil, false
		}
		i++
		return items[i-1], true
	}
}

func overRunes(s string) iterator {
	return func(m *machine) (Value, bool) {
		if s == "" {
			return nil, false
		}
		_, n := utf8.DecodeRuneInString(s)
		c := s[:n]
		s = s[n:]
		m.alloc(16)
		return Str(c), true
	}
}

// overEntries yields keys, unless kind is the class of values or items.
func overEntries(entries []entry, kind *Type) iterator {
	return walkTo(len(entries), func(m *machine, i int) Value {
		switch kind {
		case typeValues:
			return entries[i].val
		case typeItems:
			m.alloc(56)
			return pair(entries[i].key, entries[i].val)
		}
		return entries[i].key
	})
}

func (m *machine) tryIter(v Value) (iterator, bool) {
	switch x := v.(type) {
	case *List:
		return overItems(x.items), true
	case *Tuple:
		return overItems(x.items), true
	case Str:
		return overRunes(string(x)), true
	case *Dict:
		return overEntries(x.entries, nil), true
	case *Set:
		return overEntries(x.d.entries, nil), true
	case *View:
		return overEntries(x.d.entries, x.kind), true
	case *Range:
		return walkTo(x.len(), func(_ *machine, i int) Value { return Int(x.at(i)) }), true
	case *Iter:
		return x.next, true
	}
	return nil, false
}

func (m *machine) iter(v Value) iterator {
	it, ok := m.tryIter(v)
	if !ok {
		raise(typeError, "'%s' object is not iterable", className(v))
	}
	return it
}

func (m *machine) each(v Value, do func(Value) bool) {
	for next := m.iter(v); ; {
		x, ok := next(m)
		if !ok {
			return
		}
		m.step(1)
		if !do(x) {
			return
		}
	}
}

func (m *machine) collect(v Value) []Value {
	n, ok := length(v)
	out, charge := m.room(n), 0
	if !ok {
		charge = 32
	}
	m.each(v, func(x Value) bool {
		m.alloc(charge)
		out = append(out, x)
		return true
	})
	return out
}

func (r *Range) len() int {
	var n uint64
	switch {
	case r.step > 0 && r.start < r.stop:
		n = (uint64(r.stop)-uint64(r.start)-1)/uint64(r.step) + 1
	case r.step < 0 && r.start > r.stop:
		n = (uint64(r.start)-uint64(r.stop)-1)/(-uint64(r.step)) + 1
	}
	if n > far {
		raise(overflowError, "Python int too large to convert to C ssize_t")
	}
	return int(n)
}

func (r *Range) at(i int) int64 { return r.start + int64(i)*r.step }

func (m *machine) contains(in, v Value) bool {
	switch c := in.(type) {
	case Str:
		s, ok := v.(Str)
		if !ok {
			raise(typeError, "'in <string>' requires string as left operand, not %s", className(v))
		}
		return m.indexOf(string(c), string(s)) >= 0
	case *Dict:
		return c.find(m, v) >= 0
	case *Set:
		if s, ok := v.(*Set); ok {
			v = &Set{d: s.d, frozen: true} // CPython too looks for a frozen copy
		}
		return c.d.find(m, v) >= 0
	case *View:
		if c.kind == typeKeys {
			return c.d.find(m, v) >= 0
		}
		if t, ok := v.(*Tuple); ok && c.kind == typeItems {
			if len(t.items) != 2 {
				return false
			}
			val := c.d.get(m, t.items[0])
			return val != nil && m.eqItem(val, t.items[1])
		}
	}
	if _, ok := m.tryIter(in); !ok {
		raise(typeError, "argument of type '%s' is not iterable", className(in))
	}
	found := false
	m.each(in, func(x Value) bool {
		found = m.eqItem(x, v)
		return !found
	})
	return found
}
