package pyexpr

import (
	"math/big"
)

// statisticsModule is what statistics holds, by name. Like CPython's it adds
// exactly and rounds once.
func statisticsModule() map[string]Value {
	out := map[string]Value{}
	add := func(b *builtin) { out[b.name] = b.value() }
	add(def("mean data", mean))
	add(def("fmean data", fmean))
	add(def("median data", func(m *machine, a []Value) Value {
		xs := m.data("median", 1, sorted(m, []Value{a[0], nil, nil}))
		if n := len(xs); n%2 == 0 {
			return operatorOf("/").apply(m, m.add(xs[n/2-1], xs[n/2]), Int(2))
		}
		return xs[len(xs)/2]
	}))
	add(def("mode data", func(m *machine, a []Value) Value {
		c := newCounter(m, []Value{&Iter{m.iter(a[0])}, new(Dict)}).(*Dict)
		return m.data("mode", 1, &List{m.mostCommon(c, Int(1))})[0].(*Tuple).items[0]
	}))
	for name, least := range map[string]int{"variance": 2, "pvariance": 1, "stdev": 2, "pstdev": 1} {
		add(def(name+" data", func(m *machine, a []Value) Value { return m.spread(name, least, a[0]) }))
	}
	return out
}

// data are the items of a list, of which there must be a least number.
func (m *machine) data(name string, least int, v Value) []Value {
	xs := v.(*List).items
	if len(xs) < least {
		raise(noDataError, "%s requires at least %d data points", name, least)
	}
	return xs
}

func fmean(m *machine, a []Value) Value {
	xs := m.collect(a[0])
	total := fsum(m, []Value{&List{xs}})
	return operatorOf("/").apply(m, total, Int(len(m.data("fmean", 1, &List{xs}))))
}

// exactSums are the sum of numbers and that of their squares, both exact. What is
// not finite goes into a sum of its own, as in CPython.
type exactSums struct {
	sum, squares big.Rat // of the integers, and then of all
	special      Value   // the sum of infinities and nans, or nil
	float        bool    // one of the numbers is a float
	n            int
}

func (m *machine) exactSums(v Value) *exactSums {
	s := new(exactSums)
	floats, squares := exact(), exact()
	m.each(v, func(x Value) bool {
		s.n++
		f, isFloat := x.(Float)
		i, isInt := integer(x)
		s.float = s.float || isFloat
		switch {
		case isInt:
			z := bigOf(i)
			m.step(1)
			m.words(z, z)
			s.sum.Num().Add(s.sum.Num(), z)
			s.squares.Num().Add(s.squares.Num(), new(big.Int).Mul(z, z))
		case !isFloat:
			raise(typeError, "can't convert type '%s' to numerator/denominator", className(x))
		case f-f == 0:
			m.step(10)
			z := exact().SetFloat64(float64(f))
			floats.Add(floats, z)
			squares.Add(squares, z.Mul(z, z))
		case s.special == nil:
			s.special = f
		default:
			s.special = m.add(s.special, f)
		}
		return true
	})
	r, _ := floats.Rat(nil)
	s.sum.Add(&s.sum, r)
	r, _ = squares.Rat(nil)
	s.squares.Add(&s.squares, r)
	return s
}

// number is a result in the type of the data: of integers an integer if it is
// one.
func (s *exactSums) number(m *machine, r *big.Rat) Value {
	if !s.float && r.IsInt() {
		return normal(new(big.Int).Set(r.Num()))
	}
	return divInts(m, r.Num(), r.Denom())
}

func mean(m *machine, a []Value) Value {
	s := m.exactSums(a[0])
	if s.n < 1 {
		raise(noDataError, "mean requires at least one data point")
	}
	if s.special != nil {
		return operatorOf("/").apply(m, s.special, Int(s.n))
	}
	return s.number(m, s.sum.Quo(&s.sum, new(big.Rat).SetInt64(int64(s.n))))
}

// spread is the variance or the standard deviation of a sample, which needs
// two numbers, or of all there are.
func (m *machine) spread(name string, least int, v Value) Value {
	s := m.exactSums(v)
	if s.n < least {
		raise(noDataError, "%s requires at least %d data points", name, least)
	}
	root := name == "stdev" || name == "pstdev"
	switch {
	case s.special != nil && root:
		raise(attributeError, "'float' object has no attribute 'numerator': the data are not finite")
	case s.special != nil:
		return operatorOf("/").apply(m, s.special, Int(s.n+1-least))
	}
	n := new(big.Rat).SetInt64(int64(s.n))
	square := new(big.Rat).Mul(&s.sum, &s.sum)
	r := s.squares.Sub(&s.squares, square.Quo(square, n))
	r.Quo(r, n.SetInt64(int64(s.n+1-least)))
	if root {
		return rootOf(m, r.Num(), r.Denom())
	}
	return s.number(m, r)
}

// rootOf is the square root of x/y, rounded once: the root in more bits than
// a float has, the last of them set if it is not exact.
func rootOf(m *machine, x, y *big.Int) Value {
	const bits = 2*53 + 3
	shift := (x.BitLen() - y.BitLen() - bits) >> 1
	m.words(x, y)
	num, den := new(big.Int).Set(x), new(big.Int).Set(y)
	if shift >= 0 {
		den.Lsh(den, uint(2*shift))
	} else {
		num.Lsh(num, uint(-2*shift))
	}
	root := new(big.Int).Quo(num, den)
	root.Sqrt(root)
	if new(big.Int).Mul(new(big.Int).Mul(root, root), den).Cmp(num) != 0 {
		root.SetBit(root, 0, 1)
	}
	if shift >= 0 {
		return divInts(m, root.Lsh(root, uint(shift)), big.NewInt(1))
	}
	return divInts(m, root, new(big.Int).Lsh(big.NewInt(1), uint(-shift)))
}
