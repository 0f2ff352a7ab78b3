package pyexpr

import "slices"

func sorted(m *machine, a []Value) Value {
	reverse := intArg(a[2], 0) != 0
	if reverse && int64(int32(intArg(a[2], 0))) != int64(intArg(a[2], 0)) {
		raise(overflowError, "Python int too large to convert to C int")
	}
	vals := m.collect(a[0])
	items := make([]keyed, len(vals))
	m.alloc(32 * len(vals))
	for i, v := range vals {
		m.step(1)
		items[i] = keyed{m.keyOf(a[1], v), v}
	}
	slices.SortStableFunc(items, func(x, y keyed) int {
		if reverse {
			x, y = y, x
		}
		return m.inOrder(x.key, y.key)
	})
	for i, it := range items {
		vals[i] = it.val
	}
	return &List{vals}
}

type keyed struct{ key, val Value }

// inOrder compares two keys, for sorting. Where neither is less and they are not
// equal, the order would depend on the algorithm.
func (m *machine) inOrder(a, b Value) int {
	m.step(1)
	switch {
	case m.order("<", a, b):
		return -1
	case m.order("<", b, a):
		return 1
	case !m.eqItem(a, b):
		raise(typeError, "sorting what has no order, such as nan and sets, is not supported: leave it out")
	}
	return 0
}
