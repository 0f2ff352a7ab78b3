package pyexpr

import "math/big"

// bitwise is & | ^ on integers, bools, sets and dicts.
func (m *machine) bitwise(op string, a, b Value) Value {
	x, okX := a.(Bool)
	y, okY := b.(Bool)
	if okX && okY {
		switch op {
		case "&":
			return x && y
		case "|":
			return x || y
		}
		return Bool(x != y)
	}
	if i, j, ok := ints(a, b); ok {
		return m.bitInts(op, i, j)
	}
	if v := m.setOp(op, a, b); v != nil {
		return v
	}
	if d, ok := a.(*Dict); ok && op == "|" {
		if o, ok := b.(*Dict); ok {
			out := new(Dict)
			out.addAll(m, d)
			out.addAll(m, o)
			return out
		}
	}
	unsupported(op, a, b)
	return nil
}

func (m *machine) bitInts(op string, a, b Value) Value {
	if x, y, ok := small(a, b); ok {
		switch op {
		case "&":
			return Int(x & y)
		case "|":
			return Int(x | y)
		}
		return Int(x ^ y)
	}
	x, y, z := bigOf(a), bigOf(b), new(big.Int)
	m.alloc(8 * (len(x.Bits()) + len(y.Bits())))
	switch op {
	case "&":
		return normal(z.And(x, y))
	case "|":
		return normal(z.Or(x, y))
	}
	return normal(z.Xor(x, y))
}

// setOp is a set operation between sets, or between views of dicts and any
// iterable; nil if a and b have none.
func (m *machine) setOp(op string, a, b Value) Value {
	_, viewA := a.(*View)
	_, viewB := b.(*View)
	x, okX := m.setLike(a)
	y, okY := m.setLike(b)
	switch {
	case okX && okY:
		return m.combine(op, x, y)
	case okX && viewA:
		return m.combine(op, x, m.setOf(b))
	case okY && viewB:
		if _, isSet := a.(*Set); !isSet {
			return m.combine(op, m.setOf(a), y)
		}
	}
	return nil
}

func (m *machine) shift(op string, a, b Value) Value {
	x, y, ok := ints(a, b)
	if !ok {
		unsupported(op, a, b)
	}
	p, q := bigOf(x), bigOf(y)
	if q.Sign() < 0 {
		raise(valueError, "negative shift count")
	}
	if op == "<<" {
		if p.Sign() == 0 {
			return Int(0)
		}
		if !q.IsInt64() || q.Int64() > 1<<40 {
			m.limit("memory")
		}
		m.alloc((p.BitLen() + int(q.Int64())) / 8)
		return normal(new(big.Int).Lsh(p, uint(q.Int64())))
	}
	if q.Cmp(big.NewInt(int64(p.BitLen()))) > 0 {
		return Int(min(p.Sign(), 0))
	}
	m.alloc(p.BitLen() / 8)
	return normal(new(big.Int).Rsh(p, uint(q.Int64())))
}

// unary is -v, +v or ~v.
func (m *machine) unary(op string, v Value) Value {
	if i, ok := integer(v); ok {
		z := bigOf(i)
		switch op {
		case "+":
			return i
		case "-":
			return normal(new(big.Int).Neg(z))
		}
		return normal(new(big.Int).Not(z))
	}
	if f, ok := v.(Float); ok && op != "~" {
		if op == "-" {
			f = -f
		}
		return f
	}
	if d, ok := v.(*Delta); ok && op != "~" {
		if op == "-" {
			return d.times(-1)
		}
		return d
	}
	raise(typeError, "bad operand type for unary %s: '%s'", op, className(v))
	return nil
}
