package anot

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// places are where the lines of a plan stand in its JSON file.
type places struct {
	raw    []byte
	starts map[string][]int // of each line, by key: the byte after its opening quote
}

// placesOf finds the lines of the keys "lwt" and "strategy" in a valid file.
func placesOf(raw []byte) places {
	p := places{raw: raw, starts: map[string][]int{}}
	d := json.NewDecoder(bytes.NewReader(raw))
	depth, key := 0, ""
	for {
		before := int(d.InputOffset())
		token, err := d.Token()
		if err != nil {
			return p
		}
		switch token := token.(type) {
		case json.Delim:
			if token == '{' || token == '[' {
				depth++
			} else {
				depth--
			}
		case string:
			switch start := before + bytes.IndexByte(raw[before:], '"') + 1; {
			case depth == 1:
				key = token
			case depth == 2 && (key == "lwt" || key == "strategy"):
				p.starts[key] = append(p.starts[key], start)
			}
		}
	}
}

// of is the place in the file of a line and column of the text under key. In a file
// that is no JSON they are the same.
func (p places) of(key string, line, col int) (int, int) {
	starts := p.starts[key]
	if p.raw == nil || line < 1 || line > len(starts) {
		return line, col
	}
	at := starts[line-1]
	for range col - 1 {
		at += charSize(p.raw[at:])
	}
	return lineCol(p.raw, min(at, len(p.raw)))
}

// charSize is how many bytes one character takes inside a JSON string.
func charSize(raw []byte) int {
	switch {
	case len(raw) == 0:
		return 0
	case raw[0] == '\\' && len(raw) > 1 && raw[1] == 'u':
		return min(6, len(raw))
	case raw[0] == '\\':
		return min(2, len(raw))
	}
	_, size := utf8.DecodeRune(raw)
	return size
}

// lineCol is the line and the column of an offset, both from 1, in characters.
func lineCol(raw []byte, at int) (line, col int) {
	before := raw[:at]
	start := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte{'\n'}) + 1, utf8.RuneCount(before[start:]) + 1
}
