// Package pyliteral reads Python literals: what Python's repr writes and
// ast.literal_eval reads. Public data sets hold them inside strings, as in
// "{'hipster': True}" or "u'free'", and language models write them where JSON
// was asked for.
//
// Covered: None, True, False, integers of any base, floats, strings with the
// prefixes u, b and r, with triple quotes, escapes and adjacent strings,
// lists, tuples, sets and dicts. Not covered: complex numbers, f-strings,
// \N{...} escapes, arithmetic and comments.
package pyliteral

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Limits that keep hostile input cheap. CPython has the same limit of digits.
const (
	maxDepth  = 100
	maxDigits = 4300
)

// SyntaxError says where a text stops being a literal.
type SyntaxError struct {
	Offset int // in bytes
	Msg    string
}

// Error implements error.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("parse Python literal: offset %d: %s", e.Offset, e.Msg)
}

// Parse reads text, which must be one literal and nothing else but spaces.
//
// Its value is nil, a bool, an int64 (a *big.Int beyond its range), a float64,
// a string, a []any for lists, tuples and sets, or a map[string]any; all of
// them can be written as JSON. Differs from Python: sets are lists in the
// order of the text, keys of dicts that are numbers, booleans or None become
// their text, bytes are read as Latin-1, and a float beyond the range of
// float64 is an error.
func Parse(text string) (any, error) {
	p := &parser{src: text}
	v, err := p.value(0)
	if err != nil {
		return nil, err
	}
	p.space()
	if p.pos < len(p.src) {
		return nil, p.fault("%q after the value", p.rest())
	}
	return v, nil
}

type parser struct {
	src string
	pos int
}

func (p *parser) fault(format string, args ...any) error {
	return &SyntaxError{Offset: p.pos, Msg: fmt.Sprintf(format, args...)}
}

// rest is a short piece of what is left, for messages.
func (p *parser) rest() string {
	s := p.src[p.pos:]
	if len(s) > 20 {
		s = s[:20]
	}
	return s
}

func (p *parser) space() {
	for p.pos < len(p.src) && strings.IndexByte(" \t\n\r\f", p.src[p.pos]) >= 0 {
		p.pos++
	}
}

// peek is the next byte, or 0 at the end.
func (p *parser) peek() byte {
	if p.pos < len(p.src) {
		return p.src[p.pos]
	}
	return 0
}

func (p *parser) value(depth int) (any, error) {
	p.space()
	if depth > maxDepth {
		return nil, p.fault("nested deeper than %d", maxDepth)
	}
	if p.pos == len(p.src) {
		return nil, p.fault("a value is missing")
	}
	if p.atString() {
		return p.stringChain()
	}
	switch c := p.peek(); {
	case c == '[':
		return p.sequence(']', depth)
	case c == '(':
		return p.parenthesis(depth)
	case c == '{':
		return p.braces(depth)
	case c == '+' || c == '-' || c == '.' || '0' <= c && c <= '9':
		return p.number()
	}
	return p.name()
}

func (p *parser) name() (any, error) {
	end := p.pos
	for end < len(p.src) && isWord(p.src[end]) {
		end++
	}
	switch p.src[p.pos:end] {
	case "None":
		p.pos = end
		return nil, nil
	case "True":
		p.pos = end
		return true, nil
	case "False":
		p.pos = end
		return false, nil
	}
	return nil, p.fault("%q begins no literal", p.rest())
}

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= utf8.RuneSelf
}

// sequence reads the values up to the closing bracket.
func (p *parser) sequence(closing byte, depth int) ([]any, error) {
	p.pos++
	return p.elements([]any{}, closing, depth)
}

// elements reads "value, value, …" with an optional last comma.
func (p *parser) elements(list []any, closing byte, depth int) ([]any, error) {
	for {
		if p.space(); p.peek() == closing {
			p.pos++
			return list, nil
		}
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
		if err := p.separator(closing); err != nil {
			return nil, err
		}
	}
}

// separator skips a comma, or stops before the closing bracket.
func (p *parser) separator(closing byte) error {
	p.space()
	switch p.peek() {
	case ',':
		p.pos++
	case closing:
	default:
		return p.fault("want ',' or %q, have %q", closing, p.rest())
	}
	return nil
}

