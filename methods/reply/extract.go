package reply

import (
	"cmp"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
)

// Rung names the place in a reply where its value was found.
type Rung string

// The rungs of the ladder below asking again.
const (
	Strict   Rung = "the whole reply"
	Fenced   Rung = "a fenced block"
	Balanced Rung = "the first balanced value"
)

// maxCandidates bounds how many places of one reply are tried, which keeps a
// reply of a million brackets cheap.
const maxCandidates = 64

// Extract finds the JSON value in text: the whole of it, or else a fenced
// block, or else a balanced object or array. The first value that valid
// accepts wins; valid may be nil. The error is the fault of the first value
// found, or says that there is none.
func Extract(text string, valid func(json.RawMessage) error) (json.RawMessage, Rung, error) {
	if valid == nil {
		valid = func(json.RawMessage) error { return nil }
	}
	text = strings.ToValidUTF8(text, "\ufffd")
	var first error
	try := func(s string) json.RawMessage {
		v := json.RawMessage(strings.TrimSpace(s))
		if !json.Valid(v) {
			return nil
		}
		if err := valid(v); err != nil {
			first = cmp.Or(first, err)
			return nil
		}
		return v
	}
	if v := try(text); v != nil {
		return v, Strict, nil
	}
	for _, block := range fences(text) {
		if v := try(block); v != nil {
			return v, Fenced, nil
		}
	}
	for _, s := range balanced(text) {
		if v := try(s); v != nil {
			return v, Balanced, nil
		}
	}
	if first == nil {
		first = errors.New("no JSON value in the reply")
	}
	return nil, "", first
}

// fences returns the contents of the ``` blocks in text.
func fences(text string) []string {
	var blocks []string
	for len(blocks) < maxCandidates {
		_, after, ok := strings.Cut(text, "```")
		if !ok {
			break
		}
		block, rest, _ := strings.Cut(after, "```")
		// The first line may name the language.
		if info, body, ok := strings.Cut(block, "\n"); ok && !strings.ContainsAny(info, "{[\"") {
			block = body
		}
		blocks = append(blocks, block)
		text = rest
	}
	return blocks
}

// balanced returns the objects and arrays in text, outermost first, in order.
func balanced(text string) []string {
	var values []string
	for range maxCandidates {
		i := strings.IndexAny(text, "{[")
		if i < 0 {
			break
		}
		text = text[i:]
		d := json.NewDecoder(strings.NewReader(text))
		var v json.RawMessage
		if err := d.Decode(&v); err != nil {
			text = text[1:]
			continue
		}
		values = append(values, string(v))
		text = text[d.InputOffset():]
	}
	return values
}

// block is a fenced block of code in Python.
var block = regexp.MustCompile("(?s)```(?:[Pp]ython3?|py)?[ \t]*\n(.*?)(?:```|$)")

// Program is the last fenced block of code in a reply, or all of a reply that has none.
func Program(text string) string {
	if blocks := block.FindAllStringSubmatch(text, -1); len(blocks) > 0 {
		text = blocks[len(blocks)-1][1]
	}
	return strings.TrimSpace(strings.ToValidUTF8(text, "\ufffd"))
}
