package record

import (
	"regexp"

	"noema/methods"
)

// specifics are the parts of a reason in which trials with one cause differ.
var specifics = regexp.MustCompile(`"[^"]*"|[0-9]+`)

// CauseKey is the same for trials that came to no answer in one way, though the
// reasons that they give may differ in numbers and quoted words.
func CauseKey(o methods.Outcome, reason string) string {
	return string(o) + specifics.ReplaceAllString(reason, "")
}
