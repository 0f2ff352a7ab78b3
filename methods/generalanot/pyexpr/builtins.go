package pyexpr

import (
	"math"
	"math/big"
	"slices"
)

// builtins are the functions that are neither classes nor in a module.
func builtins() []*builtin {
	return []*builtin{
		def("abs x/", absOf),
		def("all iterable/", func(m *machine, a []Value) Value { return Bool(!m.some(a[0], false)) }),
		def("any iterable/", func(m *machine, a []Value) Value { return Bool(m.some(a[0], true)) }),
		def("divmod x/ y/", func(m *machine, a []Value) Value {
			return pair(operatorOf("//").apply(m, a[0], a[1]), operatorOf("%").apply(m, a[0], a[1]))
		}),
		def("map function/ iterable/ iterables...", newMap),
		def("filter function/ iterable/", newFilter),
		def("zip iterables... *strict?", newZip),
		def("enumerate iterable start?", newEnumerate),
		def("reversed sequence/", newReversed),
		def("isinstance obj/ class/", func(m *machine, a []Value) Value { return Bool(m.instance(a[0], a[1])) }),
		def("len obj/", lenOf),
		def("iter object/ sentinel?/", newIter),
		def("next iterator/ default?/", next),
		def("repr obj/", func(m *machine, a []Value) Value { return Str(m.repr(a[0])) }),
		def("format value/ format_spec?/", formatOf),
		def("ord c/", ord),
		def("chr i/", chr),
		def("max args... *key? *default?", func(m *machine, a []Value) Value { return extreme(m, ">", a) }),
		def("min args... *key? *default?", func(m *machine, a []Value) Value { return extreme(m, "<", a) }),
		def("pow base exp", func(m *machine, a []Value) Value { return operatorOf("**").apply(m, a[0], a[1]) }),
		def("round number ndigits?", round),
		def("sorted iterable/ *key? *reverse?", sorted),
		def("sum iterable/ start?", sum),
	}
}

func lenOf(m *machine, a []Value) Value {
	if s, ok := a[0].(Str); ok {
		m.work(len(s))
	}
	n, ok := length(a[0])
	if !ok {
		raise(typeError, "object of type '%s' has no len()", className(a[0]))
	}
	return Int(n)
}

func absOf(m *machine, a []Value) Value {
	switch x := a[0].(type) {
	case Float:
		return Float(math.Abs(float64(x)))
	case *Delta:
		if x.days < 0 {
			return x.negative()
		}
		return x
	}
	i, ok := integer(a[0])
	if !ok {
		raise(typeError, "bad operand type for abs(): '%s'", className(a[0]))
	}
	return normal(new(big.Int).Abs(bigOf(i)))
}

func (m *machine) some(v Value, want bool) (found bool) {
	m.each(v, func(v Value) bool {
		found = truth(v) == want
		return !found
	})
	return found
}

// sum adds with "+". As in CPython 3.11, floats are added plainly: 3.12 began
// to compensate.
func sum(m *machine, a []Value) Value {
	total := a[1]
	if total == nil {
		total = Int(0)
	}
	if _, ok := total.(Str); ok {
		raise(typeError, "sum() can't sum strings: use ''.join(seq)")
	}
	ints, isInt := total.(Int) // most sums are counts: one box for all of them
	m.each(a[0], func(v Value) bool {
		if n, ok := v.(Int); ok && isInt && Int(int32(n)) == n && Int(int32(ints)) == ints {
			ints += n
			return true
		}
		if isInt {
			total, isInt = ints, false
		}
		total = m.add(total, v)
		return true
	})
	if isInt {
		return ints
	}
	return total
}

// extreme is the least or greatest of the arguments, or of the items of one.
func extreme(m *machine, op string, a []Value) Value {
	key, other, args := a[0], a[1], a[2:]
	if len(args) == 0 {
		raise(typeError, "min() and max() expect at least 1 argument, got 0")
	}
	var from Value = &List{args}
	if len(args) == 1 {
		from = args[0]
	} else if other != nil {
		raise(typeError, "min() and max() take no default with several positional arguments")
	}
	var best, bestKey Value
	m.each(from, func(v Value) bool {
		k := m.keyOf(key, v)
		if best == nil || m.order(op, k, bestKey) {
			best, bestKey = v, k
		}
		return true
	})
	switch {
	case best != nil:
		return best
	case other == nil:
		raise(valueError, "min() or max() of an empty sequence: give default=")
	}
	return other
}

func (m *machine) keyOf(key, v Value) Value {
	if isNone(key) {
		return v
	}
	return m.call(key, []Value{v}, nil)
}

func (m *machine) instance(v, of Value) bool {
	m.step(1)
	switch t := of.(type) {
	case *Type:
		return v.class().is(t)
	case *Tuple:
		return slices.ContainsFunc(t.items, func(one Value) bool { return m.instance(v, one) })
	}
	raise(typeError, "isinstance() arg 2 must be a type or a tuple of types")
	return false
}
