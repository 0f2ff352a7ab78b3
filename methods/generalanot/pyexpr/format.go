package pyexpr

import (
	"cmp"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// formatSpec is a parsed format specification. f-strings, str.format and zfill
// all come down to it.
type formatSpec struct {
	fill  rune
	align byte // '<', '>', '^', '=', or 0 for the type's own
	sign  string
	zero  bool // zeros fill a number behind its sign, unless align says otherwise
	width int
	group string
	prec  int // -1 where there is none
	verb  string
}

// specForm is [[fill]align][sign][0][width][grouping][.precision][type].
var specForm = regexp.MustCompile(`(?s)^(?:(.)?([<>=^]))?([-+ ])?(0)?(\d*)([,_])?(?:\.(\d+))?([defg%s])?$`)

func parseSpec(s string) formatSpec {
	p := specForm.FindStringSubmatch(s)
	if p == nil {
		raise(valueError, "Invalid or unsupported format specifier %s: want [[fill]align][sign][0][width][,][.precision][type]", quote(s))
	}
	f := formatSpec{fill: ' ', sign: p[3], zero: p[4] != "" && p[1] == "", group: p[6], prec: -1, verb: p[8]}
	if p[1] != "" {
		f.fill, _ = utf8.DecodeRuneInString(p[1])
	} else if f.zero {
		f.fill = '0'
	}
	if p[2] != "" {
		f.align = p[2][0]
	}
	f.width = specNumber(p[5])
	if p[7] != "" {
		f.prec = specNumber(p[7])
	}
	return f
}

func specNumber(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil && s != "" {
		raise(valueError, "Too many decimal digits in format string")
	}
	return n
}

func (m *machine) format(v Value, spec string) string {
	if spec == "" {
		return m.text(v)
	}
	if d, ok := v.(*Date); ok {
		return m.strftime(d, spec)
	}
	switch v.(type) {
	case Str, Int, Bool, *Big, Float:
		m.step(8)
		return m.formatAs(v, parseSpec(spec))
	}
	raise(typeError, "unsupported format string passed to %s.__format__", className(v))
	return ""
}

func formatOf(m *machine, a []Value) Value {
	if a[1] == nil {
		a[1] = Str("")
	}
	return m.str(m.format(a[0], strArg(a[1])))
}

func (m *machine) formatAs(v Value, f formatSpec) string {
	s, isStr := v.(Str)
	_, isFloat := v.(Float)
	switch {
	case isStr && (f.verb == "" || f.verb == "s") && f.sign == "" && f.group == "" && f.align != '=':
		return m.formatStr(string(s), f)
	case isStr && f.sign != "":
		raise(valueError, "Sign not allowed in string format specifier")
	case isStr, f.verb == "s", isFloat && f.verb == "d":
		raise(valueError, "Unknown format code '%s' for object of type '%s'", f.verb, className(v))
	case isFloat, f.verb != "" && f.verb != "d":
		x, _ := toFloat(v)
		return m.formatFloat(x, f)
	case f.prec >= 0:
		raise(valueError, "Precision not allowed in integer format specifier")
	}
	z := bigOf(v)
	digits := bigText(new(big.Int).Abs(z))
	m.alloc(3 * len(digits))
	return m.padNumber(z.Sign() < 0, digits, "", f)
}

func (m *machine) formatStr(s string, f formatSpec) string {
	if f.prec >= 0 && f.prec < utf8.RuneCountInString(s) {
		s = string([]rune(s)[:f.prec])
	}
	f.align = cmp.Or(f.align, '<')
	return m.pad("", s, f)
}

// pad fills head+body up to the width; '=' fills between the two.
func (m *machine) pad(head, body string, f formatSpec) string {
	n := utf8.RuneCountInString(head) + utf8.RuneCountInString(body)
	m.alloc(len(head) + len(body) + 32)
	if n >= f.width {
		return head + body
	}
	k := f.width - n
	m.alloc(times(k, utf8.RuneLen(f.fill)))
	fill := func(k int) string { return strings.Repeat(string(f.fill), k) }
	left := k
	switch f.align {
	case '<':
		left = 0
	case '^':
		left = k / 2
	case '=':
		return head + fill(k) + body
	}
	return fill(left) + head + body + fill(k-left)
}

// padNumber groups the digits and pads; tail is what follows them.
func (m *machine) padNumber(negative bool, digits, tail string, f formatSpec) string {
	head := strings.TrimPrefix(f.sign, "-")
	if negative {
		head = "-"
	}
	if f.align == 0 {
		f.align = '>'
		if f.zero {
			f.align = '='
		}
	}
	if f.group != "" && digits != "" { // inf and nan have nothing to group
		width := 0
		if f.fill == '0' && f.align == '=' {
			width = f.width - len(head) - utf8.RuneCountInString(tail)
			m.alloc(2 * max(width, 0))
		}
		digits = group(digits, f.group, width)
	}
	return m.pad(head, digits+tail, f)
}

// group puts sep between every three digits, with leading zeros up to width.
func group(digits, sep string, width int) string {
	n := len(digits)
	for n+(n-1)/3 < width {
		n++
	}
	var b strings.Builder
	for i, c := range strings.Repeat("0", n-len(digits)) + digits {
		if i > 0 && (n-i)%3 == 0 {
			b.WriteString(sep)
		}
		b.WriteRune(c)
	}
	return b.String()
}

func (m *machine) formatFloat(x float64, f formatSpec) string {
	if f.prec > math.MaxInt32 {
		raise(valueError, "precision too big")
	}
	m.alloc(4*max(f.prec, 0) + 64)
	body := floatBody(math.Abs(x), f)
	n := len(body) - len(strings.TrimLeft(body, decimals))
	return m.padNumber(math.Signbit(x) && x == x, body[:n], body[n:], f)
}

// floatBody is |x| without sign and padding.
func floatBody(x float64, f formatSpec) string {
	prec, percent := f.prec, ""
	if prec < 0 {
		prec = 6
	}
	if f.verb == "%" {
		x, percent = x*100, "%"
	}
	switch {
	case x-x != 0 || f.verb == "" && f.prec < 0:
		return floatRepr(x) + percent
	case f.verb == "":
		return general(x, max(prec, 1))
	case f.verb == "g":
		return strconv.FormatFloat(x, 'g', max(prec, 1), 64)
	case f.verb == "e":
		return strconv.FormatFloat(x, 'e', prec, 64)
	}
	return strconv.FormatFloat(x, 'f', prec, 64) + percent
}

// general is a precision without a type: prec significant digits, an exponent
// where it is shorter, and always a decimal without one.
func general(x float64, prec int) string {
	s := strconv.FormatFloat(x, 'e', prec-1, 64)
	mant, expText, _ := strings.Cut(s, "e")
	if exp, _ := strconv.Atoi(expText); exp >= -4 && exp < prec-1 {
		s = trimZeros(strconv.FormatFloat(x, 'f', prec-1-exp, 64))
		if !strings.ContainsRune(s, '.') {
			s += ".0"
		}
		return s
	}
	return trimZeros(mant) + "e" + expText
}

func trimZeros(s string) string {
	if !strings.ContainsRune(s, '.') {
		return s
	}
	return strings.TrimRight(strings.TrimRight(s, "0"), ".")
}
