package attack

import (
	"bytes"
	"encoding/json"
	"slices"
)

// span is where a value stands in JSON text. Values are replaced by their place:
// the same bytes may stand elsewhere as well.
type span struct{ from, to int }

func (s span) replace(around, with json.RawMessage) json.RawMessage {
	return slices.Concat(around[:s.from], with, around[s.to:])
}

// member is where the value of an object's field is.
func member(object json.RawMessage, name string) (at span, ok bool) {
	d := json.NewDecoder(bytes.NewReader(object))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return span{}, false
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return span{}, false
		}
		value, err := next(d)
		if err != nil {
			return span{}, false
		}
		if key == name {
			at, ok = value, true // the last counts, as for readers
		}
	}
	return at, ok
}

// elements are where the elements of a list are.
func elements(list json.RawMessage) (all []span) {
	d := json.NewDecoder(bytes.NewReader(list))
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return nil
	}
	for d.More() {
		at, err := next(d)
		if err != nil {
			return nil
		}
		all = append(all, at)
	}
	return all
}

func next(d *json.Decoder) (span, error) {
	var value json.RawMessage
	if err := d.Decode(&value); err != nil {
		return span{}, err
	}
	to := int(d.InputOffset())
	return span{to - len(value), to}, nil
}
