package main

import (
	"bytes"
	"encoding/json"
	"fmt"

	"noema/kernel/base/files"
	"noema/kernel/task"
	"noema/methods"
	"noema/methods/anot"
	"noema/methods/aot"
)

// atomsFile is a file that holds a plan of atoms.
type atomsFile struct {
	From *anot.Origin `json:"from,omitempty"` // the trial that it is from
	aot.Plan
}

// atoms is a plan of atoms as it was read.
type atoms struct {
	From   *anot.Origin
	plan   aot.Plan
	faults []aot.Fault // of its form
}

// readAtoms reads a plan of atoms. What is not one at all is misuse.
func readAtoms(file string) (*atoms, error) {
	raw, err := files.Read(file, files.MaxConfig)
	if err == nil {
		err = isObject(file, raw)
	}
	var head struct {
		From  json.RawMessage
		Atoms json.RawMessage
	}
	if err == nil {
		err = json.Unmarshal(raw, &head)
	}
	if err == nil && !bytes.HasPrefix(head.Atoms, []byte("[")) {
		err = fmt.Errorf(`%s: want the key "atoms" with a list of atoms, or an LWT: "noema plan export" writes both`, file)
	}
	if err != nil {
		return nil, usage(fmt.Errorf("read plan: %w", err))
	}
	var p atoms
	if head.From != nil {
		if p.From, err = anot.ReadOrigin(head.From); err != nil {
			return nil, usage(fmt.Errorf("read plan: %s: %w", file, err))
		}
	}
	p.plan, p.faults = aot.ParsePlan(raw)
	return &p, nil
}

// isObject refuses a file that holds another JSON value than an object.
func isObject(file string, raw []byte) error {
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		return nil // whoever parses it says where it is wrong
	}
	if _, ok := value.(map[string]any); !ok {
		return fmt.Errorf("%s: want a JSON object, in braces", file)
	}
	return nil
}

// chosen is the sample that a plan is checked for and runs on.
type chosen struct {
	task   *task.Task
	sample task.Sample
	named  bool         // the sample was asked for, or the plan is from it
	from   *anot.Origin // nil without one
}

// own reports whether the sample is the one that the plan is from.
func (c chosen) own() bool { return c.from != nil && c.from.Sample == c.sample.ID }

// chooseSample finds the sample of a plan: the one asked for, or else the one
// that it is from. asked says whether a task was named.
func (f *sampleFlags) chooseSample(a *app, from *anot.Origin, asked bool) (chosen, error) {
	c := chosen{named: f.sample != "" || from != nil && !asked, from: from}
	var err error
	if from == nil || asked {
		if c.task, c.sample, err = f.open(a); err == nil && asked && from != nil && taskLabel(c.task) != from.Task {
			c.from = &anot.Origin{Task: from.Task, Sample: from.Sample + " of " + from.Task}
		}
		return c, err
	}
	if f.sample == "" {
		f.sample = from.Sample
	}
	if run, missing := a.lab.Load(from.Run); from.Run != "" && missing == nil {
		if c.task, err = run.LiveTask(); err != nil {
			c.task = run.Task // its files may be gone: the store has the samples
		}
		c.sample, err = f.among(c.task)
		return c, err
	}
	f.task = from.Task // made again: the run is not in this store
	if c.task, c.sample, err = f.open(a); err != nil {
		err = fmt.Errorf("open the task that the plan is from, or name it with --task: %w", err)
	}
	return c, err
}

// taskLabel names a task with its options, as a plan's origin does.
func taskLabel(t *task.Task) string {
	if t.Config == "" {
		return t.Name
	}
	return t.Name + "?" + t.Config
}

// noteSample says so if a plan is taken to another sample than the one that it is from.
func (a *app) noteSample(c chosen) {
	if c.from != nil && c.named && !c.own() {
		fmt.Fprintf(a.text(), "note: the plan is from sample %s and is taken to %s of %s\n", c.from.Sample, c.sample.ID, taskLabel(c.task))
	}
}

// problem is the sample as the plan's trial saw it, if it is from one. Of another it
// is in the task's own order. The seed is that of the tools, if one is given.
func (c chosen) problem(seed *uint64) (methods.Problem, error) {
	of, shuffle := uint64(0), false
	if c.own() {
		of, shuffle = c.from.Seed, c.from.Shuffle
	}
	p, _, err := c.sample.Present(of, shuffle)
	if seed != nil {
		p.Seed = *seed
	}
	return p, err
}

// check lists the faults of a plan for a task, and for its answer if the sample is
// known.
func (p *atoms) check(c chosen) []aot.Fault {
	want := methods.AnswerSpec{}
	if c.named {
		want = c.sample.Problem.Answer
	}
	return aot.Faults(p.faults, aot.Validate(p.plan, toolsOf(c.task), want))
}

func toolsOf(t *task.Task) []methods.ToolSpec {
	if t.Environment == nil {
		return nil
	}
	return t.Environment.Tools()
}
