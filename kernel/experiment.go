package kernel

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"noema/kernel/gateway"
	"noema/kernel/record"
	"noema/kernel/runner"
	"noema/kernel/task/attack"
	"noema/methods"
)

// Experiment is a declared comparison: what to run, named as on the command
// line. What is left out has the same default as there.
type Experiment struct {
	Name     string // optional
	Question string // what it shall tell; optional

	Task          string            // "cafes?n=20", a file, a folder, or the name of a task that was added
	TaskOptions   map[string]string // beside those in Task
	Attack        string            // on the texts of the task: "typo:0.1"; see package attack
	Methods       []string          // "anot?builder=compiled", the path of a plugin, or the name of a function that was added
	MethodOptions map[string]string // for every method that has them; "anot.builder" for one
	Model         string            // "sim?error=0.1", "openai/gpt-5-nano"; default "sim", the simulated model
	Limit         string            // samples: "10" for the first ten, "10-20" for a range
	SampleIDs     []string          // use only these samples
	Epochs        int               // repetitions of each sample; default 1
	Seed          uint64            // the run's random seed
	Sampling      map[string]string // of every call: temperature, top_p, top_k, max_tokens, logprobs

	// Limits of each trial; 0 is none.
	CallLimit  int
	TokenLimit int64
	CostLimit  float64 // dollars
	TimeLimit  time.Duration

	// Limits of all trials together. Reaching one leaves the run unfinished, to
	// be resumed.
	RunCallLimit  int
	RunTokenLimit int64
	RunCostLimit  float64
	RunTimeLimit  time.Duration

	// How it is carried out, which changes nothing of the result.
	Cache          string        // how to use the store: auto (default), replay, refresh, verify, off
	Fresh          bool          // do not go on with an unfinished run of the same configuration
	MaxSamples     int           // trials at once; default 16
	MaxConnections int           // provider calls at once; default the provider's
	Retries        int           // further attempts after a failed provider call; 0 is the default of 5, -1 none
	TrialTimeout   time.Duration // wall-clock time after which a hanging trial fails; default 15 min
}

// DefaultRetries is the number of further attempts after a failed provider
// call, when an experiment does not say.
const DefaultRetries = 5

// setup opens what e names, without its methods.
func (l *Lab) setup(e Experiment) (runner.Setup, error) {
	var none runner.Setup
	if err := e.check(); err != nil {
		return none, Misused(err)
	}
	mode, err := gateway.ParseMode(e.Cache)
	if err != nil {
		return none, Misused(err)
	}
	s := runner.Setup{
		Name: e.Name, Question: e.Question, Epochs: e.Epochs, Seed: e.Seed,
		Limits:    limits(e.CallLimit, e.TokenLimit, e.CostLimit, e.TimeLimit),
		RunLimits: limits(e.RunCallLimit, e.RunTokenLimit, e.RunCostLimit, e.RunTimeLimit),
		Mode:      mode, Fresh: e.Fresh, MaxSamples: e.MaxSamples, MaxConnections: e.MaxConnections,
		TrialTimeout: e.TrialTimeout, Retry: gateway.Retry{Attempts: max(e.Retries, 0) + 1},
		Command: slices.Clone(os.Args),
	}
	if s.Sampling, err = readSampling(e.Sampling); err != nil {
		return none, Misused(err)
	}
	if e.Limit != "" {
		if s.Select, err = runner.ParseLimit(e.Limit); err != nil {
			return none, Misused(err)
		}
	}
	s.Select.IDs = e.SampleIDs
	if s.Task, err = l.Task(e.Task, e.TaskOptions); err != nil {
		return none, err
	}
	if e.Attack != "" {
		a, err := attack.Parse(e.Attack)
		if err != nil {
			return none, Misused(err)
		}
		if s.Task, err = a.Apply(s.Task, e.Seed); err != nil {
			return none, Misused(err)
		}
	}
	s.Provider, err = l.Model(e.Model, mode == gateway.Replay, e.MaxConnections)
	return s, err
}

func (e Experiment) withDefaults() Experiment {
	if e.Model == "" {
		e.Model = "sim"
	}
	if e.Cache == "" {
		e.Cache = string(gateway.Auto)
	}
	if e.Epochs == 0 {
		e.Epochs = 1
	}
	if e.MaxSamples == 0 {
		e.MaxSamples = 16
	}
	if e.Retries == 0 {
		e.Retries = DefaultRetries
	}
	if e.TrialTimeout == 0 {
		e.TrialTimeout = 15 * time.Minute
	}
	return e
}

