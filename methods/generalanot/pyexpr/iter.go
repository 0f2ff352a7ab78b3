package pyexpr

import "unicode/utf8"

// iterator yields values until its second result is false.
type iterator interface {
	next(m *machine) (Value, bool)
}

type sliceIter struct {
	items []Value
	i     int
}

func (s *sliceIter) next(*machine) (Value, bool) {
	if s.i >= len(s.items) {
		return nil, false
	}
	s.i++
	return s.items[s.i-1], true
}

type strIter struct{ rest string }

func (s *strIter) next(m *machine) (Value, bool) {
	if s.rest == "" {
		return nil, false
	}
	_, n := utf8.DecodeRuneInString(s.rest)
	c := s.rest[:n]
	s.rest = s.rest[n:]
	m.alloc(16)
	return Str(c), true
}

type rangeIter struct {
	r Range
	i int
	n int
}

func (r *rangeIter) next(*machine) (Value, bool) {
	if r.i >= r.n {
		return nil, false
	}
	r.i++
	return Int(r.r.at(r.i - 1)), true
}

type entryIter struct {
	entries []entry
	i       int
	kind    *Type
}

func (d *entryIter) next(m *machine) (Value, bool) {
	if d.i >= len(d.entries) {
		return nil, false
	}
	e := d.entries[d.i]
	d.i++
	switch d.kind {
	case typeValues:
		return e.val, true
	case typeItems:
		m.alloc(56)
		return pair(e.key, e.val), true
	}
	return e.key, true
}

// funcIter is an iterator made of a function.
type funcIter func(m *machine) (Value, bool)

func (f funcIter) next(m *machine) (Value, bool) { return f(m) }

func (m *machine) tryIter(v Value) (iterator, bool) {
	switch x := v.(type) {
	case *List:
		return &sliceIter{items: x.items}, true
	case *Tuple:
		return &sliceIter{items: x.items}, true
	case Str:
		return &strIter{string(x)}, true
	case *Dict:
		return &entryIter{entries: x.entries}, true
	case *Set:
		return &entryIter{entries: x.d.entries}, true
	case *View:
		return &entryIter{entries: x.d.entries, kind: x.kind}, true
	case *Range:
		return &rangeIter{r: *x, n: x.len()}, true
	case *Iter:
		return x.it, true
	}
	return nil, false
}

// iter is iter(v).
func (m *machine) iter(v Value) iterator {
	it, ok := m.tryIter(v)
	if !ok {
		raise(typeError, "'%s' object is not iterable", className(v))
	}
	return it
}

// each calls do for each item of v until do is false.
func (m *machine) each(v Value, do func(Value) bool) {
	for it := m.iter(v); ; {
		x, ok := it.next(m)
		if !ok {
			return
		}
		m.step(1)
		if !do(x) {
			return
		}
	}
}

// collect is a new slice of all items of v.
func (m *machine) collect(v Value) []Value {
	var out []Value
	if n, ok := length(v); ok {
		out = m.room(n)
		m.each(v, func(x Value) bool {
			out = append(out, x)
			return true
		})
		return out
	}
	m.each(v, func(x Value) bool {
		m.alloc(32)
		out = append(out, x)
		return true
	})
	return out
}

// len is how many numbers r has.
func (r *Range) len() int {
	var n uint64
	switch {
	case r.step > 0 && r.start < r.stop:
		n = (uint64(r.stop)-uint64(r.start)-1)/uint64(r.step) + 1
	case r.step < 0 && r.start > r.stop:
		n = (uint64(r.start)-uint64(r.stop)-1)/(-uint64(r.step)) + 1
	}
	if n > 1<<62 {
		raise(overflowError, "Python int too large to convert to C ssize_t")
	}
	return int(n)
}

func (r *Range) at(i int) int64 { return r.start + int64(i)*r.step }

// index is where x stands in r, or -1.
func (r *Range) index(x int64) int {
	n := r.len()
	if n == 0 {
		return -1
	}
	first, last := r.start, r.at(n-1)
	if x < min(first, last) || x > max(first, last) {
		return -1
	}
	d := uint64(x) - uint64(first)
	step := uint64(r.step)
	if r.step < 0 {
		d, step = -d, -step
	}
	if d%step != 0 {
		return -1
	}
	return int(d / step)
}

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
		if _, ok := v.(*Set); ok {
			return false // CPython looks for a frozen copy, which no set of the subset can hold
		}
		return c.d.find(m, v) >= 0
	case *View:
		if c.kind == typeKeys {
			return c.d.find(m, v) >= 0
		}
		if c.kind == typeItems {
			return c.hasItem(m, v)
		}
	case *Range:
		switch x := v.(type) {
		case Int:
			return c.index(int64(x)) >= 0
		case Bool:
			return c.index(int64(boolInt(bool(x)))) >= 0
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

func (v *View) hasItem(m *machine, x Value) bool {
	t, ok := x.(*Tuple)
	if !ok || len(t.items) != 2 {
		return false
	}
	val := v.d.get(m, t.items[0])
	return val != nil && m.eqItem(val, t.items[1])
}
