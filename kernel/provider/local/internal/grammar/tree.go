package grammar

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxNesting bounds how deep a schema document itself may nest.
const maxNesting = 512

// value is a JSON value that keeps the order of an object's members, which
// encoding/json's maps lose and which decides the order of properties.
type value struct {
	kind    byte // one of { [ " 0 t f n
	members []member
	items   []*value
	text    string // a string's content, or a number's spelling
}

// member is one name and value of an object.
type member struct {
	name  string
	value *value
}

// parseTree reads one JSON document.
func parseTree(data []byte) (*value, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	v, err := readValue(dec, 0)
	if err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one JSON value in the document")
	}
	return v, nil
}

func readValue(dec *json.Decoder, depth int) (*value, error) {
	if depth > maxNesting {
		return nil, fmt.Errorf("nested deeper than %d levels", maxNesting)
	}
	tok, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch t := tok.(type) {
	case json.Delim:
		if t == '{' {
			return readObject(dec, depth)
		}
		return readArray(dec, depth)
	case string:
		return &value{kind: '"', text: t}, nil
	case json.Number:
		return &value{kind: '0', text: t.String()}, nil
	case bool:
		if t {
			return &value{kind: 't'}, nil
		}
		return &value{kind: 'f'}, nil
	default:
		return &value{kind: 'n'}, nil
	}
}

func readObject(dec *json.Decoder, depth int) (*value, error) {
	v := &value{kind: '{'}
	seen := map[string]bool{}
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return nil, err
		}
		name, ok := tok.(string)
		if !ok {
			return nil, fmt.Errorf("object member name is not a string: %v", tok)
		}
		if seen[name] {
			return nil, fmt.Errorf("member %q appears twice in an object", name)
		}
		seen[name] = true
		child, err := readValue(dec, depth+1)
		if err != nil {
			return nil, err
		}
		v.members = append(v.members, member{name, child})
	}
	_, err := dec.Token()
	return v, err
}

func readArray(dec *json.Decoder, depth int) (*value, error) {
	v := &value{kind: '['}
	for dec.More() {
		child, err := readValue(dec, depth+1)
		if err != nil {
			return nil, err
		}
		v.items = append(v.items, child)
	}
	_, err := dec.Token()
	return v, err
}

// get returns the member called name, or nil.
func (v *value) get(name string) *value {
	for _, m := range v.members {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// at follows a JSON pointer (RFC 6901) without its #.
func (v *value) at(pointer string) *value {
	for part := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		part = unescapePointer.Replace(part)
		switch v.kind {
		case '{':
			v = v.get(part)
		case '[':
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(v.items) {
				return nil
			}
			v = v.items[i]
		default:
			return nil
		}
		if v == nil {
			return nil
		}
	}
	return v
}

var (
	unescapePointer = strings.NewReplacer("~1", "/", "~0", "~")
	escapePointer   = strings.NewReplacer("~", "~0", "/", "~1")
)

// appendText writes v as compact JSON in canonical spelling: members in their
// order, strings as appendString spells them, numbers as they were written.
func (v *value) appendText(dst []byte) []byte {
	switch v.kind {
	case '{':
		dst = append(dst, '{')
		for i, m := range v.members {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendString(dst, m.name), ':')
			dst = m.value.appendText(dst)
		}
		return append(dst, '}')
	case '[':
		dst = append(dst, '[')
		for i, item := range v.items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = item.appendText(dst)
		}
		return append(dst, ']')
	case '"':
		return appendString(dst, v.text)
	case '0':
		return append(dst, v.text...)
	case 't':
		return append(dst, "true"...)
	case 'f':
		return append(dst, "false"...)
	default:
		return append(dst, "null"...)
	}
}

// appendString writes s in the one canonical spelling of a JSON string:
// everything raw but the characters that must be escaped, those by their short
// escape where there is one.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for _, r := range s {
		if esc := canonicalEscape(r); esc != "" {
			dst = append(dst, esc...)
			continue
		}
		dst = utf8.AppendRune(dst, r)
	}
	return append(dst, '"')
}

// canonicalEscape returns how r is escaped in canonical spelling, or "" for a
// character that stands for itself.
func canonicalEscape(r rune) string {
	switch r {
	case '"':
		return `\"`
	case '\\':
		return `\\`
	case '\b':
		return `\b`
	case '\f':
		return `\f`
	case '\n':
		return `\n`
	case '\r':
		return `\r`
	case '\t':
		return `\t`
	}
	if r < 0x20 {
		return fmt.Sprintf(`\u%04x`, r)
	}
	return ""
}
