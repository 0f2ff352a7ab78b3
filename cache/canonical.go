package cache

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"unicode/utf8"
)

// maxDepth bounds the recursion over JSON from outside.
const maxDepth = 512

// errAmbiguous says that JSON means different things to different readers.
var errAmbiguous = errors.New("ambiguous JSON")

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
	out, err := canonicalValue(d, nil, 0)
	if err != nil {
		return nil, false
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, false
	}
	return out, true
}

// canonicalValue appends the next value of d to out.
func canonicalValue(d *json.Decoder, out []byte, depth int) ([]byte, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	if depth > maxDepth {
		return nil, errAmbiguous
	}
	switch t {
	case json.Delim('{'):
		return canonicalObject(d, out, depth)
	case json.Delim('['):
		return canonicalArray(d, out, depth)
	}
	return appendScalar(out, t)
}

func canonicalArray(d *json.Decoder, out []byte, depth int) (_ []byte, err error) {
	out = append(out, '[')
	for i := 0; d.More(); i++ {
		if i > 0 {
			out = append(out, ',')
		}
		if out, err = canonicalValue(d, out, depth+1); err != nil {
			return nil, err
		}
	}
	_, err = d.Token()
	return append(out, ']'), err
}

func canonicalObject(d *json.Decoder, out []byte, depth int) ([]byte, error) {
	members := map[string][]byte{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		name, ok := t.(string)
		if _, twice := members[name]; twice || !ok {
			return nil, errAmbiguous
		}
		if members[name], err = canonicalValue(d, nil, depth+1); err != nil {
			return nil, err
		}
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	out = append(out, '{')
	for i, name := range slices.Sorted(maps.Keys(members)) {
		if i > 0 {
			out = append(out, ',')
		}
		var err error
		if out, err = appendScalar(out, name); err != nil {
			return nil, err
		}
		out = append(out, ':')
		out = append(out, members[name]...)
	}
	return append(out, '}'), nil
}

// appendScalar appends a string, number, bool or null. Its escapes are those
// of encoding/json without the ones for HTML.
func appendScalar(out []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case json.Number:
		return append(out, v...), nil
	case string:
		if plain(v) {
			out = append(out, '"')
			out = append(out, v...)
			return append(out, '"'), nil
		}
	}
	w := bytes.NewBuffer(out)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(w.Bytes(), []byte("\n")), nil
}

// plain reports whether s is its own JSON form, as most names are.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}
