package aot

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"noema/methods"
	"noema/methods/plans"
	"noema/methods/reply"
)

var (
	_ plans.Reader = Method{}
	_ plans.Tracer = Method{}
)

// planFile is a plan of atoms with the trial that it is from.
type planFile struct {
	From *plans.Origin `json:"from,omitempty"`
	Plan
	faults []Fault // of its form
}

// PlanForm implements [plans.Reader].
func (Method) PlanForm() string { return `the key "atoms" with a list of atoms` }

// ReadPlan implements [plans.Reader].
func (Method) ReadPlan(raw []byte) (plans.File, error) {
	var head struct{ From, Atoms json.RawMessage }
	if err := json.Unmarshal(raw, &head); err != nil || head.Atoms == nil {
		return nil, nil
	}
	if !bytes.HasPrefix(head.Atoms, []byte("[")) {
		return nil, errors.New(`want the key "atoms" with a list of atoms`)
	}
	f := &planFile{}
	if head.From != nil {
		f.From = &plans.Origin{}
		if err := json.Unmarshal(head.From, f.From); err != nil {
			return nil, fmt.Errorf(`read "from": %w`, reply.InWords(err))
		}
	}
	f.Plan, f.faults = ParsePlan(raw)
	return f, nil
}

// PlanOf implements [plans.Tracer].
func (Method) PlanOf(events []methods.Event) (plans.File, error) {
	for _, e := range slices.Backward(events) {
		var data struct{ Atoms json.RawMessage }
		if e.Kind != methods.Plan || json.Unmarshal(e.Data, &data) != nil || data.Atoms == nil {
			continue
		}
		plan, faults := ParsePlan(e.Data)
		if len(faults) > 0 {
			return nil, fmt.Errorf("the trial has no valid plan of atoms: %s", faults[0])
		}
		return &planFile{Plan: plan}, nil
	}
	return nil, nil
}

func (f *planFile) Origin() *plans.Origin               { return f.From }
func (f *planFile) SetOrigin(o *plans.Origin, _ string) { f.From = o }
func (f *planFile) Encode() ([]byte, error)             { return plans.Encode(f) }
func (f *planFile) NeedsModel() bool                    { return false }

// Lines implements [plans.File]: the atoms.
func (f *planFile) Lines() (lines []string) {
	for _, atom := range f.Atoms {
		line := fmt.Sprintf("%d  %s %s %s", atom.ID, atom.Kind, atom.Name, encode(atom.Input))
		if len(atom.DependsOn) > 0 {
			line += fmt.Sprintf("  after %v", atom.DependsOn)
		}
		lines = append(lines, line)
	}
	return lines
}

// Check implements [plans.File].
func (f *planFile) Check(p *methods.Problem) (faults []plans.Fault, notes []string) {
	found := f.faults
	if p == nil {
		notes = []string{"not checked without --task: the tools and the answer"}
	} else {
		found = Faults(found, Validate(f.Plan, p.Tools, p.Answer))
	}
	for _, fault := range found {
		faults = append(faults, plans.Fault{Msg: fault.String()})
	}
	return faults, notes
}

// Run implements [plans.File]: it executes the atoms with the problem's tools.
func (f *planFile) Run(ctx context.Context, p methods.Problem, h methods.Host, kept *plans.Kept) (methods.Answer, error) {
	state, err := readState(kept.State)
	if err != nil {
		return methods.Answer{}, err
	}
	again := map[int]bool{}
	var saveErr error
	save := func(s *State) {
		raw, err := plans.Encode(s)
		saveErr = errors.Join(saveErr, err, kept.Save(raw))
	}
	options := Options{Tools: p.Tools, State: state}
	options.OnKept = func(kind Kind, s AtomState) error {
		again[s.ID] = true
		if kind != Tool {
			return nil
		}
		return kept.Restore(methods.ToolResult{Content: string(s.Result)})
	}
	options.OnAtom = func(s AtomState) {
		status := string(s.Status)
		if again[s.ID] && s.Status == Done {
			status = "kept"
		}
		kept.Step(fmt.Sprintf("%d  %s  %s%s", s.ID, status, s.Result, s.Error))
		state = state.with(s)
		save(state)
	}
	done, err := Execute(ctx, f.Plan, h, options)
	save(&done)
	return methods.Answer{Outcome: methods.Answered, Value: done.Answer}, errors.Join(err, saveErr)
}

// with is the state with what became of one more atom; s may be nil.
func (s *State) with(a AtomState) *State {
	var atoms []AtomState
	if s != nil {
		atoms = slices.DeleteFunc(slices.Clone(s.Atoms), func(have AtomState) bool { return have.ID == a.ID })
	}
	return &State{Atoms: append(atoms, a)}
}

// readState reads a kept state; nil if there is none.
func readState(raw []byte) (*State, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var s State
	var b bytes.Buffer
	if json.Compact(&b, raw) == nil { // the results in it are as the tools gave them again
		raw = b.Bytes()
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, fmt.Errorf("read state: %w", reply.InWords(err))
	}
	return &s, nil
}
