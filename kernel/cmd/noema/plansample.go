package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"noema/kernel/show/report"
	"noema/kernel/task"
	"noema/methods"
	"noema/methods/plans"
)

// sampleFlags choose a sample to try something on by hand.
type sampleFlags struct {
	task, sample string
	taskOptions
}

func (f *sampleFlags) declare(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.task, "task", "", "task that the sample is from (default: the one that the plan is from)")
	cmd.Flags().StringVar(&f.sample, "sample-id", "", "sample to use (default: the one that the plan is from, or the first)")
	bind(cmd, &f.taskOptions, []string{"what"})
}

// open returns the task and the chosen sample.
func (f *sampleFlags) open(a *app) (*task.Task, task.Sample, error) {
	t, err := a.lab.Task(f.task, f.TaskOptions)
	if err != nil {
		return nil, task.Sample{}, err
	}
	s, err := f.among(t)
	return t, s, err
}

// among is the chosen sample among those of a task.
func (f *sampleFlags) among(t *task.Task) (task.Sample, error) {
	for _, s := range t.Samples {
		if f.sample == "" || s.ID == f.sample {
			return s, nil
		}
	}
	return task.Sample{}, usage(fmt.Errorf("task %q has no sample %q", t.Name, f.sample))
}

// chosen is the sample that a plan is checked for and runs on.
type chosen struct {
	task   *task.Task
	sample task.Sample
	from   *plans.Origin // nil without one
}

// own reports whether the sample is the one that the plan is from.
func (c *chosen) own() bool { return c.from != nil && c.from.Sample == c.sample.ID }

// checked finds the sample that a plan is for, nil if none is known, and prints what is
// wrong with the plan there. Faults fail the operation doing. asked says whether a task
// was named.
func (f *sampleFlags) checked(a *app, doing, file string, p plans.File, asked bool) (*chosen, error) {
	c, err := f.choose(a, p.Origin(), asked)
	if err != nil {
		return nil, err
	}
	var problem *methods.Problem
	if c != nil {
		if c.from != nil && !c.own() {
			fmt.Fprintf(a.text(), "note: the plan is from sample %s and is taken to %s of %s\n", c.from.Sample, c.sample.ID, taskLabel(c.task))
		}
		of := c.sample.Problem
		of.Tools = toolsOf(c.task)
		problem = &of
	}
	faults, notes := p.Check(problem)
	for _, fault := range faults {
		if fault.Line > 0 {
			fmt.Fprintf(a.text(), "fault: %s:%v\n", file, fault)
		} else {
			fmt.Fprintln(a.text(), "fault:", fault)
		}
	}
	for _, note := range notes {
		fmt.Fprintln(a.text(), "note:", note)
	}
	if len(faults) > 0 {
		return nil, fmt.Errorf("%s plan %s: the plan has %s", doing, file, report.Plural(len(faults), "fault"))
	}
	return c, nil
}

// choose finds the sample of a plan: the one asked for, or else the one that it is
// from; nil without either.
func (f *sampleFlags) choose(a *app, from *plans.Origin, asked bool) (*chosen, error) {
	c := &chosen{from: from}
	var err error
	switch {
	case asked:
		if c.task, c.sample, err = f.open(a); err == nil && from != nil && taskLabel(c.task) != from.Task {
			c.from = &plans.Origin{Task: from.Task, Sample: from.Sample + " of " + from.Task}
		}
		return c, err
	case from == nil && f.sample != "":
		return nil, usage(errors.New("--sample-id needs --task: the plan does not say which task it is from"))
	case from == nil:
		return nil, nil
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

// problem is the sample as the plan's trial saw it, if it is from one. Of another it
// is in the task's own order. The seed is that of the tools, if one is given.
func (c *chosen) problem(seed *uint64) (methods.Problem, error) {
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

func toolsOf(t *task.Task) []methods.ToolSpec {
	if t.Environment == nil {
		return nil
	}
	return t.Environment.Tools()
}
