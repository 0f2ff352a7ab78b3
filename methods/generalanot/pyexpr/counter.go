package pyexpr

import "slices"

// Counter is a dict whose missing keys count 0.

func counterClass() *class {
	return &class{make: def("Counter iterable?/ **", newCounter), methods: byName(
		defMethod("most_common n?", func(m *machine, a []Value) Value { return &List{m.mostCommon(a[0].(*Dict), a[1])} }),
		defMethod("total", func(m *machine, a []Value) Value {
			return sum(m, []Value{&View{a[0].(*Dict), typeValues}, nil})
		}),
	)}
}

// counterOf is v as a Counter, or nil.
func counterOf(v Value) *Dict {
	if d, ok := v.(*Dict); ok && d.counter {
		return d
	}
	return nil
}

func newCounter(m *machine, a []Value) Value {
	c := &Dict{counter: true}
	switch x := a[0].(type) {
	case nil, None:
	case *Dict:
		c.addAll(m, x)
	default:
		m.each(x, func(v Value) bool {
			c.put(m, v, m.add(c.count(m, v), Int(1)))
			return true
		})
	}
	adds := len(c.entries) > 0 // else CPython takes the values as they are
	for _, e := range a[1].(*Dict).entries {
		if adds {
			e.val = m.add(e.val, c.count(m, e.key))
		}
		c.put(m, e.key, e.val)
	}
	return c
}

func (d *Dict) count(m *machine, k Value) Value {
	if v := d.get(m, k); v != nil {
		return v
	}
	return Int(0)
}

// mostCommon are the n greatest of the pairs of key and count, greatest first
// and of equal counts the first put.
func (m *machine) mostCommon(d *Dict, n Value) []Value {
	all := m.room(len(d.entries))
	for _, e := range d.entries {
		m.alloc(56)
		all = append(all, pair(e.key, e.val))
	}
	byCount := &Func{"itemgetter", func(_ *machine, args []Value, _ []keyword) Value { return args[0].(*Tuple).items[1] }}
	if !isNone(n) && m.eq(n, Int(1)) { // CPython calls max then, not sorted
		if len(all) == 0 {
			return nil
		}
		return []Value{extreme(m, ">", []Value{byCount, nil, &List{all}})}
	}
	if !isNone(n) && intArg(n, 0) <= 0 {
		return nil
	}
	out := sorted(m, []Value{&List{all}, byCount, Bool(true)}).(*List).items
	if isNone(n) {
		return out
	}
	return out[:min(intArg(n, 0), len(out))]
}

// eqCounters compares: a key that one of the two lacks counts 0 there.
func (m *machine) eqCounters(op string, a, b *Dict) bool {
	if op != "==" {
		raise(typeError, "%s between Counters is not supported: compare their counts", op)
	}
	m.alloc(32 * (len(a.entries) + len(b.entries)))
	for _, e := range slices.Concat(a.entries, b.entries) {
		m.step(1)
		if !m.eq(a.count(m, e.key), b.count(m, e.key)) {
			return false
		}
	}
	return true
}

// counter writes the counts, greatest first if they have an order.
func (w *writer) counter(c *Dict) {
	if len(c.entries) == 0 {
		w.put("Counter()")
		return
	}
	w.put("Counter({")
	for i, p := range w.m.shown(c) {
		if i > 0 {
			w.put(", ")
		}
		w.value(p.(*Tuple).items[0])
		w.put(": ")
		w.value(p.(*Tuple).items[1])
	}
	w.put("})")
}

func (m *machine) shown(c *Dict) (pairs []Value) {
	depth := m.depth
	defer func() {
		r := recover()
		if e, ok := r.(*EvalError); ok && e.Class == typeError { // the counts have no order
			m.depth, pairs = depth, m.collect(&View{c, typeItems})
		} else if r != nil {
			panic(r)
		}
	}()
	return m.mostCommon(c, nil)
}
