package pyexpr

import (
	"math"
	"math/big"
	"math/bits"
	"strings"
	"unicode/utf8"
)

// operator is a binary arithmetic operator. Each kind of number has one
// function; what is not between numbers is in [machine.otherOp].
type operator struct {
	name   string
	small  func(x, y int64) Value // nil where the result does not fit
	ints   func(m *machine, x, y *big.Int) Value
	floats func(m *machine, x, y float64) Value
}

// addition has a name of its own, because sums need it.
var addition = operator{"+", addSmall, bigOp((*big.Int).Add), func(m *machine, x, y float64) Value { return m.float(x + y) }}

func (m *machine) add(a, b Value) Value { return addition.apply(m, a, b) }

func operatorOf(name string) *operator {
	switch name {
	case "-":
		return &operator{name, subSmall, bigOp((*big.Int).Sub), func(m *machine, x, y float64) Value { return m.float(x - y) }}
	case "*":
		return &operator{name, mulSmall, bigOp((*big.Int).Mul), func(m *machine, x, y float64) Value { return m.float(x * y) }}
	case "/":
		return &operator{name, divSmall, divInts, divFloats}
	case "//":
		return &operator{name, floorSmall, func(m *machine, x, y *big.Int) Value { q, _ := m.floorDiv(x, y); return normal(q) },
			func(m *machine, x, y float64) Value { q, _ := divModFloats(x, y); return m.float(q) }}
	case "%":
		return &operator{name, modSmall, func(m *machine, x, y *big.Int) Value { _, r := m.floorDiv(x, y); return normal(r) },
			func(m *machine, x, y float64) Value { _, r := divModFloats(x, y); return m.float(r) }}
	case "**":
		return &operator{name, nil, powInts, powFloats}
	case "&":
		return &operator{name, func(x, y int64) Value { return Int(x & y) }, bigOp((*big.Int).And), nil}
	case "|":
		return &operator{name, func(x, y int64) Value { return Int(x | y) }, bigOp((*big.Int).Or), nil}
	case "^":
		return &operator{name, func(x, y int64) Value { return Int(x ^ y) }, bigOp((*big.Int).Xor), nil}
	}
	return &addition
}

func (o *operator) apply(m *machine, a, b Value) Value {
	x, okX := a.(Int)
	y, okY := b.(Int)
	if okX && okY && o.small != nil {
		if v := o.small(int64(x), int64(y)); v != nil {
			return v
		}
	}
	if i, okI := integer(a); okI {
		if j, okJ := integer(b); okJ {
			v := o.ints(m, bigOf(i), bigOf(j))
			return o.bools(a, b, v)
		}
	}
	if isNumber(a) && isNumber(b) && o.floats != nil {
		x, _ := toFloat(a)
		y, _ := toFloat(b)
		return o.floats(m, x, y)
	}
	if v := m.otherOp(o.name, a, b); v != nil {
		return v
	}
	raise(typeError, "unsupported operand type(s) for %s: '%s' and '%s'", o.name, className(a), className(b))
	return nil
}

// bools turns what & | ^ make of two bools into a bool.
func (o *operator) bools(a, b, v Value) Value {
	_, okA := a.(Bool)
	_, okB := b.(Bool)
	if okA && okB && strings.Contains("&|^", o.name) {
		return Bool(truth(v))
	}
	return v
}

func bigOp(f func(z, x, y *big.Int) *big.Int) func(m *machine, x, y *big.Int) Value {
	return func(m *machine, x, y *big.Int) Value {
		m.words(x, y)
		return normal(f(new(big.Int), x, y))
	}
}

// words charges for an operation on big integers whose cost grows with the
// product of their lengths, and for its result.
func (m *machine) words(a, b *big.Int) {
	wa, wb := a.BitLen()/bits.UintSize+1, b.BitLen()/bits.UintSize+1
	m.alloc(8 * (wa + wb))
	m.step(times(wa, wb) >> 7)
}

