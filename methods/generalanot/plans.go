package generalanot

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"noema/methods"
	"noema/methods/plans"
)

var (
	_ plans.Reader    = Method{}
	_ plans.Compiler  = Method{}
	_ plans.Converter = Method{}
)

// planFile is a Formula Seed as a plan.
type planFile struct{ *FormulaSeed }

// PlanForm implements [plans.Reader].
func (Method) PlanForm() string { return "a Formula Seed" }

// ReadPlan implements [plans.Reader]: any other JSON object, in one of the forms of
// [Convert].
func (Method) ReadPlan(raw []byte) (plans.File, error) {
	var top map[string]json.RawMessage
	if json.Unmarshal(raw, &top) == nil && len(top) == 0 || !bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) {
		return nil, nil
	}
	s, err := Read(raw)
	if err != nil {
		return nil, err
	}
	return planFile{s}, nil
}

// PlanOfSeed implements [plans.Compiler].
func (Method) PlanOfSeed(kind string, data []byte) (plans.File, error) {
	if kind != SeedKind {
		return nil, nil
	}
	c, err := ParseCompiled(data)
	if err != nil {
		return nil, err
	}
	if c.Seed == nil {
		return nil, fmt.Errorf("the policy did not compile: %s", c.Refused)
	}
	return planFile{c.Seed}, nil
}

// ConvertPlan implements [plans.Converter].
func (Method) ConvertPlan(raw []byte) (file []byte, notes, faults []string, err error) {
	c, err := Convert(raw)
	if err != nil {
		return nil, nil, nil, err
	}
	file, err = Marshal(c.Seed)
	return file, texts(c.Notes), texts(c.Faults), err
}

func texts(faults []Fault) (out []string) {
	for _, f := range faults {
		out = append(out, f.String())
	}
	return out
}

func (f planFile) Origin() *plans.Origin           { return nil }
func (f planFile) SetOrigin(*plans.Origin, string) {}
func (f planFile) Encode() ([]byte, error)         { return Marshal(f.FormulaSeed) }
func (f planFile) NeedsModel() bool                { return true }

// Lines implements [plans.File]: one line that says what the seed has.
func (f planFile) Lines() []string {
	return []string{fmt.Sprintf("%s: %s, %s, %s, output %s", f.TaskName, count(len(f.FilterKeywords), "keyword"),
		count(len(f.ExtractionFields), "field"), count(len(f.ComputeDAG), "formula"), strings.Join(f.OutputFields, " "))}
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Check implements [plans.File].
func (f planFile) Check(p *methods.Problem) (faults []plans.Fault, notes []string) {
	var spec methods.AnswerSpec
	var absent []Fault
	if p != nil {
		var err error
		if absent, err = Absent(f.FormulaSeed, *p); err != nil {
			return []plans.Fault{{Msg: "the sample cannot be read: " + err.Error()}}, nil
		}
		spec = p.Answer
	} else {
		notes = append(notes, "not checked without --task: whether output_fields has all that a task asks for")
		for _, l := range f.Lookups {
			notes = append(notes, fmt.Sprintf("not checked without --task: whether samples have the field %q of lookup %s", l.Field, l.Name))
		}
	}
	for _, text := range texts(append(Validate(f.FormulaSeed, spec), absent...)) {
		faults = append(faults, plans.Fault{Msg: text})
	}
	return faults, notes
}

// Run implements [plans.File]: the model extracts, the formulas compute.
func (f planFile) Run(ctx context.Context, p methods.Problem, h methods.Host, _ *plans.Kept) (methods.Answer, error) {
	return Execute(ctx, f.FormulaSeed, p, h)
}
