package aot

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
)

// State is how far the execution of a plan got. It is data: written as JSON
// and given back in Options.State, it lets an execution go on where the
// earlier one stopped, also after the plan was edited.
type State struct {
	Atoms  []AtomState     `json:"atoms"`            // in canonical order; those that never had their turn are absent
	Answer json.RawMessage `json:"answer,omitempty"` // of the final atom; empty if the plan failed
}

// AtomState is what came of one atom.
type AtomState struct {
	ID       int             `json:"id"`
	Digest   string          `json:"digest"` // of the atom and of all that it needs
	Status   Status          `json:"status"`
	Result   json.RawMessage `json:"result,omitempty"`
	Error    string          `json:"error,omitempty"`
	Attempts int             `json:"attempts,omitempty"` // tool calls made for it, without its compensation
	Undo     string          `json:"undo,omitempty"`     // why its compensation failed
}

// Status says what became of an atom.
type Status string

// The statuses. Only what is done is taken over when an execution goes on.
const (
	Done    Status = "done"
	Failed  Status = "failed"
	Skipped Status = "skipped" // an atom that it needs has no result
	Undone  Status = "undone"  // it was done, and its compensation ran
)

// FailedError says that a plan was run and atoms in it failed.
type FailedError struct {
	Failed []AtomState // in canonical order, also atoms whose compensation failed
	causes []error
}

// Error implements error. It names every failed atom.
func (e *FailedError) Error() string {
	lines := make([]string, len(e.Failed))
	for i, a := range e.Failed {
		lines[i] = fmt.Sprintf("atom %d failed: %s", a.ID, a.Error)
		if a.Undo != "" {
			lines[i] = fmt.Sprintf("atom %d could not be undone: %s", a.ID, a.Undo)
		}
	}
	return strings.Join(lines, "; ")
}

// Unwrap returns what the tools failed with.
func (e *FailedError) Unwrap() []error { return e.causes }

// digests identify the atoms by position: two atoms with one digest do the
// same on the same results.
func (g *graph) digests() []string {
	digests := make([]string, len(g.needs))
	for _, i := range g.order {
		a := g.plan.Atoms[i]
		needs := make([]string, len(g.needs[i]))
		for k, need := range g.needs[i] {
			needs[k] = fmt.Sprint(g.plan.Atoms[need].ID, " ", digests[need])
		}
		sum := sha256.Sum256(encode(map[string]any{"kind": a.Kind, "name": a.Name, "input": a.Input, "needs": needs}))
		digests[i] = hex.EncodeToString(sum[:8])
	}
	return digests
}
