package tokenizer

import (
	"strings"
	"unicode/utf8"
)

// lossy replaces what is not UTF-8 by U+FFFD: one for each longest beginning of
// a character, as Unicode recommends and the library does. Go's own functions
// take one for each byte, or one for several.
func lossy(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for s != "" {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 {
			n = beginning(s)
		}
		b.WriteRune(r)
		s = s[n:]
	}
	return b.String()
}

// beginning is the length of the longest beginning of s that a character could
// begin with, at least 1.
func beginning(s string) int {
	size, low, high := 1, byte(0x80), byte(0xBF) // the range of the second byte
	switch b := s[0]; {
	case b >= 0xC2 && b <= 0xDF:
		size = 2
	case b >= 0xE0 && b <= 0xEF:
		size = 3
	case b >= 0xF0 && b <= 0xF4:
		size = 4
	}
	switch s[0] {
	case 0xE0: // the rest would be longer than need be
		low = 0xA0
	case 0xED: // surrogates
		high = 0x9F
	case 0xF0:
		low = 0x90
	case 0xF4: // beyond U+10FFFF
		high = 0x8F
	}
	n := 1
	for n < min(size, len(s)) && s[n] >= low && s[n] <= high {
		n, low, high = n+1, 0x80, 0xBF
	}
	return n
}
