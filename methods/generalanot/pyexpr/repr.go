package pyexpr

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode"
)

// writer builds text and charges for it as it grows.
type writer struct {
	m *machine
	strings.Builder
}

func (w *writer) put(s string) {
	w.m.step(1)
	w.m.alloc(3 * len(s))
	w.WriteString(s)
}

func (m *machine) repr(v Value) string {
	if s, ok := v.(Str); ok {
		m.alloc(2 * len(s))
		return quote(string(s))
	}
	w := &writer{m: m}
	w.value(v)
	return w.String()
}

func (m *machine) text(v Value) string {
	switch x := v.(type) {
	case Str:
		return string(x)
	case *Date:
		return x.iso(" ")
	case *Delta:
		return x.text()
	}
	return m.repr(v)
}

func (w *writer) value(v Value) {
	w.m.step(1)
	switch x := v.(type) {
	case None:
		w.put("None")
	case Bool:
		w.put(map[bool]string{true: "True", false: "False"}[bool(x)])
	case Int:
		w.put(strconv.FormatInt(int64(x), 10))
	case *Big:
		w.put(bigText(x.v))
	case Float:
		w.put(floatRepr(float64(x)))
	case Str:
		w.put(quote(string(x)))
	case *List:
		w.list("[", x.items, "]")
	case *Tuple:
		w.list("(", x.items, map[bool]string{true: ",)", false: ")"}[len(x.items) == 1])
	case *Dict:
		if x.counter {
			w.counter(x)
			break
		}
		w.dict(x)
	case *Set:
		w.set(x)
	case *View:
		w.put(x.kind.name + "(")
		w.list("[", w.m.collect(x), "]")
		w.put(")")
	case *Range:
		w.put(strings.TrimSuffix(fmt.Sprintf("range(%d, %d, %d", x.start, x.stop, x.step), ", 1") + ")")
	case *Type:
		w.put("<class '" + x.name + "'>")
	case *Module:
		w.put("<module '" + x.name + "'>")
	case *Func:
		w.put("<built-in function " + x.name + ">")
	case *Match:
		span := x.runeSpan(0)
		w.m.work(len(x.whole))
		w.put(fmt.Sprintf("<re.Match object; span=(%d, %d), match=", span[0], span[1]))
		text := []rune(quote(x.part(0)))
		w.put(string(text[:min(len(text), 50)]) + ">") // CPython cuts it there too
	case *Date:
		w.put(x.repr())
	case *Delta:
		w.put(x.repr())
	default:
		w.put("<" + className(v) + " object>")
	}
}

func (w *writer) set(s *Set) {
	open, end := "{", "}"
	if s.frozen {
		open, end = "frozenset({", "})"
	}
	if len(s.d.entries) == 0 {
		w.put(s.class().name + "()")
		return
	}
	w.list(open, w.m.collect(s), end)
}

func (w *writer) list(open string, items []Value, end string) {
	w.put(open)
	for i, it := range items {
		if i > 0 {
			w.put(", ")
		}
		w.value(it)
	}
	w.put(end)
}

func (w *writer) dict(d *Dict) {
	w.put("{")
	for i, e := range d.entries {
		if i > 0 {
			w.put(", ")
		}
		w.value(e.key)
		w.put(": ")
		w.value(e.val)
	}
	w.put("}")
}

// bigText is an integer in decimals; like CPython it refuses a very long one,
// because that takes quadratic time.
func bigText(v *big.Int) string {
	if v.BitLen() > 14300 { // more than 4,300 digits for sure
		raise(valueError, "Exceeds the limit (%d digits) for integer string conversion", maxDigits)
	}
	s := v.String()
	if len(strings.TrimPrefix(s, "-")) > maxDigits {
		raise(valueError, "Exceeds the limit (%d digits) for integer string conversion", maxDigits)
	}
	return s
}

// floatRepr is the shortest text that reads back as x, with an exponent below
// 1e-4 and from 1e16 on.
func floatRepr(x float64) string {
	switch {
	case x != x:
		return "nan"
	case math.IsInf(x, 1):
		return "inf"
	case math.IsInf(x, -1):
		return "-inf"
	}
	if a := math.Abs(x); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(x, 'e', -1, 64)
	}
	s := strconv.FormatFloat(x, 'f', -1, 64)
	if !strings.ContainsRune(s, '.') {
		s += ".0"
	}
	return s
}

func quote(s string) string {
	q := byte('\'')
	if strings.ContainsRune(s, '\'') && !strings.ContainsRune(s, '"') {
		q = '"'
	}
	var b strings.Builder
	b.Grow(len(s) + 2)
	b.WriteByte(q)
	for _, r := range s {
		switch {
		case r == '\\' || r == rune(q):
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x7f && r >= ' ' || r > 0x7f && unicode.IsPrint(r):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	b.WriteByte(q)
	return b.String()
}

func (m *machine) convert(v Value, conv byte) Value {
	switch conv {
	case 'r':
		return Str(m.repr(v))
	case 's':
		return Str(m.text(v))
	}
	return v
}
