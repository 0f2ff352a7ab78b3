package redact

import (
	"bytes"
	"regexp"
	"strings"
)

// shapes are how keys of providers and services are written, and what an assignment of one looks
// like. The last group of each is the part that nobody guesses.
var shapes = regexp.MustCompile(`\b(?:sk|pk|rk)[-_](?:[a-z0-9]+[-_])*([A-Za-z0-9_-]{20,})` +
	`|\b(?:AKIA|ASIA)([0-9A-Z]{16})\b|\bAIza([0-9A-Za-z_-]{35})` +
	`|\b(?:gh[pousr]|github_pat|glpat|hf|gsk|npm|r8|xai|pypi|nvapi|pplx|tgp|dop_v1|shpat)[-_]([A-Za-z0-9_-]{20,})` +
	`|\bxox[abeprs]-([A-Za-z0-9-]{20,})|\beyJ[A-Za-z0-9_-]{10,}\.(eyJ[A-Za-z0-9_-]{20,})` +
	`|-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----(?:\s|\\n|[A-Za-z-]+: [^\n]*)*([A-Za-z0-9+/=]{32,})` +
	`|(?i:api[_-]?key|secret|token|passw(?:or)?d|credential)[A-Za-z_]*["']?\s*[:=]\s*["']?([A-Za-z0-9+/_=-]{24,})`)

// Shape reports whether a text has something in it that is written as keys are, whosever it is,
// and in which line, from 1. A program that is compiled is not looked at: of its constants, which
// stand in it one behind the other, some look like keys.
func Shape(raw []byte) (line int, found bool) {
	if bytes.IndexByte(raw[:min(len(raw), 8<<10)], 0) >= 0 {
		return 0, false
	}
	for _, at := range shapes.FindAllSubmatchIndex(raw, -1) {
		for i := 2; i < len(at); i += 2 {
			if at[i] >= 0 && random(string(raw[at[i]:at[i+1]])) {
				return 1 + bytes.Count(raw[:at[0]], []byte("\n")), true
			}
		}
	}
	return 0, false
}

// random reports whether a text is drawn by chance, not written: it has a digit among letters, and
// many different characters. A placeholder such as your-key-goes-here-1 is not.
func random(text string) bool {
	different, digits, letters := map[rune]bool{}, 0, 0
	for _, c := range text {
		different[c] = true
		switch {
		case '0' <= c && c <= '9':
			digits++
		case c != '-' && c != '_':
			letters++
		}
	}
	low := strings.ToLower(text)
	for _, word := range []string{"your", "example", "placeholder", "xxxx", "dummy"} {
		if strings.Contains(low, word) {
			return false
		}
	}
	return digits >= 1 && letters >= 2 && len(different) >= 9
}
