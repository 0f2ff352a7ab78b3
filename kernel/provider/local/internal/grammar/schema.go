package grammar

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// types is a set of JSON types. A "number" is the union of the whole numbers
// and the others, so that sets intersect as the types do.
type types uint8

const (
	typeNull types = 1 << iota
	typeBool
	typeWhole
	typeFraction
	typeString
	typeArray
	typeObject

	typeNumber = typeWhole | typeFraction
	typeAll    = typeNull | typeBool | typeNumber | typeString | typeArray | typeObject
)

var typeNames = map[string]types{
	"null": typeNull, "boolean": typeBool, "integer": typeWhole, "number": typeNumber,
	"string": typeString, "array": typeArray, "object": typeObject,
}

// typeOf returns the type of a value; a number is whole by its value, so 1.0 is.
func typeOf(v *value) types {
	switch v.kind {
	case '{':
		return typeObject
	case '[':
		return typeArray
	case '"':
		return typeString
	case '0':
		if d, err := parseDecimal(v.text); err == nil && d.isInteger() {
			return typeWhole
		}
		return typeFraction
	case 'n':
		return typeNull
	default:
		return typeBool
	}
}

// schema is one schema of the document, as its keywords say.
type schema struct {
	id     int
	path   string // JSON pointer from the document, "#/…"
	source *value
	loaded bool

	never    bool // the schema false
	types    types
	literals []*value // of enum and const; nil without either
	// literalKeys are the keys of the literals.
	literalKeys map[string]bool
	object      objectKeywords
	array       arrayKeywords
	text        textKeywords
	number      numberKeywords

	ref          *schema
	allOf        []*schema
	anyOf, oneOf []*schema
	refused      []refusal
}

type objectKeywords struct {
	names      []string // of the properties, as they appear
	byName     map[string]*schema
	required   []string
	additional *schema // nil when the keyword is absent
}

type arrayKeywords struct {
	prefix   []*schema
	items    *schema // nil when the keyword is absent
	min, max int     // max is -1 without a limit
	unique   bool
}

type textKeywords struct {
	patterns []located
	min, max int // code points; max is -1 without a limit
}

// located is a keyword's text and where it stands.
type located struct{ text, path string }

type numberKeywords struct {
	low, high *limit
	multiple  *decimal
	path      string // of the keyword that was read last, for errors
}

// limit is a bound on numbers.
type limit struct {
	decimal
	exclusive bool
}

// refusal is a keyword that cannot be honoured for values of some types.
type refusal struct {
	types types
	err   error
}

// schemaAt returns the schema written at v, one for each place however often
// it is referred to.
func (c *compiler) schemaAt(v *value, path string) *schema {
	if s, ok := c.schemas[v]; ok {
		return s
	}
	s := &schema{id: len(c.schemas), path: path, source: v, types: typeAll}
	s.array.max, s.text.max = -1, -1
	c.schemas[v] = s
	return s
}

// load reads the keywords of s, once.
func (c *compiler) load(s *schema) error {
	if s.loaded {
		return nil
	}
	s.loaded = true
	switch s.source.kind {
	case 't':
		return nil
	case 'f':
		s.never = true
		return nil
	case '{':
	default:
		return fmt.Errorf("%s: a schema is an object, true or false", s.path)
	}
	for _, m := range s.source.members {
		path := s.path + "/" + escapePointer.Replace(m.name)
		read, ok := keywords[m.name]
		if !ok {
			continue // annotations and unknown words say nothing about validity
		}
		if err := read(c, s, m.value, path); err != nil {
			return err
		}
	}
	return nil
}

// resolve finds the schema that a $ref names; only references into the same
// document are followed.
func (c *compiler) resolve(ref, path string) (*schema, error) {
	fragment, ok := strings.CutPrefix(ref, "#")
	if !ok || fragment != "" && fragment[0] != '/' {
		return nil, fmt.Errorf("%s: $ref %q is not a JSON pointer into this schema; write it as #/$defs/name", path, ref)
	}
	if fragment == "" {
		return c.schemaAt(c.document, "#"), nil
	}
	pointer, err := url.PathUnescape(fragment)
	if err != nil {
		return nil, fmt.Errorf("%s: $ref %q: %w", path, ref, err)
	}
	target := c.document.at(pointer)
	if target == nil {
		return nil, fmt.Errorf("%s: $ref %q names nothing in this schema", path, ref)
	}
	return c.schemaAt(target, "#"+pointer), nil
}

// count reads a keyword's value that is a whole number from 0.
func count(v *value, path string) (int, error) {
	if v.kind == '0' {
		if d, err := parseDecimal(v.text); err == nil && d.isInteger() && !d.neg && d.exp <= 18 {
			digits := d.digits + strings.Repeat("0", max(0, int(d.exp)-len(d.digits)))
			if digits == "" {
				return 0, nil
			}
			if n, err := strconv.Atoi(digits); err == nil {
				return n, nil
			}
		}
	}
	return 0, fmt.Errorf("%s: wants a whole number from 0", path)
}
