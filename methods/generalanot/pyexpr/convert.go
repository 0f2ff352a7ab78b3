package pyexpr

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode"
)

// constructor is what calling a class does, or nil.
func constructor(t *Type) function {
	switch t {
	case typeInt:
		return newInt
	case typeFloat:
		return newFloat
	case typeStr:
		return newStr
	case typeBool:
		return newBool
	case typeList, typeTuple, typeSet:
		return func(m *machine, args []Value, kw []keyword) Value { return newSequence(m, t, args, kw) }
	case typeDict:
		return newDict
	case typeRange:
		return newRange
	case typeMap, typeFilter, typeZip, typeEnum, typeReversed:
		return lazy(t)
	case typeDate:
		return newDate
	case typeDateTime:
		return newDateTime
	case typeDelta:
		return newDelta
	}
	return nil
}

func newInt(m *machine, args []Value, kw []keyword) Value {
	a := m.bind("int", args, kw, 0, "x/", "base")
	if a[0] == nil {
		if a[1] != nil {
			raise(typeError, "int() missing string argument")
		}
		return Int(0)
	}
	if a[1] != nil {
		base := intArg(a[1], 10)
		if base != 0 && (base < 2 || base > 36) {
			raise(valueError, "int() base must be >= 2 and <= 36, or 0")
		}
		s, ok := a[0].(Str)
		if !ok {
			raise(typeError, "int() can't convert non-string with explicit base")
		}
		return m.parseInt(string(s), base)
	}
	if i, ok := integer(a[0]); ok {
		return i
	}
	switch x := a[0].(type) {
	case Float:
		return truncate(float64(x))
	case Str:
		return m.parseInt(string(x), 10)
	}
	raise(typeError, "int() argument must be a string, a bytes-like object or a real number, not '%s'", className(a[0]))
	return nil
}

// truncate is a float without its fraction.
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

// asciiDigits replaces decimal digits of all scripts by ASCII ones and other
// spaces by plain ones, as int() and float() do.
func asciiDigits(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r < 0x80:
			return r
		case isSpace(r):
			return ' '
		case unicode.Is(unicode.Nd, r):
			return '0' + digitValue(r)
		}
		return r
	}, s)
}

// digitValue is the value of a decimal digit; their blocks begin at a zero.
func digitValue(r rune) rune {
	for d := rune(0); d < 10; d++ {
		if !unicode.Is(unicode.Nd, r-d-1) {
			return d % 10
		}
	}
	for _, t := range unicode.Nd.R16 { // blocks that touch each other
		if rune(t.Lo) <= r && r <= rune(t.Hi) {
			return (r - rune(t.Lo)) % 10
		}
	}
	for _, t := range unicode.Nd.R32 {
		if rune(t.Lo) <= r && r <= rune(t.Hi) {
			return (r - rune(t.Lo)) % 10
		}
	}
	return 0
}

// plainNumber strips underscores that stand between digits; it is false if
// one stands elsewhere.
func plainNumber(s string) (string, bool) {
	if !strings.ContainsRune(s, '_') {
		return s, true
	}
	word := func(c byte) bool { return c >= '0' && c <= '9' || lowerASCII(c) >= 'a' && lowerASCII(c) <= 'z' }
	for i := range len(s) {
		if s[i] == '_' && (i == 0 || i == len(s)-1 || !word(s[i-1]) || !word(s[i+1])) {
			return "", false
		}
	}
	return strings.ReplaceAll(s, "_", ""), true
}

func (m *machine) parseInt(s string, base int) Value {
	m.work(len(s))
	bad := func() { raise(valueError, "invalid literal for int() with base %d: %s", base, m.repr(Str(s))) }
	text := trimSpace(asciiDigits(s))
	negative := strings.HasPrefix(text, "-")
	if negative || strings.HasPrefix(text, "+") {
		text = text[1:]
	}
	text, base, based := cutBase(text, base)
	if based {
		text = strings.TrimPrefix(text, "_")
	}
	digits, ok := plainNumber(text)
	if !ok || digits == "" || digits[0] == '+' || digits[0] == '-' {
		bad()
	}
	if base == 0 {
		if base = 10; digits[0] == '0' && strings.Trim(digits, "0") != "" {
			bad()
		}
	}
	if len(digits) > maxDigits && base&(base-1) != 0 {
		raise(valueError, "Exceeds the limit (%d digits) for integer string conversion", maxDigits)
	}
	z, ok := new(big.Int).SetString(digits, base)
	if !ok {
		bad()
	}
	if negative {
		z.Neg(z)
	}
	return normal(z)
}

