package sim

import (
	"encoding/json"
	"slices"
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

// planAtoms answers the plan prompt of AoT. It plans
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
	c, ok := calculate(p, n)
	if !ok {
		return "", false
	}
	c = c.written(n)
	names := p.tools()
	var plan struct {
		Atoms []atom `json:"atoms"`
	}
	for i, s := range c.steps {
		if !slices.Contains(names, string(s.Op)) {
			return "", false
		}
		plan.Atoms = append(plan.Atoms, newAtom(i+1, "tool", string(s.Op), map[string]any{"a": written(s.A, atomRef), "b": written(s.B, atomRef)}))
	}
	plan.Atoms = append(plan.Atoms, newAtom(len(c.steps)+1, "final", "report", map[string]any{"answer": written(c.result, atomRef)}))
	return plainJSON(plan), true
}

// newAtom is an atom that waits for those that its input refers to.
func newAtom(id int, kind, name string, input map[string]any) atom {
	a := atom{ID: id, Kind: kind, Name: name, Input: map[string]json.RawMessage{}, DependsOn: []int{}}
	for key, v := range input {
		a.Input[key] = json.RawMessage(plainJSON(v))
	}
	a.after(plainJSON(a.Input))
	return a
}
