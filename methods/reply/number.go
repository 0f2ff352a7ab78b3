package reply

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"noema/methods/decimal"
)

// numberForm matches a mixed number, a fraction, and a decimal with or without
// thousands separators and an exponent, in this order.
var numberForm = regexp.MustCompile(`\d+ +\d+/\d+|\d+/\d+|` +
	`(?:\d{1,3}(?:,\d{2,3})*,\d{3}(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+| ?[×x*] ?10\^\{?[+-]?\d+\}?)?`)

// fracForm matches LaTeX's fractions.
var fracForm = regexp.MustCompile(`\\[dt]?frac\{(\d+)\}\{(\d+)\}`)

var vulgar = strings.NewReplacer(`\times`, "×", `\cdot`, "×", "½", " 1/2", "¼", " 1/4", "¾", " 3/4", "−", "-", "\u00a0", " ", "\u202f", " ")

// maxNumberLine is how many bytes at the end of a text are searched.
const maxNumberLine = 4000

// Number reads the number that a text ends on, as an exact decimal: of its
// last line that is not empty, the first number after the last colon or equals
// sign, or, without such a sign, the last number. So "Answer: 12 km in 3
// hours" gives 12 and "3 boxes of 12 make 36 pencils" gives 36.
//
// It may have thousands separators, a currency sign, a unit, an exponent
// ("2e3", "2 × 10^3") or be a fraction ("3/4", "1 1/2", "½"); what has no
// finite decimal form is rounded to [decimal.Digits] digits. A percentage is
// the number before its sign: 25% gives 25. Digits of a word, an ordinal, a
// date, a range or a clock time are not numbers, and a comma that separates no
// thousands makes one unreadable rather than another number.
func Number(text string) (json.Number, bool) {
	text = strings.TrimSpace(text)
	text = strings.ToValidUTF8(text[max(0, len(text)-maxNumberLine):], "\ufffd")
	line, marked := afterSign(normalNumbers(text[strings.LastIndexByte(text, '\n')+1:]))
	all := numbersIn(line)
	switch {
	case len(all) == 0:
		return "", false
	case marked:
		return all[0].value, true
	}
	return all[len(all)-1].value, true
}

// normalNumbers writes fractions, signs and spaces as numberForm knows them.
func normalNumbers(line string) string {
	return vulgar.Replace(fracForm.ReplaceAllString(line, "$1/$2"))
}

// afterSign is what follows the last colon or equals sign before a number, if
// there is one.
func afterSign(line string) (rest string, found bool) {
	if i := strings.LastIndexAny(line, ":="); i >= 0 && numberForm.MatchString(line[i:]) && !isClock(line, i) {
		return line[i+1:], true
	}
	return line, false
}

// spaced matches a text that is one number in groups of three digits with spaces
// between them, with a currency or a unit at most.
var spaced = regexp.MustCompile(`^(\p{Sc}? ?[+-]?\p{Sc}? ?)(\d{1,3}(?: \d{3})+(?:\.\d+)?)([^\d]*)$`)

// spacedNumber reads such a text: "1 234" is 1234. Within other words that is two
// numbers, and with a fraction behind it a mixed one.
func spacedNumber(text string) (json.Number, bool) {
	m := spaced.FindStringSubmatch(normalNumbers(strings.Trim(text, decoration)))
	if m == nil || strings.ContainsAny(m[3], "/,:;=") || len(strings.Fields(m[3])) > 3 {
		return "", false
	}
	return exactNumber(strings.ReplaceAll(m[2], " ", ""), strings.Contains(m[1], "-"))
}

// alternatives match what stands between two numbers of which neither is preferred.
var alternatives = regexp.MustCompile(`(?i)^[^\pL\d]*(?:[,;&–]|\b(?:and|to|versus|vs)\b)[^\pL\d]*$|\bor\b`)

