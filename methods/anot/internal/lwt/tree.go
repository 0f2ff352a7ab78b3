package lwt

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"noema/methods/reply"
)

// maxDepth bounds how deep data may be nested, as encoding/json does.
const maxDepth = 10000

// A tree is decoded JSON of which every list and dict knows where it stands
// in doc, the compact text of the whole. Inserting a value into a prompt is
// then a slice of doc, however often it is inserted.
type tree struct {
	doc  string
	root *node
}

type node struct {
	text       string // scalars: as inserted into a prompt
	start, end int    // in doc
	list       []*node
	dict       map[string]*node
	kind       kind
}

type kind byte

const (
	scalar kind = iota
	list
	dict
)

// parseTree decodes one JSON value. Keys keep their order; of equal keys the
// last one counts.
func parseTree(raw []byte) (*tree, error) {
	if !json.Valid(raw) {
		return nil, fault(raw)
	}
	r := &treeReader{in: raw}
	r.quote = json.NewEncoder(&r.out)
	r.quote.SetEscapeHTML(false)
	root := r.value()
	return &tree{doc: r.out.String(), root: root}, nil
}

// fault says what is wrong with text that is not one JSON value.
func fault(raw []byte) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	for depth := 0; ; {
		tok, err := d.Token()
		if err != nil {
			return err
		}
		switch tok {
		case json.Delim('['), json.Delim('{'):
			depth++
		case json.Delim(']'), json.Delim('}'):
			depth--
		}
		if depth > maxDepth {
			return fmt.Errorf("nested deeper than %d", maxDepth)
		}
		if depth == 0 {
			return errors.New("more than one JSON value")
		}
	}
}

// parseLoose decodes JSON or, if that fails, a Python literal.
func parseLoose(text string) (*tree, error) {
	t, err := parseTree([]byte(text))
	if err == nil {
		return t, nil
	}
	v, pyErr := reply.PythonLiteral(text)
	if pyErr != nil {
		return nil, err
	}
	raw, pyErr := json.Marshal(v)
	if pyErr != nil {
		return nil, err
	}
	return parseTree(raw)
}

// treeReader reads valid JSON. The tokens of a json.Decoder took a quarter of a trial's time.
type treeReader struct {
	in    []byte
	at    int // the next byte of in
	out   bytes.Buffer
	quote *json.Encoder
}

// next passes over white space and returns the byte behind it.
func (r *treeReader) next() byte {
	for strings.IndexByte(" \t\r\n", r.in[r.at]) >= 0 {
		r.at++
	}
	return r.in[r.at]
}

// take copies the next n bytes.
func (r *treeReader) take(n int) string {
	text := string(r.in[r.at : r.at+n])
	r.out.WriteString(text)
	r.at += n
	return text
}

func (r *treeReader) value() *node {
	n := &node{}
	first := r.next()
	n.start = r.out.Len()
	switch first {
	case '[', '{':
		r.elements(n)
	case '"':
		n.text = r.string()
	case 't':
		n.text = "True"
		r.take(len("true"))
	case 'f':
		n.text = "False"
		r.take(len("false"))
	case 'n':
		n.text = "None"
		r.take(len("null"))
	default:
		length := 1
		for r.at+length < len(r.in) && strings.IndexByte("+-.0123456789eE", r.in[r.at+length]) >= 0 {
			length++
		}
		n.text = shortest(r.take(length))
	}
	n.end = r.out.Len()
	return n
}

// string reads a string, which is written as it is unless it has one of a few characters.
func (r *treeReader) string() string {
	plain, length := true, 1
	for ; r.in[r.at+length] != '"'; length++ {
		c := r.in[r.at+length]
		plain = plain && ' ' <= c && c <= '~' && c != '\\'
		if c == '\\' {
			length++
		}
	}
	if length++; plain {
		text := r.take(length)
		return text[1 : len(text)-1]
	}
	var text string
	_ = json.Unmarshal(r.in[r.at:r.at+length], &text) // it is valid
	r.at += length
	_ = r.quote.Encode(text) // a string into a buffer cannot fail
	r.out.Truncate(r.out.Len() - 1)
	return text
}

// elements reads a list or a dict.
func (r *treeReader) elements(n *node) {
	closing := byte(']')
	if n.kind = list; r.in[r.at] == '{' {
		n.kind, n.dict, closing = dict, map[string]*node{}, '}'
	}
	r.take(1)
	for r.next() != closing {
		if r.in[r.at] == ',' {
			r.take(1)
			r.next()
		}
		if n.kind == list {
			n.list = append(n.list, r.value())
			continue
		}
		key := r.string()
		r.next()
		r.take(1) // the colon
		n.dict[key] = r.value()
	}
	r.take(1)
}

// shortest writes a JSON number without needless digits: 4.0 as 4.
func shortest(s string) string {
	if !strings.ContainsAny(s, ".eE") {
		return s
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return s
	}
	if short := strconv.FormatFloat(f, 'f', -1, 64); len(short) <= 21 {
		return short
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// render is the value at the end of path as it is inserted into a prompt.
// Base is the number of the first element of the root, if that is a list.
func (t *tree) render(n *node, path []Accessor, base int) (string, bool) {
	for i, a := range path {
		switch {
		case n.kind == list && a.Slice:
			part := n.slice(a, base)
			if i == len(path)-1 {
				return t.join(part), true
			}
			n, base = &node{kind: list, list: part}, 0
			continue
		case n.kind == list:
			if a.Index < base || a.Index-base >= len(n.list) {
				return "", false
			}
			n = n.list[a.Index-base]
		case n.kind == dict && !a.Slice:
			next, ok := n.dict[a.Key]
			if !ok {
				return "", false
			}
			n = next
		default:
			return "", false
		}
		base = 0
	}
	if n.kind == scalar {
		return n.text, true
	}
	return t.doc[n.start:n.end], true
}

// slice is [From:To] of a list with To left out of it, as in Python, in
// numbers that count from base.
func (n *node) slice(a Accessor, base int) []*node {
	from, to := a.From-base, len(n.list)
	if a.From < 0 {
		from = 0
	}
	if a.To >= 0 {
		to = a.To - base
	}
	to = max(0, min(to, len(n.list)))
	from = max(0, min(from, to))
	return n.list[from:to]
}

// join is the JSON of consecutive elements of a list.
func (t *tree) join(part []*node) string {
	if len(part) == 0 {
		return "[]"
	}
	return "[" + t.doc[part[0].start:part[len(part)-1].end] + "]"
}
