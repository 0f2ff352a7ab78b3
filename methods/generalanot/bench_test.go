package generalanot_test

import (
	"fmt"
	"testing"

	"noema/methods"
	"noema/methods/generalanot"
)

// BenchmarkCompute compiles and runs 30 steps, of which ten read the
// extractions, over 200 of them; provenance is part of it.
func BenchmarkCompute(b *testing.B) {
	var list []review
	for range 25 {
		list = append(list, reviews()...)
	}
	data, err := generalanot.ParseContext(contextOf(list))
	if err != nil {
		b.Fatal(err)
	}
	var extractions []generalanot.Extraction
	for i, r := range list {
		extractions = append(extractions, generalanot.Extraction{Review: i + 1, Fields: map[string]any{
			"incident_severity": r.severity, "account_type": r.account, "safety_interaction": r.contact,
		}})
	}
	s := seed(b)
	for i := range 30 - len(s.ComputeDAG) {
		step := generalanot.ComputeStep{Name: fmt.Sprintf("x%d", i), Formula: "n_mild * 2 + n_severe"}
		if i < 4 {
			step.Formula = "sum(1 for e in extractions if e['stars'] < 3 and e['account_type'] == 'firsthand')"
		}
		s.ComputeDAG = append(s.ComputeDAG, step)
	}
	for b.Loop() {
		p, faults := generalanot.NewProgram(s, methods.AnswerSpec{})
		if len(faults) > 0 {
			b.Fatal(faults)
		}
		if _, err := p.Compute(b.Context(), data, extractions); err != nil {
			b.Fatal(err)
		}
	}
}
