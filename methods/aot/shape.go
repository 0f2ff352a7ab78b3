package aot

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// shape is what is known of a value before the plan runs.
type shape struct {
	name   string           // JSON type; empty if it is not known
	items  *shape           // of an array: its items; nil if nothing is known of them
	fields map[string]shape // of an object, as far as they are known
}

// The bounds of a shape: shapes are made of shapes, and doubled by every atom.
const (
	maxShape      = 8  // levels
	maxShapeNodes = 40 // values in all
)

// pruned is the shape within its bounds: nothing is known of what is beyond. The
// same shape is always pruned alike, since faults go into prompts.
func (s shape) pruned(depth int, left *int) shape {
	if *left--; *left < 0 || depth > maxShape {
		return shape{}
	}
	out := shape{name: s.name}
	if s.items != nil {
		items := s.items.pruned(depth+1, left)
		out.items = &items
	}
	for _, key := range slices.Sorted(maps.Keys(s.fields)) {
		if *left <= 0 {
			break
		}
		if out.fields == nil {
			out.fields = map[string]shape{}
		}
		out.fields[key] = s.fields[key].pruned(depth+1, left)
	}
	return out
}

// schemaShape is the shape that a JSON Schema promises, as far as it names one
// type at each place.
func schemaShape(schema json.RawMessage) shape {
	left := maxShapeNodes
	return schemaShapeAt(schema, 0).pruned(0, &left)
}

func schemaShapeAt(schema json.RawMessage, depth int) shape {
	var s struct {
		Type       any
		Items      json.RawMessage
		Properties map[string]json.RawMessage
	}
	if depth > maxShape || json.Unmarshal(schema, &s) != nil { // a schema may also be true or false
		return shape{}
	}
	name, _ := s.Type.(string)
	out := shape{name: name}
	if name == "array" && len(s.Items) > 0 {
		items := schemaShapeAt(s.Items, depth+1)
		out.items = &items
	}
	if name == "object" && len(s.Properties) > 0 {
		out.fields = make(map[string]shape, len(s.Properties))
		for key, p := range s.Properties {
			out.fields[key] = schemaShapeAt(p, depth+1)
		}
	}
	return out
}

// valueShape is the shape of a value that stands in a plan, where ref tells that
// of the references in it.
func valueShape(v any, ref func(id int) shape, depth int) shape {
	if depth > maxShape {
		return shape{}
	}
	switch v := v.(type) {
	case string:
		if id, ok := wholeReference(v); ok {
			return ref(id)
		}
		return shape{name: "string"}
	case json.Number:
		if strings.ContainsAny(string(v), ".eE") {
			return shape{name: "number"}
		}
		return shape{name: "integer"}
	case bool:
		return shape{name: "boolean"}
	case []any:
		out := shape{name: "array"}
		for i, e := range v {
			s := valueShape(e, ref, depth+1)
			if i > 0 {
				s = out.items.or(s)
			}
			out.items = &s
		}
		return out
	case map[string]any:
		out := shape{name: "object", fields: map[string]shape{}}
		for key, e := range v {
			out.fields[key] = valueShape(e, ref, depth+1)
		}
		return out
	}
	return shape{}
}

// or is what a value certainly is that has one of two shapes.
func (s shape) or(other shape) shape {
	if s.name != other.name {
		if s.isNumber() && other.isNumber() {
			return shape{name: "number"}
		}
		return shape{}
	}
	out := shape{name: s.name}
	if s.items != nil && other.items != nil {
		items := s.items.or(*other.items)
		out.items = &items
	}
	for key, f := range s.fields {
		if g, ok := other.fields[key]; ok {
			if out.fields == nil {
				out.fields = map[string]shape{}
			}
			out.fields[key] = f.or(g)
		}
	}
	return out
}

func (s shape) isNumber() bool { return s.name == "number" || s.name == "integer" }

// item is the shape of an array's items.
func (s shape) item() shape {
	if s.items == nil {
		return shape{}
	}
	return *s.items
}

// at is the shape at a place inside; index and key are told apart by the type.
func (s shape) at(place []string) shape {
	for _, step := range place {
		switch s.name {
		case "array":
			s = s.item()
		case "object":
			s = s.fields[step]
		default:
			return shape{}
		}
	}
	return s
}

// example is some value of the shape; null where it is not known.
func (s shape) example() any {
	switch s.name {
	case "number", "integer":
		return json.Number("1")
	case "string":
		return ""
	case "boolean":
		return true
	case "array":
		if s.item().name == "" {
			return []any{}
		}
		return []any{s.item().example()}
	case "object":
		out := map[string]any{}
		for key, f := range s.fields {
			if f.name != "" {
				out[key] = f.example()
			}
		}
		return out
	}
	return nil
}

// listOf is an array of a shape.
func listOf(items shape) shape { return shape{name: "array", items: &items} }
