package runner

import (
	"errors"
	"fmt"
	"math"
	"net/url"
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

	Task          string            `json:"task" more:"tasks" part:"what" default:"cafes" doc:"task: cafes, cafes?n=20, a file of rows such as data.csv?input=question&target=answer, or a folder in the public ANoT format; several make a study, with settings of one behind #, as in cafes#limit=20&weight=2"`
	TaskOptions   map[string]string `json:"task-options" flag:"task-option" short:"T" part:"what" doc:"option of the task, as in -T n=20"`
	Attack        string            `json:"attack" part:"what" doc:"change the texts that methods read: typo, injection, override, fake-positive, sarcasm, verbose, duplicate or heterogeneity, at a rate, as in typo:0.1; ?scope=all also where a review shares a word with the request"`
	Scorers       []string          `json:"scorer" part:"what" doc:"score texts, numbers and choices by exact, includes, pattern:REGEX, number:TOLERANCE, choice, f1, math or json:FIELD:SCORER, or answers of any kind by a model, as in graded?model=openai/gpt-5&rubric=@FILE; of several the first decides"`
	Methods       []string          `json:"methods" part:"what" default:"direct,cot,anot" doc:"methods to compare, as in direct,anot?builder=compiled"`
	MethodOptions map[string]string `json:"method-options" flag:"method-option" short:"M" part:"what" doc:"option of every method that has it, or of one, as in -M anot.builder=compiled"`
	Model         string            `json:"model" more:"models" part:"what" default:"sim" doc:"model, as in openai/gpt-5-nano, with ?options; noema model list shows all forms; several make a study"`
	Effort        []string          `json:"effort" part:"what" doc:"how much the models think: none, a level such as low, or a number of tokens; the same as ?effort=low of a model, and several make a study, as in low,medium,high"`
	Limit         any               `json:"limit" part:"what" doc:"samples to use: 10 for the first ten, 10-20 for a range"`
	SampleIDs     []string          `json:"sample-id" part:"what" doc:"use only the samples with these ids"`
	Epochs        int               `json:"epochs" part:"what" default:"1" min:"1" doc:"repetitions of each sample"`
	Seed          uint64            `json:"seed" part:"what" doc:"random seed of the run"`
	Sampling      map[string]string `json:"sampling" short:"S" part:"what" doc:"sampling of every call: temperature, top_p, top_k, max_tokens, logprobs"`

	// Tasks and Models are further ones. More than one task or model make a study.
	Tasks  []string `json:"tasks" doc:"further tasks"`
	Models []string `json:"models" doc:"further models"`

	// A run that may end before its last sample: see the README of package compare.
	Until string `json:"until" part:"what" choices:"decided" doc:"decided: ask sample by sample, in an order of the seed, until every two methods are told apart or are equivalent; limit says how many samples at most, and may be raised later"`
	Looks int    `json:"looks" part:"what" min:"0" max:"50" doc:"look at the results N times, at least 2, evenly, and stop at the look that decides (O'Brien-Fleming); more power at the full limit than until decided"`
	// Equivalence and Test say how methods are compared: see the README of package compare.
	Equivalence float64 `json:"equivalence" part:"design" max:"1" zero:"-1" doc:"methods that differ by less than this are equivalent, as in 0.05; until and looks may stop there (their default: 0.1)"`
	// Baseline declares that every other method is compared with this one alone.
	Baseline string `json:"-"`
	Test     string `json:"test" part:"what" choices:"exchange" doc:"exchange: decide graded measures by exchange of the methods' names, which finds more; it asks whether they answer alike, not whether their means are equal"`

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
	TrialTimeout   time.Duration `json:"trial-timeout" part:"how" default:"15m" min:"0.001" doc:"time after which a hanging trial fails, without that of its model calls"`
}

// Complete returns e with its defaults, or what is wrong with it.
func (e Experiment) Complete() (Experiment, error) {
	e.Task, e.Tasks = firstOf(e.Task, e.Tasks)
	e.Model, e.Models = firstOf(e.Model, e.Models)
	for _, f := range methods.FieldsOf(&e) {
		f.ApplyDefault()
		if err := f.Check(); err != nil {
			return e, Misused(fmt.Errorf("declare experiment: %s: %w", f.Name, err))
		}
	}
	if name, _, _ := strings.Cut(e.Model, "?"); strings.Contains(name, ",") {
		return e, Misused(fmt.Errorf("declare experiment: model %q: give each by itself, as in --model X --model Y", e.Model))
	}
	return e.withEfforts()
}

// withEfforts has each model at each effort, as an option of the model.
func (e Experiment) withEfforts() (Experiment, error) {
	var all []string
	for _, model := range append([]string{e.Model}, e.Models...) {
		name, query, _ := strings.Cut(model, "?")
		for _, effort := range e.Effort {
			if strings.HasPrefix(query, "effort=") || strings.Contains(query, "&effort=") {
				return e, Misused(fmt.Errorf("declare experiment: model %q has an effort, and effort %s is given, too: leave one of them out", model, effort))
			}
			all = append(all, name+"?"+strings.TrimPrefix(query+"&effort="+url.QueryEscape(effort), "&"))
		}
	}
	if len(all) > 0 {
		e.Model, e.Models, e.Effort = all[0], all[1:], nil
	}
	return e, nil
}

// firstOf is the first of several values, and the others. Where one is not given, the first of
// more takes its place.
func firstOf(one string, more []string) (string, []string) {
	if one == "" && len(more) > 0 {
		return more[0], more[1:]
	}
	return one, more
}

// Several reports whether the experiment is a study: over more than one task or model.
func (e Experiment) Several() bool { return len(e.Tasks)+len(e.Models) > 0 || len(e.Effort) > 1 }

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
