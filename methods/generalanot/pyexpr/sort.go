package pyexpr

import "slices"

func sorted(m *machine, a []Value) Value {
	reverse := intArg(a[2], 0) != 0
	if reverse && int64(int32(intArg(a[2], 0))) != int64(intArg(a[2], 0)) {
		raise(overflowError, "Python int too large to convert to C int")
	}
	vals := m.collect(a[0])
	s := &sorter{m: m, items: make([]keyed, len(vals))}
	m.alloc(32 * len(vals))
	for i, v := range vals {
		m.step(1)
		s.items[i] = keyed{m.keyOf(a[1], v), v}
	}
	if reverse {
		slices.Reverse(s.items)
	}
	s.sort()
	if reverse {
		slices.Reverse(s.items)
	}
	for i, it := range s.items {
		vals[i] = it.val
	}
	return &List{vals}
}

type keyed struct{ key, val Value }

// sorter sorts items by their keys. Values that have no total order (sets, nan)
// come out as CPython leaves them, up to shortSort of them.
type sorter struct {
	m     *machine
	items []keyed
}

// shortSort is below which length CPython's sort is one binary insertion sort.
const shortSort = 64

func (s *sorter) less(a, b keyed) bool {
	s.m.step(1)
	return s.m.order("<", a.key, b.key)
}

func (s *sorter) sort() {
	switch {
	case len(s.items) >= shortSort:
		slices.SortStableFunc(s.items, func(a, b keyed) int {
			switch {
			case s.less(a, b):
				return -1
			case s.less(b, a):
				return 1
			}
			return 0
		})
	case len(s.items) > 1:
		s.insert(s.run())
	}
}

// run is the length of the run at the start; a descending one is turned.
func (s *sorter) run() int {
	it, n := s.items, 2
	down := s.less(it[1], it[0])
	for n < len(it) && s.less(it[n], it[n-1]) == down {
		n++
	}
	if down {
		slices.Reverse(it[:n])
	}
	return n
}

func (s *sorter) insert(start int) {
	for ; start < len(s.items); start++ {
		pivot := s.items[start]
		l, r := 0, start
		for l < r {
			mid := l + (r-l)>>1
			if s.less(pivot, s.items[mid]) {
				r = mid
			} else {
				l = mid + 1
			}
		}
		copy(s.items[l+1:start+1], s.items[l:start])
		s.items[l] = pivot
	}
}
