package redact

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// reduce returns s without its spelling: backslashes are left out, and characters
// that are written by number, as in JSON, or with percent signs, as in URLs, are
// themselves, however deep one is nested in the other. A plus is a space, as in
// queries. at says where in s each byte comes from, and where s ends.
func reduce(s string) (text []byte, at []int) {
	text, at = reduceOnce(s)
	for was := len(s); len(text) < was; { // what was written by number may spell something again
		was = len(text)
		var again []int
		text, again = reduceOnce(string(text))
		for i, from := range again {
			again[i] = at[from]
		}
		at = again
	}
	return text, at
}

func reduceOnce(s string) (text []byte, at []int) {
	text, at = make([]byte, 0, len(s)), make([]int, 0, len(s)+1)
	begin, escaped := 0, false
	for i := 0; i < len(s); {
		old := len(text)
		var n int
		if text, n = appendNext(text, s[i:], escaped); text[old] == '\\' {
			text, escaped = text[:old], true // it belongs to what follows
			i += n
			continue
		}
		if text[old] == '+' {
			text[old] = ' '
		}
		for range len(text) - old {
			at = append(at, begin)
		}
		i += n
		begin, escaped = i, false
	}
	return text, append(at, len(s))
}

// appendNext appends what the first n bytes of s stand for: one byte, or a
// character that is written by number, which a backslash must precede.
func appendNext(text []byte, s string, escaped bool) (_ []byte, n int) {
	if s[0] == '%' {
		if c, n := octet(s); n > 0 {
			return append(text, c), n
		}
	}
	if s[0] != 'u' || !escaped {
		return append(text, s[0]), 1
	}
	c, ok := unit(s)
	if !ok {
		return append(text, s[0]), 1
	}
	n = len("u0000")
	if utf16.IsSurrogate(c) {
		i := n
		for i < len(s) && s[i] == '\\' {
			i++
		}
		if low, ok := unit(s[i:]); ok && utf16.DecodeRune(c, low) != utf8.RuneError {
			c, n = utf16.DecodeRune(c, low), i+n
		}
	}
	return utf8.AppendRune(text, c), n
}

// unit reads uXXXX.
func unit(s string) (rune, bool) {
	if len(s) < 5 || s[0] != 'u' {
		return 0, false
	}
	v, err := strconv.ParseUint(s[1:5], 16, 16)
	return rune(v), err == nil
}

// octet reads %XX, and %25XX in which the percent sign is written so itself, to
// any depth.
func octet(s string) (c byte, n int) {
	i := 1
	for len(s) >= i+4 && s[i:i+2] == "25" && hexDigit(s[i+2]) && hexDigit(s[i+3]) {
		i += 2
	}
	if len(s) < i+2 || !hexDigit(s[i]) || !hexDigit(s[i+1]) {
		return 0, 0
	}
	v, err := strconv.ParseUint(s[i:i+2], 16, 8)
	if err != nil { // both are hex
		panic(err)
	}
	return byte(v), i + 2
}

func hexDigit(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f' }
