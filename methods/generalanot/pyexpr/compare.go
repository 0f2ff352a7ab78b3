package pyexpr

import (
	"math"
	"math/big"
)

// identical is "a is b". Numbers and strings are the same object exactly when
// type and value are: which equal ones CPython shares is its own affair.
func identical(_ *machine, a, b Value) bool {
	if x, ok := a.(Float); ok {
		y, ok := b.(Float)
		return ok && math.Float64bits(float64(x)) == math.Float64bits(float64(y))
	}
	if x, ok := a.(*Big); ok {
		y, ok := b.(*Big)
		return ok && x.v.Cmp(y.v) == 0
	}
	return a == b
}

// eqItem is equality within a container: the same object is equal to itself
// even if it is not a number.
func (m *machine) eqItem(a, b Value) bool {
	if a == b {
		return true
	}
	if x, ok := a.(Float); ok && x != x {
		return identical(m, a, b)
	}
	return m.eq(a, b)
}

// eq is a == b.
func (m *machine) eq(a, b Value) bool {
	switch x := a.(type) {
	case Str:
		y, ok := b.(Str)
		return ok && x == y
	case Int, Bool, *Big, Float:
		c, ok := compareNumbers(a, b)
		return ok && c == 0
	case *List:
		y, ok := b.(*List)
		return ok && m.eqItems(x.items, y.items)
	case *Tuple:
		y, ok := b.(*Tuple)
		return ok && m.eqItems(x.items, y.items)
	case *Dict:
		y, ok := b.(*Dict)
		return ok && m.eqDicts(x, y)
	case *Set, *View:
		return m.eqSets(a, b)
	case *Range:
		y, ok := b.(*Range)
		return ok && rangeKey(x) == rangeKey(y)
	case *Date, *DateTime, *Delta:
		c, ok := compareTimes(a, b, true)
		return ok && c == 0
	}
	return a == b
}

func (m *machine) eqItems(a, b []Value) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		m.step(1)
		if !m.eqItem(a[i], b[i]) {
			return false
		}
	}
	return true
}

func (m *machine) eqDicts(a, b *Dict) bool {
	if len(a.entries) != len(b.entries) {
		return false
	}
	for _, e := range a.entries {
		m.step(1)
		if v := b.get(m, e.key); v == nil || !m.eqItem(e.val, v) {
			return false
		}
	}
	return true
}

func (m *machine) eqSets(a, b Value) bool {
	if a == b {
		return true
	}
	if v, ok := a.(*View); ok && v.kind == typeValues {
		return false
	}
	x, okX := m.setLike(a)
	y, okY := m.setLike(b)
	return okX && okY && len(x.d.entries) == len(y.d.entries) && m.subset(x, y)
}

// compareNumbers compares exactly, integers with floats too. It is false for
// what is no number or cannot be ordered.
func compareNumbers(a, b Value) (int, bool) {
	if x, y, ok := small(a, b); ok {
		return cmpInts(x, y), true
	}
	i, okI := integer(a)
	j, okJ := integer(b)
	f, okF := a.(Float)
	g, okG := b.(Float)
	switch {
	case okI && okJ:
		return bigOf(i).Cmp(bigOf(j)), true
	case okF && okG:
		return cmpFloats(float64(f), float64(g))
	case okF && okJ:
		return cmpFloatInt(float64(f), j)
	case okI && okG:
		c, ok := cmpFloatInt(float64(g), i)
		return -c, ok
	}
	return 0, false
}

func cmpInts(x, y int64) int {
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

func cmpFloats(x, y float64) (int, bool) {
	switch {
	case x < y:
		return -1, true
	case x > y:
		return 1, true
	}
	return 0, x == y
}

func cmpFloatInt(f float64, i Value) (int, bool) {
	if n, ok := i.(Int); ok && absUint(int64(n)) <= exactFloat {
		return cmpFloats(f, float64(n))
	}
	switch {
	case f != f:
		return 0, false
	case math.IsInf(f, 0):
		return int(math.Copysign(1, f)), true
	}
	return new(big.Float).SetFloat64(f).Cmp(new(big.Float).SetInt(bigOf(i))), true
}

// order is a < b, a <= b, a > b or a >= b.
func (m *machine) order(op string, a, b Value) bool {
	switch x := a.(type) {
	case Str:
		if y, ok := b.(Str); ok {
			m.work(min(len(x), len(y)))
			return holds(op, cmpStrs(string(x), string(y)))
		}
	case Int, Bool, *Big, Float:
		if isNumber(b) {
			c, ok := compareNumbers(a, b)
			return ok && holds(op, c)
		}
	case *List:
		if y, ok := b.(*List); ok {
			return m.orderItems(op, x.items, y.items)
		}
	case *Tuple:
		if y, ok := b.(*Tuple); ok {
			return m.orderItems(op, x.items, y.items)
		}
	case *Set, *View:
		p, okP := m.setLike(a)
		q, okQ := m.setLike(b)
		if okP && okQ {
			return m.orderSets(op, p, q)
		}
	case *Date, *DateTime, *Delta:
		if c, ok := compareTimes(a, b, false); ok {
			return holds(op, c)
		}
	}
	raise(typeError, "'%s' not supported between instances of '%s' and '%s'", op, className(a), className(b))
	return false
}

func cmpStrs(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func holds(op string, c int) bool {
	switch op {
	case "<":
		return c < 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	}
	return c >= 0
}

// orderItems compares at the first place where two sequences differ.
func (m *machine) orderItems(op string, a, b []Value) bool {
	for i := range min(len(a), len(b)) {
		m.step(1)
		if !m.eqItem(a[i], b[i]) {
			return m.order(op, a[i], b[i])
		}
	}
	return holds(op, len(a)-len(b))
}

func (m *machine) orderSets(op string, a, b *Set) bool {
	if op == ">" || op == ">=" {
		a, b = b, a
	}
	if (op == "<" || op == ">") && len(a.d.entries) == len(b.d.entries) {
		return false
	}
	return m.subset(a, b)
}
