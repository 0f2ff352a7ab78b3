package reply

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Shorten cuts the middle out of s if it is longer than limit bytes, and
// returns the result and how many bytes are missing. It keeps the first and
// the last half of the limit and cuts no character in two.
func Shorten(s string, limit int) (string, int) {
	if len(s) <= limit {
		return s, 0
	}
	head, tail := limit/2, len(s)-limit/2
	for head > 0 && !utf8.RuneStart(s[head]) {
		head--
	}
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	return s[:head] + "\n(cut)\n" + s[tail:], tail - head
}

// Head cuts s after limit bytes, never inside a character, and reports
// whether it did.
func Head(s string, limit int) (string, bool) {
	if len(s) <= limit {
		return s, false
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit], true
}

// OneLine makes a line of at most limit bytes out of s, for events.
func OneLine(s string, limit int) string {
	// The line needs no more than the start of s, which may be very long.
	s, cut := Head(s, 4*limit)
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\ufffd")), " ")
	s, short := Head(s, limit)
	if cut || short {
		s += "…"
	}
	return s
}

// Quoted lists texts in double quotes, without escapes, for prompts.
func Quoted(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return `"` + strings.Join(list, `", "`) + `"`
}

// InWords is an error of package json in the words of somebody who does not know Go:
// without the names of types. Other errors stay as they are, and nil is nil.
func InWords(err error) error {
	var kind *json.UnmarshalTypeError
	if !errors.As(err, &kind) {
		if err == nil || !strings.HasPrefix(err.Error(), "json: ") {
			return err
		}
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	want := map[reflect.Kind]string{
		reflect.String: "a text", reflect.Bool: "true or false", reflect.Slice: "a list", reflect.Struct: "an object", reflect.Pointer: "an object",
		reflect.Int: "a whole number", reflect.Uint64: "a whole number from 0",
	}[kind.Type.Kind()]
	found := map[string]string{"string": "a text", "array": "a list", "object": "an object", "bool": "true or false"}[kind.Value]
	what := "the reply"
	if kind.Field != "" {
		what = strconv.Quote(kind.Field)
	}
	return fmt.Errorf("%s must be %s, not %s", what, cmp.Or(want, "another value"), cmp.Or(found, strings.TrimPrefix(kind.Value, "number ")))
}
