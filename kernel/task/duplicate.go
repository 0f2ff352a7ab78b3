package task

import "encoding/json"

// duplicateKey is the offset of a key that stands twice in one object of a valid JSON
// value, and the key; -1 if there is none. The decoder would take the last one without a
// word, and others the first.
func duplicateKey(b []byte) (at int, key string) {
	var open []map[string]bool // the keys of each object around, nil for a list
	name := false              // a text that comes now is a key
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '{':
			open, name = append(open, map[string]bool{}), true
		case '[':
			open, name = append(open, nil), false
		case '}', ']':
			open, name = open[:len(open)-1], false
		case ',':
			name = open[len(open)-1] != nil
		case ':':
			name = false
		case '"':
			end := endOfText(b, i)
			if name {
				var key string
				keys := open[len(open)-1]
				if err := json.Unmarshal(b[i:end], &key); err == nil && keys[key] {
					return i, key
				}
				keys[key] = true
			}
			i = end - 1
		}
	}
	return -1, ""
}

// endOfText is the offset behind the text of JSON that begins at one.
func endOfText(b []byte, at int) int {
	for i := at + 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}
