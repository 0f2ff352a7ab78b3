package generalanot

import (
	"reflect"
	"strings"

	"noema/methods"
)

// compileSchema is the schema that a model must keep to. It demands every key,
// the optional ones too (as null), because providers enforce a schema strictly
// only if nothing in it is optional.
func compileSchema() *methods.Schema {
	return &methods.Schema{Name: "formula_seed", JSON: plainJSON(schemaOf(reflect.TypeFor[FormulaSeed]()))}
}

// schemaOf describes a type of seed.go: structs, pointers to them, lists,
// strings, integers, and scalars of any type.
func schemaOf(t reflect.Type) map[string]any {
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem())
	case reflect.Slice:
		return map[string]any{"type": "array", "items": schemaOf(t.Elem())}
	case reflect.Int:
		return map[string]any{"type": "integer"}
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Interface:
		return map[string]any{"type": []string{"string", "number", "boolean"}}
	}
	properties, required := map[string]any{}, []string{}
	for f := range t.Fields() {
		name, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
		p := schemaOf(f.Type)
		if doc := f.Tag.Get("doc"); doc != "" {
			p["description"] = doc
		}
		if enum := f.Tag.Get("enum"); enum != "" {
			p["enum"] = strings.Split(enum, ",")
		}
		if rest == "omitempty" {
			p["type"] = []any{p["type"], "null"}
		}
		required = append(required, name)
		properties[name] = p
	}
	return map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}

func extractSchema(fields []ExtractionField) *methods.Schema {
	properties, required := map[string]any{}, make([]string, len(fields))
	for i, f := range fields {
		if f.Type == enumType {
			properties[f.Name] = map[string]any{"type": "string", "enum": f.Values}
		} else {
			properties[f.Name] = map[string]any{"type": f.Type}
		}
		required[i] = f.Name
	}
	return &methods.Schema{Name: "extraction", JSON: plainJSON(map[string]any{
		"type": "object", "properties": properties, "required": required, "additionalProperties": false,
	})}
}
