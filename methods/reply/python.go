package reply

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxLiteralDepth keeps hostile input cheap.
const maxLiteralDepth = 100

// PythonLiteral reads a Python literal as language models write it instead of
// JSON, and as public data sets hold it inside strings, such as "{'hipster':
// True}" or "u'free'": None, True, False, decimal numbers, strings with the usual
// escapes, lists, tuples, sets and dicts. The text must be one literal and nothing
// else but spaces.
//
// Its value is nil, a bool, an int64, a json.Number beyond the range of int64,
// a float64, a string, a []any for lists, tuples and sets, or a
// map[string]any; all of them can be written as JSON. Keys of dicts that are
// numbers, booleans or None become their text.
func PythonLiteral(text string) (any, error) {
	p := &pythonParser{src: text}
	v, err := p.value(0)
	if err != nil {
		return nil, err
	}
	if p.next(); p.pos < len(p.src) {
		return nil, p.fault("%.20q after the value", p.src[p.pos:])
	}
	return v, nil
}

type pythonParser struct {
	src string
	pos int
}

func (p *pythonParser) fault(format string, args ...any) error {
	return fmt.Errorf("parse Python literal: offset %d: %s", p.pos, fmt.Sprintf(format, args...))
}

// next skips spaces and is the byte after them, or 0 at the end.
func (p *pythonParser) next() byte {
	for ; p.pos < len(p.src); p.pos++ {
		if c := p.src[p.pos]; strings.IndexByte(" \t\n\r\f", c) < 0 {
			return c
		}
	}
	return 0
}

func (p *pythonParser) value(depth int) (any, error) {
	if depth > maxLiteralDepth {
		return nil, p.fault("nested deeper than %d", maxLiteralDepth)
	}
	switch c := p.next(); {
	case c == '[' || c == '(':
		return p.list(depth)
	case c == '{':
		return p.braces(depth)
	case c == '\'' || c == '"':
		return p.text(c)
	case (c == 'u' || c == 'U') && p.pos+1 < len(p.src) && strings.IndexByte(`'"`, p.src[p.pos+1]) >= 0:
		p.pos++
		return p.text(p.src[p.pos])
	}
	return p.word()
}

// items calls each for every element up to the closing bracket, and counts the
// commas.
func (p *pythonParser) items(closing byte, each func() error) (commas int, err error) {
	for p.pos++; p.next() != closing; {
		if err := each(); err != nil {
			return 0, err
		}
		switch p.next() {
		case ',':
			p.pos++
			commas++
		case closing:
		default:
			return 0, p.fault("want ',' or %q, have %.20q", closing, p.src[p.pos:])
		}
	}
	p.pos++
	return commas, nil
}

// list reads a list, a tuple, or a single value between parentheses.
func (p *pythonParser) list(depth int) (any, error) {
	closing := map[byte]byte{'[': ']', '(': ')'}[p.src[p.pos]]
	values := []any{}
	commas, err := p.items(closing, func() error {
		v, err := p.value(depth + 1)
		values = append(values, v)
		return err
	})
	if closing == ')' && len(values) == 1 && commas == 0 {
		return values[0], err
	}
	return values, err
}

// braces reads a dict or a set.
func (p *pythonParser) braces(depth int) (any, error) {
	set, dict := []any{}, map[string]any{}
	_, err := p.items('}', func() error {
		v, err := p.value(depth + 1)
		if err != nil {
			return err
		}
		isEntry := p.next() == ':'
		if isEntry && len(set) > 0 || !isEntry && len(dict) > 0 {
			return p.fault("a set and a dict in one, at %.20q", p.src[p.pos:])
		}
		if !isEntry {
			set = append(set, v)
			return nil
		}
		key, err := pythonKey(v)
		if err != nil {
			return p.fault("%v", err)
		}
		p.pos++
		dict[key], err = p.value(depth + 1)
		return err
	})
	if len(set) > 0 {
		return set, err
	}
	return dict, err
}

func pythonKey(k any) (string, error) {
	switch k := k.(type) {
	case nil:
		return "None", nil
	case bool:
		return map[bool]string{true: "True", false: "False"}[k], nil
	case []any, map[string]any:
		return "", errors.New("a list or dict cannot be a key")
	}
	return fmt.Sprint(k), nil
}

// word reads None, True, False or a number.
func (p *pythonParser) word() (any, error) {
	rest := p.src[p.pos:]
	end := strings.IndexAny(rest, " \t\n\r\f,:()[]{}'\"")
	if end < 0 {
		end = len(rest)
	}
	word := rest[:end]
	v, err := pythonConstant(word)
	if err != nil {
		return nil, p.fault("%.20q is not a literal", word)
	}
	p.pos += end
	return v, nil
}

func pythonConstant(word string) (any, error) {
	switch word {
	case "None":
		return nil, nil
	case "True":
		return true, nil
	case "False":
		return false, nil
	}
	if intForm.MatchString(word) {
		n, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return json.Number(strings.TrimPrefix(word, "+")), nil
		}
		return n, nil
	}
	if !floatForm.MatchString(word) {
		return nil, errors.New("not a number")
	}
	return strconv.ParseFloat(word, 64)
}

var (
	intForm   = regexp.MustCompile(`^[+-]?(?:0|[1-9]\d*)$`)
	floatForm = regexp.MustCompile(`^[+-]?(?:\d+\.\d*|\.\d+|\d+[eE])[\d.eE+-]*$`)
)

// text reads a string from its opening quote on.
func (p *pythonParser) text(quote byte) (string, error) {
	start := p.pos
	var b strings.Builder
	for p.pos++; p.pos < len(p.src); {
		r, n := utf8.DecodeRuneInString(p.src[p.pos:])
		switch {
		case r == rune(quote):
			p.pos++
			return b.String(), nil
		case r == '\n':
			return "", p.fault("a line ends inside a string")
		case r == '\\':
			var err error
			if r, n, err = unescape(p.src[p.pos:]); err != nil {
				return "", p.fault("%v", err)
			}
		}
		b.WriteRune(r) // U+FFFD for what is not UTF-8, so that every value can be written as JSON
		p.pos += n
	}
	p.pos = start
	return "", p.fault("a string does not end")
}

// unescape reads the escape that s begins with, and its length. As in Python,
// the backslash of an unknown one stays.
func unescape(s string) (r rune, length int, err error) {
	if len(s) < 2 {
		return 0, 0, errors.New("a string does not end")
	}
	if i := strings.IndexByte(`\'"nrt`, s[1]); i >= 0 {
		return rune("\\'\"\n\r\t"[i]), 2, nil
	}
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[s[1]]
	if digits == 0 {
		return '\\', 1, nil
	}
	n, err := strconv.ParseUint(s[2:min(len(s), 2+digits)], 16, 32)
	if err != nil || len(s) < 2+digits || n > utf8.MaxRune {
		return 0, 0, fmt.Errorf("%.10q is not a character", s)
	}
	return rune(n), 2 + digits, nil
}
