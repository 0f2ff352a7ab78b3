package export

import (
	"os"
	"regexp"
	"slices"
	"strings"
)

// redacted replaces a key.
const redacted = "[redacted]"

// secrets are the forms of keys that providers hand out, and the headers that
// carry them.
var secrets = regexp.MustCompile(`(?i)\b(sk|pk|rk|gsk|xai|key|tok)-[A-Za-z0-9_-]{16,}\b` +
	`|\bAIza[A-Za-z0-9_-]{30,}|\bhf_[A-Za-z0-9]{20,}\b|\bgh[pousr]_[A-Za-z0-9]{30,}\b|\bAKIA[A-Z0-9]{16}\b` +
	`|\bbearer\s+[A-Za-z0-9._~+/=-]{16,}|\b(authorization|x-api-key|api-key)["']?\s*[:=]\s*["']?[A-Za-z0-9._~+/= -]{12,}`)

// redactor takes what looks like a key, and the values of the environment's own
// keys, out of texts.
type redactor struct{ own *strings.Replacer }

func newRedactor() redactor {
	var pairs []string
	for _, v := range environmentKeys() {
		pairs = append(pairs, v, redacted)
	}
	return redactor{strings.NewReplacer(pairs...)}
}

func (r redactor) text(s string) string {
	return secrets.ReplaceAllString(r.own.Replace(s), redacted)
}

// environmentKeys are the values of the variables that hold keys.
func environmentKeys() []string {
	var values []string
	for _, pair := range os.Environ() {
		name, value, _ := strings.Cut(pair, "=")
		secret := strings.HasSuffix(name, "_API_KEY") || strings.HasSuffix(name, "_TOKEN") || strings.HasSuffix(name, "_SECRET")
		if secret && len(value) >= 8 {
			values = append(values, value)
		}
	}
	slices.SortFunc(values, func(a, b string) int { return len(b) - len(a) })
	return values
}

func (r Rows) redacted() Rows {
	red := newRedactor()
	for _, row := range r.Rows {
		for i, v := range row {
			if s, ok := v.(string); ok {
				row[i] = red.text(s)
			}
		}
	}
	return r
}
