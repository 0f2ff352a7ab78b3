package methods

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// EncodeJSON is v as JSON on one line, with <, > and & as they are: models and people
// read it, and no browser.
func EncodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// Must is v, where an error would be a fault of the program: of what is built in, or of
// values that always encode.
func Must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// DecodeJSON reads the first JSON value of raw. Numbers that go into an any stay as they
// are written: 1 and 1.0 are different values, and integers beyond 2^53 stay apart.
func DecodeJSON(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode(into)
}

// DecodeWhole is [DecodeJSON] of what must be one JSON value and nothing else; strict refuses
// keys that its type does not have.
func DecodeWhole(raw []byte, into any, strict bool) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if strict {
		d.DisallowUnknownFields()
	}
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more text after the JSON value")
	}
	return nil
}