// cutBase cuts a prefix such as 0x that fits the base.
func cutBase(s string, base int) (rest string, b int, cut bool) {
	if len(s) < 2 || s[0] != '0' {
		return s, base, false
	}
	n := map[byte]int{'x': 16, 'o': 8, 'b': 2}[lowerASCII(s[1])]
	if n == 0 || base != 0 && base != n {
		return s, base, false
	}
	return s[2:], n, true
}

func newFloat(m *machine, args []Value, kw []keyword) Value {
	a := m.bind("float", args, kw, 0, "x/")
	if a[0] == nil {
		return Float(0)
	}
	if x, ok := a[0].(Float); ok {
		return x
	}
	if x, ok := toFloat(a[0]); ok {
		return Float(x)
	}
	s, ok := a[0].(Str)
	if !ok {
		raise(typeError, "float() argument must be a string or a real number, not '%s'", className(a[0]))
	}
	m.work(len(s))
	return m.float(m.parseFloat(string(s)))
}

func (m *machine) parseFloat(s string) float64 {
	text := strings.ToLower(trimSpace(asciiDigits(s)))
	bare := strings.TrimLeft(text, "+-")
	if len(text)-len(bare) <= 1 {
		switch bare {
		case "inf", "infinity":
			return math.Inf(1 - 2*boolInt(strings.HasPrefix(text, "-")))
		case "nan":
			return math.NaN()
		}
	}
	plain, ok := plainNumber(text)
	if !ok || strings.Trim(plain, "0123456789.+-e") != "" {
		raise(valueError, "could not convert string to float: %s", m.repr(Str(s)))
	}
	x, err := strconv.ParseFloat(plain, 64)
	if err != nil && !math.IsInf(x, 0) {
		raise(valueError, "could not convert string to float: %s", m.repr(Str(s)))
	}
	return x
}

func newStr(m *machine, args []Value, kw []keyword) Value {
	a := m.bind("str", args, kw, 0, "object")
	if a[0] == nil {
		return Str("")
	}
	if s, ok := a[0].(Str); ok {
		return s
	}
	return m.str(m.text(a[0]))
}

func newBool(m *machine, args []Value, kw []keyword) Value {
	a := m.bind("bool", args, kw, 0, "x/")
	return Bool(a[0] != nil && truth(a[0]))
}

func newSequence(m *machine, t *Type, args []Value, kw []keyword) Value {
	a := m.bind(t.name, args, kw, 0, "iterable/")
	var xs []Value
	if a[0] != nil {
		if same, ok := a[0].(*Tuple); ok && t == typeTuple {
			return same
		}
		if t == typeSet {
			return m.setOf(a[0])
		}
		xs = m.collect(a[0])
	}
	switch t {
	case typeList:
		return &List{xs}
	case typeTuple:
		return &Tuple{xs}
	}
	return new(Set)
}

func newDict(m *machine, args []Value, kw []keyword) Value {
	a := m.bind("dict", args, nil, 0, "mapping/")
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
	for _, k := range kw {
		d.put(m, Str(k.name), k.val)
	}
	return d
}

func newRange(m *machine, args []Value, kw []keyword) Value {
	a := m.bind("range", args, kw, 1, "start/", "stop/", "step/")
	r := &Range{0, 0, 1}
	if a[1] == nil {
		r.stop = int64(intArg(a[0], 0))
		return r
	}
	r.start, r.stop, r.step = int64(intArg(a[0], 0)), int64(intArg(a[1], 0)), int64(intArg(a[2], 1))
	if r.step == 0 {
		raise(valueError, "range() arg 3 must not be zero")
	}
	return r
}
