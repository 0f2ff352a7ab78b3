package pyexpr

func newIter(m *machine, a []Value) Value {
	if a[1] != nil {
		raise(typeError, "iter(function, sentinel) is not supported: use iter(xs)")
	}
	if it, ok := a[0].(*Iter); ok {
		return it
	}
	return m.lazy(m.iter(a[0]))
}

// next refuses what would be a StopIteration, which CPython treats in one way
// within a generator, in another within map and in a third elsewhere.
func next(m *machine, a []Value) Value {
	it, ok := a[0].(*Iter)
	if !ok {
		raise(typeError, "'%s' object is not an iterator: use next(iter(xs))", className(a[0]))
	}
	v, ok := it.next(m)
	switch {
	case ok:
		return v
	case a[1] == nil:
		raise(stopError, "next behind the last item is not supported: give next a default")
	}
	return a[1]
}
