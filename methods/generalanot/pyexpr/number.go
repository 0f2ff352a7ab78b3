package pyexpr

import (
	"math"
	"math/big"
)

// maxDigits is CPython's limit on the digits of an integer as text.
const maxDigits = 4300

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

// smallInt is v as an int, if it is an integer that fits one.
func smallInt(v Value) (int, bool) {
	n, ok := wideInt(v)
	return int(n), ok && int64(int(n)) == n
}

// wideInt is v as an int64, if it is an integer within 64 bits.
func wideInt(v Value) (int64, bool) {
	switch x := v.(type) {
	case Int:
		return int64(x), true
	case Bool:
		return int64(boolInt(bool(x))), true
	}
	return 0, false
}

func bigOf(v Value) *big.Int {
	if x, ok := v.(*Big); ok {
		return x.v
	}
	n, _ := wideInt(v)
	return big.NewInt(n)
}

// toFloat is v as a float64, if v is a number.
func toFloat(v Value) (float64, bool) {
	switch x := v.(type) {
	case Float:
		return float64(x), true
	case *Big:
		f, _ := new(big.Float).SetInt(x.v).Float64()
		if math.IsInf(f, 0) {
			raise(overflowError, "int too large to convert to float")
		}
		return f, true
	}
	n, ok := wideInt(v)
	return float64(n), ok
}

func isNumber(v Value) bool {
	switch v.(type) {
	case Int, Bool, *Big, Float:
		return true
	}
	return false
}

func absUint(x int64) uint64 {
	if x < 0 {
		return -uint64(x)
	}
	return uint64(x)
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (m *machine) unary(op string, v Value) Value {
	if i, ok := integer(v); ok {
		switch z := new(big.Int); op {
		case "-":
			return normal(z.Neg(bigOf(i)))
		case "~":
			return normal(z.Not(bigOf(i)))
		}
		return i
	}
	if c := counterOf(v); c != nil && op != "~" {
		raise(typeError, "%s before a Counter is not supported: use a dict comprehension", op)
	}
	x, isFloat := v.(Float)
	d, isDelta := v.(*Delta)
	switch {
	case op == "+" && (isFloat || isDelta):
		return v
	case op == "-" && isFloat:
		return -x
	case op == "-" && isDelta:
		return d.negative()
	}
	raise(typeError, "bad operand type for unary %s: '%s'", op, className(v))
	return nil
}
