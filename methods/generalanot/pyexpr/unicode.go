package pyexpr

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
)

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

func upper(s string) string {
	if isASCII(s) {
		return strings.ToUpper(s)
	}
	return cases.Upper(language.Und).String(s)
}

func lower(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	return cases.Lower(language.Und).String(s)
}

func casefold(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	return cases.Fold().String(s)
}

func isUpper(r rune) bool { return unicode.IsUpper(r) || unicode.Is(unicode.Other_Uppercase, r) }
func isLower(r rune) bool { return unicode.Is(unicode.Ll, r) || unicode.Is(unicode.Other_Lowercase, r) }

// isSpace is what Python's str methods take for white space.
func isSpace(r rune) bool {
	return r >= '\t' && r <= '\r' || r >= 0x1c && r <= ' ' || r == 0x85 || r >= 0x80 && unicode.Is(unicode.Z, r)
}

func isDecimal(r rune) bool { return unicode.Is(unicode.Nd, r) }
func isNumeric(r rune) bool { return unicode.Is(unicode.N, r) }

// isDigit refuses what only a table of Unicode's own could tell, as of "²" and "½".
func isDigit(r rune) bool {
	if unicode.Is(unicode.No, r) {
		raise(valueError, "isdigit of %q is not supported: use re.fullmatch(r'\\d+', s)", r)
	}
	return isDecimal(r)
}
