package pyexpr

import (
	"math"
	"math/big"
)

// div is a / b: always a float for numbers, correctly rounded.
func (m *machine) div(a, b Value) Value {
	if x, y, ok := ints(a, b); ok {
		return m.divInts(x, y)
	}
	if x, y, ok := floats(a, b); ok {
		if y == 0 {
			raise(zeroError, "float division by zero")
		}
		return m.float(x / y)
	}
	if v := m.timeOp("/", a, b); v != nil {
		return v
	}
	unsupported("/", a, b)
	return nil
}

const exactFloat = 1 << 53 // integers up to here are exact as floats

func (m *machine) divInts(x, y Value) Value {
	if i, j, ok := small(x, y); ok && absUint(i) <= exactFloat && absUint(j) <= exactFloat && j != 0 {
		return Float(float64(i) / float64(j))
	}
	p, q := bigOf(x), bigOf(y)
	if q.Sign() == 0 {
		raise(zeroError, "division by zero")
	}
	if p.Sign() == 0 {
		return Float(math.Copysign(0, float64(q.Sign())))
	}
	m.words(p, q)
	f, _ := new(big.Rat).SetFrac(p, q).Float64()
	if math.IsInf(f, 0) {
		raise(overflowError, "integer division result too large for a float")
	}
	return Float(f)
}

// divModInts rounds towards minus infinity, as Python does.
func (m *machine) divModInts(x, y Value) (q, r Value) {
	if i, j, ok := small(x, y); ok && j != 0 && !(i == math.MinInt64 && j == -1) {
		q, r := i/j, i%j
		if r != 0 && (r < 0) != (j < 0) {
			q, r = q-1, r+j
		}
		return Int(q), Int(r)
	}
	p, d := bigOf(x), bigOf(y)
	if d.Sign() == 0 {
		raise(zeroError, "integer division or modulo by zero")
	}
	m.words(p, d)
	quo, rem := new(big.Int).QuoRem(p, d, new(big.Int))
	if rem.Sign() != 0 && rem.Sign() != d.Sign() {
		quo.Sub(quo, big.NewInt(1))
		rem.Add(rem, d)
	}
	return normal(quo), normal(rem)
}

// divModFloats is CPython's float_divmod.
func divModFloats(x, y float64) (q, r float64) {
	if y == 0 {
		raise(zeroError, "float floor division by zero")
	}
	r = math.Mod(x, y)
	div := (x - r) / y
	if r != 0 {
		if (y < 0) != (r < 0) {
			r += y
			div--
		}
	} else {
		r = math.Copysign(0, y)
	}
	if div == 0 {
		return math.Copysign(0, x/y), r
	}
	q = math.Floor(div)
	if div-q > 0.5 {
		q++
	}
	return q, r
}

func (m *machine) floorDiv(a, b Value) Value {
	if x, y, ok := ints(a, b); ok {
		q, _ := m.divModInts(x, y)
		return q
	}
	if x, y, ok := floats(a, b); ok {
		q, _ := divModFloats(x, y)
		return m.float(q)
	}
	if v := m.timeOp("//", a, b); v != nil {
		return v
	}
	unsupported("//", a, b)
	return nil
}

func (m *machine) mod(a, b Value) Value {
	if s, ok := a.(Str); ok {
		return m.percent(string(s), b)
	}
	if x, y, ok := ints(a, b); ok {
		_, r := m.divModInts(x, y)
		return r
	}
	if x, y, ok := floats(a, b); ok {
		_, r := divModFloats(x, y)
		return m.float(r)
	}
	if v := m.timeOp("%", a, b); v != nil {
		return v
	}
	unsupported("%", a, b)
	return nil
}

func (m *machine) divmod(a, b Value) Value {
	if x, y, ok := ints(a, b); ok {
		q, r := m.divModInts(x, y)
		return pair(q, r)
	}
	if x, y, ok := floats(a, b); ok {
		q, r := divModFloats(x, y)
		return pair(m.float(q), m.float(r))
	}
	if v := m.timeOp("%", a, b); v != nil {
		return pair(m.timeOp("//", a, b), v)
	}
	unsupported("divmod()", a, b)
	return nil
}

// pow is a ** b.
func (m *machine) pow(a, b Value) Value {
	if x, y, ok := ints(a, b); ok {
		if i, ok := y.(Int); ok && i >= 0 {
			return m.powInts(x, int64(i))
		}
		if bigOf(y).Sign() > 0 {
			return m.powHuge(x, y)
		}
		f, _ := toFloat(x)
		g, _ := toFloat(y)
		return m.powFloats(f, g)
	}
	if x, y, ok := floats(a, b); ok {
		return m.powFloats(x, y)
	}
	unsupported("** or pow()", a, b)
	return nil
}

func (m *machine) powInts(x Value, n int64) Value {
	p := bigOf(x)
	if p.BitLen() <= 1 { // 0, 1 and -1 stay small whatever n is
		return powUnit(p, n == 0, n%2 == 1)
	}
	size := times(p.BitLen(), int(min(n, 1<<40)))
	m.alloc(size/8 + 16)
	m.step(times(size>>6, size>>6) >> 8)
	return normal(new(big.Int).Exp(p, big.NewInt(n), nil))
}

func powUnit(p *big.Int, zero, odd bool) Value {
	if zero || p.Sign() < 0 && !odd {
		return Int(1)
	}
	return Int(p.Int64())
}

// powHuge is for an exponent beyond 64 bits: only 0, 1 and -1 have such a power.
func (m *machine) powHuge(x, y Value) Value {
	p := bigOf(x)
	if p.BitLen() > 1 {
		m.limit("memory")
	}
	return powUnit(p, false, bigOf(y).Bit(0) == 1)
}

func (m *machine) powFloats(x, y float64) Value {
	if x == 0 && y < 0 {
		raise(zeroError, "0.0 cannot be raised to a negative power")
	}
	if x < 0 && !math.IsInf(x, 0) && y != math.Trunc(y) {
		raise(valueError, "a negative number to a fractional power is a complex number, which is not supported")
	}
	z := power(x, y)
	if math.IsInf(z, 0) && !math.IsInf(x, 0) && !math.IsInf(y, 0) {
		raise(overflowError, "(34, 'Numerical result out of range')")
	}
	return m.float(z)
}

// powMod is pow(a, b, c).
func (m *machine) powMod(a, b, c Value) Value {
	x, y, ok := ints(a, b)
	z, ok2 := integer(c)
	if !ok || !ok2 {
		raise(typeError, "pow() 3rd argument not allowed unless all arguments are integers")
	}
	base, exp, mod := bigOf(x), bigOf(y), bigOf(z)
	if mod.Sign() == 0 {
		raise(valueError, "pow() 3rd argument cannot be 0")
	}
	words := mod.BitLen()/64 + 1
	m.step(times(times(words, words), exp.BitLen()) >> 5)
	m.words(base, mod)
	abs := new(big.Int).Abs(mod)
	if exp.Sign() < 0 {
		inv := new(big.Int).ModInverse(base, abs)
		if inv == nil {
			raise(valueError, "base is not invertible for the given modulus")
		}
		base, exp = inv, new(big.Int).Neg(exp)
	}
	r := new(big.Int).Exp(base, exp, abs)
	r.Mod(r, abs)
	if mod.Sign() < 0 && r.Sign() != 0 {
		r.Add(r, mod)
	}
	return normal(r)
}
