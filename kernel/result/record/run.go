package record

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"noema/methods"
)

// Format is the version of the JSON form of runs and trials in the store.
const Format = 1

// StudyFormat is the version of the JSON form of studies, which an older noema refuses.
const StudyFormat = 2

// Status is the state of a run.
type Status string

// The states of a run.
const (
	Unfinished Status = "unfinished" // under way, interrupted or out of budget: it can be resumed
	Finished   Status = "finished"   // every trial has a record
)

// RunIDPattern is what the ids of runs look like, as a regular expression: when a run began,
// four digits of what it is, and a number if another of these has the same.
const RunIDPattern = `[0-9]{8}-[0-9]{6}-[0-9a-f]{4}(?:\.[0-9]{1,6})?`

// Run is the record of a run.
type Run struct {
	Format   int       `json:"format"`
	ID       string    `json:"id"`
	Name     string    `json:"name,omitempty"`
	Question string    `json:"question,omitempty"`
	Config   Config    `json:"config"`
	Digest   string    `json:"config_digest"`
	Status   Status    `json:"status"`
	Root     string    `json:"root_hash,omitempty"` // when finished
	Stopped  string    `json:"stopped,omitempty"`   // the limit of the run that ended its last execution, such as "5000 tokens"
	Blob     string    `json:"task_blob"`           // where the store keeps the task's samples
	Created  time.Time `json:"created"`
	Ended    time.Time `json:"ended"`
	Calls    Calls     `json:"calls"`             // of all its executions
	Seeds    []Seed    `json:"seeds,omitempty"`   // the method seeds that its trials used
	Plugins  []Plugin  `json:"plugins,omitempty"` // the code that served the methods
	Source   string    `json:"task_source,omitempty"`
	Notes    []string  `json:"notes,omitempty"`
	Command  []string  `json:"command,omitempty"`

	// Asked is how many samples each method was asked, when a [Design] is finished;
	// nil without one, and until then.
	Asked []int `json:"asked,omitempty"`
	// Cells are the runs of a study, along the cells of its configuration; an empty id is
	// one that has not begun. Study is the study that a run is a cell of.
	Cells []string `json:"cells,omitempty"`
	Study string   `json:"study,omitempty"`
	// Planned is how many trials a study has in all its cells; 0 in records of before it.
	Planned int    `json:"planned,omitempty"`
	Ahead   *Ahead `json:"ahead,omitempty"` // nil if nothing ran ahead

	// Imported says that the answers were made elsewhere; see [Imported].
	Imported *Imported `json:"imported,omitempty"`

	// Parent is the run that this one was forked from or varies, and Replaced are the
	// recorded replies that it has others for, those of its forebears
	// included. Neither enters a hash: what they changed does.
	Parent   string        `json:"parent,omitempty"`
	Replaced []Replacement `json:"replaced,omitempty"`
}

// Ahead is what was begun before it was known that a [Design] would not need it. It
// is not part of the run; its answers are in the store.
type Ahead struct {
	Trials int           `json:"trials"` // begun
	Usage  methods.Usage `json:"usage"`
}

// Labels names the methods of the run in its order.
func (r *Run) Labels() []string {
	labels := make([]string, len(r.Config.Methods))
	for i, m := range r.Config.Methods {
		labels[i] = m.Label
	}
	return labels
}

// Trials lists the trials that the run has, or will have, in canonical order.
func (r *Run) Trials() []TrialID {
	ids := r.Config.Trials()
	if r.Asked == nil {
		return ids
	}
	each := len(r.Config.Task.Samples) * r.Config.Epochs
	var kept []TrialID
	for m, asked := range r.Asked {
		kept = append(kept, ids[m*each:][:asked*r.Config.Epochs]...)
	}
	return kept
}

// Size is how many trials the run has, or will have; of a study all of its cells.
func (r *Run) Size() int {
	if r.Config.Study != nil {
		return r.Planned
	}
	return len(r.Trials())
}

// Imported is where answers come from that noema did not have made. Their calls are
// not recorded, so such a run has no root hash and cannot be replayed.
type Imported struct {
	Harness string `json:"harness"` // what wrote the file, such as "Inspect log"
	File    string `json:"file"`    // base name
	Digest  string `json:"digest"`  // SHA-256 of the file, in hex; part of the method's identity
}

// Replacement is a model call of one trial that is answered by hand.
type Replacement struct {
	Trial TrialID `json:"trial"`
	Path  string  `json:"path"`
	Draw  int     `json:"draw"`
	Key   string  `json:"key"`  // of the request: if the method asks something else there, nothing is replaced
	Blob  string  `json:"blob"` // where the store keeps the reply, as JSON of a methods.Completion
}

