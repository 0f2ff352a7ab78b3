package aot

import (
	"encoding/json"
	"slices"
	"sync"

	"noema/methods"
)

// decision is an operation of the method itself. All but read and read_each are
// computed here, over exact decimals, without a model: the same input gives the same
// result for ever. A quotient without a finite decimal form is rounded to
// [decimal.Digits] significant digits.
//
// The two that read ask the model, once for each text: see [MaxReads].
type decision struct {
	spec  methods.ToolSpec
	run   func(input map[string]any) (any, error)                   // nil if it asks the model
	gives func(input map[string]any, shapeOf func(any) shape) shape // nil if the schema tells
}

// decisionList is made once: a plan has up to thousands of them.
var decisionList = sync.OnceValue(func() []decision {
	return slices.Concat(numberDecisions(), moreNumberDecisions(), listDecisions(), rankDecisions(), textDecisions())
})

// newDecision describes a decision by its schemas.
func newDecision(name, doc, in, out string, run func(map[string]any) (any, error)) decision {
	spec := methods.ToolSpec{Name: name, Description: doc, Parameters: json.RawMessage(in), Result: json.RawMessage(out), Pure: true}
	return decision{spec: spec, run: run}
}

// infers adds how the result's shape follows from the input.
func (d decision) infers(gives func(map[string]any, func(any) shape) shape) decision {
	d.gives = gives
	return d
}

// offered are the decisions that a plan for a problem may use: those over numbers
// where the tools give numbers and the answer is one, and all of them elsewhere.
func offered(tools []methods.ToolSpec, want methods.AnswerSpec) []decision {
	if plain(tools, want) {
		return numberDecisions()
	}
	return decisionList()
}

// plain reports whether a problem is about numbers alone.
func plain(tools []methods.ToolSpec, want methods.AnswerSpec) bool {
	return want.Kind == methods.Number && !slices.ContainsFunc(tools, func(t methods.ToolSpec) bool {
		kind := schemaShape(t.Result).name
		return kind != "number" && kind != "integer"
	})
}
