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
	"maps"
	"slices"
	"strconv"
	"strings"

	"noema/cache"
	"noema/kernel/base/redact"
	"noema/kernel/base/score"
	"noema/kernel/model/provider"
	"noema/kernel/result/record"
	"noema/kernel/run/gateway"
	"noema/kernel/task"
	"noema/methods"
	"noema/methods/reply"
)

// Setup is an experiment with what it names at hand: a task, a model and
// methods. It makes one run.
type Setup struct {
	Experiment

	Task     *task.Task
	Methods  []Method
	Provider provider.Provider
	Graders  []provider.Provider // the models that the task's scorer names, in its order
	Retry    gateway.Retry       // its delays; the experiment declares the attempts
	Command  []string            // kept in the run's record, for people
	Redactor *redact.Redactor    // takes the user's keys out of all that is recorded
	Crew     Crew                // other machines that take part; nil for none
	Light    bool                // the result's trials are light: what they did stays in the store, from which Whole reads it
	Before   methods.Usage       // charged to the limits of the whole run before it began, by the other cells of its study

	digest string // of Task, which is without the user's keys then; empty until that is made
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

	Intervention *record.Intervention // on its calls; nil for the method as it is
	Truth        provider.Provider    // who knows the right replies, for an intervention of that kind
}

// selection picks samples of a task. The zero value picks all.
type selection struct {
	from, to int      // 1-based and inclusive; 0 leaves that end open
	ids      []string // if any, only these
}

// parseLimit reads 10 or "10", the first ten, or "10-20". An empty one sets no limit.
func parseLimit(limit any) (sel selection, err error) {
	if limit == nil || limit == "" {
		return sel, nil
	}
	s := fmt.Sprint(limit)
	from, to, isRange := strings.Cut(s, "-")
	if !isRange {
		from, to = "1", s
	}
	if sel.from, err = strconv.Atoi(from); err == nil {
		sel.to, err = strconv.Atoi(to)
	}
	if err != nil || sel.from < 1 || sel.to < sel.from {
		return sel, fmt.Errorf("parse limit %q: use a count such as 10, or a range such as 10-20", s)
	}
	return sel, nil
}

// apply returns the chosen samples, in the task's order.
func (s selection) apply(t *task.Task) ([]task.Sample, error) {
	known := map[string]bool{}
	for _, sample := range t.Samples {
		known[sample.ID] = true
	}
	for _, id := range s.ids {
		if !known[id] {
			return nil, fmt.Errorf("select samples: task %q has no sample %q%s", t.Name, id, methods.DidYouMean(id, slices.Sorted(maps.Keys(known))))
		}
	}
	var chosen []task.Sample
	for i, sample := range t.Samples {
		n := i + 1
		inRange := (s.from == 0 || n >= s.from) && (s.to == 0 || n <= s.to)
		if inRange && (len(s.ids) == 0 || slices.Contains(s.ids, sample.ID)) {
			chosen = append(chosen, sample)
		}
	}
	if len(chosen) == 0 {
		if len(s.ids) > 0 {
			return nil, fmt.Errorf("select samples: nothing is left: none of --sample-id is within --limit: leave one of them out")
		}
		if len(t.Samples) == 0 {
			return nil, fmt.Errorf("select samples: nothing is left: task %q has no questions: ask one yourself with \"noema ask\"", t.Name)
		}
		return nil, fmt.Errorf("select samples: nothing is left of the %d samples of task %q", len(t.Samples), t.Name)
	}
	return chosen, nil
}

// resolve completes the declaration and returns what the results depend on, with
// the chosen samples.
func (e *Setup) resolve() (record.Config, []task.Sample, error) {
	var none record.Config
	var err error
	if e.Experiment, err = e.Complete(); err != nil {
		return none, nil, err
	}
	if e.Several() {
		return none, nil, Misused(errors.New("declare experiment: a run is over one task with one model; \"noema compare\" and Lab.Study take several"))
	}
	if err := e.redact(); err != nil {
		return none, nil, Misused(err)
	}
	sel, err := parseLimit(e.Limit)
	if err != nil {
		return none, nil, Misused(err)
	}
	sel.ids = e.SampleIDs
	design, err := e.design()
	if err != nil {
		return none, nil, Misused(err)
	}
	most := 0
	if design != nil && sel.from == 1 { // so many of the seed's order, and not the first ones
		most, sel.to = sel.to, 0
	}
	samples, err := sel.apply(e.Task)
	if err != nil {
		return none, nil, Misused(err)
	}
	if design != nil {
		design.Largest = largest(samples)
		samples = drawn(samples, e.Seed, most)
	}
	config, err := e.config(samples, design)
	return config, samples, err
}

// textRules is the version of the rules by which the texts of a run are scored, 0 where
// there are none.
func textRules(t *task.Task, samples []task.Sample) int {
	if t.Scorer.Normalizes() && slices.ContainsFunc(samples, func(s task.Sample) bool { return s.Problem.Answer.Kind == methods.Text }) {
		return score.TextRules
	}
	return 0
}

// modelOf is a model as a run records it.
func modelOf(p provider.Provider) record.Model {
	info := p.Info()
	return record.Model{ID: info.ID, Simulated: info.Simulated, Thoughts: info.Thoughts}
}

