package pyexpr

import (
	"math"
	"math/big"
	"strconv"
)

// builtin is the value of a builtin name, or nil.
func builtin(name string) Value {
	switch name {
	case "int":
		return typeInt
	case "float":
		return typeFloat
	case "str":
		return typeStr
	case "bool":
		return typeBool
	case "list":
		return typeList
	case "tuple":
		return typeTuple
	case "dict":
		return typeDict
	case "set":
		return typeSet
	case "range":
		return typeRange
	case "map":
		return typeMap
	case "filter":
		return typeFilter
	case "zip":
		return typeZip
	case "enumerate":
		return typeEnum
	case "reversed":
		return typeReversed
	case "date":
		return typeDate
	case "datetime":
		return typeDateTime
	case "timedelta":
		return typeDelta
	case "math":
		return &Module{"math"}
	}
	if fn := builtinFunc(name); fn != nil {
		return &Func{name, fn}
	}
	switch name {
	case "log", "log10", "exp", "sqrt", "floor", "ceil":
		return &Func{name, mathFunc(name)}
	}
	return nil
}

func builtinFunc(name string) function {
	switch name {
	case "sum":
		return sum
	case "min", "max":
		return func(m *machine, args []Value, kw []keyword) Value { return extreme(m, name, args, kw) }
	case "len":
		return lenOf
	case "abs":
		return absOf
	case "round":
		return round
	case "sorted":
		return sorted
	case "any":
		return func(m *machine, args []Value, kw []keyword) Value { return anyAll(m, name, true, args, kw) }
	case "all":
		return func(m *machine, args []Value, kw []keyword) Value { return anyAll(m, name, false, args, kw) }
	case "isinstance":
		return isInstance
	case "divmod":
		return func(m *machine, args []Value, kw []keyword) Value {
			a := m.bind("divmod", args, kw, 2, "x/", "y/")
			return m.divmod(a[0], a[1])
		}
	case "pow":
		return func(m *machine, args []Value, kw []keyword) Value {
			a := m.bind("pow", args, kw, 2, "base", "exp", "mod")
			if isNone(a[2]) {
				return m.pow(a[0], a[1])
			}
			return m.powMod(a[0], a[1], a[2])
		}
	}
	return nil
}

func lenOf(m *machine, args []Value, kw []keyword) Value {
	a := m.bind("len", args, kw, 1, "obj/")
	if s, ok := a[0].(Str); ok {
		m.work(len(s))
	}
	n, ok := length(a[0])
	if !ok {
		raise(typeError, "object of type '%s' has no len()", className(a[0]))
	}
	return Int(n)
}

func absOf(m *machine, args []Value, kw []keyword) Value {
	a := m.bind("abs", args, kw, 1, "x/")
	if i, ok := integer(a[0]); ok {
		if n, ok := i.(Int); ok && n >= 0 {
			return n
		}
		return normal(new(big.Int).Abs(bigOf(i)))
	}
	switch x := a[0].(type) {
	case Float:
		return Float(math.Abs(float64(x)))
	case *Delta:
		if x.days < 0 {
			return x.times(-1)
		}
		return x
	}
	raise(typeError, "bad operand type for abs(): '%s'", className(a[0]))
	return nil
}

func anyAll(m *machine, name string, want bool, args []Value, kw []keyword) Value {
	a := m.bind(name, args, kw, 1, "iterable/")
	found := false
	m.each(a[0], func(v Value) bool {
		found = truth(v) == want
		return !found
	})
	return Bool(found == want)
}

// sum adds as CPython 3.11 does: in machine integers while it can, then in
// plain floats (3.12 began to compensate), else with "+".
func sum(m *machine, args []Value, kw []keyword) Value {
	a := m.bind("sum", args, kw, 1, "iterable/", "start")
	total := a[1]
	if total == nil {
		total = Int(0)
	}
	if _, ok := total.(Str); ok {
		raise(typeError, "sum() can't sum strings [use ''.join(seq) instead]")
	}
	it := m.iter(a[0])
	v, ok := it.next(m)
	if n, isInt := total.(Int); isInt && ok {
		total, v, ok = m.sumInts(it, int64(n), v)
	}
	if _, isFloat := v.(Float); isFloat && ok {
		total = m.add(total, v)
		v, ok = it.next(m)
	}
	if x, isFloat := total.(Float); isFloat && ok {
		total, v, ok = m.sumFloats(it, float64(x), v)
	}
	for ; ok; v, ok = it.next(m) {
		m.step(1)
		total = m.add(total, v)
	}
	return total
}

