package runner

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"noema/kernel/result/record"
	"noema/kernel/run/gateway"
	"noema/methods"
)

// Experiment is a declared comparison: what to run, in words. It is the one
// declaration of an experiment: flags, the keys of experiment files, variables
// of the environment, defaults, checks, help and the JSON schema derive from the
// tags of its fields. Beside those of [methods.OptionsOf], flag and short are
// the flag where it has another name than the key, and part says which verbs
// have it: "what" decides what is computed, "how" decides how it is carried out.
type Experiment struct {
	Name     string `json:"name" part:"what" doc:"name of the run, for people"`
	Question string `json:"question" part:"what" doc:"the question that the experiment should answer; it changes nothing"`

	Task          string            `json:"task" part:"what" default:"cafes" doc:"task: cafes, cafes?n=20, a file of rows such as data.csv?input=question&target=answer, or a folder in the public ANoT format"`
	TaskOptions   map[string]string `json:"task-options" flag:"task-option" short:"T" part:"what" doc:"option of the task, as in -T n=20"`
	Attack        string            `json:"attack" part:"what" doc:"change the texts that methods read: typo, injection, override, fake-positive, sarcasm, verbose, duplicate or heterogeneity, at a rate, as in typo:0.1; ?scope=all also where a review shares a word with the request"`
	Scorers       []string          `json:"scorer" part:"what" doc:"score texts, numbers and choices by exact, includes, pattern:REGEX, number:TOLERANCE, choice, f1, math or json:FIELD:SCORER, or answers of any kind by a model, as in graded?model=openai/gpt-5&rubric=@FILE; of several the first decides"`
	Methods       []string          `json:"methods" part:"what" default:"direct,cot,anot" doc:"methods to compare, as in direct,anot?builder=compiled"`
	MethodOptions map[string]string `json:"method-options" flag:"method-option" short:"M" part:"what" doc:"option of every method that has it, or of one, as in -M anot.builder=compiled"`
	Model         string            `json:"model" part:"what" default:"sim" doc:"model, as in openai/gpt-5-nano, with ?options; noema model list shows all forms"`
	Limit         any               `json:"limit" part:"what" doc:"samples to use: 10 for the first ten, 10-20 for a range"`
	SampleIDs     []string          `json:"sample-id" part:"what" doc:"use only the samples with these ids"`
	Epochs        int               `json:"epochs" part:"what" default:"1" min:"1" doc:"repetitions of each sample"`
	Seed          uint64            `json:"seed" part:"what" doc:"random seed of the run"`
	Sampling      map[string]string `json:"sampling" short:"S" part:"what" doc:"sampling of every call: temperature, top_p, top_k, max_tokens, logprobs"`

	// A run that may end before its last sample: see the README of package compare.
	Until string `json:"until" part:"what" choices:"decided" doc:"decided: ask sample by sample, in an order of the seed, until every two methods are told apart or are equivalent; limit says how many samples at most, and may be raised later"`
	Looks int    `json:"looks" part:"what" min:"0" max:"50" doc:"look at the results N times, at least 2, evenly, and stop at the look that decides (O'Brien-Fleming); more power at the full limit than until decided"`
	// Equivalence and Test say how methods are compared: see the README of package compare.
	Equivalence float64 `json:"equivalence" part:"design" max:"1" zero:"-1" doc:"methods that differ by less than this are equivalent, as in 0.05; until and looks may stop there (their default: 0.1)"`
	Test        string  `json:"test" part:"what" choices:"exchange" doc:"exchange: decide graded measures by exchange of the methods' names, which finds more; it asks whether they answer alike, not whether their means are equal"`

	// Limits of each trial; 0 means no limit.
	CallLimit  int           `json:"call-limit" part:"what" min:"0" doc:"model and tool calls per trial"`
	TokenLimit int64         `json:"token-limit" part:"what" min:"0" doc:"tokens per trial"`
	CostLimit  float64       `json:"cost-limit" part:"what" min:"0" doc:"dollars per trial"`
	TimeLimit  time.Duration `json:"time-limit" part:"what" min:"0" doc:"recorded model and tool time per trial, as in 90s"`

	// Limits of all trials together. Reaching one leaves the run unfinished, to
	// be resumed.
	RunCallLimit  int           `json:"run-call-limit" part:"how" min:"0" doc:"model and tool calls of the whole run; when reached, it stops and can be resumed"`
	RunTokenLimit int64         `json:"run-token-limit" part:"how" min:"0" doc:"tokens of the whole run"`
	RunCostLimit  float64       `json:"run-cost-limit" part:"how" min:"0" doc:"dollars of the whole run"`
	RunTimeLimit  time.Duration `json:"run-time-limit" part:"how" min:"0" doc:"recorded model and tool time of the whole run"`

	// What follows changes nothing of the result.
	Cache          string        `json:"cache" part:"how" default:"auto" choices:"auto,replay,refresh,verify,off" doc:"how to use the store: auto, replay, refresh, verify or off"`
	Fresh          bool          `json:"fresh" part:"how" doc:"begin a new run even if an unfinished one could be resumed"`
	MaxSamples     int           `json:"max-samples" part:"how" default:"16" min:"1" doc:"trials at once"`
	MaxConnections int           `json:"max-connections" part:"how" min:"0" doc:"most provider calls at once, and as many to begin with (default: adapts to the server, up to 64)"`
	Retries        int           `json:"retries" part:"how" default:"5" min:"-1" zero:"-1" doc:"further attempts after a failed provider call; -1 for none"`
	Listen         string        `json:"listen" part:"how" doc:"HOST:PORT at which workers on other machines join, as in 127.0.0.1:4222; see noema worker"`
	NATS           string        `json:"nats" part:"how" doc:"URL of a NATS server with JetStream at which workers join, in place of listen"`
	LocalWorkers   int           `json:"local-workers" part:"how" min:"-1" zero:"-1" doc:"with listen or nats: trials at once on this machine (default: those of max-samples); 0 for workers alone"`
	Audit          float64       `json:"audit" part:"how" min:"0" max:"1" doc:"with listen or nats: share of the trials of each worker to compute again on this machine, as in 0.05"`
	TrialTimeout   time.Duration `json:"trial-timeout" part:"how" default:"15m" min:"0.001" doc:"wall-clock time after which a hanging trial fails"`
}

