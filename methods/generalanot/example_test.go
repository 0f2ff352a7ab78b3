package generalanot_test

import (
	"context"
	"fmt"

	"noema/methods"
	"noema/methods/generalanot"
)

// A Formula Seed written by hand, executed on extractions written by hand: no
// model is asked.
func Example() {
	seed, err := generalanot.Parse([]byte(`{
		"task_name": "slow service",
		"filter_keywords": ["slow", "waited"],
		"extraction_fields": [{"name": "pace", "type": "enum", "values": ["none", "prompt", "slow"]}],
		"extraction_prompt": "How fast was the service? {review_text}",
		"compute_dag": [
			{"name": "n_slow", "formula": "sum(1 for e in extractions if e['pace'] == 'slow')"},
			{"name": "share", "formula": "round(n_slow / len(extractions), 2)"},
			{"name": "verdict", "formula": "'Fine' if share < 0.5 else 'Slow'"}],
		"output_fields": ["n_slow", "share", "verdict"]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	program, faults := generalanot.NewProgram(seed, methods.AnswerSpec{Names: []string{"n_slow", "verdict"}})
	if len(faults) > 0 {
		fmt.Println(faults)
		return
	}
	data, err := generalanot.ParseContext([]byte(`{"reviews": [{"text": "We waited an hour."}, {"text": "Not slow!"}, {"text": "So slow."}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := program.Compute(context.Background(), data, []generalanot.Extraction{
		{Review: 1, Fields: map[string]any{"pace": "slow"}},
		{Review: 2, Fields: map[string]any{"pace": "prompt"}},
		{Review: 3, Fields: map[string]any{"pace": "slow"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range result.Steps {
		fmt.Println(s.Name, "=", s.Text, "from", s.Sources)
	}
	// Output:
	// n_slow = 2 from [1 3]
	// share = 0.67 from [1 2 3]
	// verdict = 'Slow' from [1 2 3]
}

func ExampleValidate() {
	seed := &generalanot.FormulaSeed{
		TaskName: "slow service", FilterKeywords: []string{}, ExtractionFields: []generalanot.ExtractionField{},
		ComputeDAG:   []generalanot.ComputeStep{{Name: "a", Formula: "b + 1"}, {Name: "b", Formula: "a"}},
		OutputFields: []string{"c"},
	}
	for _, f := range generalanot.Validate(seed, methods.AnswerSpec{}) {
		fmt.Println(f)
	}
	// Output:
	// compute_dag[0]: the steps use each other in a circle: a -> b -> a
	// output_fields[0]: no step of compute_dag computes "c"
}