// parenthesis reads a tuple, or a single value between parentheses.
func (p *parser) parenthesis(depth int) (any, error) {
	p.pos++
	if p.space(); p.peek() == ')' {
		p.pos++
		return []any{}, nil
	}
	first, err := p.value(depth + 1)
	if err != nil {
		return nil, err
	}
	if p.space(); p.peek() == ')' {
		p.pos++
		return first, nil
	}
	if err := p.separator(')'); err != nil {
		return nil, err
	}
	return p.elements([]any{first}, ')', depth)
}

// braces reads a dict or a set.
func (p *parser) braces(depth int) (any, error) {
	p.pos++
	dict := map[string]any{}
	for first := true; ; first = false {
		if p.space(); p.peek() == '}' {
			p.pos++
			return dict, nil
		}
		k, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		p.space()
		if first && p.peek() != ':' {
			if err := p.separator('}'); err != nil {
				return nil, err
			}
			return p.elements([]any{k}, '}', depth)
		}
		if err := p.entry(dict, k, depth); err != nil {
			return nil, err
		}
	}
}

// entry reads ": value" and the separator after it.
func (p *parser) entry(dict map[string]any, k any, depth int) error {
	key, ok := keyText(k)
	if !ok {
		return p.fault("a list or dict cannot be a key")
	}
	if p.peek() != ':' {
		return p.fault("want ':', have %q", p.rest())
	}
	p.pos++
	v, err := p.value(depth + 1)
	if err != nil {
		return err
	}
	dict[key] = v
	return p.separator('}')
}

func keyText(k any) (string, bool) {
	switch k := k.(type) {
	case nil:
		return "None", true
	case bool:
		if k {
			return "True", true
		}
		return "False", true
	case string:
		return k, true
	case []any, map[string]any:
		return "", false
	}
	return fmt.Sprint(k), true
}

// number reads an integer or a float with an optional sign.
func (p *parser) number() (any, error) {
	start := p.pos
	if c := p.peek(); c == '+' || c == '-' {
		p.pos++
	}
	digits := p.pos
	for p.pos < len(p.src) {
		c := p.src[p.pos]
		exponent := (c == '+' || c == '-') && p.pos > digits && p.src[p.pos-1]|0x20 == 'e' && !hasBase(p.src[digits:])
		if c != '.' && !isWord(c) && !exponent {
			break
		}
		p.pos++
	}
	text, body := p.src[start:p.pos], p.src[digits:p.pos]
	p.pos = start // errors point at the start of the number
	if len(body) > maxDigits {
		return nil, p.fault("a number of more than %d digits", maxDigits)
	}
	v, err := convert(text, body)
	if err != nil {
		return nil, p.fault("%v", err)
	}
	p.pos = start + len(text)
	return v, nil
}

// hasBase reports a prefix such as 0x, after which 'e' is a digit.
func hasBase(s string) bool {
	return len(s) > 1 && s[0] == '0' && strings.IndexByte("xXoObB", s[1]) >= 0
}

func convert(text, body string) (any, error) {
	if body == "" || body[0] == '_' {
		return nil, fmt.Errorf("%.20q is no number", text)
	}
	if hasBase(body) || !strings.ContainsAny(body, ".eE") {
		return integer(text, body)
	}
	// Go reads 0x1p-2, inf and nan as floats too; Python literals do not.
	if strings.Trim(body, "0123456789_.eE+-") != "" || misplaced(body) {
		return nil, fmt.Errorf("%.20q is no number", text)
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64)
	if err != nil {
		return nil, fmt.Errorf("%.20q is no float64", text)
	}
	return f, nil
}

func integer(text, body string) (any, error) {
	// A leading zero means octal to Go and is an error in Python.
	if !hasBase(body) && body[0] == '0' && strings.Trim(body, "0_") != "" {
		return nil, fmt.Errorf("%.20q has a leading zero", text)
	}
	n, ok := new(big.Int).SetString(text, 0)
	if !ok {
		return nil, fmt.Errorf("%.20q is no number", text)
	}
	if n.IsInt64() {
		return n.Int64(), nil
	}
	return n, nil
}

// misplaced reports an underscore that does not stand between two digits.
func misplaced(body string) bool {
	for i := range len(body) {
		if body[i] != '_' {
			continue
		}
		if i == 0 || i == len(body)-1 || !isDigit(body[i-1]) || !isDigit(body[i+1]) {
			return true
		}
	}
	return false
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
