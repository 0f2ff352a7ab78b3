package task

import (
	"encoding/json"
	"fmt"
	"slices"

	"noema/methods"
)

// Reading is the part of each problem's Context that the task's tools can find as
// well. Methods that call no tool read it; methods that search get the question
// without it, and must find what they need.
type Reading struct {
	Key  string // of Context
	What string // for people, such as "12 articles"
}

// SearchTool is the name of the tool that finds a task's Reading.
const SearchTool = "search"

// Data says what a method works on, for people: "searches", or what it reads, such
// as "reads 12 articles". It is empty for a task whose tools find nothing of the
// context.
func (t *Task) Data(d methods.Description) string {
	switch {
	case t.Reading == nil || t.Environment == nil:
		return ""
	case t.searches(d):
		return "searches"
	}
	return "reads " + t.Reading.What
}

// searches reports whether a method gets the question without the Reading: it says
// that it works by the tool that finds it, or by whichever tools there are.
func (t *Task) searches(d methods.Description) bool {
	return t.Reading != nil && t.Environment != nil &&
		(slices.Contains(d.Tools, SearchTool) || slices.Contains(d.Tools, methods.AnyTool))
}

// Shown is a problem as a method meets it: without the Reading if it searches.
func (t *Task) Shown(p methods.Problem, d methods.Description) (methods.Problem, error) {
	if !t.searches(d) || len(p.Context) == 0 {
		return p, nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(p.Context, &fields); err != nil {
		return p, fmt.Errorf("leave %q out of sample %q: context: %w", t.Reading.Key, p.ID, err)
	}
	delete(fields, t.Reading.Key)
	p.Context = nil
	if len(fields) == 0 {
		return p, nil
	}
	var err error
	p.Context, err = json.Marshal(fields)
	return p, err
}
