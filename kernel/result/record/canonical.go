package record

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"noema/methods"
)

// MaxDepth bounds how deep JSON in a record is nested. Readers of JSON give up
// at some depth, Go's own at 10,000, and a record is a few levels deeper than
// what it holds: what a method may send must not make it unreadable.
const MaxDepth = 1000

// Depth is how deep lists and objects are nested in raw.
func Depth(raw json.RawMessage) int {
	deepest, depth := 0, 0
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			i += 1 + textEnd(raw[i+1:])
		case '[', '{':
			depth++
			deepest = max(deepest, depth)
		case ']', '}':
			depth--
		}
	}
	return deepest
}

// textEnd is where the text that raw begins with ends: at its closing quote, or with raw.
func textEnd(raw []byte) int {
	for from := 0; ; {
		quote := bytes.IndexByte(raw[from:], '"')
		if quote < 0 {
			return len(raw)
		}
		quote += from
		escapes := quote - len(bytes.TrimRight(raw[:quote], `\`))
		if escapes%2 == 0 {
			return quote
		}
		from = quote + 1
	}
}

// canonical is raw as it comes back from the store, so that what was recorded
// and what is computed now can be compared byte by byte. Invalid JSON stays as it
// is, and JSON that is nested too deeply becomes a string. Invalid UTF-8 is
// replaced: only Go accepts it in JSON.
func canonical(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return nil
	}
	if !utf8.Valid(raw) {
		raw = bytes.ToValidUTF8(raw, []byte("\uFFFD"))
	}
	if Depth(raw) > MaxDepth {
		return methods.Must(Marshal(string(raw))) // a string always encodes
	}
	compact, err := Marshal(raw)
	switch {
	case err != nil:
		return raw
	case string(compact) == "null":
		return nil
	}
	return compact
}

// canonicalAnswer is an answer with text that JSON keeps as it is.
func canonicalAnswer(a methods.Answer) methods.Answer {
	a.Value, a.Reason = canonical(a.Value), strings.ToValidUTF8(a.Reason, "\uFFFD")
	a.Evidence = slices.Clone(a.Evidence)
	for i, e := range a.Evidence {
		a.Evidence[i] = methods.Evidence{Source: strings.ToValidUTF8(e.Source, "\uFFFD"), Text: strings.ToValidUTF8(e.Text, "\uFFFD")}
	}
	return a
}
