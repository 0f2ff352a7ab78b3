package researchtree

import (
	"encoding/json"

	"noema/methods"
	"noema/methods/reply"
)

// value reads an answer of the wanted kind, as every method reads it.
func (t *solver) value(raw json.RawMessage) (methods.Answer, error) {
	r, err := reply.ReadValue(raw, t.Answer)
	if err != nil {
		return methods.Answer{}, err
	}
	r.Report(t.Host, "answer")
	return r.Answer, nil
}
