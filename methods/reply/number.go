package reply

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"noema/methods"
	"noema/methods/decimal"
)

// numberForm matches a mixed number, a fraction, a power of ten, and a decimal with or without
// thousands separators and an exponent, in this order.
var numberForm = regexp.MustCompile(`\d+ +\d+/\d+|\d+/\d+|10\^\{?[+-]?\d+\}?|` +
	`(?:\d{1,3}(?:,\d{2,3})*,\d{3}(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+| ?[×x*] ?10\^\{?[+-]?\d+\}?)?`)

// maxNumberLine is how many bytes at the end of a text are searched.
const maxNumberLine = 4000

// Number reads the number that a text ends on, as an exact decimal: of its
// last line that is not empty, the first number after the last colon or equals
// sign, or, without such a sign, the last number. So "Answer: 12 km in 3
// hours" gives 12 and "3 boxes of 12 make 36 pencils" gives 36. See README.md for how
// numbers are written.
func Number(text string) (json.Number, bool) {
	text = strings.TrimSpace(text)
	text = strings.ToValidUTF8(text[max(0, len(text)-maxNumberLine):], "\ufffd")
	line, marked := afterSign(normalNumbers(text[strings.LastIndexByte(text, '\n')+1:], false))
	all := numbersIn(line, methods.AnswerSpec{})
	if !marked {
		for i := len(all) - 1; i > 0; i-- {
			if all[i].err == nil {
				return all[i].value, true
			}
		}
	}
	for _, n := range all {
		if n.err == nil {
			return n.value, true
		}
	}
	return "", false
}

// afterSign is what follows the last colon or equals sign before a number, if
// there is one.
func afterSign(line string) (rest string, found bool) {
	if i := strings.LastIndexAny(line, ":=≈"); i >= 0 && numberForm.MatchString(line[i:]) && !isClock(line, i) {
		_, size := utf8.DecodeRuneInString(line[i:])
		return line[i+size:], true
	}
	return line, false
}

// spaced matches a text that is one number in groups of three digits with spaces
// between them, with a currency or a unit at most.
var spaced = regexp.MustCompile(`^((?:about |approximately |exactly |minus |negative )?\p{Sc}? ?[+-]?\p{Sc}? ?)(\d{1,3})((?: \d{3})+)((?:\.\d+)?[^\d]*)$`)

