package exchange

import (
	"bytes"
	"strings"
)

// drip tells the content of a reply, as it comes, from what only keeps the connection: spaces,
// and in a stream of events comments, their names, and pings.
type drip struct{ line []byte } // what there is of the last line, up to what tells what it is

// dripLine is how much of a line tells what it is.
const dripLine = 64

// content reports whether the bytes that came hold any.
func (d *drip) content(came []byte) (found bool) {
	for len(came) > 0 {
		part, rest, ended := bytes.Cut(came, []byte("\n"))
		came = rest
		d.line = append(d.line, part[:min(len(part), max(0, dripLine-len(d.line)))]...)
		if len(bytes.TrimSpace(part)) > 0 && (!empty(d.line) || len(d.line) >= dripLine && d.line[0] != ':') {
			found = true
		}
		if ended {
			d.line = d.line[:0]
		}
	}
	return found
}

// empty reports whether a line, or the beginning of one, says nothing so far.
func empty(line []byte) bool {
	text := strings.TrimSpace(string(line))
	if text == "" || text[0] == ':' {
		return true
	}
	field, value, complete := strings.Cut(text, ":")
	if !complete {
		return strings.HasPrefix("event", field) || strings.HasPrefix("data", field) || strings.HasPrefix("id", field) || strings.HasPrefix("retry", field)
	}
	if field != "data" {
		return field == "event" || field == "id" || field == "retry"
	}
	value = strings.ReplaceAll(value, " ", "")
	return strings.HasPrefix(`{"type":"ping"}`, value)
}
