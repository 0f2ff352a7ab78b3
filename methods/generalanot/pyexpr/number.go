package pyexpr

import (
	"math/big"
	"strconv"
	"strings"
)

// maxDigits is CPython's limit on the digits of an integer as text.
const maxDigits = 4300

func (x *lexer) digitAt(i int) bool { return i < x.end && x.src[i] >= '0' && x.src[i] <= '9' }

// digits is where the digits from i on end. An underscore may stand between
// two of them.
func (x *lexer) digits(i int, set string) int {
	for i < x.end && strings.IndexByte(set, lowerASCII(x.src[i])) >= 0 || x.underscore(i, set) {
		i++
	}
	return i
}

func (x *lexer) underscore(i int, set string) bool {
	return i > 0 && i+1 < x.end && x.src[i] == '_' && x.src[i-1] != '_' && strings.IndexByte(set, lowerASCII(x.src[i+1])) >= 0
}

func lowerASCII(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

const decimals = "0123456789"

func (x *lexer) number() {
	start := x.pos
	if x.src[start] == '0' && start+1 < x.end {
		if set := digitSet(x.src[start+1]); set != "" {
			end := x.digits(start+2, set)
			if x.underscore(start+2, set) {
				end = x.digits(start+3, set)
			}
			if end == start+2 {
				fail(start, "invalid number")
			}
			x.endNumber(end)
			return
		}
	}
	end := x.digits(start, decimals)
	isFloat := false
	if end < x.end && x.src[end] == '.' {
		isFloat = true
		end++
		if x.digitAt(end) {
			end = x.digits(end, decimals)
		}
	}
	if e := x.exponent(end); e > end {
		isFloat, end = true, e
	}
	if text := x.src[start:end]; !isFloat && text[0] == '0' && strings.Trim(text, "0_") != "" {
		fail(start, "leading zeros in decimal integer literals are not permitted")
	}
	x.endNumber(end)
}

func digitSet(c byte) string {
	switch c {
	case 'x', 'X':
		return "0123456789abcdef"
	case 'o', 'O':
		return "01234567"
	case 'b', 'B':
		return "01"
	}
	return ""
}

func (x *lexer) exponent(i int) int {
	if i >= x.end || lowerASCII(x.src[i]) != 'e' {
		return i
	}
	d := i + 1
	if d < x.end && (x.src[d] == '+' || x.src[d] == '-') {
		d++
	}
	if !x.digitAt(d) {
		return i
	}
	return x.digits(d, decimals)
}

// endNumber ends a number at end. A keyword may follow it at once, as in
// "1if x else 2"; anything else may not.
func (x *lexer) endNumber(end int) {
	rest := x.src[end:x.end]
	if rest != "" && (rest[0] == '_' || lowerASCII(rest[0]) >= 'a' && lowerASCII(rest[0]) <= 'z' || rest[0] >= '0' && rest[0] <= '9' || rest[0] >= 0x80) {
		ok := false
		for _, kw := range []string{"and", "else", "for", "if", "in", "is", "not", "or"} {
			ok = ok || strings.HasPrefix(rest, kw)
		}
		if !ok {
			fail(end, "invalid number")
		}
	}
	x.emit(tokNumber, end)
}

// parseNumber is the value of a number token.
func parseNumber(t token) Value {
	text := strings.ReplaceAll(t.text, "_", "")
	base := 10
	if len(text) > 1 && text[0] == '0' {
		switch lowerASCII(text[1]) {
		case 'x':
			base = 16
		case 'o':
			base = 8
		case 'b':
			base = 2
		}
	}
	if base != 10 {
		text = text[2:]
	} else if strings.ContainsAny(text, ".eE") {
		f, _ := strconv.ParseFloat(text, 64) // out of range is infinity, as in Python
		return Float(f)
	} else if len(text) > maxDigits {
		fail(t.pos, "an integer of more than %d digits", maxDigits)
	}
	if n, err := strconv.ParseInt(text, base, 64); err == nil {
		return Int(n)
	}
	z, ok := new(big.Int).SetString(text, base)
	if !ok {
		fail(t.pos, "invalid number")
	}
	return normal(z)
}
