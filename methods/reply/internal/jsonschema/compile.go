package jsonschema

import (
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"strconv"
	"strings"
)

// dialect is the one $schema that is read.
const dialect = "https://json-schema.org/draft/2020-12/schema"

// Compile reads a schema. One that is not valid, that refers to anything outside
// of itself, or that uses what this package does not know, is an error that names
// the place.
func Compile(raw []byte) (*Schema, error) {
	doc, err := Parse(raw)
	if err != nil {
		return nil, err
	}
	c := &compiler{doc: doc, known: map[uintptr]*Schema{}}
	s := c.schema(doc, nil)
	if c.err != nil {
		return nil, c.err
	}
	for _, each := range c.known {
		if each.circular() {
			return nil, errors.New("a schema refers to itself for the same value")
		}
	}
	return s, nil
}

// compiler reads the schemas of one document. The first error is kept.
type compiler struct {
	doc   any
	known map[uintptr]*Schema // by the object that each is written as
	err   error
}

func (c *compiler) fail(at []string, format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("at /%s: %s", strings.Join(at, "/"), fmt.Sprintf(format, args...))
	}
}

// schema compiles the schema that v is, at its place in the document.
func (c *compiler) schema(v any, at []string) *Schema {
	switch v := v.(type) {
	case bool:
		s := &Schema{}
		if !v {
			s.kind = []rule{func(c *check, place []string, _ any) { c.fault(place, "", "false schema") }}
		}
		return s
	case map[string]any:
		id := reflect.ValueOf(v).Pointer()
		if s := c.known[id]; s != nil {
			return s
		}
		s := &Schema{}
		c.known[id] = s
		r := &reader{compiler: c, s: s, obj: v, at: at}
		r.notes()
		r.values()
		r.limits()
		r.arrays()
		r.objects()
		r.logic()
		return s
	}
	c.fail(at, "a schema is an object, true or false")
	return &Schema{}
}

// refused are the keywords that would change what a schema means, and that no
// schema here has needed. Some are of older drafts.
func refused() []string {
	return []string{"$anchor", "$dynamicAnchor", "$dynamicRef", "$vocabulary", "$recursiveRef", "$recursiveAnchor",
		"if", "then", "else", "contains", "minContains", "maxContains", "unevaluatedItems", "unevaluatedProperties",
		"patternProperties", "propertyNames", "dependentRequired", "dependentSchemas", "dependencies"}
}

// notes checks the keywords that do not bear on values.
func (r *reader) notes() {
	for _, key := range refused() {
		if _, ok := r.obj[key]; ok {
			r.fail(r.below(key), "this keyword is not supported: leave it out")
		}
	}
	if d, ok := get[string](r, "$schema"); ok && strings.TrimSuffix(d, "#") != dialect {
		r.fail(r.below("$schema"), "want %q, the only draft that is read, or leave it out", dialect)
	}
	if _, ok := r.obj["$id"]; ok && len(r.at) > 0 {
		r.fail(r.below("$id"), "an $id below the root is not supported: leave it out")
	}
	for _, key := range []string{"$id", "$comment", "title", "description", "format", "contentEncoding", "contentMediaType"} {
		get[string](r, key)
	}
	for _, key := range []string{"deprecated", "readOnly", "writeOnly"} {
		get[bool](r, key)
	}
	get[[]any](r, "examples")
	r.schemaOf("contentSchema")
	r.schemaMap("$defs")
	r.schemaMap("definitions")
}

// target finds what a $ref means.
func (c *compiler) target(ref string, at []string) *Schema {
	fragment, inside := strings.CutPrefix(ref, "#")
	pointer, err := url.PathUnescape(fragment)
	if !inside || err != nil || pointer != "" && pointer[0] != '/' {
		c.fail(at, "schema refers to %q, outside of itself: refer to a place in it, such as \"#/$defs/name\"", ref)
		return &Schema{}
	}
	v, ok := c.doc, true
	path := strings.Split(pointer, "/")[1:]
	for i, token := range path {
		path[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		if v, ok = step(v, path[i]); !ok {
			c.fail(at, "schema refers to %q, which is not in it", ref)
			return &Schema{}
		}
	}
	return c.schema(v, path)
}

// step is the value of a key or an index.
func step(v any, token string) (any, bool) {
	switch v := v.(type) {
	case map[string]any:
		below, ok := v[token]
		return below, ok
	case []any:
		if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(v) {
			return v[i], true
		}
	}
	return nil, false
}

// mark is how far the search for circles is with a schema.
type mark int

const (
	unseen mark = iota
	open
	cleared
)

// circular reports whether checking a value leads to checking it again.
func (s *Schema) circular() bool {
	switch s.mark {
	case open:
		return true
	case cleared:
		return false
	}
	s.mark = open
	for _, below := range s.inPlace {
		if below.circular() {
			return true
		}
	}
	s.mark = cleared
	return false
}
