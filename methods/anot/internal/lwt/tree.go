package lwt

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	r := &treeReader{in: json.NewDecoder(bytes.NewReader(raw))}
	r.in.UseNumber()
	r.quote = json.NewEncoder(&r.out)
	r.quote.SetEscapeHTML(false)
	root, err := r.value(0)
	if err != nil {
		return nil, err
	}
	if _, err := r.in.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one JSON value")
	}
	return &tree{doc: r.out.String(), root: root}, nil
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

type treeReader struct {
	in    *json.Decoder
	out   bytes.Buffer
	quote *json.Encoder
}

func (r *treeReader) value(depth int) (*node, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("nested deeper than %d", maxDepth)
	}
	tok, err := r.in.Token()
	if err != nil {
		return nil, err
	}
	n := &node{start: r.out.Len()}
	switch v := tok.(type) {
	case json.Delim:
		r.out.WriteString(v.String())
		err = r.elements(n, v == '[', depth)
	case string:
		n.text = v
		r.string(v)
	case json.Number:
		n.text = shortest(v.String())
		r.out.WriteString(v.String())
	case bool:
		n.text = map[bool]string{true: "True", false: "False"}[v]
		r.out.WriteString(strconv.FormatBool(v))
	case nil:
		n.text = "None"
		r.out.WriteString("null")
	}
	n.end = r.out.Len()
	return n, err
}

// string writes s as JSON, which it is already between quotes unless it has one of a few
// characters.
func (r *treeReader) string(s string) {
	if !strings.ContainsFunc(s, func(c rune) bool { return c < ' ' || c > '~' || c == '"' || c == '\\' }) {
		r.out.WriteByte('"')
		r.out.WriteString(s)
		r.out.WriteByte('"')
		return
	}
	_ = r.quote.Encode(s) // a string into a buffer cannot fail
	r.out.Truncate(r.out.Len() - 1)
}

// elements reads a list or a dict from its first element to its closing bracket.
func (r *treeReader) elements(n *node, isList bool, depth int) error {
	if n.kind = list; !isList {
		n.kind, n.dict = dict, map[string]*node{}
	}
	for first := true; r.in.More(); first = false {
		if !first {
			r.out.WriteByte(',')
		}
		var key string
		if !isList {
			tok, err := r.in.Token()
			if err != nil {
				return err
			}
			key, _ = tok.(string) // the decoder takes nothing else
			r.string(key)
			r.out.WriteByte(':')
		}
		e, err := r.value(depth + 1)
		if err != nil {
			return err
		}
		if isList {
			n.list = append(n.list, e)
		} else {
			n.dict[key] = e
		}
	}
	closing, err := r.in.Token()
	if d, ok := closing.(json.Delim); ok {
		r.out.WriteByte(byte(d))
	}
	return err
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
