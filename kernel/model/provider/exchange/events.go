package exchange

import (
	"bytes"
	"encoding/json"
)

// Events returns the data of a stream of server-sent events, and false if
// body is not one, such as the plain reply of a server that does not stream.
// Comments and the end mark "[DONE]" are left out; done reports the latter.
func Events(body []byte) (events [][]byte, done, ok bool) {
	if !bytes.HasPrefix(body, []byte("data:")) && !bytes.HasPrefix(body, []byte("event:")) &&
		!bytes.HasPrefix(body, []byte(":")) && !bytes.HasPrefix(body, []byte("id:")) {
		return nil, false, false
	}
	var data []byte
	flush := func() {
		switch {
		case len(data) == 0:
		case string(data) == "[DONE]":
			done = true
		default:
			events = append(events, data)
		}
		data = nil
	}
	for line := range bytes.Lines(body) {
		complete := bytes.HasSuffix(line, []byte("\n"))
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			flush()
			continue
		}
		if value, isData := bytes.CutPrefix(line, []byte("data:")); isData && complete {
			if data != nil {
				data = append(data, '\n')
			}
			data = append(data, bytes.TrimPrefix(value, []byte(" "))...)
		}
	}
	flush() // some servers end without the last empty line
	return events, done, true
}

// Lines returns the lines of a stream of JSON values, one per line, without
// the last one if it is cut.
func Lines(body []byte) [][]byte {
	var lines [][]byte
	for line := range bytes.Lines(body) {
		whole := bytes.HasSuffix(line, []byte("\n"))
		if line = bytes.TrimSpace(line); len(line) > 0 && (whole || json.Valid(line)) {
			lines = append(lines, line)
		}
	}
	return lines
}

// Each decodes the values of a reply one after the other and hands them to do:
// the events of a stream, the elements of a list, lines of JSON, or the one
// value that the body is. A value that says that it is an error ends it. ended
// reports that the reply has an end of its own: the end mark of a stream, or
// that it is not a stream.
func Each[T any](body []byte, do func(T) error) (ended bool, err error) {
	values, ended, stream := Events(body)
	var list []json.RawMessage
	switch {
	case stream:
	case json.Unmarshal(body, &list) == nil:
		for _, e := range list {
			values = append(values, e)
		}
		ended = true
	case json.Valid(body):
		values, ended = [][]byte{body}, true
	default:
		if values = Lines(body); len(values) == 0 {
			return false, Malformed(body, "not JSON")
		}
	}
	for _, raw := range values {
		var fault struct {
			Type  string
			Error json.RawMessage
		}
		if json.Unmarshal(raw, &fault) == nil && (fault.Type == "error" || len(fault.Error) > 0 && string(fault.Error) != "null") {
			return ended, Malformed(raw, "it holds an error")
		}
		var v T
		if err := json.Unmarshal(raw, &v); err != nil {
			return ended, Malformed(raw, "%w", err)
		}
		if err := do(v); err != nil {
			return ended, err
		}
	}
	return ended, nil
}
