package methods

import (
	"encoding/json"
	"errors"
)

// Event is one thing that happened in a trial besides calls: a phase that
// began, a step's result, a fallback that was taken. Events are part of the
// transcript, so they must be as deterministic as the answer: no wall-clock
// times, no map order, no addresses.
type Event struct {
	Path  string          // call path of what it is about, such as "P3/c2"
	Phase string          // such as "P3"
	Kind  EventKind       // what happened
	Text  string          // one line for people
	Data  json.RawMessage // details as JSON; may be empty
	Level int             // lowest debug level that shows it: 1 summary, 2 verbose, 3 full
}

// EventKind classifies events. A method may define kinds of its own.
type EventKind string

// The kinds that methods share.
const (
	PhaseStart EventKind = "phase_start"
	PhaseEnd   EventKind = "phase_end"
	StepStart  EventKind = "step_start"
	StepResult EventKind = "step_result"
	StepError  EventKind = "step_error"
	Plan       EventKind = "plan"   // a plan, strategy or program that the method made
	Repair     EventKind = "repair" // a rung of the repair ladder was needed
	// AnswerRepaired says that the answer, or a part that it is made of, was read
	// from another form than the one asked for. Tables count such trials.
	AnswerRepaired EventKind = "answer_repaired"
	ReplyCut       EventKind = "reply_cut"    // a reply was cut at the token limit; the kernel says so
	Retry          EventKind = "retry"        // a model was asked again
	Fallback       EventKind = "fallback"     // a default took the place of a result
	Truncated      EventKind = "truncated"    // a limit cut something
	MissingPath    EventKind = "missing_path" // a reference led nowhere
	Dropped        EventKind = "dropped"      // something invalid was left out
)

// Errors that a Host returns and that cross the plugin boundary as what they
// are: errors.Is works on both sides.
var (
	// ErrBudget says that a limit on calls, tokens, cost or time is reached.
	ErrBudget = errors.New("budget exhausted")
	// ErrMiss says that a replay has no recorded answer to this call.
	ErrMiss = errors.New("not recorded")
	// ErrUnknownTool says that the problem's environment has no such tool.
	ErrUnknownTool = errors.New("unknown tool")
	// ErrProvider says that the model's provider failed for good, retries included.
	ErrProvider = errors.New("provider failed")
)