func addSmall(x, y int64) Value {
	if z := x + y; (z > x) == (y > 0) {
		return Int(z)
	}
	return nil
}

func subSmall(x, y int64) Value {
	if z := x - y; (z < x) == (y > 0) {
		return Int(z)
	}
	return nil
}

func mulSmall(x, y int64) Value {
	if hi, lo := bits.Mul64(absUint(x), absUint(y)); hi == 0 && lo <= math.MaxInt64 {
		return Int(x * y)
	}
	return nil
}

// otherOp is an operation between values that are not both numbers, or nil.
func (m *machine) otherOp(op string, a, b Value) Value {
	var v Value
	if counterOf(a) != nil && counterOf(b) != nil && strings.Contains("+-&|", op) {
		raise(typeError, "%s between Counters is not supported: count once, as in Counter([*xs, *ys])", op)
	}
	switch op {
	case "+":
		v = m.concat(a, b)
	case "*":
		if v = m.repeat(a, b); v == nil {
			v = m.repeat(b, a)
		}
	case "%":
		if _, ok := a.(Str); ok {
			raise(typeError, "%% behind a text is not supported: use an f-string such as f'{x:.2f}'")
		}
	case "-", "&", "^", "|":
		v = m.setOp(op, a, b)
	}
	if v != nil {
		return v
	}
	return m.timeOp(op, a, b)
}

func (m *machine) concat(a, b Value) Value {
	if x, ok := a.(Str); ok {
		if y, ok := b.(Str); ok {
			m.alloc(32 + len(x) + len(y))
			return x + y
		}
	}
	x, okX := items(a)
	y, okY := items(b)
	if !okX || !okY || a.class() != b.class() {
		return nil
	}
	return sequence(a.class(), append(append(m.room(len(x)+len(y)), x...), y...))
}

func sequence(t *Type, items []Value) Value {
	if t == typeTuple {
		return &Tuple{items: items}
	}
	return &List{items}
}

func (m *machine) repeat(seq, count Value) Value {
	xs, isSeq := items(seq)
	s, isStr := seq.(Str)
	if !isSeq && !isStr {
		return nil
	}
	k, ok := integer(count)
	if !ok {
		raise(typeError, "can't multiply sequence by non-int of type '%s'", className(count))
	}
	n, ok := smallInt(k)
	if !ok {
		raise(overflowError, "cannot fit 'int' into an index-sized integer")
	}
	if size := utf8.RuneCountInString(string(s)); size > 0 && n > math.MaxInt/size {
		raise(overflowError, "repeated string is too long")
	}
	if n = max(n, 0); len(xs) == 0 && s == "" {
		n = 0 // or else it would be counted to a billion over nothing
	}
	if isStr {
		m.alloc(32 + times(len(s), n))
		return Str(strings.Repeat(string(s), n))
	}
	out := m.room(times(len(xs), n))
	for range n {
		out = append(out, xs...)
	}
	return sequence(seq.class(), out)
}

// setOp is an operation between sets, between a view of a dict that acts as a
// set and any iterable, or the union of two dicts; nil if a and b have none.
func (m *machine) setOp(op string, a, b Value) Value {
	x, okX := m.setLike(a)
	y, okY := m.setLike(b)
	if _, ok := b.(*View); ok && okY && !okX {
		x, okX = m.setOf(a), true
	}
	if _, ok := a.(*View); ok && okX && !okY {
		y, okY = m.setOf(b), true
	}
	if okX && okY {
		out := m.combine(op, x, y)
		_, isSet := b.(*Set)
		out.frozen = isSet && a.class() == typeFrozen
		return out
	}
	d, okD := a.(*Dict)
	e, okE := b.(*Dict)
	if op != "|" || !okD || !okE {
		return nil
	}
	out := new(Dict)
	out.addAll(m, d)
	out.addAll(m, e)
	return out
}
