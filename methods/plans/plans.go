// Package plans is how the plans of methods are taken out of runs, edited, checked
// and run by hand: AoT's atoms, ANoT's LWTs, General ANoT's Formula Seeds. A method
// that implements [Reader] has the verbs of "noema plan".
package plans

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"noema/methods"
)

// Reader is a method whose plans people can read and edit.
type Reader interface {
	// PlanForm says how a file with a plan is known, such as `the key "atoms"`.
	PlanForm() string
	// ReadPlan reads a plan; nil if the text has another form. The error says that it
	// cannot be read at all: [File.Check] lists other faults. It may be a [Fault].
	ReadPlan(raw []byte) (File, error)
}

// Tracer is a Reader whose trials tell their plans in their events.
type Tracer interface {
	// PlanOf is the plan that a trial ran, the last if it was made anew; nil if the
	// events tell of none.
	PlanOf(events []methods.Event) (File, error)
}

// Compiler is a Reader whose plans are method seeds, which the store keeps.
type Compiler interface {
	// PlanOfSeed is the plan in a seed of this kind; nil if the kind is not the
	// method's.
	PlanOfSeed(kind string, data []byte) (File, error)
}

// Converter is a Reader that reads other people's plans.
type Converter interface {
	// ConvertPlan writes a plan of another form in the method's own. The notes are what
	// is read differently, the faults what could not be converted: it stays as it was.
	ConvertPlan(raw []byte) (file []byte, notes, faults []string, err error)
}

// File is a plan as it stands in a file.
type File interface {
	// Origin is the trial that it is from; nil if it does not say.
	Origin() *Origin
	// SetOrigin says which trial the plan is from, and the request of its sample.
	SetOrigin(o *Origin, query string)
	// Encode writes the file.
	Encode() ([]byte, error)
	// Lines list the plan for people.
	Lines() []string
	// Graph is the plan as a graph, as far as it can be read.
	Graph() methods.Graph
	// Check lists all faults and what is worth a note. p may be nil: then what
	// only a problem can tell is a note.
	Check(p *methods.Problem) (faults []Fault, notes []string)
	// NeedsModel reports whether running it asks a model.
	NeedsModel() bool
	// Run runs the plan on a problem.
	Run(ctx context.Context, p methods.Problem, h methods.Host, kept *Kept) (methods.Answer, error)
}

// Kept is what a plan that runs without a model leaves, so that a later run goes on
// where this one stopped.
type Kept struct {
	State   []byte                         // of an earlier run; may be empty
	Save    func(state []byte) error       // keeps the state, after each step
	Step    func(line string)              // told each step as it ends
	Restore func(methods.ToolResult) error // told what a tool with effects has done before
}

// Origin names the trial that a plan is from, so that a run of the plan can see the
// sample as the trial saw it and ask what the trial asked.
type Origin struct {
	Run     string          `json:"run"`
	Task    string          `json:"task"`
	Sample  string          `json:"sample"`
	Seed    uint64          `json:"seed"`    // of the trial
	Shuffle bool            `json:"shuffle"` // whether its items were shuffled
	Options json.RawMessage `json:"options,omitempty"`
	// Sampling is what the run set for every request.
	Sampling json.RawMessage `json:"sampling,omitempty"`
}

// Fault is a fault in a plan, at a place in its file.
type Fault struct {
	Line, Col int // from 1; 0 for the whole
	Msg       string
}

// Error implements error.
func (f Fault) Error() string {
	if f.Line == 0 {
		return f.Msg
	}
	return fmt.Sprintf("%d:%d: %s", f.Line, f.Col, f.Msg)
}

// Encode writes a plan, or its state, for people: indented, and with < and > as they
// are.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return b.Bytes(), err
}
