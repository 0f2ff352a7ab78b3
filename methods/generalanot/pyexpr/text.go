package pyexpr

import (
	"unicode"
	"unicode/utf8"
)

func ord(_ *machine, a []Value) Value {
	s, ok := a[0].(Str)
	if !ok {
		raise(typeError, "ord() expected string of length 1, but %s found", className(a[0]))
	}
	r, n := utf8.DecodeRuneInString(string(s))
	if n == 0 || n < len(s) {
		raise(typeError, "ord() expected a character, but a string of another length found")
	}
	return Int(r)
}

func chr(_ *machine, a []Value) Value {
	n := smallArg(a[0], 0)
	switch {
	case n < 0 || n > unicode.MaxRune:
		raise(valueError, "chr() arg not in range(0x110000)")
	case !utf8.ValidRune(rune(n)):
		raise(valueError, "chr() of a lone surrogate is not supported: use another character")
	}
	return Str(rune(n))
}
