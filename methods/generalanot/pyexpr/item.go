package pyexpr

import (
	"math"
	"unicode/utf8"
)

// sliceValue is an evaluated slice; it lives in subscripts alone.
type sliceValue struct{ lo, hi, step Value }

var typeSlice = &Type{name: "slice"}

func (*sliceValue) class() *Type { return typeSlice }

func (m *machine) item(v, i Value) Value {
	if s, ok := i.(*sliceValue); ok {
		return m.slice(v, s)
	}
	switch x := v.(type) {
	case *Dict:
		if val := x.get(m, i); val != nil {
			return val
		}
		if x.counter {
			return Int(0)
		}
		raise(keyError, "%s", m.repr(i))
	case *List, *Tuple:
		xs, _ := items(v)
		return xs[m.index(i, len(xs), className(v))]
	case *Range:
		return Int(x.at(m.index(i, x.len(), className(v))))
	case Str:
		return m.char(string(x), i)
	case *Match:
		return x.group(x.number(i), nil)
	}
	raise(typeError, "'%s' object is not subscriptable", className(v))
	return nil
}

func (m *machine) char(s string, i Value) Value {
	m.work(len(s))
	n := utf8.RuneCountInString(s)
	return m.sliceStr(s, n, bounds{start: m.index(i, n, "string"), step: 1, count: 1})
}

// index turns a subscript into an offset below n.
func (m *machine) index(i Value, n int, what string) int {
	k, ok := smallInt(i)
	if !ok {
		if _, big := i.(*Big); big {
			raise(indexError, "cannot fit 'int' into an index-sized integer")
		}
		raise(typeError, "%s indices must be integers or slices, not %s", what, className(i))
	}
	if k < 0 {
		k += n
	}
	if k < 0 || k >= n {
		raise(indexError, "%s index out of range", what)
	}
	return k
}

func (m *machine) slice(v Value, s *sliceValue) Value {
	switch x := v.(type) {
	case Str:
		m.work(len(x))
		n := utf8.RuneCountInString(string(x))
		return m.sliceStr(string(x), n, m.sliceBounds(s, n))
	case *List, *Tuple:
		xs, _ := items(v)
		b := m.sliceBounds(s, len(xs))
		out := m.room(b.count)
		for i := range b.count {
			out = append(out, xs[b.start+i*b.step])
		}
		return sequence(v.class(), out)
	case *Range:
		b := m.sliceBounds(s, x.len())
		return &Range{x.at(b.start), x.at(b.stop), x.step * int64(b.step)}
	case *Dict:
		raise(typeError, "unhashable type: 'slice'")
	}
	raise(typeError, "'%s' object is not subscriptable", className(v))
	return nil
}

func (m *machine) sliceStr(s string, n int, b bounds) Value {
	if b.count == 0 {
		return Str("")
	}
	if b.step == 1 && n == len(s) {
		return Str(s[b.start : b.start+b.count])
	}
	m.alloc(4*n + 4*b.count)
	rs := []rune(s)
	out := make([]rune, b.count)
	for i := range out {
		out[i] = rs[b.start+i*b.step]
	}
	return Str(string(out))
}

// bounds is a slice fitted to a sequence: count items from start on.
type bounds struct{ start, stop, step, count int }

// sliceBounds is PySlice_AdjustIndices for a sequence of n items.
func (m *machine) sliceBounds(s *sliceValue, n int) bounds {
	step := 1
	if !isNone(s.step) {
		step = m.sliceIndex(s.step)
	}
	if step == 0 {
		raise(valueError, "slice step cannot be zero")
	}
	low, high := 0, n
	if step < 0 {
		low, high = -1, n-1
	}
	bound := func(v Value, def int) int {
		if isNone(v) {
			return def
		}
		k := m.sliceIndex(v)
		if k < 0 {
			k += n
		}
		return min(max(k, low), high)
	}
	b := bounds{step: step}
	if step > 0 {
		b.start, b.stop = bound(s.lo, low), bound(s.hi, high)
		if b.start < b.stop {
			b.count = (b.stop-b.start-1)/step + 1
		}
	} else {
		b.start, b.stop = bound(s.lo, high), bound(s.hi, low)
		if b.stop < b.start {
			b.count = (b.start-b.stop-1)/(-step) + 1
		}
	}
	return b
}

// far is beyond the length of any list, and half of what an int holds.
const far = math.MaxInt/2 + 1

// sliceIndex is a bound of a slice; huge ones are cut.
func (m *machine) sliceIndex(v Value) int {
	if k, ok := smallInt(v); ok {
		return min(max(k, -far), far)
	}
	x, ok := v.(*Big)
	if !ok {
		raise(typeError, "slice indices must be integers or None or have an __index__ method")
	}
	return x.v.Sign() * far
}
