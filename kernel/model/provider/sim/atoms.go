package sim

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
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
	for _, plan := range []func(prompt, noise) (string, bool){planErrand, planStory, planPuzzle, planRanking, planHops, planPolicy} {
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

// draft is a plan of AoT while it is written. The same operation on the same
// input is one atom.
type draft struct {
	atoms []atom
	have  map[string]ref
}

// ref stands for what an atom gives, as a plan writes it.
type ref string

func newDraft() *draft { return &draft{have: map[string]ref{}} }

func (d *draft) tool(name string, input map[string]any) ref { return d.add("tool", name, input) }

func (d *draft) decide(name string, input map[string]any) ref { return d.add("decision", name, input) }

var refPattern = regexp.MustCompile(`<result_of_(\d+)>`)

func (d *draft) add(kind, name string, input map[string]any) ref {
	a := newAtom(len(d.atoms)+1, kind, name, input)
	key := kind + " " + name + " " + plainJSON(a.Input)
	if r, ok := d.have[key]; ok {
		return r
	}
	d.atoms = append(d.atoms, a)
	d.have[key] = ref(atomRef(a.ID).(string))
	return d.have[key]
}

// atomRef stands for what an atom gives, in a plan of atoms.
func atomRef(id int) any { return fmt.Sprintf("<result_of_%d>", id) }

// after adds to the dependencies the atoms that a text refers to.
func (a *atom) after(text string) {
	for _, m := range refPattern.FindAllStringSubmatch(text, -1) {
		id, _ := strconv.Atoi(m[1]) // digits that this draft wrote
		a.DependsOn = append(a.DependsOn, id)
	}
	slices.Sort(a.DependsOn)
	a.DependsOn = slices.Compact(a.DependsOn)
}

// at is the atom that a reference stands for.
func (d *draft) at(r ref) *atom {
	id, _ := strconv.Atoi(refPattern.FindStringSubmatch(string(r))[1]) // as add wrote it
	return &d.atoms[id-1]
}

// plan ends the draft with its answer, without the atoms that the answer does
// not need: a machine refuses those. The answer also waits for the atoms after.
func (d *draft) plan(answer any, after ...ref) string {
	final := d.at(d.add("final", "report", map[string]any{"answer": answer}))
	for _, r := range after {
		final.after(string(r))
	}
	needed := make([]bool, len(d.atoms)+1)
	needed[len(d.atoms)] = true
	var plan struct {
		Atoms []atom `json:"atoms"`
	}
	for i := len(d.atoms) - 1; i >= 0; i-- {
		if a := d.atoms[i]; needed[a.ID] {
			plan.Atoms = append(plan.Atoms, a)
			for _, id := range a.DependsOn {
				needed[id] = true
			}
		}
	}
	slices.Reverse(plan.Atoms)
	return plainJSON(plan)
}

// hasTools reports whether all tools of these names are on offer.
func hasTools(p prompt, names ...string) bool {
	offered := p.tools()
	return !slices.ContainsFunc(names, func(n string) bool { return !slices.Contains(offered, n) })
}
