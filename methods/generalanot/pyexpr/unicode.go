package pyexpr

import (
	"strings"
	"sync"
	"unicode"
)

func parseTable(table string) map[rune]string {
	out := map[rune]string{}
	for word := range strings.FieldsSeq(table) {
		rs := []rune(word)
		out[rs[0]] = string(rs[1:])
	}
	return out
}

var (
	upperTable = sync.OnceValue(func() map[rune]string { return parseTable(upperSpecial) })
	titleTable = sync.OnceValue(func() map[rune]string { return parseTable(titleSpecial) })
	foldTable  = sync.OnceValue(func() map[rune]string { return parseTable(foldSpecial) })
)

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

func upper(s string) string {
	if isASCII(s) {
		return strings.ToUpper(s)
	}
	var b strings.Builder
	for _, r := range s {
		if t, ok := upperTable()[r]; ok {
			b.WriteString(t)
		} else {
			b.WriteRune(unicode.ToUpper(r))
		}
	}
	return b.String()
}

func titleRune(r rune) string {
	if t, ok := titleTable()[r]; ok {
		return t
	}
	return string(unicode.ToTitle(r))
}

func lower(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	rs := []rune(s)
	var b strings.Builder
	for i := range rs {
		b.WriteString(lowerAt(rs, i))
	}
	return b.String()
}

// lowerAt is the lower case of one character, which for a sigma depends on
// whether it ends a word.
func lowerAt(rs []rune, i int) string {
	switch rs[i] {
	case 'İ':
		return "i̇"
	case 'Σ':
		if cased(rs, i, -1) && !cased(rs, i, 1) {
			return "ς"
		}
	}
	return string(unicode.ToLower(rs[i]))
}

// cased says whether the next character in direction dir is a letter with case.
func cased(rs []rune, i, dir int) bool {
	for i += dir; i >= 0 && i < len(rs); i += dir {
		r := rs[i]
		if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk) || strings.ContainsRune("'.:·’‘․", r) {
			continue
		}
		return isCased(r)
	}
	return false
}

func casefold(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	var b strings.Builder
	for _, r := range s {
		up, special := upperTable()[r]
		fold, ok := foldTable()[r]
		switch {
		case ok:
			b.WriteString(fold)
		case r >= 0x13a0 && r <= 0x13f5: // Cherokee folds to upper case
			b.WriteRune(r)
		case r >= 0x13f8 && r <= 0x13fd || r >= 0xab70 && r <= 0xabbf:
			b.WriteRune(unicode.ToUpper(r))
		case special:
			b.WriteString(casefold(strings.Map(unicode.ToLower, up)))
		case r == 'İ':
			b.WriteString("i̇")
		default:
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}

// capitalize is a title-case first character and the rest in lower case.
func capitalize(s string) string {
	rs := []rune(s)
	var b strings.Builder
	for i, r := range rs {
		if i == 0 {
			b.WriteString(titleRune(r))
		} else {
			b.WriteString(lowerAt(rs, i))
		}
	}
	return b.String()
}

// title begins each word with a title-case character; a word is a run of
// letters with case.
func title(s string) string {
	rs := []rune(s)
	var b strings.Builder
	inWord := false
	for i, r := range rs {
		if inWord {
			b.WriteString(lowerAt(rs, i))
		} else {
			b.WriteString(titleRune(r))
		}
		inWord = isCased(r)
	}
	return b.String()
}

func swapcase(s string) string {
	rs := []rune(s)
	var b strings.Builder
	for i, r := range rs {
		switch {
		case isUpper(r):
			b.WriteString(lowerAt(rs, i))
		case isLower(r):
			b.WriteString(upper(string(r)))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func isUpper(r rune) bool { return unicode.IsUpper(r) || unicode.Is(unicode.Other_Uppercase, r) }
func isLower(r rune) bool { return unicode.Is(unicode.Ll, r) || unicode.Is(unicode.Other_Lowercase, r) }
func isCased(r rune) bool { return isUpper(r) || isLower(r) || unicode.IsTitle(r) }

// isSpace is what Python's str methods take for white space.
func isSpace(r rune) bool {
	return r >= '\t' && r <= '\r' || r >= 0x1c && r <= ' ' || r == 0x85 || r >= 0x80 && unicode.Is(unicode.Z, r)
}

func trimSpace(s string) string { return strings.TrimFunc(s, isSpace) }

func isDecimal(r rune) bool { return unicode.Is(unicode.Nd, r) }
func isDigit(r rune) bool   { return isDecimal(r) || strings.ContainsRune(digitChars, r) }
func isNumeric(r rune) bool {
	return unicode.Is(unicode.N, r) || strings.ContainsRune(numericChars, r)
}
func isAlnum(r rune) bool { return unicode.IsLetter(r) || isNumeric(r) }