var (
	// beside is what follows in brackets, or as a reason: not part of the number.
	beside = regexp.MustCompile(`(?i)\s*(?:[,;.]?\s+(?:because|since|given|due to|which|where|as|when|if|so that|assuming)\b|[,;.]\s+(?:so|and so|thus|hence|i\.e\.)\s).*$`)
	inside = regexp.MustCompile(`(\d[^()]*)(\()([^()]*)\)`)
	// changing words in brackets behind a number make another of it; digits right before brackets are multiplied.
	changing = regexp.MustCompile(`(?i)^\s*(?:or|correction|actually|not|in (?:hundreds|thousands|millions|billions)|hundred|thousand|million|billion|±|\+/-)`)
	applied  = regexp.MustCompile(`[\d.]\(\d`)
	// elsewhere is a reason that gives another number, or denies the one before it.
	elsewhere = regexp.MustCompile(`(?i)^[,;.\s]*(?:if|when|so|and so|thus|hence|i\.e\.|which)\b.*(?:\d|\bwrong\b|\bincorrect\b)|\b(?:else|otherwise)\b`)
	ratio     = regexp.MustCompile(`\d\s*:\s+\d|\d\s+:\s*\d`)
	labelled  = regexp.MustCompile(`[=:]\s*[^=:]*\d[^=:]*[\s,;]\p{L}\w*\s*[=:]\s*\D{0,3}\d`)
	// preposition joins a second number that tells what the first is of: "12 km in 3 hours".
	preposition = regexp.MustCompile(`(?i)^[^\d,;&–—+*/=<>-]{0,40}?\b(?:in|of|out of|every|for|at|on|within|during)\b[^\d,;&–—+*/=<>-]{0,40}$`)
	and         = regexp.MustCompile(`(?i)\b(?:and|or|but|when|if|is|are)\b`)
	// altering words and signs before a number, or behind it, make another of it.
	altersBefore = regexp.MustCompile(`(?i)(?:\b(?:not|no|than|between|up to|over|under|below|above|half(?: of)?|twice|double|triple|thrice|third of|quarter of|times|root of|sqrt|log|ln|sin|cos|tan|plus|from|neither|either|at least|at most|equal to|(?:square|cube|root|negative|opposite|multiple|factor|power|reciprocal|inverse|logarithm|remainder) of|mindestens|höchstens|más de|mehr als|plus de|au moins|≥|≤)\s*|\p{L}\s+[+*/×-]\s*|[<>≥≤√±~*/^×]\s*|[^\s(\p{Sc}]?- )$`)
	altersAfter  = regexp.MustCompile(`(?i)^(?:\s*(?:[\^√π±+]|!\s*[+*/=^-]|×|\*\*?\s*\w|/\s*\w*\d)|\s*(?:squared|cubed|to the|and (?:a|one|two|three) |half\b|dozen|score\b|at (?:most|least)\b|or (?:more|less|fewer|greater|higher|so)\b|factorial|choose\b|modulo|mod\b|percentage points|pi\b|choose\b|per ?mille|‰|[mb]illi?onths?\b|(?:half|third|quarter|fifth|sixth|eighth|tenth|hundredth|thousandth)s?\b|quadrillion|quintillion|mil\b|MM\b|mille\b|Millionen|millones|millón|milhões|Tausend|милли\pL*|тысяч\pL*|tens\b|млн|[万億亿千百兆만억])|[xyzinepquvw](?:[^\pL]|$)|0*[xX][0-9a-fA-F])`)
	minusWord    = regexp.MustCompile(`(?i)(?:\b(?:minus|negative|menos|moins)|минус|负|マイナス)[ -]*\p{Sc}?\s*$`)
	magnitude    = regexp.MustCompile(`^(?i:([ -]?)(hundred|thousand|million|billion|trillion|lakh|crore|bn|mn|mln|mio|mrd|tn|k|m|b|t)s?)(?:[^\pL\d]|$)`)
	percentSign  = regexp.MustCompile(`(?i)^\s?(?:%|percent\b|per ?cent\b|pct\b)`)
)

// magnitudes are the words behind a number that multiply it, by powers of ten.
var magnitudes = map[string]string{
	"hundred": "e2", "thousand": "e3", "million": "e6", "billion": "e9", "trillion": "e12", "lakh": "e5", "crore": "e7",
	"bn": "e9", "mn": "e6", "mln": "e6", "mio": "e6", "mrd": "e9", "tn": "e12", "k": "e3", "m": "e6", "b": "e9", "t": "e12",
}

