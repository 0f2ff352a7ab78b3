package openai

import (
	"encoding/json"
	"slices"
)

// qualifiesForStrict reports whether a schema keeps to the subset that strict
// mode accepts: an object at the root, every object closed and with all its
// properties required, and none of the keywords that strict mode refuses. It
// errs on the side of no, which only loses the server's guarantee: replies
// are validated in any case.
//
// Source: OpenAI, Structured Outputs guide, "Supported schemas".
func qualifiesForStrict(schema json.RawMessage) bool {
	var root map[string]any
	if json.Unmarshal(schema, &root) != nil || root["type"] != "object" || root["anyOf"] != nil {
		return false
	}
	return strictValue(root)
}

func strictValue(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return strictSchema(v)
	case []any:
		return !slices.ContainsFunc(v, func(e any) bool { return !strictValue(e) })
	}
	return true
}

func strictSchema(s map[string]any) bool {
	for _, keyword := range []string{
		"allOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas",
		"patternProperties", "propertyNames", "unevaluatedProperties", "unevaluatedItems",
		"prefixItems", "contains", "minContains", "maxContains", "uniqueItems",
		"minProperties", "maxProperties", "minLength", "maxLength", "default", "$dynamicRef",
	} {
		if _, ok := s[keyword]; ok {
			return false
		}
	}
	properties, _ := s["properties"].(map[string]any)
	if isObject(s["type"]) || properties != nil {
		if s["additionalProperties"] != false || !allRequired(s, properties) {
			return false
		}
	}
	for _, sub := range properties {
		if !strictValue(sub) {
			return false
		}
	}
	for _, keyword := range []string{"items", "anyOf"} {
		if !strictValue(s[keyword]) {
			return false
		}
	}
	defs, _ := s["$defs"].(map[string]any)
	for _, def := range defs {
		if !strictValue(def) {
			return false
		}
	}
	return true
}

func isObject(kind any) bool {
	if list, ok := kind.([]any); ok {
		return slices.Contains(list, any("object"))
	}
	return kind == "object"
}

func allRequired(s, properties map[string]any) bool {
	required, _ := s["required"].([]any)
	for name := range properties {
		if !slices.Contains(required, any(name)) {
			return false
		}
	}
	return true
}