// numberIn reads the number of a marked line: of several the first, as in "12 km
// in 3 hours", unless they are alternatives, as in "12 or 13".
func numberIn(line string) (Reading, error) {
	line, _ = Head(line, maxNumberLine)
	if n, ok := spacedNumber(line); ok {
		return exactly(n)
	}
	line, _ = afterSign(normalNumbers(line))
	switch all := numbersIn(line); {
	case len(all) == 0:
		return Reading{}, fmt.Errorf("%.80q holds no number", line)
	case len(all) > 1 && alternatives.MatchString(line[all[0].to:all[1].from]):
		return Reading{}, errSeveral
	default:
		return exactly(all[0].value)
	}
}

// placed is a number and where it stands, without its sign.
type placed struct {
	value    json.Number
	from, to int
}

// numbersIn are the numbers of a text.
func numbersIn(line string) (all []placed) {
	for _, at := range numberForm.FindAllStringIndex(line, -1) {
		if n, ok := numberAt(line, at[0], at[1]); ok {
			all = append(all, placed{n, at[0], at[1]})
		}
	}
	return all
}

// isClock reports whether the colon at i stands between digits, as in 10:30.
func isClock(line string, i int) bool {
	return line[i] == ':' && i > 0 && i+1 < len(line) && isDigit(rune(line[i-1])) && isDigit(rune(line[i+1]))
}

// numberAt reads line[from:to], which numberForm matched, unless its
// surroundings make it a part of something else.
func numberAt(line string, from, to int) (json.Number, bool) {
	before, size := utf8.DecodeLastRuneInString(line[:from])
	minus := before == '-'
	if minus || before == '+' {
		from -= size
		before, _ = utf8.DecodeLastRuneInString(line[:from])
		if isDigit(before) || unicode.IsLetter(before) || before == '-' { // a range, a name
			return "", false
		}
	} else if isCurrency(before) {
		rest := strings.TrimRight(line[:from-size], " ")
		minus = strings.HasSuffix(rest, "-") && (len(rest) == 1 || strings.HasSuffix(rest, " -"))
	}
	if unicode.IsLetter(before) || isDigit(before) || isJoint(before) || joined(line[to:]) {
		return "", false
	}
	return exactNumber(line[strings.IndexAny(line[from:], ".0123456789")+from:to], minus)
}

func isDigit(r rune) bool    { return '0' <= r && r <= '9' }
func isCurrency(r rune) bool { return unicode.Is(unicode.Sc, r) }
func isJoint(r rune) bool    { return strings.ContainsRune(".,:_/^", r) }

// joined reports whether what follows a number continues it: "3rd", "10:30",
// "2024-05-01", "12,5", "1.2.3".
func joined(rest string) bool {
	for _, ordinal := range []string{"st", "nd", "rd", "th"} {
		if after, ok := strings.CutPrefix(rest, ordinal); ok && (after == "" || !unicode.IsLetter(firstRune(after))) {
			return true
		}
	}
	first := firstRune(rest)
	return isDigit(first) || (isJoint(first) || first == '-') && isDigit(firstRune(rest[1:]))
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// exactNumber turns one of the forms into a canonical decimal.
func exactNumber(s string, minus bool) (json.Number, bool) {
	s = strings.ReplaceAll(s, ",", "")
	whole, fraction, mixed := strings.Cut(s, " ")
	if !mixed || !strings.Contains(fraction, "/") {
		whole, fraction = "0", s
	}
	fraction, power := scientific(strings.TrimSpace(fraction))
	num, den, ok := strings.Cut(fraction, "/")
	if !ok {
		den = "1"
	}
	w, err1 := decimal.Parse(whole)
	n, err2 := decimal.Parse(num + power)
	d, err3 := decimal.Parse(den)
	if err1 != nil || err2 != nil || err3 != nil || d.Sign() == 0 {
		return "", false
	}
	w.Add(w, n.Quo(n, d))
	if minus {
		w.Neg(w)
	}
	text, _ := decimal.Format(w)
	return json.Number(text), true
}

// scientific splits "2 × 10^{3}" into "2" and "e3"; other forms stay.
func scientific(s string) (mantissa, power string) {
	i := strings.IndexAny(s, "×x*")
	if i < 0 {
		return s, ""
	}
	_, exponent, _ := strings.Cut(s[i:], "^")
	return strings.TrimSpace(s[:i]), "e" + strings.TrimPrefix(strings.Trim(exponent, "{}"), "+")
}
