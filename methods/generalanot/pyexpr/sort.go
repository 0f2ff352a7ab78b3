package pyexpr

import "slices"

// sorted is sorted(iterable, key=None, reverse=False): stable, in both
// directions.
func sorted(m *machine, args []Value, kw []keyword) Value {
	a := m.bind("sorted", args, kw, 1, "iterable/", "*key", "*reverse")
	reverse := intArg(a[2], 0)
	if int(int32(reverse)) != reverse {
		raise(overflowError, "Python int too large to convert to C int")
	}
	vals := m.collect(a[0])
	s := &sorter{m: m, vals: vals, keys: vals}
	if !isNone(a[1]) {
		s.keys = m.room(len(vals))
		for _, v := range vals {
			m.step(1)
			s.keys = append(s.keys, m.call(a[1], []Value{v}, nil))
		}
	}
	if reverse != 0 {
		s.reverse(0, len(vals))
	}
	s.sort()
	if reverse != 0 {
		s.reverse(0, len(vals))
	}
	return &List{vals}
}

// sorter sorts vals by keys. Values that have no total order (sets, nan) come
// out as CPython leaves them, up to shortSort of them.
type sorter struct {
	m    *machine
	vals []Value
	keys []Value // may be vals
}

// shortSort is below which length CPython's sort is one binary insertion sort.
const shortSort = 64

func (s *sorter) less(a, b Value) bool {
	s.m.step(1)
	return s.m.order("<", a, b)
}

func (s *sorter) reverse(from, to int) {
	slices.Reverse(s.vals[from:to])
	if !s.shared() {
		slices.Reverse(s.keys[from:to])
	}
}

func (s *sorter) shared() bool { return len(s.vals) > 0 && &s.vals[0] == &s.keys[0] }

func (s *sorter) sort() {
	if len(s.vals) < 2 {
		return
	}
	if len(s.vals) >= shortSort {
		s.merge()
		return
	}
	s.insert(s.run())
}

// run is the length of the run at the start; a descending one is turned.
func (s *sorter) run() int {
	k, n := s.keys, 2
	if s.less(k[1], k[0]) {
		for n < len(k) && s.less(k[n], k[n-1]) {
			n++
		}
		s.reverse(0, n)
		return n
	}
	for n < len(k) && !s.less(k[n], k[n-1]) {
		n++
	}
	return n
}

// insert sorts what follows a sorted run by binary insertion.
func (s *sorter) insert(start int) {
	for ; start < len(s.keys); start++ {
		pivot, val := s.keys[start], s.vals[start]
		l, r := 0, start
		for l < r {
			mid := l + (r-l)>>1
			if s.less(pivot, s.keys[mid]) {
				r = mid
			} else {
				l = mid + 1
			}
		}
		copy(s.keys[l+1:start+1], s.keys[l:start])
		s.keys[l] = pivot
		if !s.shared() {
			copy(s.vals[l+1:start+1], s.vals[l:start])
			s.vals[l] = val
		}
	}
}

// merge is for long lists.
func (s *sorter) merge() {
	type item struct{ key, val Value }
	s.m.alloc(32 * len(s.vals))
	all := make([]item, len(s.vals))
	for i := range all {
		all[i] = item{s.keys[i], s.vals[i]}
	}
	slices.SortStableFunc(all, func(a, b item) int {
		switch {
		case s.less(a.key, b.key):
			return -1
		case s.less(b.key, a.key):
			return 1
		}
		return 0
	})
	for i := range all {
		s.vals[i] = all[i].val
	}
}
