package record

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"noema/kernel/base/verbatim"
	"noema/methods"
)

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
	// Baseline is the label of the method that every other is compared with, declared before the
	// run; empty if every pair is.
	Baseline string `json:"baseline,omitempty"`
	// TextRules is the version of the rules by which texts are scored, 0 for the first
	// and where no sample asks for a text.
	TextRules int `json:"text_rules,omitempty"`
	// Reading is the version of the rules by which replies are read, 0 for the first.
	Reading int `json:"reading,omitempty"`
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
// first samples of the order that the seed decides, and looks use other tests. Since 3 a pair is
// decided only if it is in the worst case of the trials that failed, and looks at graded values
// use an exact rule.
const DesignRule = 3

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
	Thoughts  string          `json:"thoughts,omitempty"` // the marks of its thoughts, beside the known ones
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
	with := *r
	set := func(name string, value any) {
		if raw, err := json.Marshal(value); err == nil && string(raw) != "null" {
			with.Body, _ = verbatim.Set(with.Body, name, raw) // an object, as it was read
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
