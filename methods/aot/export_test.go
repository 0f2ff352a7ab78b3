package aot

import "noema/methods"

// Decisions describes the operations of decision atoms.
func Decisions() []methods.ToolSpec {
	specs := make([]methods.ToolSpec, len(decisionList()))
	for i, d := range decisionList() {
		specs[i] = d.spec
	}
	return specs
}
