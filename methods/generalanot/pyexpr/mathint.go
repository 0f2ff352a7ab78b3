package pyexpr

import (
	"math"
	"math/big"
)

// integerFunc are the functions of math over integers.
func integerFunc(name string) function {
	switch name {
	case "gcd", "lcm":
		return func(m *machine, args []Value, kw []keyword) Value { return gcdLcm(m, name, args, kw) }
	case "factorial":
		return func(m *machine, args []Value, kw []keyword) Value {
			n := natural(m.bind(name, args, kw, 1, "x/")[0], "factorial()")
			return m.product(2, n, big.NewInt(1))
		}
	case "comb":
		return comb
	case "perm":
		return func(m *machine, args []Value, kw []keyword) Value {
			a := m.bind(name, args, kw, 1, "n/", "k/")
			n := natural(a[0], "n")
			k := n
			if !isNone(a[1]) {
				k = natural(a[1], "k")
			}
			if k > n {
				return Int(0)
			}
			return m.product(n-k+1, n, big.NewInt(1))
		}
	case "isqrt":
		return func(m *machine, args []Value, kw []keyword) Value {
			v, ok := integer(m.bind(name, args, kw, 1, "n/")[0])
			if !ok {
				raise(typeError, "an integer is required")
			}
			z := bigOf(v)
			if z.Sign() < 0 {
				raise(valueError, "isqrt() argument must be nonnegative")
			}
			m.words(z, z)
			return normal(new(big.Int).Sqrt(z))
		}
	}
	return nil
}

func comb(m *machine, args []Value, kw []keyword) Value {
	a := m.bind("comb", args, kw, 2, "n/", "k/")
	n, k := natural(a[0], "n"), natural(a[1], "k")
	if k > n {
		return Int(0)
	}
	k = min(k, n-k)
	num := bigOf(m.product(n-k+1, n, big.NewInt(1)))
	den := bigOf(m.product(2, k, big.NewInt(1)))
	m.words(num, den)
	return normal(new(big.Int).Quo(num, den))
}

// natural is a whole number that is not negative; beyond 64 bits no function
// that counts up to it ends.
func natural(v Value, what string) int {
	i, ok := integer(v)
	if !ok {
		raise(typeError, "'%s' object cannot be interpreted as an integer", className(v))
	}
	if bigOf(i).Sign() < 0 {
		raise(valueError, "%s must be a non-negative integer", what)
	}
	n, ok := smallInt(i)
	if !ok {
		raise(overflowError, "%s should not exceed %d", what, math.MaxInt)
	}
	return n
}

// product is from*(from+1)*...*to times z.
func (m *machine) product(from, to int, z *big.Int) Value {
	for i := from; i <= to; i++ {
		m.step(1)
		f := big.NewInt(int64(i))
		m.words(z, f)
		z.Mul(z, f)
	}
	return normal(z)
}

func gcdLcm(m *machine, name string, args []Value, kw []keyword) Value {
	noKeywords(name, kw)
	var out *big.Int
	for _, a := range args {
		i, ok := integer(a)
		if !ok {
			raise(typeError, "'%s' object cannot be interpreted as an integer", className(a))
		}
		z := new(big.Int).Abs(bigOf(i))
		if out == nil {
			out = z
			continue
		}
		m.words(out, z)
		m.step(times(len(out.Bits()), len(z.Bits())) >> 3)
		g := new(big.Int).GCD(nil, nil, out, z)
		if name == "lcm" && g.Sign() != 0 {
			g = new(big.Int).Mul(out, new(big.Int).Quo(z, g))
		}
		out = g
	}
	if out == nil {
		return Int(boolInt(name == "lcm"))
	}
	return normal(out)
}

// prod is prod(iterable, start=1).
func prod(m *machine, args []Value, kw []keyword) Value {
	a := m.bind("prod", args, kw, 1, "iterable/", "*start")
	total := a[1]
	if total == nil {
		total = Int(1)
	}
	m.each(a[0], func(v Value) bool {
		total = m.mul(total, v)
		return true
	})
	return total
}

// hypot is the root of the sum of squares, without loss on the way.
func hypot(m *machine, args []Value, kw []keyword) Value {
	noKeywords("hypot", kw)
	sum, nan := new(big.Float).SetPrec(2200), false
	inf := false
	for _, a := range args {
		m.step(8)
		x := realArg(a)
		if x != x || math.IsInf(x, 0) {
			nan, inf = nan || x != x, inf || math.IsInf(x, 0)
			continue
		}
		f := new(big.Float).SetPrec(2200).SetFloat64(x)
		sum.Add(sum, f.Mul(f, f))
	}
	switch {
	case inf:
		return Float(math.Inf(1))
	case nan:
		return m.float(math.NaN())
	}
	f, _ := sum.SetPrec(160).Sqrt(sum).Float64()
	return Float(f)
}

// fsum adds floats exactly and rounds once.
func fsum(m *machine, args []Value, kw []keyword) Value {
	a := m.bind("fsum", args, kw, 1, "seq/")
	sum := new(big.Float).SetPrec(2200)
	var special float64
	m.each(a[0], func(v Value) bool {
		m.step(8)
		x := realArg(v)
		if x-x != 0 {
			if math.IsInf(special, 0) && math.IsInf(x, 0) && special != x {
				raise(valueError, "-inf + inf in fsum")
			}
			special += x
			return true
		}
		sum.Add(sum, new(big.Float).SetFloat64(x))
		return true
	})
	if special != 0 {
		return m.float(special)
	}
	f, _ := sum.Float64()
	if math.IsInf(f, 0) {
		raise(overflowError, "intermediate overflow in fsum")
	}
	return Float(f)
}