// Complete returns e with its defaults, or what is wrong with it.
func (e Experiment) Complete() (Experiment, error) {
	for _, f := range methods.FieldsOf(&e) {
		f.ApplyDefault()
		if err := f.Check(); err != nil {
			return e, Misused(fmt.Errorf("declare experiment: %s: %w", f.Name, err))
		}
	}
	if name, _, _ := strings.Cut(e.Model, "?"); strings.Contains(name, ",") {
		return e, Misused(fmt.Errorf("declare experiment: model %q: a run has one model: run each, then compare the runs, as in \"noema compare RUN1 RUN2\"", e.Model))
	}
	return e, nil
}

// Limits are those of each trial.
func (e Experiment) Limits() record.Limits {
	return LimitsOf(e.CallLimit, e.TokenLimit, e.CostLimit, e.TimeLimit)
}

// RunLimits are those of all trials together.
func (e Experiment) RunLimits() record.Limits {
	return LimitsOf(e.RunCallLimit, e.RunTokenLimit, e.RunCostLimit, e.RunTimeLimit)
}

// LimitsOf turns declared limits into those that calls are charged against.
func LimitsOf(calls int, tokens int64, dollars float64, time time.Duration) record.Limits {
	return record.Limits{Calls: calls, Tokens: tokens, Cost: methods.NanoUSD(math.Round(dollars * 1e9)), Time: time}
}

func (e Experiment) mode() gateway.Mode { return gateway.Mode(e.Cache) }

// retry is the declared number of attempts with the delays of r.
func (e Experiment) retry(r gateway.Retry) gateway.Retry {
	r.Attempts = max(e.Retries, 0) + 1
	return r
}

// sampling reads the sampling of every call.
func (e Experiment) sampling() (s record.Sampling, err error) {
	if err := methods.ParseOptions(e.Sampling, &s); err != nil {
		return s, Misused(fmt.Errorf("declare experiment: sampling: %w", err))
	}
	return s, nil
}

// Misuse marks an error as a mistake in what was asked for, such as a method
// that does not exist, in contrast to a failure while it was carried out.
type Misuse struct{ Err error }

// Error implements error.
func (m *Misuse) Error() string { return m.Err.Error() }

// Unwrap returns the mistake.
func (m *Misuse) Unwrap() error { return m.Err }

// Misused marks err, if there is one.
func Misused(err error) error {
	if err == nil || IsMisuse(err) {
		return err
	}
	return &Misuse{err}
}

// IsMisuse reports whether err, or one it wraps, is marked.
func IsMisuse(err error) bool {
	var m *Misuse
	return errors.As(err, &m)
}
