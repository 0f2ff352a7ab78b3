package anot

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"noema/methods/anot/internal/lwt"
)

// uncovered lists the conditions that no step of a plan checks; s may be nil.
//
// A step checks a condition if it has the condition's id, as phase 2 asks for, or if
// it reads the items' data that the condition is about. Where several conditions are
// about the same data it must also say what this one wants.
func (s *Strategy) uncovered(plan *lwt.Plan) (none []Condition) {
	if s == nil {
		return nil
	}
	for _, c := range s.Conditions {
		shared := slices.ContainsFunc(s.Conditions, func(o Condition) bool { return o.Number != c.Number && slices.Equal(o.data(), c.data()) })
		covered := false
		for i, step := range plan.Steps {
			covered = covered || stepNumber(step.ID) == c.Number || plan.Reads(i, c.data()) && (!shared || c.named(step.Prompt))
		}
		if !covered {
			none = append(none, c)
		}
	}
	return none
}

// without says which condition has no step.
func (c Condition) without() string { return fmt.Sprintf("condition %d (%s) has no step", c.Number, c) }

// data is the path of the item's data that the condition is about.
func (c Condition) data() []string {
	if c.Op == Mention {
		return []string{"reviews"}
	}
	return c.Path
}

// named reports whether a prompt says what the condition wants.
func (c Condition) named(prompt string) bool {
	want := strings.Trim(c.valueText(), `"`)
	if c.Value == nil && c.Person != "" {
		want = c.Person
	}
	return strings.Contains(strings.ToLower(prompt), strings.ToLower(want))
}

var conditionID = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?i:c|cond|condition)?_?(\d+)$`)
})

// stepNumber is the number of the condition that a step is called after, or 0.
func stepNumber(id string) int {
	m := conditionID().FindStringSubmatch(id)
	if m == nil {
		return 0
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		return 0 // too large for a condition
	}
	return n
}
