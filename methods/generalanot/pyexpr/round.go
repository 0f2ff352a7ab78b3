package pyexpr

import (
	"math"
	"math/big"
	"strconv"
)

// round is half to even, on the exact value of a float.
func round(m *machine, a []Value) Value {
	if i, ok := integer(a[0]); ok {
		if isNone(a[1]) {
			return i
		}
		return m.roundInt(i, a[1])
	}
	x, ok := a[0].(Float)
	if !ok {
		raise(typeError, "type %s doesn't define __round__ method", className(a[0]))
	}
	if isNone(a[1]) {
		return truncate(math.RoundToEven(float64(x)))
	}
	n := integerArg(a[1])
	digits, ok := smallInt(n)
	if !ok {
		digits = bigOf(n).Sign() * math.MaxInt32
	}
	return roundFloat(float64(x), digits)
}

func roundFloat(x float64, digits int) Value {
	switch {
	case x-x != 0 || digits > 323:
		return Float(x)
	case digits < -308:
		return Float(math.Copysign(0, x))
	case digits >= 0:
		f, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'f', digits, 64), 64)
		return Float(f)
	}
	z, _ := big.NewFloat(x).Int(nil)
	f, _ := new(big.Float).SetInt(roundTens(z, -digits, x != math.Trunc(x))).Float64()
	if math.IsInf(f, 0) {
		raise(overflowError, "rounded value too large to represent")
	}
	return Float(math.Copysign(f, x))
}

// roundInt rounds an integer to tens, hundreds and so on.
func (m *machine) roundInt(v, ndigits Value) Value {
	n := intArg(ndigits, 0)
	if n >= 0 {
		return v
	}
	z := bigOf(v)
	if -n > z.BitLen() { // ten to the n is far beyond twice the value
		return Int(0)
	}
	m.words(z, z)
	return normal(roundTens(z, -n, false))
}

// roundTens rounds z to a multiple of ten to the n, half to even; frac says
// that the true value lies a little further from zero than z.
func roundTens(z *big.Int, n int, frac bool) *big.Int {
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
	quo := roundQuo(z, unit, frac)
	return quo.Mul(quo, unit)
}

// roundQuo is the integer nearest to z/unit, half to even.
func roundQuo(z, unit *big.Int, frac bool) *big.Int {
	quo, rem := new(big.Int).QuoRem(z, unit, new(big.Int))
	c := new(big.Int).Lsh(rem.Abs(rem), 1).Cmp(unit)
	if c > 0 || c == 0 && (frac || quo.Bit(0) == 1) {
		quo.Add(quo, big.NewInt(int64(z.Sign())))
	}
	return quo
}