// sumInts adds v and what follows it for as long as that is a machine
// integer. It returns the sum and the first value that is not in it, if any.
func (m *machine) sumInts(it iterator, sum int64, v Value) (Value, Value, bool) {
	for ok := true; ok; v, ok = it.next(m) {
		n, isInt := v.(Int)
		if b, isBool := v.(Bool); isBool {
			n, isInt = Int(boolInt(bool(b))), true
		}
		next := sum + int64(n)
		if !isInt || (next > sum) != (n > 0) {
			return Int(sum), v, true
		}
		m.step(1)
		sum = next
	}
	return Int(sum), nil, false
}

// sumFloats is sumInts for floats, which take machine integers too.
func (m *machine) sumFloats(it iterator, sum float64, v Value) (Value, Value, bool) {
	for ok := true; ok; v, ok = it.next(m) {
		switch x := v.(type) {
		case Float:
			sum += float64(x)
		case Int:
			sum += float64(x)
		default:
			return m.float(sum), v, true
		}
		m.step(1)
	}
	return m.float(sum), nil, false
}

// extreme is min or max.
func extreme(m *machine, name string, args []Value, kw []keyword) Value {
	a := m.bind(name, nil, kw, 0, "*key", "*default")
	if len(args) == 0 {
		raise(typeError, "%s expected at least 1 argument, got 0", name)
	}
	var from Value = &List{args}
	if len(args) == 1 {
		from = args[0]
	} else if a[1] != nil {
		raise(typeError, "Cannot specify a default for %s() with multiple positional arguments", name)
	}
	op := map[string]string{"min": "<", "max": ">"}[name]
	var best, bestKey Value
	m.each(from, func(v Value) bool {
		k := v
		if !isNone(a[0]) {
			k = m.call(a[0], []Value{v}, nil)
		}
		if best == nil || m.order(op, k, bestKey) {
			best, bestKey = v, k
		}
		return true
	})
	if best == nil {
		if best = a[1]; best == nil {
			raise(valueError, "%s() arg is an empty sequence", name)
		}
	}
	return best
}

func isInstance(m *machine, args []Value, kw []keyword) Value {
	a := m.bind("isinstance", args, kw, 2, "obj/", "class/")
	return Bool(m.instance(a[0], a[1]))
}

func (m *machine) instance(v, of Value) bool {
	m.step(1)
	switch t := of.(type) {
	case *Type:
		return v.class().is(t)
	case *Tuple:
		for _, one := range t.items {
			if m.instance(v, one) {
				return true
			}
		}
		return false
	}
	raise(typeError, "isinstance() arg 2 must be a type, a tuple of types, or a union")
	return false
}

// round is half to even, on the exact value of a float.
func round(m *machine, args []Value, kw []keyword) Value {
	a := m.bind("round", args, kw, 1, "number", "ndigits")
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
	n, ok := integer(a[1])
	if !ok {
		raise(typeError, "'%s' object cannot be interpreted as an integer", className(a[1]))
	}
	digits, ok := smallInt(n)
	if !ok {
		digits = bigOf(n).Sign() * math.MaxInt32
	}
	return m.roundFloat(float64(x), digits)
}

func (m *machine) roundFloat(x float64, digits int) Value {
	switch {
	case x != x || math.IsInf(x, 0) || digits > 323:
		return Float(x)
	case digits < -308:
		return Float(math.Copysign(0, x))
	case digits >= 0:
		f, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'f', digits, 64), 64)
		return Float(f)
	}
	z, _ := big.NewFloat(x).Int(nil)
	frac := x != math.Trunc(x)
	r := roundTens(z, -digits, frac)
	f, _ := new(big.Float).SetInt(r).Float64()
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
	quo, rem := new(big.Int).QuoRem(z, unit, new(big.Int))
	c := new(big.Int).Lsh(rem.Abs(rem), 1).Cmp(unit)
	if c > 0 || c == 0 && (frac || quo.Bit(0) == 1) {
		quo.Add(quo, big.NewInt(int64(z.Sign())))
	}
	return quo.Mul(quo, unit)
}
