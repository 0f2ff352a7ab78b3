package wires

import (
	"encoding/json"
	"fmt"
)

// stream is the events of a reply as they are cut.
type stream struct {
	usage  bool
	frames [][]byte
	number int
}

// data adds an event without a name.
func (s *stream) data(v any) {
	s.frames = append(s.frames, fmt.Appendf(nil, "data: %s\n\n", encode(v)))
}

// event adds an event with a name, which its data has as "type".
func (s *stream) event(name string, v object) {
	v["type"] = name
	s.frames = append(s.frames, fmt.Appendf(nil, "event: %s\ndata: %s\n\n", name, encode(v)))
}

// numbered adds an event with its number in the stream.
func (s *stream) numbered(name string, v object) {
	v["sequence_number"] = s.number
	s.number++
	s.event(name, v)
}

// end adds the mark that ends streams of chunks.
func (s *stream) end() { s.frames = append(s.frames, []byte("data: [DONE]\n\n")) }

// opened is a JSON object whose members are as they were written; nil for anything else. What is null
// is nil.
func opened(raw json.RawMessage) object {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil || members == nil {
		return nil
	}
	o := object{}
	for name, value := range members {
		o[name] = any(nil)
		if string(value) != "null" {
			o[name] = value
		}
	}
	return o
}

// inner is an object within another.
func inner(v any) object {
	raw, _ := v.(json.RawMessage)
	return opened(raw)
}

// objects are the objects of a list.
func objects(v any) (all []object) {
	raw, _ := v.(json.RawMessage)
	var list []json.RawMessage
	_ = json.Unmarshal(raw, &list) // anything else has none
	for _, e := range list {
		if o := opened(e); o != nil {
			all = append(all, o)
		}
	}
	return all
}

// text is a text within an object; empty for anything else.
func text(v any) (s string) {
	raw, _ := v.(json.RawMessage)
	_ = json.Unmarshal(raw, &s) // anything else gives none
	return s
}

// with is a copy of an object with other values of some fields.
func with(o object, fields object) object {
	c := object{}
	for name, value := range o {
		c[name] = value
	}
	for name, value := range fields {
		c[name] = value
	}
	return c
}