// numberIn reads the number that is said to be the answer: the one of the value, or of several
// the first where the others tell what it is of, as in "12 km in 3 hours". What would make
// another number of it, and stays over, is refused.
func numberIn(value string, spec methods.AnswerSpec) (Reading, error) {
	line, _ := Head(value, maxNumberLine)
	line = normalNumbers(bareValue(line), spec.Decimal == methods.DecimalComma)
	if m := inside.FindStringSubmatch(line); m != nil && changing.MatchString(m[3]) || applied.MatchString(line) {
		return Reading{}, fmt.Errorf("%.80q says another number in brackets", value)
	}
	line = inside.ReplaceAllString(line, "$1 ")
	if cut := beside.FindString(line); elsewhere.MatchString(cut) {
		return Reading{}, fmt.Errorf("%.80q holds under a condition", value)
	}
	line = beside.ReplaceAllString(line, "")
	if ratio.MatchString(line) || labelled.MatchString(line) {
		return Reading{}, errSeveral
	}
	if strings.Count(line, "=") > 1 && joinedEquations.MatchString(line) {
		return Reading{}, errSeveral
	}
	line, _ = afterSign(line)
	line = strings.TrimSpace(line)
	if one, ok := ungrouped(line); ok {
		line = one
	}
	all := numbersIn(line, spec)
	if strings.HasSuffix(strings.TrimSpace(value), "!") && loneNumber.MatchString(strings.TrimSuffix(strings.TrimSpace(value), "!")) {
		return Reading{}, fmt.Errorf("%.80q may be a factorial", value)
	}
	switch {
	case len(all) == 0:
		return Reading{}, fmt.Errorf("%.80q holds no number", value)
	case strings.Contains(line, `\`):
		return Reading{}, fmt.Errorf("%.80q is an expression: a number is asked for", value)
	case all[0].err != nil:
		return Reading{}, all[0].err
	}
	for i, next := range all[1:] {
		between := line[all[i].to:next.from]
		if !preposition.MatchString(between) || and.MatchString(between) || strings.HasSuffix(strings.TrimSpace(line[:all[0].to]), "%") {
			return Reading{}, errSeveral
		}
	}
	return exactly(all[0].value)
}

// ungrouped is a text that is one number in groups of three digits, with the groups closed up.
// Within other words they are two numbers, and with a fraction behind them a mixed one.
func ungrouped(line string) (string, bool) {
	m := spaced.FindStringSubmatch(line)
	if m == nil || strings.ContainsAny(m[4], "/,:;=") || len(strings.Fields(m[4])) > 3 {
		return "", false
	}
	return m[1] + m[2] + strings.ReplaceAll(m[3], " ", "") + m[4], true
}

// joinedEquations matches two equations of one value: "x = 5, y = 6".
var joinedEquations = regexp.MustCompile(`(?i)=[^=]*(?:[,;]|\band\b|\bor\b)[^=]*=`)

// placed is a number and where it stands, with its sign and what multiplies it; err says why
// it cannot be read.
type placed struct {
	value    json.Number
	from, to int
	err      error
}

// numbersIn are the numbers of a normal text, and the digits that are a part of something
// else, such as a date. Digits of a word do not count.
func numbersIn(line string, spec methods.AnswerSpec) (all []placed) {
	for _, at := range numberForm.FindAllStringIndex(line, -1) {
		if n := len(all); n > 0 && at[0] < all[n-1].to {
			continue
		}
		if p, ok := numberAt(line, at[0], at[1], spec); ok {
			all = append(all, p)
		}
	}
	return all
}

// isClock reports whether the colon at i stands between digits, as in 10:30.
func isClock(line string, i int) bool {
	return line[i] == ':' && i > 0 && i+1 < len(line) && isDigit(rune(line[i-1])) && isDigit(rune(line[i+1]))
}

// numberAt reads line[from:to], which numberForm matched, unless it is a part of a word.
func numberAt(line string, from, to int, spec methods.AnswerSpec) (p placed, ok bool) {
	fault := func(why string) (placed, bool) {
		return placed{from: from, to: to, err: fmt.Errorf("%.80q is %s: a number is asked for", line, why)}, true
	}
	digits := line[from:to]
	before, size := utf8.DecodeLastRuneInString(line[:from])
	minus := before == '-'
	currency := false
	if minus || before == '+' {
		from -= size
		before, size = utf8.DecodeLastRuneInString(line[:from])
		if unicode.IsLetter(before) || before == '_' {
			return p, false
		}
		if isDigit(before) || before == '-' {
			return fault("a range or a date")
		}
	}
	if isCurrency(before) {
		currency = true
		from -= size
		rest := strings.TrimRight(line[:from], " ")
		if strings.HasSuffix(rest, "-") && (len(rest) == 1 || strings.HasSuffix(rest, " -")) {
			minus, from = true, len(rest)-1
		}
		before, _ = utf8.DecodeLastRuneInString(line[:from])
	}
	if unicode.IsLetter(before) || before == '_' {
		return p, false
	}
	if unit, _ := utf8.DecodeLastRuneInString(line[:max(0, from-1)]); before == '^' && unicode.IsLetter(unit) {
		return p, false // of m²
	}
	if isDigit(before) || isJoint(before) || joined(line[to:]) {
		return fault("a part of a date, a time or the like")
	}
	head := line[:from]
	if at := minusWord.FindStringIndex(head); at != nil && !minus {
		minus, head = true, head[:at[0]]
	}
	if altersBefore.MatchString(head) || head == "- " {
		return fault("no plain number")
	}
	power, percent, to, err := multiplied(line, to, currency, spec)
	if err != nil {
		return fault(err.Error())
	}
	value, good := exactNumber(digits, power, percent, minus)
	if !good {
		return fault("no number")
	}
	return placed{value: value, from: from, to: to}, true
}

// multiplied is the power of ten that a number goes on with, and where it ends.
func multiplied(line string, to int, currency bool, spec methods.AnswerSpec) (power string, percent bool, end int, err error) {
	rest := line[to:]
	if m := magnitude.FindStringSubmatch(rest); m != nil {
		word := strings.ToLower(m[2])
		after := strings.TrimLeft(rest[len(m[1])+len(m[2]):], " s")
		money := currency || isCurrency(firstRune(after))
		switch {
		case len(word) > 1, money, m[2] == "k" && m[1] == "":
			power, to = magnitudes[word], to+len(m[1])+len(m[2])
			if rest = line[to:]; magnitude.MatchString(rest) {
				return "", false, to, fmt.Errorf("with %.20q", rest)
			}
		case word == "k" && m[1] == " ", m[1] == "" && (m[2] == "K" || m[2] == "M" || m[2] == "B" || m[2] == "T"):
			return "", false, to, fmt.Errorf("with %q, which may be a unit or a magnitude", m[2])
		}
	}
	if m := percentSign.FindString(rest); m != "" {
		percent, to = spec.Percent == methods.PercentFraction, to+len(m)
		rest = line[to:]
	}
	if altersAfter.MatchString(rest) {
		return "", false, to, fmt.Errorf("with %.20q", strings.TrimSpace(rest))
	}
	return power, percent, to, nil
}

func isDigit(r rune) bool    { return '0' <= r && r <= '9' }
func isCurrency(r rune) bool { return unicode.Is(unicode.Sc, r) }
func isJoint(r rune) bool    { return strings.ContainsRune(".,:_/^", r) }

// joined reports whether what follows a number continues it: "3rd", "10:30",
// "2024-05-01", "12,5", "1.2.3", "0x1F".
func joined(rest string) bool {
	for _, ordinal := range []string{"st", "nd", "rd", "th"} {
		if after, ok := strings.CutPrefix(rest, ordinal); ok && (after == "" || !unicode.IsLetter(firstRune(after))) {
			return true
		}
	}
	first := firstRune(rest)
	letters := strings.TrimLeftFunc(rest, unicode.IsLetter)
	return isDigit(first) || (isJoint(first) || first == '-' || first == '–') && isDigit(firstRune(rest[utf8.RuneLen(first):])) ||
		len(letters) < len(rest) && isDigit(firstRune(letters))
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// exactNumber turns one of the forms into a canonical decimal.
func exactNumber(s, magnitude string, percent, minus bool) (json.Number, bool) {
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
	factor := "1" + magnitude
	if percent {
		factor = "0.01" + magnitude
	}
	f, err4 := decimal.Parse(factor)
	if err1 != nil || err2 != nil || err3 != nil || err4 != nil || d.Sign() == 0 {
		return "", false
	}
	w.Add(w, n.Quo(n, d))
	w.Mul(w, f)
	if minus {
		w.Neg(w)
	}
	text, _ := decimal.Format(w)
	return json.Number(text), true
}

// scientific splits "2 × 10^{3}" into "2" and "e3", and "10^3" into "1" and "e3"; other forms stay.
func scientific(s string) (mantissa, power string) {
	i := strings.IndexAny(s, "×x*")
	_, exponent, raised := strings.Cut(s, "^")
	if !raised {
		return s, ""
	}
	mantissa = "1"
	if i >= 0 {
		mantissa = strings.TrimSpace(s[:i])
	}
	return mantissa, "e" + strings.TrimPrefix(strings.Trim(exponent, "{}"), "+")
}
