package export

import (
	"regexp"

	"noema/kernel/base/redact"
)

// secrets are the forms of keys that providers hand out, and the headers that
// carry them.
var secrets = regexp.MustCompile(`(?i)\b(sk|pk|rk|gsk|xai|key|tok)-[A-Za-z0-9_-]{16,}\b` +
	`|\bAIza[A-Za-z0-9_-]{30,}|\bhf_[A-Za-z0-9]{20,}\b|\bgh[pousr]_[A-Za-z0-9]{30,}\b|\bAKIA[A-Z0-9]{16}\b` +
	`|\bbearer\s+[A-Za-z0-9._~+/=-]{16,}|\b(authorization|x-api-key|api-key)["']?\s*[:=]\s*["']?[A-Za-z0-9._~+/= -]{12,}`)

// Clean takes the user's own keys, and what looks like anybody's, out of a text that
// leaves the machine. The Redactor may be nil.
func Clean(r *redact.Redactor, text string) string {
	return secrets.ReplaceAllString(r.Text(text), redact.Mark)
}

func (s Source) clean(text string) string { return Clean(s.Redactor, text) }

// redacted takes keys out of a row.
func (s Source) redacted(row []any) []any {
	for i, v := range row {
		if text, ok := v.(string); ok {
			row[i] = s.clean(text)
		}
	}
	return row
}
