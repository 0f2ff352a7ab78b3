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

// Config is everything that decides what a run computes. Equal configs give
// equal root hashes.
type Config struct {
	Task     Task     `json:"task"`
	Model    Model    `json:"model"`
	Methods  []Method `json:"methods"` // in the order asked for
	Epochs   int      `json:"epochs"`
	Seed     uint64   `json:"seed"`
	Sampling Sampling `json:"sampling"`
	Limits   Limits   `json:"limits"`            // of each trial
	Graders  []Model  `json:"graders,omitempty"` // models that grade the answers, in the order of the scorer's
	Design   *Design  `json:"design,omitempty"`  // nil if all trials are made
	Test     string   `json:"test,omitempty"`    // of graded measures, declared before the run: "exchange", or empty for the default
	// TextRules is the version of the rules by which texts are scored, 0 for the first
	// and where no sample asks for a text.
	TextRules int `json:"text_rules,omitempty"`
	// Study declares the cells of a study; nil for a run of one task and one model. With it
	// the configuration has methods and no task, model or trial of its own.
	Study *Study `json:"study,omitempty"`
}

// Design says by which rule a run may end before its last sample. It is declared
// before the first one, which is why it is part of the configuration. The samples are
// asked in the order of [Task].
type Design struct {
	Rule   int     `json:"rule"`            // the version of the rule
	Looks  int     `json:"looks,omitempty"` // how often the results are looked at; 0 for after every sample
	Detect float64 `json:"detect"`          // the smallest difference of interest: the run may end when all are shown to be smaller
	// Largest is the number of samples in the largest cluster of the task, also of those
	// beyond a limit; 0 in records of rule 1, where it is that of the run's samples.
	Largest int `json:"largest,omitempty"`
}

// Outdated reports whether the run was stopped by tests that are no longer used: those of
// looks by rule 1.
func (d *Design) Outdated() bool { return d.Looks > 0 && d.Rule < DesignRule }

// DesignRule is the present version of the rule of a [Design]. Since 2 a limit takes the
// first samples of the order that the seed decides, and looks use other tests.
const DesignRule = 2

// Task identifies the samples of a run.
type Task struct {
	Name    string   `json:"name"`
	Version string   `json:"version"`
	Config  string   `json:"config"`
	Digest  string   `json:"digest"`  // of the whole task
	Samples []string `json:"samples"` // the ids of those in the run, in order
}

// String is the task with its options, as it is written after --task.
func (t Task) String() string {
	if t.Config == "" {
		return t.Name
	}
	return t.Name + "?" + t.Config
}

// Model identifies what answers.
type Model struct {
	ID        methods.ModelID `json:"id"`
	Simulated bool            `json:"simulated"`
}

// Method identifies one method of a run.
type Method struct {
	Label         string          `json:"label"` // unique in the run, such as "anot?builder=compiled"
	Name          string          `json:"name"`
	Version       string          `json:"version"`
	PromptVersion string          `json:"prompt_version"`
	Options       json.RawMessage `json:"options,omitempty"`
	Shuffle       bool            `json:"shuffle"` // are the items of rankings shuffled per trial
	// Data says what the method works on, "searches" or such as "reads 12
	// articles", on a task whose tools can find what its problems hold.
	Data string `json:"data,omitempty"`
	// Intervention is what the method's calls meet, for a method that is varied so; nil
	// for the method as it is.
	Intervention *Intervention `json:"intervention,omitempty"`
	// Code is the digest of the plugin's code. It is empty for built-in
	// methods, whose version stands for their code: the noema binary differs
	// between machines while the method does not.
	Code string `json:"code,omitempty"`
}

// Sampling holds what the experiment overrides in every request; nil leaves
// the method's own choice.
type Sampling struct {
	Temperature *float64 `json:"temperature,omitempty" min:"0" max:"100"`
	TopP        *float64 `json:"top_p,omitempty" min:"0" max:"1"`
	TopK        *int     `json:"top_k,omitempty" min:"1"`
	MaxTokens   *int     `json:"max_tokens,omitempty" min:"1"`
	Logprobs    *int     `json:"logprobs,omitempty" min:"0" max:"20"`
}

