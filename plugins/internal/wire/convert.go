package wire

import (
	"strings"
	"unicode/utf8"

	"noema/methods/convert"
)

// clean makes a string fit for the wire: protobuf strings are valid UTF-8. To
// find that one already is takes a tenth of the time that ToValidUTF8 takes.
func clean(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// To returns the message for a value of the vocabulary, such as a Request for a
// methods.Request.
func To[M, V any](v V) *M { return convert.To[M](v, clean) }

// From is the inverse of To. It cleans too: a plugin in another language may send
// whatever it likes.
func From[V, M any](m *M) V { return convert.From[V](m, clean) }
