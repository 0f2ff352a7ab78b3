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
	gives  string           // JSON type of the result; empty if it is not known
}

// toolset is what the atoms of a plan can be: operations by kind and name.
type toolset map[Kind]map[string]operation

func newToolset(tools []methods.ToolSpec) (toolset, error) {
	set := toolset{Tool: {}, Decision: decisions()}
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
	for _, spec := range Decisions() {
		op, err := newOperation(spec)
		if err != nil { // the schemas are constants
			panic(err)
		}
		ops[spec.Name] = op
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
	op.gives = schemaType(spec.Result)
	return op, nil
}

// schemaType is the one JSON type that a schema names, if it does.
func schemaType(schema json.RawMessage) string {
	var s struct{ Type any }
	_ = json.Unmarshal(schema, &s) // a schema may also be true or false
	name, _ := s.Type.(string)
	return name
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

// answerSchema is the schema of the answer of a kind, and whether the method
// can give it.
func answerSchema(want methods.AnswerSpec) (json.RawMessage, bool) {
	switch want.Kind {
	case methods.Number:
		return json.RawMessage(numberOut), true
	case methods.Choice:
		return encode(map[string]any{"enum": want.Labels}), true
	case methods.Text, "": // any value can be written as a text
		return json.RawMessage(`{}`), true
	}
	return nil, false
}
