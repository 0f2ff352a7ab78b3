package lwt

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// byTokens is what parseTree says, by the tokens of a json.Decoder.
func byTokens(raw []byte) (*tree, error) {
	r := &tokens{in: json.NewDecoder(bytes.NewReader(raw))}
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

type tokens struct {
	in    *json.Decoder
	out   bytes.Buffer
	quote *json.Encoder
}

func (r *tokens) string(s string) {
	_ = r.quote.Encode(s)
	r.out.Truncate(r.out.Len() - 1)
}

func (r *tokens) value(depth int) (*node, error) {
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

func (r *tokens) elements(n *node, isList bool, depth int) error {
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
			key, _ = tok.(string)
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
	fmt.Fprint(&r.out, closing)
	return err
}

// randomJSON is a value with all that a text of JSON may have.
func randomJSON(random *rand.Rand, depth int) string {
	space := func() string {
		return strings.Repeat(" ", max(0, random.IntN(4)-2)) + []string{"", "", "\n", "\t", "\r\n"}[random.IntN(5)]
	}
	texts := []string{
		`""`, `"a b"`, `"<&>"`, `"q\"uote"`, `"back\\slash"`, `"\u00e9\u2028é\u003c"`, `"\ud83d\ude00"`, `"\ud800"`, `"\/"`, `"` + "\xff" + `"`, `"` + "\x7f" + `"`, `"[,]{:}"`,
	}
	scalars := append(texts, "0", "-1", "4.0", "1e5", "-2.5E-3", "123456789012345678901234567890", "true", "false", "null")
	pick := random.IntN(4)
	if depth > 4 || pick < 2 {
		return space() + scalars[random.IntN(len(scalars))] + space()
	}
	var parts []string
	for range random.IntN(4) {
		part := randomJSON(random, depth+1)
		if pick == 3 {
			part = space() + texts[random.IntN(len(texts))] + space() + ":" + part
		}
		parts = append(parts, part)
	}
	brackets := []string{"", "", "[]", "{}"}[pick]
	return space() + brackets[:1] + strings.Join(parts, ",") + space() + brackets[1:] + space()
}

// TestTreeIsThatOfTokens: what is read, and what is wrong with what cannot be, is as a
// json.Decoder has it.
func TestTreeIsThatOfTokens(t *testing.T) {
	random := rand.New(rand.NewPCG(26, 11))
	read, refused := 0, 0
	for range 4000 {
		raw := []byte(randomJSON(random, 0))
		switch random.IntN(4) {
		case 0:
			raw = raw[:random.IntN(len(raw)+1)]
		case 1:
			const marks = `[]{},:"\x0 `
			raw[random.IntN(len(raw))] = marks[random.IntN(len(marks))]
		case 2:
			raw = append(raw, randomJSON(random, 4)...)
		}
		want, wrong := byTokens(raw)
		got, err := parseTree(raw)
		if fmt.Sprint(err) != fmt.Sprint(wrong) || !reflect.DeepEqual(got, want) {
			t.Fatalf("%q is %+v (%v), by tokens %+v (%v)", raw, got, err, want, wrong)
		}
		if err == nil {
			read++
		} else {
			refused++
		}
	}
	for _, raw := range []string{"", " ", strings.Repeat("[", maxDepth+2), strings.Repeat("[", maxDepth+2) + strings.Repeat("]", maxDepth+2)} {
		_, wrong := byTokens([]byte(raw))
		if _, err := parseTree([]byte(raw)); fmt.Sprint(err) != fmt.Sprint(wrong) {
			t.Errorf("%.20q is refused with %v, by tokens %v", raw, err, wrong)
		}
	}
	if read < 1000 || refused < 1000 {
		t.Errorf("%d texts were read and %d refused: the test tries too few of one kind", read, refused)
	}
}
