package grammar

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// types is a set of JSON types. A "number" is the union of the whole numbers
// and the others.
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

// typeOf returns the type of a value; 1.0 is a whole number.
func typeOf(v *value) types {
	switch v.kind {
	case '{':
		return typeObject
	case '[':
		return typeArray
	case '"':
		return typeString
	case '0':
		if f, _ := strconv.ParseFloat(v.text, 64); f == math.Trunc(f) {
			return typeWhole
		}
		return typeFraction
	case 'n':
		return typeNull
	default:
		return typeBool
	}
}

// place is a schema in the document with its JSON pointer, "#/…".
type place struct {
	value *value
	path  string
}

// schema is what the keywords at one place say.
type schema struct {
	path     string
	present  []string // its keywords but annotations
	never    bool     // the schema false
	types    types
	literals []member // of enum or const

	names      []string // of the properties, as they appear
	properties map[string]place
	required   []string
	additional *place // nil when the keyword is absent

	items                *place // nil when the keyword is absent
	minItems, maxItems   int    // a maximum of -1 means no maximum
	minLength, maxLength int    // in code points
	minimum, maximum     *decimal

	ref   string
	anyOf []place

	node *valueNode // what the schema allows, once it is known
	// texts are its literals, which a value's alternatives list together.
	texts [][]byte
}

// keyword reads a keyword's value v at path into s.
type keyword func(s *schema, v *value, path string) error

var keywords = map[string]keyword{
	"type": readType,
	"enum": func(s *schema, v *value, _ string) error {
		if v.kind != '[' || len(v.members) == 0 {
			return errors.New("want a list of values, at least one")
		}
		s.literals = v.members
		return nil
	},
	"const": func(s *schema, v *value, _ string) error {
		s.literals = []member{{value: v}}
		return nil
	},
	"properties": readProperties,
	"required":   readRequired,
	"additionalProperties": func(s *schema, v *value, path string) error {
		s.additional = &place{v, path}
		return nil
	},
	"items": func(s *schema, v *value, path string) error {
		s.items = &place{v, path}
		return nil
	},
	"minItems":  count(func(s *schema) *int { return &s.minItems }),
	"maxItems":  count(func(s *schema) *int { return &s.maxItems }),
	"minLength": count(func(s *schema) *int { return &s.minLength }),
	"maxLength": count(func(s *schema) *int { return &s.maxLength }),
	"minimum":   limit(func(s *schema) **decimal { return &s.minimum }),
	"maximum":   limit(func(s *schema) **decimal { return &s.maximum }),
	"$ref": func(s *schema, v *value, _ string) error {
		if s.ref = v.text; v.kind != '"' || s.ref == "" {
			return errors.New("want a reference such as #/$defs/name")
		}
		return nil
	},
	"anyOf": func(s *schema, v *value, path string) error {
		if v.kind != '[' || len(v.members) == 0 {
			return errors.New("want a list of schemas, at least one")
		}
		for i, m := range v.members {
			s.anyOf = append(s.anyOf, place{m.value, fmt.Sprintf("%s/%d", path, i)})
		}
		return nil
	},
}

// annotations are keywords that allow and forbid nothing.
var annotations = []string{
	"$comment", "$defs", "$schema", "default", "definitions", "deprecated", "description", "examples", "readOnly", "title", "writeOnly",
}

// load reads the schema at a place, once.
func (c *compiler) load(p place) (*schema, error) {
	if s := c.schemas[p.value]; s != nil {
		return s, nil
	}
	s := &schema{path: p.path, types: typeAll, maxItems: -1, maxLength: -1, never: p.value.kind == 'f'}
	c.schemas[p.value] = s
	switch p.value.kind {
	case '{', 't', 'f':
	default:
		return nil, fmt.Errorf("%s: a schema must be an object, true or false", p.path)
	}
	for _, m := range p.value.members {
		if slices.Contains(annotations, m.name) {
			continue
		}
		path := p.path + "/" + escapePointer.Replace(m.name)
		read, ok := keywords[m.name]
		if !ok {
			known := strings.Join(slices.Sorted(maps.Keys(keywords)), ", ")
			return nil, fmt.Errorf("%s: keyword %q is not supported: the supported ones are %s", path, m.name, known)
		}
		s.present = append(s.present, m.name)
		if err := read(s, m.value, path); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return s, s.checkCombination()
}

// checkCombination refuses keywords beside those that decide alone.
func (s *schema) checkCombination() error {
	for _, one := range []struct{ keyword, beside, cure string }{
		{"$ref", "", "move it into the schema that is referred to"},
		{"anyOf", "", "move it into each branch"},
		{"enum", "type", "leave out the values that it excludes"},
		{"const", "type", "leave it out"},
	} {
		if !slices.Contains(s.present, one.keyword) {
			continue
		}
		for _, other := range s.present {
			if other != one.keyword && other != one.beside {
				return fmt.Errorf("%s/%s: not supported beside %s: %s", s.path, other, one.keyword, one.cure)
			}
		}
	}
	return nil
}

func readType(s *schema, v *value, _ string) error {
	names := v.members
	if v.kind == '"' {
		names = []member{{value: v}}
	}
	s.types = 0
	for _, n := range names {
		t, ok := typeNames[n.value.text]
		if n.value.kind != '"' || !ok {
			return fmt.Errorf("%.40q is not a JSON type", n.value.text)
		}
		s.types |= t
	}
	if len(names) == 0 {
		return errors.New("want the name of a type or a list of names")
	}
	return nil
}

func readProperties(s *schema, v *value, path string) error {
	if v.kind != '{' {
		return errors.New("want an object of schemas")
	}
	s.properties = make(map[string]place, len(v.members))
	for _, m := range v.members {
		s.names = append(s.names, m.name)
		s.properties[m.name] = place{m.value, path + "/" + escapePointer.Replace(m.name)}
	}
	return nil
}

func readRequired(s *schema, v *value, _ string) error {
	if v.kind != '[' {
		return errors.New("want a list of names")
	}
	for _, m := range v.members {
		if m.value.kind != '"' {
			return errors.New("want a list of names")
		}
		s.required = append(s.required, m.value.text)
	}
	return nil
}

// count reads a whole number from 0.
func count(field func(*schema) *int) keyword {
	return func(s *schema, v *value, _ string) error {
		n, err := strconv.ParseFloat(v.text, 64)
		if v.kind != '0' || err != nil || n < 0 || n != math.Trunc(n) {
			return errors.New("want a whole number from 0")
		}
		*field(s) = int(min(n, math.MaxInt32)) // more than any text has
		return nil
	}
}

func limit(field func(*schema) **decimal) keyword {
	return func(s *schema, v *value, _ string) error {
		if v.kind != '0' {
			return errors.New("want a number")
		}
		d, err := parseDecimal(v.text)
		*field(s) = &d
		return err
	}
}

// resolve finds the schema that a $ref names, in the same document.
func (c *compiler) resolve(s *schema) (place, error) {
	pointer, ok := strings.CutPrefix(s.ref, "#")
	if !ok || pointer != "" && pointer[0] != '/' {
		return place{}, fmt.Errorf("%s/$ref: %q is not a JSON pointer into this schema: write it as #/$defs/name", s.path, s.ref)
	}
	pointer, err := url.PathUnescape(pointer)
	if err != nil {
		return place{}, fmt.Errorf("%s/$ref: %q: %w", s.path, s.ref, err)
	}
	target := c.document.at(pointer)
	if target == nil {
		return place{}, fmt.Errorf("%s/$ref: %q names nothing in this schema", s.path, s.ref)
	}
	return place{target, "#" + pointer}, nil
}