// Calls counts where answers came from.
type Calls struct {
	Provider int `json:"provider"`         // calls that a provider answered
	Tools    int `json:"tools"`            // tools that ran
	Cached   int `json:"cached"`           // calls that the store answered
	Shared   int `json:"shared"`           // distinct completions that more than one method used
	Failed   int `json:"failed,omitempty"` // requests to a provider that brought no answer
}

// Plus returns the sum of both.
func (c Calls) Plus(o Calls) Calls {
	return Calls{c.Provider + o.Provider, c.Tools + o.Tools, c.Cached + o.Cached, c.Shared + o.Shared, c.Failed + o.Failed}
}

// Seed is a method seed that a run used. Its cost is the run's, not a
// trial's.
type Seed struct {
	Key    string        `json:"key"`
	Kind   string        `json:"kind"`
	Method string        `json:"method"`
	Digest string        `json:"digest"`
	Usage  methods.Usage `json:"usage"`
}

// Plugin pins the code that served a method, and says what it could reach. No
// hash covers it.
type Plugin struct {
	Method    string   `json:"method"`
	Builtin   bool     `json:"builtin"`
	Path      string   `json:"path"`
	Digest    string   `json:"digest"`
	Isolation string   `json:"isolation,omitempty"` // what its first process was refused when that was tried, and what it was not
	Weak      bool     `json:"weak,omitempty"`      // less bounds it than noema asks for
	Allowed   []string `json:"allowed,omitempty"`   // what the user granted beyond the default
	Versions  []string `json:"versions,omitempty"`  // what runs its code and is not part of it: the interpreter, then packages
	Copied    int      `json:"copied,omitempty"`    // files of its folder that are its code
	Left      []Left   `json:"left,omitempty"`      // what of its folder is not part of its code, the first two hundred
	NoCalls   bool     `json:"no_calls,omitempty"`  // it declares that it answers without a model or tool call
	Repeated  int      `json:"repeated,omitempty"`  // trials that were repeated from the store when the run ended, each in a fresh process
	State     string   `json:"state,omitempty"`     // how one of them differed, or why none could be repeated
}

// Left is a file or folder beside a method's code that was not copied with it.
type Left struct {
	Name string `json:"name"` // below the folder; a folder's ends with a slash
	Why  string `json:"why"`
	Task bool   `json:"task,omitempty"` // it holds data of a task
}

// Withheld names what of the folder was not copied since it holds data of the task.
func (p Plugin) Withheld() (names []string) {
	for _, l := range p.Left {
		if l.Task {
			names = append(names, l.Name)
		}
	}
	return names
}

// Replayable refuses a run whose calls are not recorded.
func (r *Run) Replayable() error {
	if r.Imported == nil {
		return nil
	}
	return fmt.Errorf("run %s cannot be replayed: it was imported from %q, and its calls were not recorded: run the method in noema for that", r.ID, r.Imported.File)
}

// UnmarshalRun decodes a run. One of a newer format is an error that says so.
func UnmarshalRun(raw []byte) (*Run, error) {
	var r Run
	if err := json.Unmarshal(raw, &r); err != nil {
		return nil, fmt.Errorf("decode run: %w", err)
	}
	if r.Format > StudyFormat {
		return nil, fmt.Errorf("decode run %q: format %d is newer than this noema knows (%d): update noema", r.ID, r.Format, StudyFormat)
	}
	if declared := r.Config.Study; declared != nil && len(r.Cells) != len(declared.Cells) {
		return nil, fmt.Errorf("decode run %q: it has %d cells, and its configuration has %d", r.ID, len(r.Cells), len(declared.Cells))
	}
	if !r.askedFits() {
		return nil, fmt.Errorf("decode run %q: it was asked %v samples by method, which its configuration cannot be", r.ID, r.Asked)
	}
	return &r, nil
}

// askedFits reports whether Asked is one that the configuration can have.
func (r *Run) askedFits() bool {
	return r.Asked == nil || len(r.Asked) == len(r.Config.Methods) && !slices.ContainsFunc(r.Asked, func(n int) bool {
		return n < 0 || n > len(r.Config.Task.Samples)
	})
}

// UnmarshalTrial decodes a trial.
func UnmarshalTrial(raw []byte) (*Trial, error) {
	t := Trial{Transcript: &Transcript{}}
	if err := json.Unmarshal(raw, &t); err != nil {
		return nil, fmt.Errorf("decode trial: %w", err)
	}
	for i := range t.Events {
		t.Events[i].Data = canonical(t.Events[i].Data)
	}
	t.Answer = canonicalAnswer(t.Answer)
	return &t, nil
}

// UsageOf is what a call took: of a method seed what its building did, which the run was
// charged with once.
func (r *Run) UsageOf(c Call) methods.Usage {
	for _, s := range r.Seeds {
		if c.Kind == SeedCall && s.Key == c.Key {
			return s.Usage
		}
	}
	return c.Usage
}
