package files

import "strings"

// plainWord are the characters that no shell reads anything into.
const plainWord = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-"

// Word is a text as one word of a command that is printed to be pasted into a shell: as it
// is where a shell reads nothing into it, and otherwise in single quotes.
func Word(text string) string {
	if text != "" && text[0] != '=' && !strings.ContainsFunc(text, func(r rune) bool { return !strings.ContainsRune(plainWord, r) }) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
