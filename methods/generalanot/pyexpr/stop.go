package pyexpr

// within is what a StopIteration meets first on its way out: a generator makes
// a RuntimeError of it, map and filter end, and the rest lets it pass.
type within int

const (
	anything within = iota
	aGenerator
	aMap
)

// stopIteration carries a StopIteration to the map or filter that it ends.
type stopIteration struct{}

func newIter(m *machine, a []Value) Value {
	if a[1] != nil {
		raise(typeError, "iter(function, sentinel) is not supported: use iter(xs)")
	}
	if it, ok := a[0].(*Iter); ok {
		return it
	}
	return m.lazy(m.iter(a[0]))
}

func next(m *machine, a []Value) Value {
	it, ok := a[0].(*Iter)
	if !ok {
		raise(typeError, "'%s' object is not an iterator: use next(iter(xs))", className(a[0]))
	}
	v, ok := it.next(m)
	switch {
	case ok:
		return v
	case a[1] != nil:
		return a[1]
	case m.within == aMap:
		panic(stopIteration{})
	case m.within == aGenerator:
		raise(runtimeError, "generator raised StopIteration: give next a default")
	}
	raise(stopError, "the iterator has no more items: give next a default")
	return nil
}

// callStoppable calls a function; a StopIteration that leaves it makes ok false.
func (m *machine) callStoppable(fn Value, args []Value) (v Value, ok bool) {
	outer := m.within
	defer func() {
		m.within = outer
		if r := recover(); r != nil {
			if _, stop := r.(stopIteration); !stop {
				panic(r)
			}
			v, ok = nil, false
		}
	}()
	m.within = aMap
	return m.call(fn, args, nil), true
}
