package wires

import "fmt"

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

// objects are the objects of a list.
func objects(v any) (all []object) {
	list, _ := v.([]any)
	for _, e := range list {
		if o, ok := e.(object); ok {
			all = append(all, o)
		}
	}
	return all
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
