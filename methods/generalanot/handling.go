package generalanot

import (
	"strings"
	"unicode/utf8"
)

// The parts of a long review that can be kept.
const (
	keepHead = "head"
	keepTail = "tail"
	keepEnds = "head+tail"
)

func strategies() []string { return []string{keepHead, keepTail, keepEnds} }

// strategy is the strategy by our name for it.
func (h ReviewHandling) strategy() string { return strings.TrimPrefix(h.Strategy, "truncate_") }

// cut shortens text to the limit and returns how many characters are missing.
func (h ReviewHandling) cut(text string) (string, int) {
	n := utf8.RuneCountInString(text)
	if h.MaxLength < 1 || n <= h.MaxLength {
		return text, 0
	}
	runes := []rune(text)
	head, tail := h.MaxLength, 0
	switch h.strategy() {
	case keepTail:
		head, tail = 0, h.MaxLength
	case keepEnds:
		tail = h.MaxLength / 2
		head = h.MaxLength - tail
	}
	parts := []string{}
	if head > 0 {
		parts = append(parts, string(runes[:head]))
	}
	parts = append(parts, "(cut)")
	if tail > 0 {
		parts = append(parts, string(runes[n-tail:]))
	}
	return strings.Join(parts, "\n"), n - h.MaxLength
}

// fillPlaceholders writes a review into an extraction prompt, in one pass: what
// looks like a placeholder in the review stays as it is.
func fillPlaceholders(prompt string, r Review, text string) string {
	return strings.NewReplacer(
		textPlaceholder, "\n"+taggedReview(text)+"\n",
		datePlaceholder, known(r.Date),
		starsPlaceholder, known(r.Stars.String()),
		usefulPlaceholder, known(r.Useful.String()),
	).Replace(prompt)
}

// known is s as a prompt shows it, on one line.
func known(s string) string {
	if s = strings.Join(strings.Fields(s), " "); s == "" {
		return "unknown"
	}
	return strings.ToValidUTF8(s, "\ufffd")
}
