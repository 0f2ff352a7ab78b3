package cafes

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// token is a word, a punctuation mark or a quotation.
type token struct {
	text   string // lower case, without quotation marks
	orig   string // as written
	quoted bool
}

// tokenize splits text. Hyphens separate words, "'s" is a word of its own,
// other apostrophes belong to theirs, and a quotation is one token.
func tokenize(text string) []token {
	text = straighten.Replace(strings.ToValidUTF8(text, " "))
	var out []token
	for len(text) > 0 {
		if quote, rest, ok := cutQuote(text); ok {
			out = append(out, token{text: strings.ToLower(quote), orig: quote, quoted: true})
			text = rest
			continue
		}
		r, size := utf8.DecodeRuneInString(text)
		if !isWord(r) {
			if strings.ContainsRune(",.;:!?()&", r) {
				out = append(out, token{text: string(r), orig: string(r)})
			}
			text = text[size:]
			continue
		}
		n := wordLen(text)
		out = appendWord(out, text[:n])
		text = text[n:]
	}
	return out
}

// straighten maps typographic quotes and spellings to the plain ones.
var straighten = strings.NewReplacer("“", `"`, "”", `"`, "’", "'", "‘", "'",
	"Wi-Fi", "WiFi", "wi-fi", "wifi", "Wi-fi", "wifi", "–", " - ", "—", " - ")

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// wordLen is the length of the word that s begins with. A colon between
// digits belongs to it, as in "7:30", and so does an inner apostrophe.
func wordLen(s string) int {
	for i, r := range s {
		if isWord(r) {
			continue
		}
		next, _ := utf8.DecodeRuneInString(s[i+utf8.RuneLen(r):])
		prev, _ := utf8.DecodeLastRuneInString(s[:i])
		switch {
		case r == '\'' && unicode.IsLetter(next):
		case r == ':' && unicode.IsDigit(prev) && unicode.IsDigit(next):
		default:
			return i
		}
	}
	return len(s)
}

func appendWord(out []token, word string) []token {
	lower := strings.ToLower(word)
	if stem, ok := strings.CutSuffix(lower, "'s"); ok && stem != "" {
		return append(out, token{text: stem, orig: word[:len(word)-2]}, token{text: "'s", orig: "'s"})
	}
	return append(out, token{text: lower, orig: word})
}

// cutQuote takes a quotation of at most 80 bytes off the front of s. A single
// quote opens one only where no word touches it from the left.
func cutQuote(s string) (quote, rest string, ok bool) {
	mark := s[0]
	if mark != '"' && mark != '\'' {
		return "", s, false
	}
	if mark == '\'' && (len(s) < 2 || s[1] == ' ') {
		return "", s, false
	}
	for i := 1; i < len(s) && i <= 80; i++ {
		if s[i] != mark {
			continue
		}
		if mark == '\'' && i+1 < len(s) && isWord(rune(s[i+1])) {
			continue // an apostrophe
		}
		return strings.TrimSpace(s[1:i]), s[i+1:], strings.TrimSpace(s[1:i]) != ""
	}
	return "", s, false
}
