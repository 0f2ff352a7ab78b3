package reply

import (
	"regexp"
	"strings"
	"unicode"
)

// isAnyDigit reports whether r is a decimal digit of any script.
func isAnyDigit(r rune) bool { return unicode.Is(unicode.Nd, r) }

// plainDigit is the digit of any script as ASCII has it. The digits of a script follow each
// other in Unicode, zero first.
func plainDigit(r rune) rune {
	for _, t := range unicode.Nd.R16 {
		if rune(t.Lo) <= r && r <= rune(t.Hi) {
			return '0' + (r-rune(t.Lo))%10
		}
	}
	for _, t := range unicode.Nd.R32 {
		if rune(t.Lo) <= r && r <= rune(t.Hi) {
			return '0' + (r-rune(t.Lo))%10
		}
	}
	return r
}

// asciiNumber maps characters of numbers in any script to those of ASCII; a superscript is
// "^" before its digit.
func asciiNumber(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return r >= 0x80 }) < 0 {
		return s
	}
	var b strings.Builder
	raised := false
	for _, r := range s {
		up := strings.IndexRune("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", r)
		if up >= 0 && !raised {
			b.WriteByte('^')
		}
		if down := strings.IndexRune("₀₁₂₃₄₅₆₇₈₉", r); down >= 0 {
			b.WriteString("_" + string(rune('0'+down/len("₀")))) // of another base
			continue
		}
		raised = up >= 0
		switch {
		case raised:
			b.WriteByte(map[rune]byte{'⁰': '0', '¹': '1', '²': '2', '³': '3', '⁴': '4', '⁵': '5', '⁶': '6', '⁷': '7', '⁸': '8', '⁹': '9', '⁻': '-', '⁺': '+'}[r])
		case isAnyDigit(r):
			b.WriteRune(plainDigit(r))
		default:
			b.WriteString(alikeInNumbers(r))
		}
	}
	return b.String()
}

// alikeInNumbers is a character that stands for one of ASCII in a number.
func alikeInNumbers(r rune) string {
	switch r {
	case '\u2212', '\uff0d', '\ufe63', '\u2012':
		return "-"
	case '\uff0b':
		return "+"
	case '\uff0e', '\u066b':
		return "."
	case '\uff0c', '\u066c':
		return ","
	case '\uff05', '\u066a':
		return "%"
	case '\u2019':
		return "'"
	case '½':
		return " 1/2"
	case '¼':
		return " 1/4"
	case '¾':
		return " 3/4"
	case '⅓':
		return " 1/3"
	case '⅔':
		return " 2/3"
	case '⅛':
		return " 1/8"
	case '⁄', '\u2215':
		return "/"
	case '·', '∙', '⋅':
		return "×"
	}
	return string(r)
}

var (
	// inGroups matches digits in groups of three with a narrow space or an apostrophe between.
	inGroups = regexp.MustCompile(`\d{1,3}(?:[\x{2009}\x{202f}\x{2007}\x{a0}']\d{3})+(?:[^\d]|$)`)
	spaces   = strings.NewReplacer("\u00a0", " ", "\u202f", " ", "\u2009", " ", "\u2007", " ", "\u2002", " ", "\u2003", " ", "\u3000", " ")
	stars    = regexp.MustCompile(`(\d)\*\*(\d)`)                 // a power, and not emphasis
	dollars  = regexp.MustCompile(`\b(?:US|AU|A|CA|C|HK|NZ|S)\$`) // of which country
	// leadingDash is a dash that stands for a minus; between two numbers it is a range.
	leadingDash = regexp.MustCompile(`(^|[\s(:=])–(\d)`)
	ungroup     = strings.NewReplacer("\u2009", "", "\u202f", "", "\u2007", "", "\u00a0", "", "'", "")
	// run matches digits with points and commas, for those who write 1.500,25.
	run = regexp.MustCompile(`\d[\d.,]*\d|\d`)
	// LaTeX that sets a number: fractions, and what says nothing of it.
	fracForm   = regexp.MustCompile(`(\d)?\\[dt]?frac\s*(?:\{\s*(\d+)\s*\}\s*\{\s*(\d+)\s*\}|(\d)(\d))`)
	typesets   = regexp.MustCompile(`\\(?:text|textbf|textit|textrm|mathrm|mathbf|mbox|boxed|fbox)\s*\{([^{}]*)\}`)
	emphasised = regexp.MustCompile(`(^|\s)[*_]([^*_\s][^*_\n]*)[*_]($|[\s.,;:!?])`)
	degreeSign = regexp.MustCompile(`\s*\^\{?\\circ\}?|°`)
	latexSigns = strings.NewReplacer(`\times`, "×", `\cdot`, "×", `\%`, "%", `\$`, "$", `{,}`, ",", `\,`, " ", `\;`, " ", `\:`, " ", `\!`, "", `\ `, " ", `\left`, "", `\right`, "", `\displaystyle`, "", `\approx`, "≈",
		`\(`, " ", `\)`, " ", `\[`, " ", `\]`, " ", `\quad`, " ", `~`, " ", "**", "", "__", "", "`", "")
)

// normalNumbers writes digits, signs, fractions and spaces as numberForm knows them. comma says
// that the text has its decimals behind a comma.
func normalNumbers(line string, comma bool) string {
	line = dollars.ReplaceAllString(asciiNumber(line), "$$")
	line = stars.ReplaceAllString(line, "$1^$2")
	line = leadingDash.ReplaceAllString(line, "$1-$2")
	line = inGroups.ReplaceAllStringFunc(line, ungroup.Replace)
	line = spaces.Replace(line)
	if strings.ContainsAny(line, "\\{*_`~") {
		line = emphasised.ReplaceAllString(line, "$1$2$3")
		line = fracForm.ReplaceAllStringFunc(line, func(s string) string {
			m := fracForm.FindStringSubmatch(s)
			if m[1] != "" { // a mixed number
				m[1] += " "
			}
			return m[1] + m[2] + m[4] + "/" + m[3] + m[5]
		})
		line = degreeSign.ReplaceAllString(line, " degrees")
		line = typesets.ReplaceAllString(latexSigns.Replace(line), " $1")
	}
	if comma {
		swap := strings.NewReplacer(".", ",", ",", ".")
		line = run.ReplaceAllStringFunc(line, swap.Replace)
	}
	return line
}