// check refuses what is missing and numbers that mean nothing.
func (e Experiment) check() error {
	if e.Task == "" {
		return errors.New("declare experiment: no task: name one, such as cafes")
	}
	for _, n := range []struct {
		name       string
		value, min float64
	}{
		{"epochs", float64(e.Epochs), 1}, {"max-samples", float64(e.MaxSamples), 1}, {"max-connections", float64(e.MaxConnections), 0},
		{"retries", float64(e.Retries), -1}, {"call-limit", float64(e.CallLimit), 0}, {"run-call-limit", float64(e.RunCallLimit), 0},
		{"token-limit", float64(e.TokenLimit), 0}, {"run-token-limit", float64(e.RunTokenLimit), 0},
		{"cost-limit", e.CostLimit, 0}, {"run-cost-limit", e.RunCostLimit, 0},
		{"time-limit", e.TimeLimit.Seconds(), 0}, {"run-time-limit", e.RunTimeLimit.Seconds(), 0},
		{"trial-timeout", e.TrialTimeout.Seconds(), 1e-3},
	} {
		if n.value < n.min || math.IsNaN(n.value) {
			return fmt.Errorf("declare experiment: %s is too small: %g, where at least %g makes sense", n.name, n.value, n.min)
		}
	}
	return nil
}

func limits(calls int, tokens int64, dollars float64, time time.Duration) record.Limits {
	return record.Limits{Calls: calls, Tokens: tokens, Cost: methods.NanoUSD(math.Round(dollars * 1e9)), Time: time}
}

// readSampling reads the sampling of every call.
func readSampling(pairs map[string]string) (record.Sampling, error) {
	var s record.Sampling
	for _, name := range sortedKeys(pairs) {
		if err := setSampling(&s, name, pairs[name]); err != nil {
			return s, err
		}
	}
	return s, nil
}

func setSampling(s *record.Sampling, name, text string) error {
	switch name {
	case "temperature", "top_p":
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(v) || v < 0 || v > 100 {
			return fmt.Errorf("sampling %s=%s: use a number from 0 up", name, text)
		}
		if name == "temperature" {
			s.Temperature = &v
		} else {
			s.TopP = &v
		}
	case "top_k", "max_tokens":
		v, err := strconv.Atoi(text)
		if err != nil || v < 1 {
			return fmt.Errorf("sampling %s=%s: use a whole number from 1 up", name, text)
		}
		if name == "top_k" {
			s.TopK = &v
		} else {
			s.MaxTokens = &v
		}
	case "logprobs":
		v, err := strconv.Atoi(text)
		if err != nil || v < 0 || v > methods.MaxLogprobs {
			return fmt.Errorf("sampling %s=%s: use a whole number from 0 to %d", name, text, methods.MaxLogprobs)
		}
		s.Logprobs = &v
	default:
		return fmt.Errorf("sampling %s: use temperature, top_p, top_k, max_tokens or logprobs", name)
	}
	return nil
}

// Run carries e out, or goes on with it where it was interrupted, and shows its
// progress. Calls that the store has answers to are not made. The result may
// come with an error: it then holds what was finished.
func (l *Lab) Run(e Experiment) (*Result, error) {
	ctx := l.o.Context()
	e = e.withDefaults()
	s, err := l.setup(e)
	if err != nil {
		return nil, err
	}
	if s.Methods, err = l.OpenMethods(ctx, e.Methods, e.MethodOptions); err != nil {
		return nil, err
	}
	if slices.ContainsFunc(s.Methods, func(m runner.Method) bool { return m.Plugin.Path == functionPath }) {
		s.Fresh = true
	}
	store, err := l.Store()
	if err != nil {
		return nil, err
	}
	progress := l.progress()
	result, err := s.Run(ctx, store, progress)
	progress.Stop()
	if result == nil {
		return nil, declared(err)
	}
	if err != nil && ctx.Err() != nil {
		err = context.Canceled
	}
	return &Result{Result: result, lab: l}, err
}

// Estimate says what running e would ask the provider for, from what the store
// has; it makes no call and records nothing.
func (l *Lab) Estimate(e Experiment) (*runner.Estimate, error) {
	ctx := l.o.Context()
	e = e.withDefaults()
	e.Cache = string(gateway.Replay) // no key is needed to look
	s, err := l.setup(e)
	if err != nil {
		return nil, err
	}
	if s.Methods, err = l.OpenMethods(ctx, e.Methods, e.MethodOptions); err != nil {
		return nil, err
	}
	store, err := l.Store()
	if err != nil {
		return nil, err
	}
	estimate, err := s.DryRun(ctx, store, runner.Quiet{})
	return estimate, declared(err)
}

// declared marks what a setup refuses as misuse.
func declared(err error) error {
	if err != nil && (strings.HasPrefix(err.Error(), "declare experiment: ") || strings.HasPrefix(err.Error(), "select samples: ")) {
		return Misused(err)
	}
	return err
}

// sortedKeys returns the keys of m in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
