package reply

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	// titles are abbreviations that a name always follows.
	titles = regexp.MustCompile(`(?:^|[\s("'])(?:St|Ste|Mt|Ft|Mr|Mrs|Ms|Mx|Messrs|Dr|Drs|Prof|Rev|Fr|Hon|Gen|Col|Maj|Capt|Cpt|Lt|Sgt|Cpl|Pvt|Adm|Cmdr|Gov|Sen|Rep|Pres|No|Nos|Nr|vs|v|cf|e\.g|i\.e|approx|ca)$`)
	// shortened are initials and abbreviations that may end a sentence, too.
	shortened = regexp.MustCompile(`(?:^|[\s("'.-])(?:\p{Lu}|(?:\pL\.)+\pL|Jr|Sr|Esq|Inc|Ltd|Co|Corp|Bros|Vol|Ch|Fig|Eq|Sec|al|etc|est|dept|Ave|Blvd|Rd|Sq|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Sept|Oct|Nov|Dec|Ph\.D|pp?)$`)
	// openers begin a sentence rather than the rest of a name.
	openers = regexp.MustCompile(`^(?:The|This|That|These|Those|It|Its|He|She|They|We|I|You|His|Her|Their|There|Here|So|Thus|Therefore|Hence|However|But|And|Because|Since|As|If|When|While|Although|In|On|At|For|To|Wait|Hmm|No|Not|Actually|Hold|Let|Now|Also|Note|Alternatively|Sorry|Oops|Correction|Scratch|Option|Answer|Final)\b`)
)

// sentenceEnd is where the first sentence of a text ends, behind its mark; its length if it
// does not end before. A point behind an abbreviation or an initial ends none, nor does a mark
// before a word in small letters or within a formula. The labels of a choice do not count as initials.
func sentenceEnd(text string, labels bool) int {
	formula := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '$' && (formula || opensFormula(text[i+1:])):
			formula = !formula
		case c == '\n' && strings.TrimSpace(text[:i]) != "":
			return i
		case (c == '.' || c == '!' || c == '?') && !formula && endsSentence(text, i, labels):
			return i + 1
		case c == 0xe3 && strings.HasPrefix(text[i:], "。"):
			return i + len("。")
		}
	}
	return len(text)
}

// opensFormula reports whether a dollar sign before text opens a formula: another closes it on
// its line. Of two amounts of money none does.
func opensFormula(text string) bool {
	i := strings.IndexByte(untilLine(text), '$')
	digit := func(s string) bool { return s != "" && isDigit(rune(s[0])) }
	return i >= 0 && !(digit(text) && digit(text[i+1:]))
}

// endsSentence reports whether the mark at i ends a sentence.
func endsSentence(text string, i int, labels bool) bool {
	after := strings.TrimLeft(text[i+1:], "\"'”’*_`$)]")
	after = strings.TrimPrefix(after, `\)`)
	next := strings.TrimLeft(after, " \t")
	if next == "" || next[0] == '\n' {
		return true
	}
	if len(next) == len(after) {
		return false // no space follows
	}
	before := text[max(0, i-24):i]
	if next[0] == '.' || next[0] == ':' || strings.HasSuffix(before, " ") || isDigit(rune(next[0])) && strings.HasSuffix(strings.ToLower(before), "no") {
		return false // " . . . ", "no. 3"
	}
	switch r, _ := utf8.DecodeRuneInString(next); {
	case text[i] == '.' && titles.MatchString(before):
		return false
	case openers.MatchString(next):
		return true
	case text[i] == '.' && shortened.MatchString(before):
		return labels
	case r == '(', unicode.IsLower(r):
		return labels && r != '('
	}
	return true
}

// decoration is Markdown that models put around a label or a number.
const decoration = " \t\r*_#>`"

// emphases are the pairs of marks that set a text off in Markdown.
var emphases = []string{"**", "__", "*", "_", "`"}

// unpaired is a text without the emphasis around all of it. A mark without its pair is part
// of the text, as in "C#", "*.py" and "_id".
func unpaired(s string) string {
	for {
		s = strings.TrimSpace(s)
		cut := s
		for _, e := range emphases {
			if len(s) > 2*len(e) && strings.HasPrefix(s, e) && strings.HasSuffix(s, e) && !strings.Contains(s[len(e):len(s)-len(e)], e) {
				cut = s[len(e) : len(s)-len(e)]
				break
			}
		}
		if cut == s {
			return s
		}
		s = cut
	}
}

// closed is a text without the marks that close what was opened before it, as in
// "**Answer: 5**".
func closed(opened, s string) string {
	s = strings.TrimRight(s, " \t\r")
	for _, e := range emphases {
		if rest, ok := strings.CutSuffix(s, e); ok && strings.Contains(opened, e) && strings.Count(s, e)%2 == 1 {
			return strings.TrimRight(rest, " \t")
		}
	}
	return s
}

// around are the marks that stand in pairs around a value and say nothing of it.
var around = [][2]string{{"$$", "$$"}, {"$", "$"}, {`\(`, `\)`}, {`\[`, `\]`}, {`"`, `"`}, {"'", "'"}, {"“", "”"}, {"‘", "’"}, {"«", "»"}, {"„", "“"}}

// inCommand matches a text that is the argument of one command that sets type.
var inCommand = regexp.MustCompile(`^\\(?:boxed|fbox|text|textbf|textit|textrm|mathrm|mathbf|mathit|mathsf|mbox|operatorname)\s*\{([^{}]*)\}$`)

// bareValue is a value without emphasis, quotes, the marks of a formula around it, and the
// marks of a sentence behind it.
func bareValue(s string) string {
	for {
		before := s
		s = strings.TrimRight(unpaired(s), ".,;!。 \t\r\n")
		for _, p := range around {
			if inner, ok := strings.CutPrefix(s, p[0]); ok && len(inner) >= len(p[1]) {
				if inner, ok := strings.CutSuffix(inner, p[1]); ok && !strings.Contains(inner, p[1]) {
					s = inner
				}
			}
		}
		if m := inCommand.FindStringSubmatch(s); m != nil {
			s = m[1]
		}
		if s = strings.TrimSpace(s); s == before {
			return s
		}
	}
}