// Apply overrides s.
func (o Sampling) Apply(s methods.Sampling) methods.Sampling {
	override(&s.Temperature, o.Temperature)
	override(&s.TopP, o.TopP)
	override(&s.TopK, o.TopK)
	override(&s.MaxTokens, o.MaxTokens)
	override(&s.Logprobs, o.Logprobs)
	return s
}

// ApplyRaw overrides what a program asks for. The names are those of all wires, but for the
// limit of tokens; what a wire does not have, its provider refuses.
func (o Sampling) ApplyRaw(r *methods.Raw) *methods.Raw {
	var body map[string]json.RawMessage
	if r == nil || o == (Sampling{}) || json.Unmarshal(r.Body, &body) != nil {
		return r
	}
	set := func(name string, value any) {
		if raw, err := json.Marshal(value); err == nil && string(raw) != "null" {
			body[name] = raw
		}
	}
	set("temperature", o.Temperature)
	set("top_p", o.TopP)
	set("top_k", o.TopK)
	limit := "max_tokens"
	for _, name := range []string{"max_completion_tokens", "max_output_tokens"} {
		if body[name] != nil || name == "max_output_tokens" && r.Wire == "openai.responses" {
			limit = name
		}
	}
	set(limit, o.MaxTokens)
	with := *r
	with.Body, _ = json.Marshal(body) // of valid JSON
	return &with
}

func override[T any](value, given *T) {
	if given != nil {
		*value = *given
	}
}

// Limits bound what is charged; zero means no limit. Hits are charged what
// the call cost when it was made, so a limit bites at the same call warm and
// cold.
type Limits struct {
	Calls  int             `json:"calls,omitempty"`
	Tokens int64           `json:"tokens,omitempty"`
	Cost   methods.NanoUSD `json:"cost_nano_usd,omitempty"`
	Time   time.Duration   `json:"time_ns,omitempty"` // summed model and tool time
}

// Exceeded names the limit that u has reached, or is empty.
func (l Limits) Exceeded(u methods.Usage) string {
	switch {
	case l.Calls > 0 && u.Calls+u.ToolCalls >= l.Calls:
		return fmt.Sprintf("%d calls", l.Calls)
	case l.Tokens > 0 && u.Tokens() >= l.Tokens:
		return fmt.Sprintf("%d tokens", l.Tokens)
	case l.Cost > 0 && u.Cost >= l.Cost:
		return fmt.Sprintf("$%g", l.Cost.USD())
	case l.Time > 0 && u.Latency >= l.Time:
		return fmt.Sprintf("%v of model time", l.Time)
	}
	return ""
}

// Digest identifies the configuration.
func (c Config) Digest() (string, error) {
	raw, err := json.Marshal(c)
	if err != nil {
		return "", fmt.Errorf("digest configuration: %w", err)
	}
	return digest("noema/config/1", raw), nil
}

// Varied reports whether a method is under an intervention.
func (c Config) Varied() bool {
	return slices.ContainsFunc(c.Methods, func(m Method) bool { return m.Intervention != nil })
}

// Limited reports whether limits may refuse calls: those of the configuration, or
// the one on the calls of a method under an intervention.
func (c Config) Limited() bool { return c.Limits != (Limits{}) || c.Varied() }

// Size is the number of trials.
func (c Config) Size() int { return len(c.Methods) * len(c.Task.Samples) * c.Epochs }

// Trials lists the trials of the configuration in canonical order.
func (c Config) Trials() []TrialID {
	ids := make([]TrialID, 0, len(c.Methods)*len(c.Task.Samples)*c.Epochs)
	for _, m := range c.Methods {
		for _, s := range c.Task.Samples {
			for e := range c.Epochs {
				ids = append(ids, TrialID{Method: m.Label, Sample: s, Epoch: e})
			}
		}
	}
	return ids
}

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
	NoCalls   bool     `json:"no_calls,omitempty"`  // it declares that it answers without a model or tool call
	Repeated  int      `json:"repeated,omitempty"`  // trials that were repeated from the store when the run ended, each in a fresh process
	State     string   `json:"state,omitempty"`     // how one of them differed, or why none could be repeated
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
