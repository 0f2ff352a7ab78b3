package files

import (
	"regexp"
	"strings"
	"sync"
)

// plainWord matches what every shell reads as one word that stands for itself.
var plainWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z0-9_@%+:,./-][a-zA-Z0-9_@%+=:,./-]*$`) })

// Word is a text as one word of a command that is printed to be pasted into a shell: as it
// is where a shell reads nothing into it, and otherwise in single quotes.
func Word(text string) string {
	if plainWord().MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
