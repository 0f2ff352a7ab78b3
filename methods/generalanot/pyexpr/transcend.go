package pyexpr

import "math"

// C's exp, log and pow are right to the last bit almost always; Go's are not.
// So those three are computed here in pairs of floats, about 100 bits, and
// rounded once. A result differs from CPython's where the C library itself
// rounds wrongly, about one time in a thousand.

// double is hi+lo with |lo| at most half a unit in the last place of hi.
type double struct{ hi, lo float64 }

func twoSum(a, b float64) double {
	s := a + b
	t := s - a
	return double{s, (a - (s - t)) + (b - t)}
}

func twoProd(a, b float64) double {
	p := a * b
	return double{p, math.FMA(a, b, -p)}
}

func (a double) add(b double) double {
	s := twoSum(a.hi, b.hi)
	t := twoSum(a.lo, b.lo)
	s = twoSum(s.hi, s.lo+t.hi)
	return twoSum(s.hi, s.lo+t.lo)
}

func (a double) mul(b double) double {
	p := twoProd(a.hi, b.hi)
	return twoSum(p.hi, p.lo+(float64(a.hi*b.lo)+float64(a.lo*b.hi)))
}

func (a double) div(b double) double {
	q := a.hi / b.hi
	r := a.add(b.mul(double{-q, 0}))
	q2 := r.hi / b.hi
	r = r.add(b.mul(double{-q2, 0}))
	return twoSum(q, q2).add(double{r.hi / b.hi, 0})
}

var ln2 = double{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56}

// ln2Tail continues ln2, for arguments whose reduction takes many of it.
const ln2Tail = 0x1.7b57a079a1934p-111

// expPair is e to the x as m*2**n, m within a factor of two of 1.
func expPair(x double) (m double, n int) {
	k := math.Round(x.hi / ln2.hi)
	r := x.add(twoProd(-k, ln2.hi)).add(twoProd(-k, ln2.lo)).add(double{-k * ln2Tail, 0})
	const halvings = 6 // the series is taken of r/64 and squared six times
	r = double{math.Ldexp(r.hi, -halvings), math.Ldexp(r.lo, -halvings)}
	sum := double{} // e**r - 1 keeps the bits that adding 1 would lose
	for i := 14; i >= 1; i-- {
		sum = r.mul(sum.add(double{1, 0})).div(double{float64(i), 0})
	}
	for range halvings { // (1+s)**2 - 1 = 2s + s*s
		sum = double{2 * sum.hi, 2 * sum.lo}.add(sum.mul(sum))
	}
	return sum.add(double{1, 0}), int(k)
}

func logPair(x float64) double {
	frac, n := math.Frexp(x)
	if frac < math.Sqrt2/2 {
		frac, n = frac*2, n-1
	}
	y := double{math.Log(frac), 0}
	for range 2 { // Newton: y += frac*e**-y - 1, to second order
		e, k := expPair(double{-y.hi, -y.lo})
		e = double{math.Ldexp(e.hi, k), math.Ldexp(e.lo, k)}
		d := e.mul(double{frac, 0}).add(double{-1, 0})
		half := d.mul(d)
		y = y.add(d).add(double{-half.hi / 2, -half.lo / 2})
	}
	return y.add(twoProd(float64(n), ln2.hi)).add(twoProd(float64(n), ln2.lo))
}

// smallest is the least float that is not subnormal.
const smallest = 0x1p-1022

// scale is m*2**n, rounded once.
func scale(m double, n int) float64 {
	if r := math.Ldexp(m.hi, n); r >= smallest || m.lo == 0 {
		return r
	}
	odd := m.hi // a subnormal result rounds again: so make the first rounding odd
	if math.Float64bits(odd)&1 == 0 {
		odd = math.Nextafter(odd, math.Copysign(math.Inf(1), m.lo))
	}
	return math.Ldexp(odd, n)
}

func exponential(x float64) float64 {
	switch {
	case x != x || math.IsInf(x, 1):
		return x
	case x > 710:
		return math.Inf(1)
	case x < -750:
		return 0
	case x == 0:
		return 1
	}
	return scale(expPair(double{x, 0}))
}

func logarithm(x float64) float64 {
	if x <= 0 || x != x || math.IsInf(x, 1) || x == 1 {
		return math.Log(x)
	}
	return logPair(x).hi
}

// power is C's pow: special values as Go has them, too.
func power(x, y float64) float64 {
	switch {
	case x == 1 || y == 0:
		return 1
	case x == 0 || x != x || y != y || math.IsInf(x, 0) || math.IsInf(y, 0) || x < 0 && y != math.Trunc(y):
		return math.Pow(x, y)
	case y == 1:
		return x
	}
	sign := 1.0
	if x < 0 && math.Mod(y, 2) != 0 {
		sign = -1
	}
	l := logPair(math.Abs(x)).mul(double{y, 0})
	switch {
	case l.hi > 710:
		return sign * math.Inf(1)
	case l.hi < -750:
		return sign * 0
	}
	return sign * scale(expPair(l))
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
