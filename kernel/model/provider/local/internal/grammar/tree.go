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
// decides the order of properties and which encoding/json's maps lose.
type value struct {
	kind    byte     // one of { [ " 0 t f n
	members []member // of an object, or of an array, without names
	text    string   // a string's content, or another scalar's spelling
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
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch t := token.(type) {
	case string:
		return &value{kind: '"', text: t}, nil
	case json.Number:
		return &value{kind: '0', text: t.String()}, nil
	case bool:
		text := strconv.FormatBool(t)
		return &value{kind: text[0], text: text}, nil
	case json.Delim:
		v := &value{kind: byte(t)}
		return v, v.readMembers(dec, depth)
	}
	return &value{kind: 'n', text: "null"}, nil
}

func (v *value) readMembers(dec *json.Decoder, depth int) error {
	seen := map[string]bool{}
	for dec.More() {
		var m member
		if v.kind == '{' {
			token, err := dec.Token()
			if err != nil {
				return err
			}
			m.name, _ = token.(string) // the decoder refuses others
			if seen[m.name] {
				return fmt.Errorf("member %q appears twice in an object", m.name)
			}
			seen[m.name] = true
		}
		var err error
		if m.value, err = readValue(dec, depth+1); err != nil {
			return err
		}
		v.members = append(v.members, m)
	}
	_, err := dec.Token()
	return err
}

// at follows a JSON pointer (RFC 6901) without its #. It returns nil if the
// pointer leads nowhere.
func (v *value) at(pointer string) *value {
	if pointer == "" {
		return v
	}
	for part := range strings.SplitSeq(pointer[1:], "/") {
		part = unescapePointer.Replace(part)
		var next *value
		for i, m := range v.members {
			if v.kind == '{' && m.name == part || v.kind == '[' && strconv.Itoa(i) == part {
				next = m.value
			}
		}
		if v = next; v == nil {
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
	case '{', '[':
		dst = append(dst, v.kind)
		for i, m := range v.members {
			if i > 0 {
				dst = append(dst, ',')
			}
			if v.kind == '{' {
				dst = append(appendString(dst, m.name), ':')
			}
			dst = m.value.appendText(dst)
		}
		return append(dst, v.kind+2) // } or ]
	case '"':
		return appendString(dst, v.text)
	}
	return append(dst, v.text...)
}

// appendString writes s in the one canonical spelling of a JSON string:
// everything raw but the characters that must be escaped, those by their short
// escape where there is one.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for _, r := range s {
		switch i := strings.IndexRune("\"\\\b\f\n\r\t", r); {
		case i >= 0:
			dst = append(dst, '\\', `"\bfnrt`[i])
		case r < ' ':
			dst = fmt.Appendf(dst, `\u%04x`, r)
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return append(dst, '"')
}
