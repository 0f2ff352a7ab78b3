package pyexpr

import (
	"math"
	"math/big"
)

// mathAttr is math.name, or nil.
func mathAttr(name string) Value {
	switch name {
	case "pi":
		return Float(math.Pi)
	case "e":
		return Float(math.E)
	case "tau":
		return Float(2 * math.Pi)
	case "inf":
		return Float(math.Inf(1))
	case "nan":
		return Float(math.NaN())
	}
	if fn := mathFunc(name); fn != nil {
		return &Func{name, fn}
	}
	return nil
}

// mathFunc is a function of math, or nil.
func mathFunc(name string) function {
	if f := realFunc(name); f != nil {
		return func(m *machine, args []Value, kw []keyword) Value {
			a := m.bind(name, args, kw, 1, "x/")
			return m.real(f, realArg(a[0]))
		}
	}
	if f := realFunc2(name); f != nil {
		return func(m *machine, args []Value, kw []keyword) Value {
			a := m.bind(name, args, kw, 2, "x/", "y/")
			return m.float(f(realArg(a[0]), realArg(a[1])))
		}
	}
	switch name {
	case "floor", "ceil", "trunc":
		return func(m *machine, args []Value, kw []keyword) Value { return rounding(m, name, args, kw) }
	case "isnan", "isinf", "isfinite":
		return func(m *machine, args []Value, kw []keyword) Value {
			x := realArg(m.bind(name, args, kw, 1, "x/")[0])
			return Bool(map[string]bool{"isnan": x != x, "isinf": math.IsInf(x, 0), "isfinite": x-x == 0}[name])
		}
	case "log":
		return logFunc
	case "log2", "log10":
		return func(m *machine, args []Value, kw []keyword) Value {
			return m.logOf(m.bind(name, args, kw, 1, "x/")[0], name)
		}
	case "isclose":
		return isClose
	case "hypot":
		return hypot
	case "fsum":
		return fsum
	case "prod":
		return prod
	}
	return integerFunc(name)
}

// realArg is an argument as a float.
func realArg(v Value) float64 {
	x, ok := toFloat(v)
	if !ok {
		raise(typeError, "must be real number, not %s", className(v))
	}
	return x
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

func realFunc(name string) func(float64) float64 {
	switch name {
	case "sqrt":
		return math.Sqrt
	case "exp":
		return exponential
	case "exp2":
		return func(x float64) float64 { return power(2, x) }
	case "expm1":
		return math.Expm1
	case "log1p":
		return func(x float64) float64 {
			if x == -1 {
				raise(valueError, "math domain error")
			}
			return math.Log1p(x)
		}
	case "fabs":
		return math.Abs
	case "sin":
		return math.Sin
	case "cos":
		return math.Cos
	case "tan":
		return math.Tan
	case "asin":
		return math.Asin
	case "acos":
		return math.Acos
	case "atan":
		return math.Atan
	case "sinh":
		return math.Sinh
	case "cosh":
		return math.Cosh
	case "tanh":
		return math.Tanh
	case "cbrt":
		return math.Cbrt
	case "degrees":
		return func(x float64) float64 { return x * (180 / math.Pi) }
	case "radians":
		return func(x float64) float64 { return x * (math.Pi / 180) }
	}
	return nil
}

func realFunc2(name string) func(x, y float64) float64 {
	switch name {
	case "pow":
		return mathPow
	case "fmod":
		return func(x, y float64) float64 {
			if y == 0 && x == x || math.IsInf(x, 0) && y == y {
				raise(valueError, "math domain error")
			}
			return math.Mod(x, y)
		}
	case "copysign":
		return math.Copysign
	case "atan2":
		return math.Atan2
	}
	return nil
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

func rounding(m *machine, name string, args []Value, kw []keyword) Value {
	v := m.bind(name, args, kw, 1, "x/")[0]
	if i, ok := integer(v); ok {
		return i
	}
	x, ok := v.(Float)
	if !ok {
		if name == "trunc" {
			raise(typeError, "type %s doesn't define __trunc__ method", className(v))
		}
		raise(typeError, "must be real number, not %s", className(v))
	}
	switch name {
	case "floor":
		return truncate(math.Floor(float64(x)))
	case "ceil":
		return truncate(math.Ceil(float64(x)))
	}
	return truncate(float64(x))
}

// logFunc is log(x[, base]).
func logFunc(m *machine, args []Value, kw []keyword) Value {
	a := m.bind("log", args, kw, 1, "x/", "base/")
	num := m.logOf(a[0], "log")
	if a[1] == nil {
		return num
	}
	return m.div(num, m.logOf(a[1], "log"))
}

// logOf is a logarithm; integers beyond all floats have one too.
func (m *machine) logOf(v Value, name string) Value {
	f := map[string]func(float64) float64{"log": logarithm, "log2": log2, "log10": log10}[name]
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

func log2(x float64) float64 {
	if frac, n := math.Frexp(x); frac == 0.5 {
		return float64(n - 1)
	}
	if x-x != 0 {
		return x
	}
	return logPair(x).div(ln2).hi
}

// log10 takes the steps of the C library (fdlibm's e_log10), because their
// rounding shows in the last bit.
func log10(x float64) float64 {
	if x-x != 0 {
		return x
	}
	const (
		perLn   = 4.34294481903251816668e-01
		log2Hi  = 3.01029995663611771306e-01
		log2Low = 3.69423907715893078616e-13
	)
	frac, n := math.Frexp(x)
	if n > 0 {
		frac, n = frac*2, n-1
	}
	y := float64(n)
	z := float64(y*log2Low) + float64(perLn*logarithm(frac))
	return z + float64(y*log2Hi)
}

func isClose(m *machine, args []Value, kw []keyword) Value {
	p := m.bind("isclose", args, kw, 2, "a", "b", "*rel_tol", "*abs_tol")
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
	if a == b {
		return Bool(true)
	}
	if math.IsInf(a, 0) || math.IsInf(b, 0) {
		return Bool(false)
	}
	diff := math.Abs(b - a)
	return Bool(diff <= math.Abs(rel*b) || diff <= math.Abs(rel*a) || diff <= abs)
}
