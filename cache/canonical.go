package cache

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"noema/methods"
)

// maxDepth bounds the recursion over JSON from outside.
const maxDepth = 512

// canonicalJSON returns raw without white space and with names in byte order.
// Numbers keep their digits: 1, 1.0 and 1e0 stay apart, as a model reads
// them. It reports false unless raw is exactly one valid JSON value that all
// readers understand alike: not with a duplicate name, a lone surrogate or invalid
// UTF-8.
func canonicalJSON(raw []byte) ([]byte, bool) {
	if !json.Valid(raw) || !utf8.Valid(raw) || bytes.Contains(raw, []byte(`\ud`)) || bytes.Contains(raw, []byte(`\uD`)) {
		return nil, false
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	v, ok := unambiguous(d, 0)
	if !ok {
		return nil, false
	}
	out, err := methods.EncodeJSON(v) // which sorts names and leaves numbers as they are
	return out, err == nil
}

// unambiguous reads the next value of d, which is valid JSON. It is false if an object
// has a name twice, which readers take differently, and for what nests too deeply.
func unambiguous(d *json.Decoder, depth int) (v any, ok bool) {
	t, err := d.Token()
	if err != nil || depth > maxDepth {
		return nil, false
	}
	switch t {
	case json.Delim('['):
		list := []any{}
		for d.More() {
			if v, ok = unambiguous(d, depth+1); !ok {
				return nil, false
			}
			list = append(list, v)
		}
		v = list
	case json.Delim('{'):
		object := map[string]any{}
		for d.More() {
			name, _ := d.Token()
			key, _ := name.(string)
			if _, twice := object[key]; twice {
				return nil, false
			}
			if object[key], ok = unambiguous(d, depth+1); !ok {
				return nil, false
			}
		}
		v = object
	default:
		return t, true
	}
	_, err = d.Token() // the closing bracket
	return v, err == nil
}
