package jsonschema

import (
	"encoding/json"
	"math/big"
	"slices"
	"strconv"
)

// reader reads the keywords of one schema.
type reader struct {
	*compiler
	s   *Schema
	obj map[string]any
	at  []string
}

func (r *reader) below(key string) []string { return append(slices.Clip(r.at), key) }

func (r *reader) rule(f rule) { r.s.rules = append(r.s.rules, f) }

// get returns the value of a keyword, which must have type T.
func get[T any](r *reader, key string) (T, bool) {
	raw, ok := r.obj[key]
	v, fits := raw.(T)
	if ok && !fits {
		r.fail(r.below(key), "want %s, got %s", typeName(any(v)), typeName(raw))
	}
	return v, ok && fits
}

// typeName is the JSON type of a value. An empty list or map of Go counts as what
// it would hold.
func typeName(v any) string {
	switch v.(type) {
	case bool:
		return "boolean"
	case json.Number:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	return "null"
}

// schemaOf returns the schema of a keyword; nil if it is not there.
func (r *reader) schemaOf(key string) *Schema {
	v, ok := r.obj[key]
	if !ok {
		return nil
	}
	return r.schema(v, r.below(key))
}

// schemaMap returns the schemas of a keyword by name; nil if it is not there.
func (r *reader) schemaMap(key string) map[string]*Schema {
	m, ok := get[map[string]any](r, key)
	if !ok {
		return nil
	}
	all := make(map[string]*Schema, len(m))
	for _, name := range sortedKeys(m) {
		all[name] = r.schema(m[name], append(r.below(key), name))
	}
	return all
}

// schemaList returns the schemas of a keyword; nil if it is not there.
func (r *reader) schemaList(key string) []*Schema {
	list, ok := get[[]any](r, key)
	if ok && len(list) == 0 {
		r.fail(r.below(key), "want at least one schema")
	}
	var all []*Schema
	for i, v := range list {
		all = append(all, r.schema(v, append(r.below(key), strconv.Itoa(i))))
	}
	return all
}

// count returns a whole number that is not negative.
func (r *reader) count(key string) (int, bool) {
	n, ok := r.number(key)
	if !ok {
		return 0, false
	}
	if !n.IsInt() || n.Sign() < 0 || !n.Num().IsInt64() {
		r.fail(r.below(key), "want a whole number of at least 0")
		return 0, false
	}
	return int(n.Num().Int64()), true
}

// number returns the number of a keyword.
func (r *reader) number(key string) (*big.Rat, bool) {
	n, ok := get[json.Number](r, key)
	if !ok {
		return nil, false
	}
	x := rational(n)
	if x == nil {
		r.fail(r.below(key), "the number is out of range")
	}
	return x, x != nil
}

// texts returns a list of different strings.
func (r *reader) texts(key string) ([]string, bool) {
	list, ok := get[[]any](r, key)
	if !ok {
		return nil, false
	}
	texts := make([]string, 0, len(list))
	for _, v := range list {
		text, ok := v.(string)
		if !ok || slices.Contains(texts, text) {
			r.fail(r.below(key), "want different strings")
			return nil, false
		}
		texts = append(texts, text)
	}
	return texts, true
}
