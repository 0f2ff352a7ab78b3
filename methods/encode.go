package methods

import (
	"bytes"
	"encoding/json"
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

// DecodeJSON reads the first JSON value of raw. Numbers that go into an any stay as they
// are written: 1 and 1.0 are different values, and integers beyond 2^53 stay apart.
func DecodeJSON(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode(into)
}
