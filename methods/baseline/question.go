package baseline

import (
	"encoding/json"
	"fmt"

	"noema/methods"
	"noema/methods/phases"
)

// turnSchema is the JSON Schema of a turn: {"thought", "action"} with a call or the
// answer, or {"thought", "answer"} where there are no tools. The action is an object
// of its own since servers want no alternatives at the root. Those that enforce a
// schema keep the order of the keys.
func turnSchema(spec methods.AnswerSpec, tools []methods.ToolSpec) *methods.Schema {
	key, value := "answer", phases.AnswerSchema(spec)
	if len(tools) > 0 {
		actions := []any{}
		for _, tool := range tools {
			actions = append(actions, phases.Object(map[string]any{"tool": one(tool.Name), "args": argsSchema(tool, false)}, "tool", "args"))
		}
		key, value = "action", map[string]any{"anyOf": append(actions, phases.Object(map[string]any{"answer": value}))}
	}
	return &methods.Schema{Name: "turn", JSON: phases.Encode(phases.Object(map[string]any{"thought": text(), key: value}, "thought", key))}
}

// maxCalls bounds a plan: a small model that is held to a schema lists calls
// without end.
const maxCalls = 50

// callsSchema is the JSON Schema of a plan of tool calls. An argument may be the
// result of an earlier call.
func callsSchema(tools []methods.ToolSpec) *methods.Schema {
	refs := make([]string, maxCalls)
	for i := range refs {
		refs[i] = fmt.Sprintf("$%d", i+1)
	}
	calls := []any{}
	for _, tool := range tools {
		calls = append(calls, phases.Object(map[string]any{
			"id": map[string]any{"type": "integer", "minimum": 1, "maximum": maxCalls}, "tool": one(tool.Name), "args": argsSchema(tool, true),
		}, "id", "tool", "args"))
	}
	list := map[string]any{"type": "array", "items": map[string]any{"anyOf": calls}, "maxItems": maxCalls}
	root := phases.Object(map[string]any{"calls": list})
	root["$defs"] = map[string]any{"result": map[string]any{"type": "string", "enum": refs}}
	return &methods.Schema{Name: "calls", JSON: phases.Encode(root)}
}

// joinSchema is the JSON Schema of the answer, or of what a new plan should find.
func joinSchema(spec methods.AnswerSpec, mayReplan bool) *methods.Schema {
	if !mayReplan {
		return phases.Schema(spec)
	}
	null := map[string]any{"type": "null"}
	return &methods.Schema{Name: "joined", JSON: phases.Encode(phases.Object(map[string]any{
		"answer": map[string]any{"anyOf": []any{phases.AnswerSchema(spec), null}}, "replan": map[string]any{"anyOf": []any{text(), null}},
	}))}
}

func text() map[string]any { return map[string]any{"type": "string"} }

func one(name string) map[string]any { return map[string]any{"type": "string", "enum": []string{name}} }

// kept are the keywords that all servers with structured output know.
var kept = []string{"type", "enum", "const", "properties", "required", "additionalProperties", "items", "minItems", "maxItems", "anyOf"}

// argsSchema is the JSON Schema of a tool's arguments with the common keywords alone:
// the tool checks the rest. With refs, a result may stand for any value.
func argsSchema(tool methods.ToolSpec, refs bool) any {
	var parameters map[string]any
	if json.Unmarshal(tool.Parameters, &parameters) != nil {
		return map[string]any{"type": "object"}
	}
	return common(parameters, refs)
}

// common is a schema, or a part of one, without other keywords than the common ones.
func common(v any, refs bool) any {
	s, ok := v.(map[string]any)
	if !ok {
		return v
	}
	c := map[string]any{}
	for _, keyword := range kept {
		if value, ok := s[keyword]; ok {
			c[keyword] = value
		}
	}
	if items, ok := c["items"]; ok {
		c["items"] = orRef(items, refs)
	}
	if properties, ok := c["properties"].(map[string]any); ok {
		all := map[string]any{}
		for name, property := range properties {
			all[name] = orRef(property, refs)
		}
		c["properties"] = all
	}
	if list, ok := c["anyOf"].([]any); ok {
		some := make([]any, len(list))
		for i, branch := range list {
			some[i] = common(branch, refs)
		}
		c = map[string]any{"anyOf": some}
	}
	return c
}

// orRef is a schema whose value may be a reference instead.
func orRef(v any, refs bool) any {
	c := common(v, refs)
	if s, ok := c.(map[string]any); !ok || !refs || len(s) == 0 || s["type"] == "string" && s["enum"] == nil {
		return c
	}
	return map[string]any{"anyOf": []any{c, map[string]any{"$ref": "#/$defs/result"}}}
}
