package aot

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"noema/methods"
	"noema/methods/reply"
)

// operation is a tool or a decision with its schemas, ready for use.
type operation struct {
	spec   methods.ToolSpec
	input  *reply.Validator
	result *reply.Validator // nil if the result has no schema
	gives  shape            // of the result

	decision *decision // nil for a tool
}

// toolset is what the atoms of a plan can be: operations by kind and name.
type toolset map[Kind]map[string]operation

// newToolset prepares the tools, and of the decisions those listed.
func newToolset(tools []methods.ToolSpec, list []decision) (toolset, error) {
	set := toolset{Tool: {}, Decision: {}}
	for _, d := range list {
		set[Decision][d.spec.Name] = decisions()[d.spec.Name]
	}
	for _, spec := range tools {
		op, err := newOperation(spec)
		if err != nil {
			return nil, fmt.Errorf("tool %q: %w", spec.Name, err)
		}
		set[Tool][spec.Name] = op
	}
	return set, nil
}

// decisions are always the same, and reading schemas takes longer than running
// a plan.
var decisions = sync.OnceValue(func() map[string]operation {
	ops := map[string]operation{}
	for _, d := range decisionList() {
		op := methods.Must(newOperation(d.spec)) // the schemas are constants
		op.decision = &d
		ops[d.spec.Name] = op
	}
	return ops
})

func newOperation(spec methods.ToolSpec) (op operation, err error) {
	op.spec = spec
	parameters := spec.Parameters
	if len(parameters) == 0 {
		parameters = json.RawMessage(`{"type":"object"}`)
	}
	if op.input, err = reply.NewValidator(parameters); err != nil {
		return op, fmt.Errorf("parameters: %w", err)
	}
	if len(spec.Result) == 0 {
		return op, nil
	}
	if op.result, err = reply.NewValidator(spec.Result); err != nil {
		return op, fmt.Errorf("result: %w", err)
	}
	op.gives = schemaShape(spec.Result)
	return op, nil
}

// find returns an operation, or the text of a fault that lists those there
// are.
func (t toolset) find(kind Kind, name string) (operation, string) {
	if op, ok := t[kind][name]; ok {
		return op, ""
	}
	names := slices.Sorted(maps.Keys(t[kind]))
	if len(names) == 0 {
		return operation{}, fmt.Sprintf("unknown %s %.60q: this problem has none", kind, name)
	}
	return operation{}, fmt.Sprintf("unknown %s %.60q; there are %s", kind, name, strings.Join(names, ", "))
}

// answerSchema is the schema of the answer that is wanted, and whether it is of a
// kind that the method knows.
func answerSchema(want methods.AnswerSpec) (json.RawMessage, bool) {
	switch want.Kind {
	case methods.Number:
		return json.RawMessage(numberOut), true
	case methods.Choice:
		return encode(map[string]any{"enum": want.Labels}), true
	case methods.Text, "": // any value can be written as a text
		return json.RawMessage(`{}`), true
	case methods.Set:
		return json.RawMessage(`{"type":"array","items":{"type":"string"}}`), true
	case methods.Ranking:
		return encode(rankingSchema(want.N)), true
	case methods.Fields:
		return encode(fieldsSchema(want)), true
	}
	return nil, false
}

// rankingSchema admits item numbers, and lists of them for items of equal rank.
func rankingSchema(n int) any {
	item := map[string]any{"type": "integer", "minimum": 1, "maximum": n}
	group := map[string]any{"type": []string{"integer", "array"}, "minimum": 1, "maximum": n, "items": item}
	return map[string]any{"type": "array", "items": group}
}

// fieldsSchema admits any values for the names but the verdict's, which is one of
// the labels if there are any.
func fieldsSchema(want methods.AnswerSpec) any {
	properties := map[string]any{}
	for _, name := range want.Names {
		properties[name] = map[string]any{}
		if name == methods.Verdict && len(want.Labels) > 0 {
			properties[name] = map[string]any{"enum": want.Labels}
		}
	}
	return map[string]any{"type": "object", "properties": properties, "required": slices.Clone(want.Names), "additionalProperties": false}
}
