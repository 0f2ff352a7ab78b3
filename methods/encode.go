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
