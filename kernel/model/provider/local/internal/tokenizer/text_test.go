package tokenizer

import (
	"testing"
	"unicode/utf8"
)

// TestText replaces what is not UTF-8.
func TestText(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "",
		"plain é 🙂":                      "plain é 🙂",
		"\uFFFD":                         "\uFFFD",
		"\xe2\x82":                       "\uFFFD", // the beginning of a character is one
		"\xf0\x9f\x99":                   "\uFFFD",
		"\xff\xfe":                       "\uFFFD\uFFFD", // bytes of none are one each
		"\xc0\xaf":                       "\uFFFD\uFFFD",
		"\xe0\x80\x80":                   "\uFFFD\uFFFD\uFFFD",                           // longer than need be
		"\xed\xa0\x80":                   "\uFFFD\uFFFD\uFFFD",                           // a surrogate
		"\xf4\x91\x92\x93\xffA\x80\xbfB": "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFDA\uFFFD\uFFFDB", // Unicode, table 3-10
		"\x61\xf1\x80\x80\xe1\x80\xc2\x62\x80\x63\x80\xbf\x64": "a\uFFFD\uFFFD\uFFFDb\uFFFDc\uFFFD\uFFFDd", // table 3-8 of older versions
	} {
		if got := (&Tokenizer{}).Text([]byte(text)); got != want || !utf8.ValidString(got) {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}
