package pyexpr

import (
	"math"
	"math/big"
)

// integerFuncs are the functions of math over integers, and over many values.
func integerFuncs() []*builtin {
	return []*builtin{
		def("gcd integers...", func(m *machine, a []Value) Value { return gcdLcm(m, false, a) }),
		def("lcm integers...", func(m *machine, a []Value) Value { return gcdLcm(m, true, a) }),
		def("factorial x/", func(m *machine, a []Value) Value { return normal(m.product(2, natural(a[0]))) }),
		def("comb n/ k/", comb),
		def("perm n/ k?/", func(m *machine, a []Value) Value {
			n := natural(a[0])
			if isNone(a[1]) {
				return normal(m.product(2, n))
			}
			k := natural(a[1])
			if k > n {
				return Int(0)
			}
			return normal(m.product(n-k+1, n))
		}),
		def("isqrt n/", func(m *machine, a []Value) Value {
			z := bigOf(integerArg(a[0]))
			if z.Sign() < 0 {
				raise(valueError, "isqrt() argument must be nonnegative")
			}
			m.words(z, z)
			return normal(new(big.Int).Sqrt(z))
		}),
		def("prod iterable/ *start?", func(m *machine, a []Value) Value {
			total, times := a[1], operatorOf("*")
			if total == nil {
				total = Int(1)
			}
			m.each(a[0], func(v Value) bool {
				total = times.apply(m, total, v)
				return true
			})
			return total
		}),
		def("hypot coordinates...", hypot),
		def("fsum seq/", fsum),
	}
}

func comb(m *machine, a []Value) Value {
	n, k := natural(a[0]), natural(a[1])
	if k > n {
		return Int(0)
	}
	k = min(k, n-k)
	num, den := m.product(n-k+1, n), m.product(2, k)
	m.words(num, den)
	return normal(num.Quo(num, den))
}

// natural is a whole number that is not negative; beyond 64 bits no function
// that counts up to it ends.
func natural(v Value) int {
	i := integerArg(v)
	if bigOf(i).Sign() < 0 {
		raise(valueError, "the argument must be a non-negative integer")
	}
	n, ok := smallInt(i)
	if !ok {
		raise(overflowError, "the argument must not exceed %d", math.MaxInt)
	}
	return n
}

func (m *machine) product(from, to int) *big.Int {
	z := big.NewInt(1)
	for i := from; i <= to; i++ {
		m.step(1)
		f := big.NewInt(int64(i))
		m.words(z, f)
		z.Mul(z, f)
	}
	return z
}

func gcdLcm(m *machine, lcm bool, a []Value) Value {
	out := big.NewInt(int64(boolInt(lcm)))
	for _, v := range a {
		z := new(big.Int).Abs(bigOf(integerArg(v)))
		m.words(out, z)
		m.step(times(len(out.Bits()), len(z.Bits())) >> 3)
		g := new(big.Int).GCD(nil, nil, out, z)
		if lcm && g.Sign() != 0 {
			g = new(big.Int).Mul(out, z.Quo(z, g))
		}
		out = g
	}
	return normal(out)
}

// exact is room for a sum of floats or of their squares without rounding.
func exact() *big.Float { return new(big.Float).SetPrec(4400) }

// hypot is the root of the sum of squares, without loss on the way.
func hypot(m *machine, a []Value) Value {
	sum, special := exact(), 0.0
	for _, v := range a {
		m.step(8)
		if x := math.Abs(realArg(v)); x-x == 0 {
			f := exact().SetFloat64(x)
			sum.Add(sum, f.Mul(f, f))
		} else if !math.IsInf(special, 0) { // infinity outweighs not-a-number
			special = x
		}
	}
	if special != 0 {
		return m.float(special)
	}
	f, _ := sum.SetPrec(160).Sqrt(sum).Float64()
	return Float(f)
}

func fsum(m *machine, a []Value) Value {
	sum, special := exact(), 0.0
	m.each(a[0], func(v Value) bool {
		m.step(8)
		x := realArg(v)
		if x-x == 0 {
			sum.Add(sum, new(big.Float).SetFloat64(x))
			return true
		}
		if math.IsInf(special, 0) && math.IsInf(x, 0) && special != x {
			raise(valueError, "-inf + inf in fsum")
		}
		special += x
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
