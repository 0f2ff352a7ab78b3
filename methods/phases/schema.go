package phases

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"noema/methods"
)

// Schema is the JSON Schema of {"answer": …}. It leaves the range of item
// numbers to the reader of the answer, which drops and reports what is out of
// it instead of losing the whole reply. It bounds lists, which small models that
// are held to a schema go on with for ever.
func Schema(spec methods.AnswerSpec) *methods.Schema {
	return &methods.Schema{Name: "answer", JSON: Encode(Object(map[string]any{"answer": AnswerSchema(spec)}))}
}

// AnswerSchema is the JSON Schema of an answer.
func AnswerSchema(spec methods.AnswerSpec) (answer map[string]any) {
	switch spec.Kind {
	case methods.Ranking:
		answer = map[string]any{"type": "array", "items": map[string]any{"type": "integer"}, "maxItems": max(1, spec.K)}
	case methods.Choice:
		answer = map[string]any{"type": "string", "enum": spec.Labels}
	case methods.Number:
		answer = map[string]any{"type": "number"}
	case methods.Set:
		member := map[string]any{"type": "string"}
		if len(spec.Labels) > 0 {
			member["enum"] = spec.Labels
		}
		answer = map[string]any{"type": "array", "items": member}
		if n := len(spec.Labels); n > 0 {
			answer["maxItems"] = n
		}
	case methods.Fields:
		fields := map[string]any{}
		for _, name := range spec.Names {
			fields[name] = map[string]any{"type": []string{"string", "number", "boolean", "null"}}
		}
		answer = Object(fields)
	default:
		answer = map[string]any{"type": "string"}
	}
	return answer
}

// Object is a schema of an object with exactly these properties, in order of their
// names unless another is given.
func Object(properties map[string]any, order ...string) map[string]any {
	if order == nil {
		order = append([]string{}, slices.Sorted(maps.Keys(properties))...)
	}
	members := make([]string, len(order))
	for i, name := range order {
		members[i] = string(Encode(name)) + ":" + string(Encode(properties[name]))
	}
	return map[string]any{
		"type": "object", "properties": json.RawMessage("{" + strings.Join(members, ",") + "}"), "required": order, "additionalProperties": false,
	}
}

// Encode is v, made of maps, lists and texts, as JSON.
func Encode(v any) json.RawMessage {
	return methods.Must(json.Marshal(v))
}
