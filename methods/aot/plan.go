package aot

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"noema/methods"
	"noema/methods/reply"
)

// Plan is what a model makes and a machine runs: atoms, each one operation.
// It is data: it can be stored, edited by hand and run without a model.
type Plan struct {
	Atoms []Atom `json:"atoms"`
}

// Atom is one operation of a plan. A string inside Input may hold references
// such as "<result_of_3>": where it is nothing else, the value takes its place
// with its type, and otherwise the value's text.
type Atom struct {
	ID         int                        `json:"id"` // from 1
	Kind       Kind                       `json:"kind"`
	Name       string                     `json:"name"` // of a tool or a decision; free for a final atom
	Input      map[string]json.RawMessage `json:"input,omitempty"`
	DependsOn  []int                      `json:"dependsOn,omitempty"`  // besides what Input refers to
	Compensate *Compensation              `json:"compensate,omitempty"` // of a tool atom
}

// Compensation is a tool call that undoes a completed atom when the plan
// fails. Its Input may refer to the atom's own result and to those of the
// atoms that it needs. With the name "none" nothing is undone.
type Compensation struct {
	Name  string                     `json:"name"`
	Input map[string]json.RawMessage `json:"input,omitempty"`
}

// undoes reports whether there is something to call. A nil compensation has
// nothing.
func (c *Compensation) undoes() bool { return c != nil && c.Name != nothing }

// nothing is the name of a compensation that says that there is none.
const nothing = "none"

// Kind says what runs an atom.
type Kind string

// The kinds of atoms.
const (
	Tool     Kind = "tool"     // a tool of the problem
	Decision Kind = "decision" // one of [Decisions]
	Final    Kind = "final"    // the answer; every plan has one
)

// maxAtoms bounds a plan. A model caught in a loop must not make a machine
// busy for hours.
const maxAtoms = 10_000

// Fault is one thing that is wrong with a plan.
type Fault struct {
	Position int    `json:"position"` // of the atom in the plan, from 1; 0 for the plan as a whole
	Atom     int    `json:"atom"`     // its id; 0 if it has none
	Text     string `json:"text"`
}

// String is the fault on one line, with its place.
func (f Fault) String() string {
	switch {
	case f.Position == 0:
		return "plan: " + f.Text
	case f.Atom > 0:
		return fmt.Sprintf("atom %d: %s", f.Atom, f.Text)
	}
	return fmt.Sprintf("the atom at position %d: %s", f.Position, f.Text)
}

// InvalidPlanError says that a plan cannot be run, with all its faults.
type InvalidPlanError struct{ Faults []Fault }

// Error implements error.
func (e *InvalidPlanError) Error() string {
	lines := make([]string, len(e.Faults))
	for i, f := range e.Faults {
		lines[i] = f.String()
	}
	if len(lines) == 1 {
		return "the plan has a fault: " + lines[0]
	}
	return fmt.Sprintf("the plan has %d faults: %s", len(lines), strings.Join(lines, "; "))
}

// ParsePlan reads a plan from JSON: an object with the key "atoms". It goes on
// after a fault, so that all of them can be told at once; what could not be
// read is left empty. A plan with such faults must not be run.
func ParsePlan(raw []byte) (Plan, []Fault) {
	var top struct{ Atoms []json.RawMessage }
	if err := decode(raw, &top); err != nil {
		return Plan{}, []Fault{{Text: `want a JSON object with the key "atoms" and a list of objects: ` + reply.InWords(err).Error()}}
	}
	var plan Plan
	var faults faultList
	for i, raw := range top.Atoms {
		atom, texts := parseAtom(raw)
		for _, text := range texts {
			faults.add(i+1, atom.ID, "%s", text)
		}
		plan.Atoms = append(plan.Atoms, atom)
	}
	return plan, faults
}

// idText is the fault of a bad id, whoever finds it.
const idText = `"id" must be a whole number from 1`

func parseAtom(raw json.RawMessage) (a Atom, faults []string) {
	var fields map[string]json.RawMessage
	if err := decode(raw, &fields); err != nil || fields == nil {
		return a, []string{"it is not an object"}
	}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if text := a.set(key, fields[key]); text != "" {
			faults = append(faults, text)
		}
	}
	return a, faults
}

// set reads one field of an atom and says what is wrong with it.
func (a *Atom) set(key string, raw json.RawMessage) string {
	var err error
	switch key {
	case "id":
		if decode(raw, &a.ID) != nil {
			return idText
		}
	case "kind":
		err = decode(raw, &a.Kind)
	case "name":
		err = decode(raw, &a.Name)
	case "input":
		err = decode(raw, &a.Input)
	case "dependsOn":
		err = decode(raw, &a.DependsOn)
	case "compensate":
		if err = methods.DecodeWhole(raw, &a.Compensate, true); err != nil {
			a.Compensate = nil // half of one would be faulted twice
		}
	default:
		return fmt.Sprintf("unknown key %.40q; there are id, kind, name, input, dependsOn and compensate", key)
	}
	if err != nil {
		return fmt.Sprintf("%q must be %s", key, map[string]string{
			"kind": "a text", "name": "a text", "input": "an object", "dependsOn": "a list of ids",
			"compensate": `an object with "name" and "input"`,
		}[key])
	}
	return ""
}

// decode reads one JSON value; numbers that go into an any stay as written.
func decode(raw []byte, into any) error { return methods.DecodeWhole(raw, into, false) }

// encode is v as JSON without the escapes that HTML would need.
func encode(v any) json.RawMessage {
	return methods.Must(methods.EncodeJSON(v)) // values that came from JSON, and plain structs of them
}

// faultList collects faults.
type faultList []Fault

func (l *faultList) add(position, atom int, format string, args ...any) {
	f := Fault{position, max(atom, 0), fmt.Sprintf(format, args...)}
	if !slices.Contains(*l, f) {
		*l = append(*l, f)
	}
}

// Faults joins lists of faults, such as those of [ParsePlan] and [Validate],
// into one by position, each fault once.
func Faults(lists ...[]Fault) []Fault {
	var all faultList
	for _, f := range slices.Concat(lists...) {
		all.add(f.Position, f.Atom, "%s", f.Text)
	}
	slices.SortStableFunc(all, func(a, b Fault) int { return a.Position - b.Position })
	return all
}

// Repair completes the dependsOn of each atom by the atoms that its input
// refers to, and says in a line each what it added. The plan itself stays as
// it is. Validation takes references for dependencies in any case.
func Repair(plan Plan) (Plan, []string) {
	repaired := Plan{Atoms: slices.Clone(plan.Atoms)}
	var added []string
	for i, a := range plan.Atoms {
		refs, _ := references(a.Input)
		missing := slices.DeleteFunc(refs, func(id int) bool { return id == a.ID || slices.Contains(a.DependsOn, id) })
		if len(missing) > 0 {
			repaired.Atoms[i].DependsOn = append(slices.Clone(a.DependsOn), missing...)
			added = append(added, fmt.Sprintf("atom %d depends on %v, to which it refers", a.ID, missing))
		}
	}
	return repaired, added
}
