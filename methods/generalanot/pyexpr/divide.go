package pyexpr

import (
	"math"
	"math/big"
)

const exactFloat = 1 << 53 // integers up to here are exact as floats

func divSmall(x, y int64) Value {
	if y == 0 || absUint(x) > exactFloat || absUint(y) > exactFloat {
		return nil
	}
	return Float(float64(x) / float64(y))
}

func divInts(m *machine, x, y *big.Int) Value {
	if y.Sign() == 0 {
		raise(zeroError, "division by zero")
	}
	if x.Sign() == 0 {
		return Float(math.Copysign(0, float64(y.Sign())))
	}
	m.words(x, y)
	f, _ := new(big.Rat).SetFrac(x, y).Float64()
	if math.IsInf(f, 0) {
		raise(overflowError, "integer division result too large for a float")
	}
	return Float(f)
}

func divFloats(m *machine, x, y float64) Value {
	if y == 0 {
		raise(zeroError, "float division by zero")
	}
	return m.float(x / y)
}

func floorSmall(x, y int64) Value {
	if y == 0 || y == -1 {
		return nil
	}
	q := x / y
	if x%y != 0 && (x%y < 0) != (y < 0) {
		q--
	}
	return Int(q)
}

func modSmall(x, y int64) Value {
	if y == 0 || y == -1 {
		return nil
	}
	r := x % y
	if r != 0 && (r < 0) != (y < 0) {
		r += y
	}
	return Int(r)
}

// floorDiv rounds towards minus infinity, as Python does.
func (m *machine) floorDiv(x, y *big.Int) (quo, rem *big.Int) {
	if y.Sign() == 0 {
		raise(zeroError, "integer division or modulo by zero")
	}
	m.words(x, y)
	quo, rem = new(big.Int).QuoRem(x, y, new(big.Int))
	if rem.Sign() != 0 && rem.Sign() != y.Sign() {
		quo.Sub(quo, big.NewInt(1))
		rem.Add(rem, y)
	}
	return quo, rem
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

func powInts(m *machine, x, y *big.Int) Value {
	switch {
	case y.Sign() < 0:
		f, _ := toFloat(normal(x))
		g, _ := toFloat(normal(y))
		return powFloats(m, f, g)
	case x.BitLen() <= 1: // 0, 1 and -1 stay small whatever y is
		if y.Sign() == 0 || x.Sign() < 0 && y.Bit(0) == 0 {
			return Int(1)
		}
		return normal(x)
	case !y.IsInt64():
		m.limit("memory")
	}
	size := times(x.BitLen(), int(min(y.Int64(), far)))
	m.alloc(size/8 + 16)
	m.step(times(size>>6, size>>6) >> 8)
	return normal(new(big.Int).Exp(x, y, nil))
}

func powFloats(m *machine, x, y float64) Value {
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
