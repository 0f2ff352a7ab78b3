package pyexpr

import (
	"cmp"
	"math"
	"math/big"
	"strings"
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
	if x, ok := a.(Float); ok && x != x {
		return identical(m, a, b)
	}
	return a == b || m.eq(a, b)
}

func (m *machine) eq(a, b Value) bool {
	res, ok := m.compare("==", a, b)
	if !ok {
		return a == b
	}
	return res
}

func (m *machine) order(op string, a, b Value) bool {
	res, ok := m.compare(op, a, b)
	if !ok {
		raise(typeError, "'%s' not supported between instances of '%s' and '%s'", op, className(a), className(b))
	}
	return res
}

// compare is a comparison of two values; ok is false where the two have none
// of their own.
func (m *machine) compare(op string, a, b Value) (res, ok bool) {
	switch x := a.(type) {
	case Str:
		if y, ok := b.(Str); ok {
			m.work(min(len(x), len(y)))
			return holds(op, strings.Compare(string(x), string(y))), true
		}
	case Int, Bool, *Big, Float:
		c, ordered := compareNumbers(a, b)
		return ordered && holds(op, c), isNumber(b)
	case *List, *Tuple:
		p, _ := items(a)
		if q, ok := items(b); ok && a.class() == b.class() {
			return m.compareItems(op, p, q), true
		}
	case *Dict:
		y, ok := b.(*Dict)
		switch {
		case ok && x.counter && y.counter:
			return m.eqCounters(op, x, y), true
		case ok && op == "==":
			return m.eqDicts(x, y), true
		}
	case *Set, *View:
		p, okP := m.setLike(a)
		q, okQ := m.setLike(b)
		if okP && okQ {
			return m.compareSets(op, p, q), true
		}
	case *Range:
		if y, ok := b.(*Range); ok && op == "==" {
			return rangeKey(x) == rangeKey(y), true
		}
	case *Date:
		if y, ok := b.(*Date); ok && x.kind == y.kind && (x.offset == nil) == (y.offset == nil) {
			return holds(op, x.utc().Compare(y.utc())), true
		}
	case *Delta:
		if y, ok := b.(*Delta); ok {
			return holds(op, x.big().Cmp(y.big())), true
		}
	}
	return false, false
}

func holds(op string, c int) bool {
	switch op {
	case "==":
		return c == 0
	case "<":
		return c < 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	}
	return c >= 0
}

// compareItems compares at the first place where two sequences differ.
func (m *machine) compareItems(op string, a, b []Value) bool {
	if op == "==" && len(a) != len(b) {
		return false
	}
	for i := range min(len(a), len(b)) {
		m.step(1)
		if !m.eqItem(a[i], b[i]) {
			return op != "==" && m.order(op, a[i], b[i])
		}
	}
	return holds(op, len(a)-len(b))
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

func (m *machine) compareSets(op string, a, b *Set) bool {
	if op == ">" || op == ">=" {
		a, b = b, a
	}
	same := len(a.d.entries) == len(b.d.entries)
	if op == "==" && !same || (op == "<" || op == ">") && same {
		return false
	}
	return m.subset(a, b)
}

// compareNumbers compares exactly, integers with floats too. It is false for
// what is not a number or cannot be ordered.
func compareNumbers(a, b Value) (int, bool) {
	if x, ok := a.(Int); ok {
		if y, ok := b.(Int); ok {
			return cmp.Compare(x, y), true
		}
	}
	i, okI := integer(a)
	j, okJ := integer(b)
	f, okF := a.(Float)
	g, okG := b.(Float)
	switch {
	case okI && okJ:
		return bigOf(i).Cmp(bigOf(j)), true
	case okF && okG:
		return cmp.Compare(f, g), f == f && g == g
	case okF && okJ:
		return cmpFloatInt(float64(f), j)
	case okI && okG:
		c, ok := cmpFloatInt(float64(g), i)
		return -c, ok
	}
	return 0, false
}

func cmpFloatInt(f float64, i Value) (int, bool) {
	switch n, ok := i.(Int); {
	case f != f:
		return 0, false
	case ok && absUint(int64(n)) <= exactFloat:
		return cmp.Compare(f, float64(n)), true
	case math.IsInf(f, 0):
		return int(math.Copysign(1, f)), true
	}
	return new(big.Float).SetFloat64(f).Cmp(new(big.Float).SetInt(bigOf(i))), true
}
