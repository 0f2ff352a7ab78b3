package pyexpr

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

func newInt(m *machine, a []Value) Value {
	if a[0] == nil {
		return Int(0)
	}
	if i, ok := integer(a[0]); ok {
		return i
	}
	switch x := a[0].(type) {
	case Float:
		return truncate(float64(x))
	case Str:
		return m.parseInt(string(x))
	}
	raise(typeError, "int() argument must be a string or a real number, not '%s'", className(a[0]))
	return nil
}

func truncate(x float64) Value {
	if x != x {
		raise(valueError, "cannot convert float NaN to integer")
	}
	if math.IsInf(x, 0) {
		raise(overflowError, "cannot convert float infinity to integer")
	}
	z, _ := big.NewFloat(x).Int(nil)
	return normal(z)
}

func (m *machine) parseInt(s string) Value {
	m.work(len(s))
	text := strings.TrimFunc(s, isSpace)
	digits := strings.TrimPrefix(strings.TrimPrefix(text, "-"), "+")
	if digits == "" || strings.Trim(digits, decimals) != "" || len(text)-len(digits) > 1 {
		raise(valueError, "invalid literal for int(): %s", m.repr(Str(s)))
	}
	if len(digits) > maxDigits {
		raise(valueError, "Exceeds the limit (%d digits) for integer string conversion", maxDigits)
	}
	z, _ := new(big.Int).SetString(text, 10)
	return normal(z)
}

func newFloat(m *machine, a []Value) Value {
	if a[0] == nil {
		return Float(0)
	}
	if x, ok := toFloat(a[0]); ok {
		return m.float(x)
	}
	s, ok := a[0].(Str)
	if !ok {
		raise(typeError, "float() argument must be a string or a real number, not '%s'", className(a[0]))
	}
	m.work(8 * len(s))
	text := strings.TrimFunc(string(s), isSpace)
	x, err := strconv.ParseFloat(text, 64) // out of range is infinity, as in Python
	if err != nil && !math.IsInf(x, 0) || strings.ContainsAny(text, "xX_") {
		raise(valueError, "could not convert string to float: %s", m.repr(s))
	}
	return m.float(x)
}

func newStr(m *machine, a []Value) Value {
	switch x := a[0].(type) {
	case nil:
		return Str("")
	case Str:
		return x
	}
	return m.str(m.text(a[0]))
}

func (m *machine) collectArg(v Value) []Value {
	if v == nil {
		return nil
	}
	return m.collect(v)
}

func newList(m *machine, a []Value) Value { return &List{m.collectArg(a[0])} }

func newTuple(m *machine, a []Value) Value {
	if t, ok := a[0].(*Tuple); ok {
		return t
	}
	return &Tuple{items: m.collectArg(a[0])}
}

func newSet(m *machine, a []Value) Value {
	if a[0] == nil {
		return new(Set)
	}
	return m.setOf(a[0])
}

func newFrozen(m *machine, a []Value) Value {
	if s, ok := a[0].(*Set); ok {
		return &Set{d: s.d, frozen: true}
	}
	s := newSet(m, a).(*Set)
	s.frozen = true
	return s
}

func fromKeys(m *machine, a []Value) Value {
	d := new(Dict)
	m.each(a[0], func(k Value) bool {
		d.put(m, k, orNone(a[1]))
		return true
	})
	return d
}

func newDict(m *machine, a []Value) Value {
	d := new(Dict)
	switch x := a[0].(type) {
	case nil:
	case *Dict:
		d.addAll(m, x)
	default:
		m.each(x, func(item Value) bool {
			if _, ok := m.tryIter(item); !ok {
				raise(typeError, "cannot convert dictionary update sequence element to a sequence")
			}
			kv := m.collect(item)
			if len(kv) != 2 {
				raise(valueError, "dictionary update sequence element has length %d; 2 is required", len(kv))
			}
			d.put(m, kv[0], kv[1])
			return true
		})
	}
	d.addAll(m, a[1].(*Dict))
	return d
}

func newRange(m *machine, a []Value) Value {
	r := &Range{0, int64(intArg(a[0], 0)), 1}
	if a[1] == nil {
		return r
	}
	r.start, r.stop, r.step = r.stop, int64(intArg(a[1], 0)), int64(intArg(a[2], 1))
	if r.step == 0 {
		raise(valueError, "range() arg 3 must not be zero")
	}
	return r
}