// config is what the results depend on.
func (e *Setup) config(samples []task.Sample, design *record.Design) (record.Config, error) {
	if e.digest == "" {
		var err error
		if e.digest, err = e.Task.Digest(); err != nil {
			return record.Config{}, err
		}
	}
	sampling, err := e.sampling()
	if err != nil {
		return record.Config{}, err
	}
	c := record.Config{
		Task:     record.Task{Name: e.Task.Name, Version: e.Task.Version, Config: e.Task.Config, Digest: e.digest},
		Model:    modelOf(e.Provider),
		Epochs:   e.Epochs,
		Seed:     e.Seed,
		Sampling: sampling,
		Limits:   e.Limits(),
		Design:   design,
		Test:     e.Test,
		Reading:  reply.Rules,
		Baseline: e.Baseline,
	}
	for _, by := range e.Graders {
		c.Graders = append(c.Graders, modelOf(by))
	}
	for _, s := range samples {
		c.Task.Samples = append(c.Task.Samples, s.ID)
	}
	c.TextRules = textRules(e.Task, samples)
	for _, m := range e.Methods {
		if slices.ContainsFunc(c.Methods, func(have record.Method) bool { return have.Label == m.Label }) {
			return c, Misused(fmt.Errorf("declare experiment: method %q is named twice", m.Label))
		}
		c.Methods = append(c.Methods, e.identity(m))
	}
	if err := declarable(c, samples); err != nil {
		return c, Misused(err)
	}
	if each := max(1, len(c.Methods)*len(samples)); e.Epochs > maxTrials/each {
		return c, Misused(fmt.Errorf("declare experiment: %d epochs of %d samples by %d methods are more than %d trials: use fewer epochs",
			e.Epochs, len(samples), len(c.Methods), maxTrials))
	}
	return c, Misused(errors.Join(e.check(samples), e.checkGraders(), checkNames(c)))
}

// maxTrials bounds a run: its trials are kept in memory by name.
const maxTrials = 1_000_000

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
			return fmt.Errorf("declare experiment: the name of trial %.40q… has %d bytes, more than the maximum of %d: use shorter ids and options",
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

// identity is a method's identity as it takes part in this experiment.
func (e *Setup) identity(m Method) record.Method {
	id := m.identity()
	id.Data = e.Task.Data(m.Description)
	return id
}

func (m Method) identity() record.Method {
	d := m.Description
	return record.Method{
		Label: m.Label, Name: d.Name, Version: d.Version, PromptVersion: d.PromptVersion,
		Options: m.Options, Shuffle: m.Shuffle, Code: m.Code, Intervention: m.Intervention,
	}
}

// maxSample bounds one sample, in bytes: the store keeps records of 32 MiB.
const maxSample = 24 << 20

// check refuses combinations that could only fail.
func (e *Setup) check(samples []task.Sample) error {
	if len(e.Methods) == 0 {
		return fmt.Errorf("declare experiment: no methods: name one, such as direct")
	}
	for _, s := range samples {
		if depth := max(record.Depth(s.Target), record.Depth(s.Problem.Context)); depth > record.MaxDepth {
			return fmt.Errorf("declare experiment: sample %q of task %q holds JSON nested %d levels deep: the maximum is %d",
				s.ID, e.Task.Name, depth, record.MaxDepth)
		}
		if size := len(s.Problem.Query) + len(s.Problem.Context) + len(s.Target); size > maxSample {
			return fmt.Errorf("declare experiment: sample %q of task %q holds %d MiB: the maximum is %d",
				s.ID, e.Task.Name, size>>20, maxSample>>20)
		}
	}
	for _, m := range e.Methods {
		if err := errors.Join(Able(m.Label, m.Description, e.Task, samples), e.checkModels(m)); err != nil {
			return err
		}
	}
	return nil
}

// checkModels refuses an option that names a model which the experiment does not have. A replay asks none.
func (e *Setup) checkModels(m Method) error {
	var given map[string]any
	if len(m.Options) == 0 || e.Cache == string(gateway.Replay) || json.Unmarshal(m.Options, &given) != nil {
		return nil // the method says what is wrong with its options
	}
	for _, o := range m.Description.Options {
		if o.Type != methods.ModelOption {
			continue
		}
		name, _ := given[o.Name].(string)
		if _, err := provider.Chosen(e.Provider, methods.Request{By: name}); err != nil {
			return fmt.Errorf("method %q: option %q: %w", m.Label, o.Name, err)
		}
	}
	return nil
}

// Able refuses a method that cannot answer these samples of a task: another kind of
// answer is asked for, or a tool that it needs is not there.
func Able(label string, d methods.Description, t *task.Task, samples []task.Sample) error {
	for _, s := range samples {
		if spec := s.Problem.Answer; !d.CanAnswer(spec) {
			asked := string(spec.Kind)
			if spec.Kind == methods.Set && d.Supports(methods.LabelledSet) || spec.Kind == methods.Fields && d.Supports(methods.VerdictFields) {
				asked += " without labels"
			}
			return fmt.Errorf("method %q cannot do task %q: it answers %s, and sample %q asks for %s",
				label, t.Name, AnyOf(d.Answers), s.ID, asked)
		}
	}
	var offered []methods.ToolSpec
	if t.Environment != nil {
		offered = t.Environment.Tools()
	}
	if lacks := d.Lacks(offered); len(lacks) > 0 {
		return fmt.Errorf("method %q cannot do task %q: the task has no tool %q, which the method works by%s", label, t.Name, lacks[0], task.Missing(lacks[0]))
	}
	return nil
}

// AnyOf lists kinds of answers, as in "number, text or choice".
func AnyOf(kinds []methods.AnswerKind) string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = string(k)
	}
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " or " + names[n-1]
	}
	return strings.Join(names, "")
}
