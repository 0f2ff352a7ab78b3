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

// capitalize is a title-case first character and the rest in lower case.
func capitalize(s string) string {
	first := true
	return titled(s, func(rune) bool { was := first; first = false; return was })
}

// title begins each word with a title-case character; a word is a run of
// letters with case.
func title(s string) string {
	inWord := false
	return titled(s, func(r rune) bool {
		was := inWord
		inWord = isUpper(r) || isLower(r) || unicode.IsTitle(r)
		return !was
	})
}

// titled is s with the characters that begin a word in title case and the
// others in lower case, which for a sigma depends on those around it.
func titled(s string, begins func(r rune) bool) string {
	var b strings.Builder
	rest, toTitle := lower(s), cases.Title(language.Und, cases.NoLower)
	for _, r := range s {
		n := len(lower(string(r)))
		if begins(r) {
			b.WriteString(toTitle.String(string(r)))
		} else {
			b.WriteString(rest[:n])
		}
		rest = rest[n:]
	}
	return b.String()
}

func isUpper(r rune) bool { return unicode.IsUpper(r) || unicode.Is(unicode.Other_Uppercase, r) }
func isLower(r rune) bool { return unicode.Is(unicode.Ll, r) || unicode.Is(unicode.Other_Lowercase, r) }

// isSpace is what Python's str methods take for white space.
func isSpace(r rune) bool {
	return r >= '\t' && r <= '\r' || r >= 0x1c && r <= ' ' || r == 0x85 || r >= 0x80 && unicode.Is(unicode.Z, r)
}

// What Unicode 14 says of numbers beyond package unicode, which knows
// categories alone: digits that are not decimal, and letters that are numbers.
const (
	digitChars = "" +
		"\u00b2\u00b3\u00b9\u1369\u136a\u136b\u136c\u136d\u136e\u136f\u1370\u1371\u19da\u2070\u2074\u2075\u2076\u2077\u2078\u2079\u2080\u2081\u2082\u2083" +
		"\u2084\u2085\u2086\u2087\u2088\u2089\u2460\u2461\u2462\u2463\u2464\u2465\u2466\u2467\u2468\u2474\u2475\u2476\u2477\u2478\u2479\u247a\u247b\u247c" +
		"\u2488\u2489\u248a\u248b\u248c\u248d\u248e\u248f\u2490\u24ea\u24f5\u24f6\u24f7\u24f8\u24f9\u24fa\u24fb\u24fc\u24fd\u24ff\u2776\u2777\u2778\u2779" +
		"\u277a\u277b\u277c\u277d\u277e\u2780\u2781\u2782\u2783\u2784\u2785\u2786\u2787\u2788\u278a\u278b\u278c\u278d\u278e\u278f\u2790\u2791\u2792\U00010a40" +
		"\U00010a41\U00010a42\U00010a43\U00010e60\U00010e61\U00010e62\U00010e63\U00010e64\U00010e65\U00010e66\U00010e67\U00010e68\U00011052\U00011053\U00011054\U00011055\U00011056\U00011057\U00011058\U00011059\U0001105a\U0001f100\U0001f101\U0001f102" +
		"\U0001f103\U0001f104\U0001f105\U0001f106\U0001f107\U0001f108\U0001f109\U0001f10a"
	numericChars = "" +
		"㐅㒃㠪㭍一七万三九二五亖亿什仟仨伍佰億兆兩八六十" +
		"千卄卅卌叁参參叄四壱壹幺廾廿弌弍弎弐拾捌柒漆玖百" +
		"肆萬貮貳贰阡陆陌陸零參拾兩零六陸什𠀁𠁤𠃢𠄡𠤪𠦃𠦌" +
		"𠦜𠫪𠫽𠬙𢎐𢦘𣬛𦉭廾"
)

func isDecimal(r rune) bool { return unicode.Is(unicode.Nd, r) }
func isDigit(r rune) bool   { return isDecimal(r) || strings.ContainsRune(digitChars, r) }
func isNumeric(r rune) bool { return unicode.Is(unicode.N, r) || strings.ContainsRune(numericChars, r) }
