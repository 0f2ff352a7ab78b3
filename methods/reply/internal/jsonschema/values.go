package jsonschema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// typeNames are the types in the order in which a fault lists them.
func typeNames() []string {
	return []string{"null", "boolean", "number", "integer", "string", "array", "object"}
}

// values compiles type, const and enum.
func (r *reader) values() {
	if types := r.types(); types != nil {
		want := strings.Join(types, " or ")
		r.s.kind = append(r.s.kind, func(c *check, place []string, v any) {
			got := typeName(v)
			if !slices.Contains(types, got) && (got != "number" || !slices.Contains(types, "integer") || !isInteger(v)) {
				c.fault(place, "type", "got %s, want %s", got, want)
			}
		})
	}
	if v, ok := r.obj["const"]; ok {
		r.oneOfValues("const", []any{v})
	}
	if list, ok := get[[]any](r, "enum"); ok {
		r.oneOfValues("enum", list)
	}
}

// types returns the types of a value, in order; nil if all are right.
func (r *reader) types() []string {
	var wanted []string
	if name, ok := r.obj["type"].(string); ok {
		wanted = []string{name}
	} else if wanted, ok = r.texts("type"); !ok {
		return nil
	}
	all := typeNames()
	for _, name := range wanted {
		if !slices.Contains(all, name) {
			r.fail(r.below("type"), "want one of %s", strings.Join(all, ", "))
		}
	}
	if len(wanted) == 0 {
		r.fail(r.below("type"), "want at least one type")
	}
	return slices.DeleteFunc(all, func(name string) bool { return !slices.Contains(wanted, name) })
}

// oneOfValues wants a value to be one of a list.
func (r *reader) oneOfValues(rule string, list []any) {
	known, shown, plain := map[string]bool{}, []string{}, true
	for _, v := range list {
		id, ok := identity(v)
		if !ok {
			r.fail(r.below(rule), "a number is out of range")
		}
		known[id] = true
		switch v := v.(type) {
		case string:
			shown = append(shown, quote(v))
		case nil:
			shown = append(shown, "null")
		case []any, map[string]any:
			plain = false
		default:
			shown = append(shown, fmt.Sprint(v))
		}
	}
	text := "value must be one of " + strings.Join(shown, ", ")
	switch {
	case !plain:
		text = "'" + rule + "' failed"
	case len(shown) == 1:
		text = "value must be " + shown[0]
	}
	r.s.kind = append(r.s.kind, func(c *check, place []string, v any) {
		if id, ok := identity(v); !ok || !known[id] {
			c.fault(place, rule, "%s", text)
		}
	})
}

// identity is the same text for values that are equal: 1 and 1.0 are, and objects
// whatever the order of their keys. It fails where a number is out of range.
func identity(v any) (id string, ok bool) {
	var b strings.Builder
	ok = writeIdentity(&b, v)
	return b.String(), ok
}

func writeIdentity(b *strings.Builder, v any) bool {
	switch v := v.(type) {
	case json.Number:
		n := rational(v)
		if n == nil {
			return false
		}
		b.WriteString(n.RatString())
	case []any:
		b.WriteByte('[')
		for _, item := range v {
			if !writeIdentity(b, item) {
				return false
			}
			b.WriteByte(',')
		}
		b.WriteByte(']')
	case map[string]any:
		b.WriteByte('{')
		for _, key := range sortedKeys(v) {
			b.WriteString(strconv.Quote(key))
			b.WriteByte(':')
			if !writeIdentity(b, v[key]) {
				return false
			}
			b.WriteByte(',')
		}
		b.WriteByte('}')
	case string:
		b.WriteString(strconv.Quote(v))
	default:
		fmt.Fprint(b, v)
	}
	return true
}

// quote shows a text in single quotes.
func quote(s string) string {
	s = strconv.Quote(s)
	s = strings.ReplaceAll(s[1:len(s)-1], `\"`, `"`)
	return "'" + strings.ReplaceAll(s, `'`, `\'`) + "'"
}

func quoted(names []string) string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = quote(name)
	}
	return strings.Join(all, ", ")
}
