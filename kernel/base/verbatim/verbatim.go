// Package verbatim changes JSON at named places and leaves every other byte as it is:
// white space, the order of names, how numbers and characters are written. What programs
// send to models, and what models reply, passes through it.
package verbatim

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Node is a place in JSON, with the places below it. A nil Node changes nothing.
type Node struct {
	Do   func(value []byte) []byte // what stands in the place of a value; nil cuts it out
	In   map[string]*Node          // of the members of an object
	Each *Node                     // of the elements of a list
}

// Cut cuts a value out.
func Cut() *Node { return &Node{Do: func([]byte) []byte { return nil }} }

// Rewrite changes what n says of a JSON value.
func Rewrite(raw []byte, n *Node) ([]byte, error) {
	if !json.Valid(raw) {
		return nil, fmt.Errorf("change JSON: %.40q is not JSON", raw)
	}
	from := skip(raw, 0)
	to := end(raw, from)
	return append(append(bytes.Clone(raw[:from]), n.apply(raw[from:to])...), raw[to:]...), nil
}

// Set gives a member of a JSON object a value, in the place of what it had, or before all others.
func Set(object []byte, name string, value []byte) ([]byte, error) {
	found := false
	out, err := Rewrite(object, &Node{In: map[string]*Node{name: {Do: func([]byte) []byte {
		found = true
		return value
	}}}})
	at := bytes.IndexByte(out, '{')
	if err != nil || found || at < 0 {
		return out, err
	}
	member := append(append(quoted(name), ':'), value...)
	if next := skip(out, at+1); next < len(out) && out[next] != '}' {
		member = append(member, ',')
	}
	return bytes.Join([][]byte{out[:at+1], member, out[at+1:]}, nil), nil
}

func quoted(s string) []byte {
	raw, _ := json.Marshal(s) // a string always encodes
	return raw
}

// apply changes a value, which has no white space around it.
func (n *Node) apply(raw []byte) []byte {
	switch {
	case n == nil:
		return raw
	case n.Do != nil:
		return n.Do(raw)
	case raw[0] == '{' && n.In != nil, raw[0] == '[' && n.Each != nil:
		return n.within(raw)
	}
	return raw
}

// within changes the members of an object, or the elements of a list. What stands between two of
// them goes with the second.
func (n *Node) within(raw []byte) []byte {
	out, before, kept := []byte{raw[0]}, 1, false
	closing := raw[0] + 2 // in ASCII
	for raw[before] != closing {
		start := skip(raw, before)
		if raw[start] == ',' {
			start = skip(raw, start+1)
		} else if raw[start] == closing {
			break
		}
		at, below := start, n.Each
		if raw[0] == '{' {
			at = end(raw, start)
			below = n.In[text(raw[start:at])]
			at = skip(raw, skip(raw, at)+1)
		}
		to := end(raw, at)
		if value := below.apply(raw[at:to]); value != nil {
			between := raw[before:start]
			if !kept { // what was before it was cut out
				between = between[bytes.IndexByte(between, ',')+1:]
			}
			kept = true
			out = append(append(append(out, between...), raw[start:at]...), value...)
		}
		before = to
	}
	return append(out, raw[before:]...)
}

// text is a name as JSON spells it.
func text(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	var s string
	_ = json.Unmarshal(raw, &s) // valid JSON
	return s
}

// skip is where white space that begins at i ends.
func skip(raw []byte, i int) int {
	for i < len(raw) && (raw[i] == ' ' || raw[i] == '\t' || raw[i] == '\r' || raw[i] == '\n') {
		i++
	}
	return i
}

// end is where the value that begins at i ends, in valid JSON.
func end(raw []byte, i int) int {
	for depth := 0; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			for i++; raw[i] != '"'; i++ {
				if raw[i] == '\\' {
					i++
				}
			}
		case '[', '{':
			depth++
			continue
		case ']', '}':
			if depth--; depth < 0 { // of what holds it
				return i
			}
		case ',', ':', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
			continue
		default:
			continue
		}
		if depth == 0 {
			return i + 1
		}
	}
	return len(raw)
}
