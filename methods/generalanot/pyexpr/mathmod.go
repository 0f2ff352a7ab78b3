package pyexpr

import (
	"math"
	"math/big"
)

// mathModule is what math holds, by name.
func mathModule() map[string]Value {
	out := map[string]Value{
		"pi": Float(math.Pi), "e": Float(math.E), "tau": Float(2 * math.Pi), "inf": Float(math.Inf(1)), "nan": Float(math.NaN()),
	}
	add := func(bs ...*builtin) {
		for _, b := range bs {
			out[b.name] = b.value()
		}
	}
	for name, f := range realFuncs() {
		add(def(name+" x/", func(m *machine, a []Value) Value { return m.real(f, realArg(a[0])) }))
	}
	for name, f := range map[string]func(x, y float64) float64{"pow": mathPow, "fmod": fmod, "copysign": math.Copysign, "atan2": math.Atan2} {
		add(def(name+" x/ y/", func(m *machine, a []Value) Value { return m.float(f(realArg(a[0]), realArg(a[1]))) }))
	}
	for name, f := range map[string]func(float64) float64{"floor": math.Floor, "ceil": math.Ceil, "trunc": math.Trunc} {
		add(def(name+" x/", func(m *machine, a []Value) Value {
			if i, ok := integer(a[0]); ok {
				return i
			}
			return truncate(f(realArg(a[0])))
		}))
	}
	for name, f := range map[string]func(x float64) bool{
		"isnan": math.IsNaN, "isinf": func(x float64) bool { return math.IsInf(x, 0) }, "isfinite": func(x float64) bool { return x-x == 0 },
	} {
		add(def(name+" x/", func(_ *machine, a []Value) Value { return Bool(f(realArg(a[0]))) }))
	}
	for name, f := range map[string]func(float64) float64{"log2": log2, "log10": log10} {
		add(def(name+" x/", func(m *machine, a []Value) Value { return m.logOf(a[0], f) }))
	}
	add(def("log x/ base?/", logFunc), def("isclose a b *rel_tol? *abs_tol?", isClose))
	add(integerFuncs()...)
	return out
}

// real applies f as CPython's math_1 does: not-a-number out of a number is a
// domain error, infinity out of a finite number an overflow.
func (m *machine) real(f func(float64) float64, x float64) Value {
	y := f(x)
	if y != y && x == x {
		raise(valueError, "math domain error")
	}
	if math.IsInf(y, 0) && !math.IsInf(x, 0) {
		raise(overflowError, "math range error")
	}
	return m.float(y)
}

func realFuncs() map[string]func(float64) float64 {
	return map[string]func(float64) float64{
		"sqrt": math.Sqrt, "exp": exponential, "expm1": math.Expm1, "fabs": math.Abs, "cbrt": math.Cbrt,
		"sin": math.Sin, "cos": math.Cos, "tan": math.Tan, "asin": math.Asin, "acos": math.Acos, "atan": math.Atan,
		"sinh": math.Sinh, "cosh": math.Cosh, "tanh": math.Tanh,
		"exp2":    func(x float64) float64 { return power(2, x) },
		"degrees": func(x float64) float64 { return x * (180 / math.Pi) },
		"radians": func(x float64) float64 { return x * (math.Pi / 180) },
		"log1p": func(x float64) float64 {
			if x == -1 {
				raise(valueError, "math domain error")
			}
			return math.Log1p(x)
		},
	}
}

func fmod(x, y float64) float64 {
	if y == 0 && x == x || math.IsInf(x, 0) && y == y {
		raise(valueError, "math domain error")
	}
	return math.Mod(x, y)
}

func mathPow(x, y float64) float64 {
	z := power(x, y)
	switch {
	case z != z && x == x && y == y, x == 0 && y < 0 && !math.IsInf(y, 0):
		raise(valueError, "math domain error")
	case math.IsInf(z, 0) && !math.IsInf(x, 0) && !math.IsInf(y, 0):
		raise(overflowError, "math range error")
	}
	return z
}

func logFunc(m *machine, a []Value) Value {
	num := m.logOf(a[0], logarithm)
	if a[1] == nil {
		return num
	}
	return operatorOf("/").apply(m, num, m.logOf(a[1], logarithm))
}

// logOf is a logarithm; integers beyond all floats have one too.
func (m *machine) logOf(v Value, f func(float64) float64) Value {
	if b, ok := v.(*Big); ok && b.v.Sign() > 0 && b.v.BitLen() > 1023 {
		shift := b.v.BitLen() - 64
		x, _ := new(big.Float).SetInt(new(big.Int).Rsh(b.v, uint(shift))).Float64()
		return Float(f(x) + f(2)*float64(shift))
	}
	x := realArg(v)
	if x <= 0 {
		raise(valueError, "math domain error")
	}
	return m.float(f(x))
}

func isClose(_ *machine, p []Value) Value {
	tol := func(v Value, def float64) float64 {
		if v == nil {
			return def
		}
		return realArg(v)
	}
	a, b, rel, abs := realArg(p[0]), realArg(p[1]), tol(p[2], 1e-9), tol(p[3], 0)
	if rel < 0 || abs < 0 {
		raise(valueError, "tolerances must be non-negative")
	}
	diff := math.Abs(b - a)
	near := diff <= math.Abs(rel*b) || diff <= math.Abs(rel*a) || diff <= abs
	return Bool(a == b || near && !math.IsInf(a, 0) && !math.IsInf(b, 0))
}
