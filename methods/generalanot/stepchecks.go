package generalanot

import (
	"fmt"
	"slices"
)

// checkStructure: names are identifiers of their own, what is used is there and
// not in a circle, and what the answer needs is an output.
func (t *trial) checkStructure(plan structure) []Fault {
	c := &checker{seed: &FormulaSeed{OutputFields: plan.OutputFields}, spec: t.Answer}
	if plan.TaskName == "" {
		c.fault("task_name", "is missing or empty")
	}
	if len(plan.Steps) == 0 || len(plan.Steps) > maxSteps {
		c.fault("steps", "has %d steps: want 1 to %d", len(plan.Steps), maxSteps)
		return c.faults
	}
	seen, places := map[string]bool{}, map[string]int{}
	for i, s := range plan.Signals {
		c.stepName(index("signals", i)+".name", s.Name, seen)
	}
	for i, s := range plan.Steps {
		c.stepName(index("steps", i)+".name", s.Name, seen)
		places[s.Name] = i
	}
	steps := make([]step, len(plan.Steps))
	for i, s := range plan.Steps {
		steps[i] = step{ComputeStep: ComputeStep{Name: s.Name}, at: i}
		for _, u := range s.Uses {
			place, isStep := places[u]
			switch {
			case isStep:
				steps[i].uses = append(steps[i].uses, place)
			case !seen[u] && !slices.Contains(inputs(t.Answer.Kind), u):
				c.fault(index("steps", i)+".uses", "%s uses %q, which is not a signal or a step", s.Name, u)
			}
		}
	}
	c.order("steps", steps)
	if len(plan.OutputFields) == 0 {
		c.fault("output_fields", "is missing or empty")
	}
	c.outputs(places)
	return c.faults
}

// checkExtraction: the parts that are read fit together, and every signal is
// read.
func (t *trial) checkExtraction(s *FormulaSeed, plan structure) []Fault {
	c := &checker{seed: s, spec: t.Answer}
	if s.ExtractionPrompt == "" && len(s.ExtractionFields) > 0 {
		c.fault("extraction_prompt", "is missing or empty")
	}
	c.keywords()
	c.fields()
	c.prompt()
	c.handling()
	for _, signal := range plan.Signals {
		if !slices.ContainsFunc(s.ExtractionFields, func(f ExtractionField) bool { return f.Name == signal.Name }) {
			c.fault("extraction_fields", "the signal %q of the structure is missing", signal.Name)
		}
	}
	return c.faults
}

// checkComputation: the whole seed is valid, and every step of the structure has
// its formula.
func (t *trial) checkComputation(s *FormulaSeed, plan structure) []Fault {
	_, faults := NewProgram(s, t.Answer)
	for _, step := range plan.Steps {
		if !slices.ContainsFunc(s.ComputeDAG, func(c ComputeStep) bool { return c.Name == step.Name }) {
			faults = append(faults, Fault{"compute_dag", fmt.Sprintf("the step %q of the structure has no formula", step.Name)})
		}
	}
	return faults
}
