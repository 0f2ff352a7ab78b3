package baseline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"noema/methods"
	"noema/methods/reply"
)

// itemsKey is the key of a ranking problem's context that holds its items.
const itemsKey = "items"

// question shows the problem: its request, its data and what is wanted.
func (t *solver) question() (string, error) {
	items, data, err := contextText(t.Context, t.Answer.Kind)
	if err != nil {
		return "", err
	}
	if limit := t.opts.MaxContextChars; limit > 0 {
		items = t.cut("items", items, limit)
		data = t.cut("data", data, max(0, limit-len(items)))
	}
	return question(t.Query, items, data, t.Answer), nil
}

// cut shortens a part of the data to its first limit bytes.
func (t *solver) cut(what, text string, limit int) string {
	short, cut := reply.Head(text, limit)
	if cut {
		t.Emit(callPath, methods.Truncated, 1, nil, "%s: %d of %d bytes shown (head)", what, len(short), len(text))
	}
	return short
}

// contextText writes the problem's context, one value to a line: the items of
// a ranking by number, everything else by name.
func contextText(context json.RawMessage, kind methods.AnswerKind) (items, data string, err error) {
	if len(bytes.TrimSpace(context)) == 0 {
		return "", "", nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(context, &fields); err != nil {
		return "", "", fmt.Errorf("decode context: %w", err)
	}
	if raw, ok := fields[itemsKey]; ok && kind == methods.Ranking {
		var list []json.RawMessage
		if err := json.Unmarshal(raw, &list); err != nil {
			return "", "", fmt.Errorf("decode context: %q: %w", itemsKey, err)
		}
		lines := make([]string, len(list))
		for i, item := range list {
			lines[i] = fmt.Sprintf("%d: %s", i+1, oneLine(item))
		}
		items = strings.Join(lines, "\n")
		delete(fields, itemsKey)
	}
	var lines []string
	for _, k := range slices.Sorted(maps.Keys(fields)) {
		lines = append(lines, k+": "+oneLine(fields[k]))
	}
	return items, strings.Join(lines, "\n"), nil
}

// htmlEscapes are the escapes by which Go keeps JSON safe inside HTML. The first
// pair passes over an escaped backslash, which may stand before the same letters.
var htmlEscapes = strings.NewReplacer(`\\`, `\\`, `\u003c`, "<", `\u003e`, ">", `\u0026`, "&")

// oneLine is raw without needless spaces and without HTML's escapes, which cost
// tokens and mean nothing to a model.
func oneLine(raw json.RawMessage) string {
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		return string(raw) // it is valid: it was decoded before
	}
	text := strings.ToValidUTF8(b.String(), "\ufffd")
	if !strings.Contains(text, `\u`) { // nearly always, and looking is quicker than replacing
		return text
	}
	return htmlEscapes.Replace(text)
}

// schema is the JSON Schema of {"answer": …}. It leaves the range of item
// numbers to the reader of the answer, which drops and reports what is out of
// it instead of losing the whole reply. It bounds lists, which small models that
// are held to a schema go on with for ever.
func schema(spec methods.AnswerSpec) *methods.Schema {
	return &methods.Schema{Name: "answer", JSON: encode(object(map[string]any{"answer": answerSchema(spec)}))}
}

// turnSchema is the JSON Schema of a turn: {"thought", "action"} with a call or the
// answer, or {"thought", "answer"} where there are no tools. The action is an object
// of its own since servers want no alternatives at the root. Those that enforce a
// schema keep the order of the keys.
func turnSchema(spec methods.AnswerSpec, tools []methods.ToolSpec) *methods.Schema {
	key, value := "answer", answerSchema(spec)
	if len(tools) > 0 {
		actions := []any{}
		for _, tool := range tools {
			actions = append(actions, object(map[string]any{"tool": one(tool.Name), "args": argsSchema(tool, false)}, "tool", "args"))
		}
		key, value = "action", map[string]any{"anyOf": append(actions, object(map[string]any{"answer": value}))}
	}
	return &methods.Schema{Name: "turn", JSON: encode(object(map[string]any{"thought": text(), key: value}, "thought", key))}
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
		calls = append(calls, object(map[string]any{
			"id": map[string]any{"type": "integer", "minimum": 1, "maximum": maxCalls}, "tool": one(tool.Name), "args": argsSchema(tool, true),
		}, "id", "tool", "args"))
	}
	list := map[string]any{"type": "array", "items": map[string]any{"anyOf": calls}, "maxItems": maxCalls}
	root := object(map[string]any{"calls": list})
	root["$defs"] = map[string]any{"result": map[string]any{"type": "string", "enum": refs}}
	return &methods.Schema{Name: "calls", JSON: encode(root)}
}

// joinSchema is the JSON Schema of the answer, or of what a new plan should find.
func joinSchema(spec methods.AnswerSpec, mayReplan bool) *methods.Schema {
	if !mayReplan {
		return schema(spec)
	}
	null := map[string]any{"type": "null"}
	return &methods.Schema{Name: "joined", JSON: encode(object(map[string]any{
		"answer": map[string]any{"anyOf": []any{answerSchema(spec), null}}, "replan": map[string]any{"anyOf": []any{text(), null}},
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

// encode is v, made of maps, lists and texts, as JSON.
func encode(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}

// answerSchema is the JSON Schema of an answer.
func answerSchema(spec methods.AnswerSpec) (answer map[string]any) {
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
		answer = object(fields)
	default:
		answer = map[string]any{"type": "string"}
	}
	return answer
}

// object is a schema of an object with exactly these properties, in order of their
// names unless another is given.
func object(properties map[string]any, order ...string) map[string]any {
	if order == nil {
		order = append([]string{}, slices.Sorted(maps.Keys(properties))...)
	}
	members := make([]string, len(order))
	for i, name := range order {
		members[i] = string(encode(name)) + ":" + string(encode(properties[name]))
	}
	return map[string]any{
		"type": "object", "properties": json.RawMessage("{" + strings.Join(members, ",") + "}"), "required": order, "additionalProperties": false,
	}
}
