package exchange

import (
	"bytes"
	"encoding/json"
)

// Events returns the data of a stream of server-sent events, and false if
// body is none, such as the plain reply of a server that does not stream.
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
