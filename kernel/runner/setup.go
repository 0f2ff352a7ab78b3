// Package runner carries experiments out. A [Setup] names a task, a model and
// the methods to compare; Run makes its trials, lets each method solve its
// problems in its own process, scores the answers, keeps every transcript in
// the store and ends with the root hash that proves what was computed.
// Replay computes a run again from the store alone and shows that the hash is
// the same, or where it first is not.
//
// The kernel takes tasks, methods and providers as values: only a main
// chooses concrete ones.
package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"noema/cache"
	"noema/kernel/gateway"
	"noema/kernel/provider"
	"noema/kernel/record"
	"noema/kernel/task"
	"noema/methods"
)

// Setup is one configuration of an experiment, with everything at hand: a
// task, a model, methods and all else that a result depends on. It makes one
// run.
type Setup struct {
	Name     string // optional
	Question string // what it shall tell; optional

	Task     *task.Task
	Methods  []Method
	Provider provider.Provider
	Select   Selection
	Epochs   int    // default 1
	Seed     uint64 // the run's random seed
	Sampling record.Sampling
	Limits   record.Limits // of each trial

	// What follows decides how the run is carried out, not what it computes.

	RunLimits      record.Limits // of all trials together; reaching one leaves the run to be resumed
	Mode           gateway.Mode
	MaxSamples     int           // trials at once; default 16
	MaxConnections int           // provider calls at once; default the provider's
	TrialTimeout   time.Duration // wall-clock limit that fails a hanging trial; default 15 min
	Retry          gateway.Retry
	Fresh          bool     // do not go on with an unfinished run of the same configuration
	Command        []string // kept in the run's record, for people
}

// Method is a method as it takes part in an experiment.
type Method struct {
	Label       string // unique in the experiment, such as "anot?builder=compiled"
	Solver      methods.Method
	Description methods.Description
	Options     json.RawMessage // a JSON object, or nil
	Shuffle     bool            // shuffle the items of rankings, per trial
	Code        string          // digest of a third party's code; empty for built-in methods
	Plugin      record.Plugin   // where its code is
}

// Selection picks samples of a task. The zero value picks all.
type Selection struct {
	From, To int      // 1-based and inclusive; 0 leaves that end open
	IDs      []string // if any, only these
}

// ParseLimit reads "10", the first ten, or "10-20".
func ParseLimit(s string) (Selection, error) {
	from, to, isRange := strings.Cut(s, "-")
	if !isRange {
		from, to = "1", s
	}
	sel := Selection{}
	var err error
	if sel.From, err = strconv.Atoi(from); err == nil {
		sel.To, err = strconv.Atoi(to)
	}
	if err != nil || sel.From < 1 || sel.To < sel.From {
		return sel, fmt.Errorf("parse limit %q: use a count such as 10, or a range such as 10-20", s)
	}
	return sel, nil
}

// apply returns the chosen samples, in the task's order.
func (s Selection) apply(t *task.Task) ([]task.Sample, error) {
	if len(s.IDs) > 0 {
		known := map[string]bool{}
		for _, sample := range t.Samples {
			known[sample.ID] = true
		}
		for _, id := range s.IDs {
			if !known[id] {
				return nil, fmt.Errorf("select samples: task %q has no sample %q", t.Name, id)
			}
		}
	}
	var chosen []task.Sample
	for i, sample := range t.Samples {
		n := i + 1
		inRange := (s.From == 0 || n >= s.From) && (s.To == 0 || n <= s.To)
		if inRange && (len(s.IDs) == 0 || slices.Contains(s.IDs, sample.ID)) {
			chosen = append(chosen, sample)
		}
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("select samples: nothing is left of the %d samples of task %q", len(t.Samples), t.Name)
	}
	return chosen, nil
}

// withDefaults fills in what was left open.
func (e Setup) withDefaults() Setup {
	if e.Epochs <= 0 {
		e.Epochs = 1
	}
	if e.MaxSamples <= 0 {
		e.MaxSamples = 16
	}
	if e.TrialTimeout <= 0 {
		e.TrialTimeout = 15 * time.Minute
	}
	if e.Mode == "" {
		e.Mode = gateway.Auto
	}
	return e
}

// config is what the results depend on.
func (e Setup) config(samples []task.Sample) (record.Config, error) {
	digest, err := e.Task.Digest()
	if err != nil {
		return record.Config{}, err
	}
	info := e.Provider.Info()
	c := record.Config{
		Task:     record.Task{Name: e.Task.Name, Version: e.Task.Version, Config: e.Task.Config, Digest: digest},
		Model:    record.Model{ID: info.ID, Simulated: info.Simulated},
		Epochs:   e.Epochs,
		Seed:     e.Seed,
		Sampling: e.Sampling,
		Limits:   e.Limits,
	}
	for _, s := range samples {
		c.Task.Samples = append(c.Task.Samples, s.ID)
	}
	for _, m := range e.Methods {
		if slices.ContainsFunc(c.Methods, func(have record.Method) bool { return have.Label == m.Label }) {
			return c, fmt.Errorf("declare experiment: method %q is named twice", m.Label)
		}
		c.Methods = append(c.Methods, m.identity())
	}
	return c, errors.Join(e.check(samples), checkNames(c))
}

// checkNames refuses trials that the store could not keep, or not apart: labels
// and ids of samples may hold the slash that separates them. One epoch stands
// for all, since nothing follows it in a name; the last has the longest.
func checkNames(c record.Config) error {
	last := max(0, c.Epochs-1)
	c.Epochs = 1
	seen := map[string]record.TrialID{}
	for _, id := range c.Trials() {
		id.Epoch = last
		name := id.String()
		if len(name) > cache.MaxID {
			return fmt.Errorf("declare experiment: the name of trial %.40q… has %d bytes and may have %d bytes: use shorter ids and options",
				name, len(name), cache.MaxID)
		}
		if other, twice := seen[name]; twice {
			return fmt.Errorf("declare experiment: two trials are called %q: sample %q of method %q and sample %q of method %q: rename a sample",
				name, other.Sample, other.Method, id.Sample, id.Method)
		}
		seen[name] = id
	}
	return nil
}

func (m Method) identity() record.Method {
	d := m.Description
	return record.Method{
		Label: m.Label, Name: d.Name, Version: d.Version, PromptVersion: d.PromptVersion,
		Options: m.Options, Shuffle: m.Shuffle, Code: m.Code,
	}
}

// check refuses combinations that could only fail.
func (e Setup) check(samples []task.Sample) error {
	if len(e.Methods) == 0 {
		return fmt.Errorf("declare experiment: no methods")
	}
	if _, err := gateway.ParseMode(string(e.Mode)); err != nil {
		return fmt.Errorf("declare experiment: %w", err)
	}
	for _, s := range samples {
		if depth := max(record.Depth(s.Target), record.Depth(s.Problem.Context)); depth > record.MaxDepth {
			return fmt.Errorf("declare experiment: sample %q of task %q holds JSON that is nested %d deep: at most %d are kept",
				s.ID, e.Task.Name, depth, record.MaxDepth)
		}
	}
	for _, m := range e.Methods {
		for _, s := range samples {
			if kind := s.Problem.Answer.Kind; !m.Description.Supports(kind) {
				return fmt.Errorf("declare experiment: method %q answers %v, but sample %q of task %q wants a %s",
					m.Label, m.Description.Answers, s.ID, e.Task.Name, kind)
			}
		}
	}
	return nil
}
