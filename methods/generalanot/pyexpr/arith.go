package pyexpr

import (
	"math"
	"math/big"
	"math/bits"
	"strings"
)

// normal is z as an Int where it fits.
func normal(z *big.Int) Value {
	if z.IsInt64() {
		return Int(z.Int64())
	}
	return &Big{z}
}

// integer is v as an Int or a *Big; bools are integers.
func integer(v Value) (Value, bool) {
	switch x := v.(type) {
	case Int, *Big:
		return v, true
	case Bool:
		return Int(boolInt(bool(x))), true
	}
	return nil, false
}

// bigOf is an integer as a big one.
func bigOf(v Value) *big.Int {
	switch x := v.(type) {
	case *Big:
		return x.v
	case Int:
		return big.NewInt(int64(x))
	case Bool:
		return big.NewInt(int64(boolInt(bool(x))))
	}
	panic("pyexpr: bigOf of " + className(v))
}

// toFloat is v as a float64, if v is a number.
func toFloat(v Value) (float64, bool) {
	switch x := v.(type) {
	case Float:
		return float64(x), true
	case Int:
		return float64(x), true
	case Bool:
		return float64(boolInt(bool(x))), true
	case *Big:
		f, _ := new(big.Float).SetInt(x.v).Float64()
		if math.IsInf(f, 0) {
			raise(overflowError, "int too large to convert to float")
		}
		return f, true
	}
	return 0, false
}

// floats are both operands as floats, if one is a float and both are numbers.
func floats(a, b Value) (x, y float64, ok bool) {
	_, fa := a.(Float)
	_, fb := b.(Float)
	if !fa && !fb {
		return 0, 0, false
	}
	if !isNumber(a) || !isNumber(b) {
		return 0, 0, false
	}
	x, _ = toFloat(a)
	y, _ = toFloat(b)
	return x, y, true
}

func isNumber(v Value) bool {
	switch v.(type) {
	case Int, Bool, *Big, Float:
		return true
	}
	return false
}

// ints are both operands as integers, if both are.
func ints(a, b Value) (x, y Value, ok bool) {
	x, okA := integer(a)
	y, okB := integer(b)
	return x, y, okA && okB
}

// small are both operands as int64, if both fit.
func small(a, b Value) (x, y int64, ok bool) {
	i, okA := a.(Int)
	j, okB := b.(Int)
	return int64(i), int64(j), okA && okB
}

// words charges for an operation on big integers whose cost grows with the
// product of their lengths, and for its result.
func (m *machine) words(a, b *big.Int) {
	wa, wb := a.BitLen()/bits.UintSize+1, b.BitLen()/bits.UintSize+1
	m.alloc(8 * (wa + wb))
	m.step(times(wa, wb) >> 7)
}

func unsupported(op string, a, b Value) {
	raise(typeError, "unsupported operand type(s) for %s: '%s' and '%s'", op, className(a), className(b))
}

func (m *machine) add(a, b Value) Value {
	if x, y, ok := small(a, b); ok {
		if z := x + y; (z > x) == (y > 0) {
			return Int(z)
		}
	}
	if x, y, ok := floats(a, b); ok {
		return m.float(x + y)
	}
	if x, y, ok := ints(a, b); ok {
		p, q := bigOf(x), bigOf(y)
		m.alloc(8 * (len(p.Bits()) + len(q.Bits())))
		return normal(new(big.Int).Add(p, q))
	}
	return m.concat(a, b)
}

func (m *machine) concat(a, b Value) Value {
	switch x := a.(type) {
	case Str:
		if y, ok := b.(Str); ok {
			m.alloc(32 + len(x) + len(y))
			return x + y
		}
	case *List:
		if y, ok := b.(*List); ok {
			return &List{append(append(m.room(len(x.items)+len(y.items)), x.items...), y.items...)}
		}
	case *Tuple:
		if y, ok := b.(*Tuple); ok {
			return &Tuple{append(append(m.room(len(x.items)+len(y.items)), x.items...), y.items...)}
		}
	}
	if v := m.timeOp("+", a, b); v != nil {
		return v
	}
	unsupported("+", a, b)
	return nil
}

func (m *machine) sub(a, b Value) Value {
	if x, y, ok := small(a, b); ok {
		if z := x - y; (z < x) == (y > 0) {
			return Int(z)
		}
	}
	if x, y, ok := floats(a, b); ok {
		return m.float(x - y)
	}
	if x, y, ok := ints(a, b); ok {
		p, q := bigOf(x), bigOf(y)
		m.alloc(8 * (len(p.Bits()) + len(q.Bits())))
		return normal(new(big.Int).Sub(p, q))
	}
	if v := m.setOp("-", a, b); v != nil {
		return v
	}
	if v := m.timeOp("-", a, b); v != nil {
		return v
	}
	unsupported("-", a, b)
	return nil
}

func (m *machine) mul(a, b Value) Value {
	if x, y, ok := small(a, b); ok {
		hi, lo := bits.Mul64(absUint(x), absUint(y))
		if hi == 0 && lo <= math.MaxInt64 {
			return Int(x * y)
		}
	}
	if x, y, ok := floats(a, b); ok {
		return m.float(x * y)
	}
	if x, y, ok := ints(a, b); ok {
		p, q := bigOf(x), bigOf(y)
		m.words(p, q)
		return normal(new(big.Int).Mul(p, q))
	}
	if v := m.repeat(a, b); v != nil {
		return v
	}
	if v := m.repeat(b, a); v != nil {
		return v
	}
	if v := m.timeOp("*", a, b); v != nil {
		return v
	}
	unsupported("*", a, b)
	return nil
}

func absUint(x int64) uint64 {
	if x < 0 {
		return -uint64(x)
	}
	return uint64(x)
}

// repeat is seq * count, or nil.
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
	n, ok := k.(Int)
	if !ok {
		raise(overflowError, "cannot fit 'int' into an index-sized integer")
	}
	n = max(n, 0)
	if isStr {
		m.alloc(32 + times(len(s), int(n)))
		return Str(strings.Repeat(string(s), repeatCount(len(s), n)))
	}
	out := m.room(times(len(xs), int(n)))
	for range repeatCount(len(xs), n) {
		out = append(out, xs...)
	}
	if _, ok := seq.(*List); ok {
		return &List{out}
	}
	return &Tuple{out}
}

// repeatCount saves counting to a billion over an empty sequence.
func repeatCount(n int, count Int) int {
	if n == 0 {
		return 0
	}
	return int(count)
}
