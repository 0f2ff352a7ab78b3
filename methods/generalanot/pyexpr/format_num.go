package pyexpr

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

// formatInt formats an integer; float types convert it first.
func (m *machine) formatInt(v Value, f formatSpec) string {
	if f.verb != 0 && strings.IndexByte("eEfFgG%", f.verb) >= 0 {
		x, _ := toFloat(v)
		return m.formatFloat(x, f)
	}
	switch {
	case f.verb != 0 && strings.IndexByte("bcdnoxX", f.verb) < 0:
		raise(valueError, "Unknown format code '%c' for object of type 'int'", f.verb)
	case f.prec >= 0:
		raise(valueError, "Precision not allowed in integer format specifier")
	case f.z:
		raise(valueError, "Negative zero coercion (z) not allowed in format specifier with integer")
	}
	if f.verb == 'c' {
		return m.formatChar(v, f)
	}
	z := bigOf(v)
	digits, prefix := intDigits(new(big.Int).Abs(z), f.verb)
	m.alloc(3 * len(digits))
	if !f.alt {
		prefix = ""
	}
	return m.padNumber(signOf(z.Sign() < 0, f.sign)+prefix, digits, "", f)
}

// intDigits are the digits of z for a verb, and the prefix that # asks for.
func intDigits(z *big.Int, verb byte) (digits, prefix string) {
	switch verb {
	case 'b':
		return z.Text(2), "0b"
	case 'o':
		return z.Text(8), "0o"
	case 'x':
		return z.Text(16), "0x"
	case 'X':
		return strings.ToUpper(z.Text(16)), "0X"
	}
	return bigText(z), ""
}

func (m *machine) formatChar(v Value, f formatSpec) string {
	if f.sign != '-' || f.alt {
		raise(valueError, "Sign and alternate form (#) not allowed with integer format specifier 'c'")
	}
	n, ok := smallInt(v)
	if !ok || n < 0 || n > utf8.MaxRune {
		raise(overflowError, "%%c arg not in range(0x110000)")
	}
	if f.align == 0 {
		f.align = '>'
	}
	return m.pad("", string(rune(n)), f)
}

func signOf(negative bool, sign byte) string {
	switch {
	case negative:
		return "-"
	case sign == '-':
		return ""
	}
	return string(sign)
}

// padNumber groups the digits and pads; tail is what follows them.
func (m *machine) padNumber(head, digits, tail string, f formatSpec) string {
	zeros := f.fill == '0' && (f.align == '=' || f.align == '0')
	if f.group != 0 {
		width := 0
		if zeros {
			width = f.width - utf8.RuneCountInString(head) - utf8.RuneCountInString(tail)
			m.alloc(2 * max(width, 0))
		}
		size := 3
		if strings.IndexByte("boxX", f.verb) >= 0 && f.verb != 0 {
			size = 4
		}
		digits = group(digits, f.group, size, width)
	}
	if f.align == 0 {
		f.align = '>'
	}
	return m.pad(head, digits+tail, f)
}

// group puts sep between every size digits, with leading zeros up to width.
func group(digits string, sep byte, size, width int) string {
	var parts []string
	for rest := digits; ; {
		n := min(size, max(len(rest), width, 1))
		take := min(n, len(rest))
		parts = append(parts, strings.Repeat("0", n-take)+rest[len(rest)-take:])
		rest = rest[:len(rest)-take]
		if width -= n; rest == "" && width <= 0 {
			break
		}
		width--
	}
	var b strings.Builder
	for i := len(parts) - 1; i >= 0; i-- {
		b.WriteString(parts[i])
		if i > 0 {
			b.WriteByte(sep)
		}
	}
	return b.String()
}

// formatFloat formats a float.
func (m *machine) formatFloat(x float64, f formatSpec) string {
	if f.verb != 0 && strings.IndexByte("eEfFgGn%", f.verb) < 0 {
		raise(valueError, "Unknown format code '%c' for object of type 'float'", f.verb)
	}
	if f.prec > math.MaxInt32 {
		raise(valueError, "precision too big")
	}
	m.alloc(4*max(f.prec, 0) + 64)
	body := m.floatBody(math.Abs(x), f)
	negative := math.Signbit(x) && x == x
	if f.z && negative && strings.Trim(body, "0.eE+-%") == "" {
		negative = false
	}
	digits, tail := body, ""
	if i := strings.IndexFunc(body, func(r rune) bool { return r < '0' || r > '9' }); i >= 0 {
		digits, tail = body[:i], body[i:]
	}
	if digits == "" { // inf and nan have nothing to group
		f.group = 0
	}
	return m.padNumber(signOf(negative, f.sign), digits, tail, f)
}

// floatBody is |x| without sign and padding.
func (m *machine) floatBody(x float64, f formatSpec) string {
	verb, prec := f.verb, f.prec
	if verb == '%' {
		x *= 100
	}
	if math.IsInf(x, 0) || x != x {
		s := map[bool]string{true: "nan", false: "inf"}[x != x]
		if verb >= 'A' && verb <= 'Z' {
			s = strings.ToUpper(s)
		}
		if verb == '%' {
			s += "%"
		}
		return s
	}
	if verb == 0 && prec < 0 {
		return altRepr(x, f.alt)
	}
	if prec < 0 {
		prec = 6
	}
	var s string
	switch verb {
	case 'f', 'F', '%':
		s = strconv.FormatFloat(x, 'f', prec, 64)
		if f.alt && prec == 0 {
			s += "."
		}
	case 'e', 'E':
		s = exponentText(x, prec, f.alt)
	default:
		s = general(x, max(prec, 1), f.alt, verb == 0)
	}
	if verb == 'E' || verb == 'G' {
		s = strings.ToUpper(s)
	}
	if verb == '%' {
		s += "%"
	}
	return s
}

// altRepr is repr, with a decimal point in 1e+16 where # asks for one.
func altRepr(x float64, alt bool) string {
	s := floatRepr(x)
	if alt && !strings.ContainsRune(s, '.') {
		s = strings.Replace(s, "e", ".e", 1)
	}
	return s
}

func exponentText(x float64, prec int, alt bool) string {
	s := strconv.FormatFloat(x, 'e', prec, 64)
	if alt && prec == 0 {
		s = strings.Replace(s, "e", ".e", 1)
	}
	return s
}

// general is the type g: prec significant digits, an exponent where it is
// shorter. Without a type a float always shows a decimal.
func general(x float64, prec int, alt, dot bool) string {
	s := strconv.FormatFloat(x, 'e', prec-1, 64)
	mant, expText, _ := strings.Cut(s, "e")
	exp, _ := strconv.Atoi(expText)
	limit := prec
	if dot {
		limit--
	}
	if exp < -4 || exp >= limit {
		if !alt {
			mant = trimZeros(mant)
		} else if !strings.ContainsRune(mant, '.') {
			mant += "."
		}
		return fmt.Sprintf("%se%+03d", mant, exp)
	}
	s = strconv.FormatFloat(x, 'f', max(prec-1-exp, 0), 64)
	if !alt {
		s = trimZeros(s)
	} else if !strings.ContainsRune(s, '.') {
		s += "."
	}
	if dot && strings.HasSuffix(s, ".") {
		s += "0"
	} else if dot && !strings.ContainsRune(s, '.') {
		s += ".0"
	}
	return s
}

func trimZeros(s string) string {
	if !strings.ContainsRune(s, '.') {
		return s
	}
	return strings.TrimRight(strings.TrimRight(s, "0"), ".")
}
