package anot

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"noema/methods"
	"noema/methods/anot/internal/lwt"
	"noema/methods/plans"
	"noema/methods/reply"
)

// PlanKind is the kind of a [Plan] in its JSON form, planVersion that of the form.
const (
	PlanKind    = "lwt"
	planVersion = 1
)

// Plan is an LWT with the strategy that it carries out, as "plan export" writes it
// and as the option lwt takes it. It can be edited and run without the model that
// wrote it; its steps ask a model all the same.
type Plan struct {
	Kind     string        `json:"kind"`               // "lwt"
	Version  int           `json:"version"`            // of this form: 1
	From     *plans.Origin `json:"from,omitempty"`     // the trial that it is from
	Query    string        `json:"query,omitempty"`    // the request that it was written for
	Strategy []string      `json:"strategy,omitempty"` // the lines of a strategy; it is compiled if there is no LWT
	LWT      []string      `json:"lwt,omitempty"`      // the lines of the program; see package lwt for its grammar

	program *lwt.Program
	faults  []plans.Fault // of the text
	places  places
}

// maxFaults bounds the faults that are listed.
const maxFaults = 100

// ReadPlan reads a plan: the JSON form, or the bare text of an LWT. The error says
// that it cannot be read at all; [Plan.Check] lists its other faults.
func ReadPlan(raw []byte) (*Plan, error) {
	p := &Plan{Kind: PlanKind, Version: planVersion}
	if text := bytes.TrimSpace(raw); len(text) > 0 && text[0] != '{' {
		p.LWT = strings.Split(string(raw), "\n")
	} else {
		d := json.NewDecoder(bytes.NewReader(raw))
		d.DisallowUnknownFields()
		if err := d.Decode(p); err != nil {
			return nil, readFault(raw, err)
		}
		p.places = placesOf(raw)
	}
	switch {
	case p.Kind != PlanKind:
		return nil, fmt.Errorf("the kind is %q: want %q", p.Kind, PlanKind)
	case p.Version != planVersion:
		return nil, fmt.Errorf("version %d of the form: this build reads version %d", p.Version, planVersion)
	case len(p.LWT) == 0 && len(p.Strategy) == 0:
		return nil, errors.New(`it has neither "lwt" nor "strategy": there is nothing to run`)
	}
	var faults []error
	p.program, faults = lwt.ParseAll(strings.Join(p.LWT, "\n"), maxFaults)
	p.faults = p.placed(faults)
	return p, nil
}

// readFault is an error of the decoder with the place in raw.
func readFault(raw []byte, err error) error {
	at := len(raw)
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		at = max(0, int(syntax.Offset)-1)
	case errors.As(err, &kind):
		at = max(0, int(kind.Offset)-1)
	case strings.Contains(err.Error(), "unknown field "):
		_, name, _ := strings.Cut(err.Error(), "unknown field ")
		at = max(0, bytes.Index(raw, []byte(name)))
	}
	line, col := lineCol(raw, at)
	return plans.Fault{Line: line, Col: col, Msg: reply.InWords(err).Error()}
}

// placed gives faults of the LWT their places in the file.
func (p *Plan) placed(faults []error) (all []plans.Fault) {
	for _, err := range faults {
		var e *lwt.Error
		if !errors.As(err, &e) {
			all = append(all, plans.Fault{Msg: err.Error()})
			continue
		}
		msg := e.Msg
		if e.Step != "" {
			msg = "step " + e.Step + ": " + msg
		}
		line, col := p.places.of("lwt", e.Pos.Line, e.Pos.Col)
		all = append(all, plans.Fault{Line: line, Col: col, Msg: msg})
	}
	return all
}

// Check lists the faults of the plan, all that are found, and what is worth a note.
// With a problem it is checked against its items and data; with nil the notes say what
// only a problem can tell.
func (p *Plan) Check(problem *methods.Problem) (faults []plans.Fault, notes []string) {
	if problem == nil {
		labels := strings.Contains(strings.Join(p.Strategy, "\n"), "[LABEL]")
		faults, plan := p.check(0, labels, p.program.Unknown())
		return faults, append(p.uncovered(plan, 0, labels), p.unchecked()...)
	}
	bare := *problem
	bare.Options = nil // which say nothing about its data
	t, err := newSolver(bare, nil)
	if err != nil {
		return append(slices.Clone(p.faults), plans.Fault{Msg: err.Error()}), nil
	}
	faults, plan := p.check(t.n, t.labels != nil, t.data.Names())
	if plan == nil {
		return faults, nil
	}
	notes = p.uncovered(plan, t.n, t.labels != nil)
	if p.Query != "" && p.Query != problem.Query {
		notes = append(notes, "it was written for another request: "+reply.OneLine(p.Query, 120))
	}
	for i, s := range plan.Steps {
		if missing := plan.Unlisted(i, t.n); len(missing) > 0 {
			notes = append(notes, fmt.Sprintf("step %s leaves out the items %v", s.ID, missing))
		}
	}
	return faults, notes
}

// uncovered says which conditions of the strategy have no step; plan may be nil.
func (p *Plan) uncovered(plan *lwt.Plan, n int, labels bool) (notes []string) {
	if plan == nil {
		return nil
	}
	for _, c := range p.strategy(n, labels).uncovered(plan) {
		notes = append(notes, c.without())
	}
	return notes
}

// strategy is the plan's strategy; nil if it has none, or one with faults.
func (p *Plan) strategy(n int, labels bool) *Strategy {
	s, err := parseStrategy(strings.Join(p.Strategy, "\n"), n, labels)
	if err != nil {
		return nil
	}
	return s
}

// check is [Plan.Check] for n items, 0 if that is not known, and data with these
// names. The plan is nil if there are faults, or no LWT.
func (p *Plan) check(n int, labels bool, names []string) (faults []plans.Fault, plan *lwt.Plan) {
	faults = slices.Clone(p.faults)
	if len(p.Strategy) > 0 {
		_, bad := readStrategy(strings.Join(p.Strategy, "\n"), n, labels)
		for _, f := range bad {
			line, col := p.places.of("strategy", f.line, 1)
			faults = append(faults, plans.Fault{Line: line, Col: col, Msg: "strategy: " + f.err.Error()})
		}
	}
	if len(p.LWT) > 0 && len(p.faults) == 0 {
		var err error
		plan, err = lwt.Compile(p.program, names)
		faults = append(faults, p.placed(joined(err))...)
	}
	if len(faults) > 0 {
		return faults, nil
	}
	return nil, plan
}

// joined are the errors that errors.Join put into err.
func joined(err error) []error {
	if err == nil {
		return nil
	}
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		return many.Unwrap()
	}
	return []error{err}
}

// unchecked says what cannot be checked without a problem.
func (p *Plan) unchecked() []string {
	const without = "not checked without --task: "
	notes := []string{without + "whether every step lists every item"}
	if len(p.LWT) == 0 {
		notes[0] = without + "the LWT: it is compiled from the strategy and a sample"
	}
	for _, name := range p.program.Unknown() {
		notes = append(notes, without+"whether the data has {("+name+")}")
	}
	return notes
}
