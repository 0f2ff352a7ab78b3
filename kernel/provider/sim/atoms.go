package sim

import (
	"encoding/json"
	"fmt"
	"slices"

	"noema/kernel/task/arithmetic"
)

// atom is one atom of a plan as prompts of AoT ask for it.
type atom struct {
	ID        int                        `json:"id"`
	Kind      string                     `json:"kind"`
	Name      string                     `json:"name"`
	Input     map[string]json.RawMessage `json:"input"`
	DependsOn []int                      `json:"dependsOn"`

	Compensate any `json:"compensate,omitempty"` // how it is undone
}

// planAtoms answers the plan prompt of AoT, with the planning errors. It plans
// nothing for which there is no tool.
func planAtoms(p prompt, n noise) (string, bool) {
	if asksLogs(p) {
		return planLogs(p, n)
	}
	for _, plan := range []func(prompt, noise) (string, bool){planErrand, planStory, planRanking, planHops, planPolicy} {
		if text, ok := plan(p, n); ok {
			return text, true
		}
	}
	return "", false
}

// planStory plans one atom for each step of a story.
func planStory(p prompt, n noise) (string, bool) {
	c, ok := calculate(p, n, step)
	if !ok {
		return "", false
	}
	names := p.tools()
	var plan struct {
		Atoms []atom `json:"atoms"`
	}
	for i, s := range c.steps {
		if !slices.Contains(names, string(s.Op)) {
			return "", false
		}
		plan.Atoms = append(plan.Atoms, newAtom(i+1, "tool", string(s.Op), map[string]arithmetic.Operand{"a": s.A, "b": s.B}))
	}
	plan.Atoms = append(plan.Atoms, newAtom(len(c.steps)+1, "final", "report", map[string]arithmetic.Operand{"answer": c.result}))
	return plainJSON(plan), true
}

// newAtom writes operands as inputs: numbers as they stand in the text, steps
// as references.
func newAtom(id int, kind, name string, operands map[string]arithmetic.Operand) atom {
	a := atom{ID: id, Kind: kind, Name: name, Input: map[string]json.RawMessage{}, DependsOn: []int{}}
	for key, o := range operands {
		if o.Step == 0 {
			a.Input[key] = json.RawMessage(o.Value)
			continue
		}
		a.Input[key] = json.RawMessage(fmt.Sprintf(`"<result_of_%d>"`, o.Step))
		a.DependsOn = append(a.DependsOn, o.Step)
	}
	slices.Sort(a.DependsOn) // the operands came in no order
	a.DependsOn = slices.Compact(a.DependsOn)
	return a
}
