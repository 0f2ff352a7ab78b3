package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"noema/cache"
	"noema/kernel/base/display"
	"noema/kernel/base/files"
	"noema/kernel/result/record"
	"noema/kernel/run/runner"
	"noema/kernel/show/report"
	"noema/kernel/task"
	"noema/methods"
	"noema/methods/anot"
)

// readLWT reads a file if it holds an LWT: JSON of that kind, or no JSON object.
func readLWT(file string) (*anot.Plan, bool, error) {
	raw, err := files.Read(file, files.MaxConfig)
	if err != nil {
		return nil, false, usage(fmt.Errorf("read plan: %w", err))
	}
	var head struct {
		Kind  string          `json:"kind"`
		Atoms json.RawMessage `json:"atoms"`
	}
	bad := json.Unmarshal(raw, &head)
	text := bytes.TrimSpace(raw)
	switch {
	case bytes.HasPrefix(text, []byte("(")), bytes.HasPrefix(text, []byte("#")):
	case bad != nil && bytes.Contains(raw, []byte(`"lwt"`)): // the reader says where it is wrong
	case bad != nil || head.Kind == "" || head.Atoms != nil:
		return nil, false, nil
	}
	p, err := anot.ReadPlan(raw)
	if err != nil {
		return nil, true, usage(fmt.Errorf("read plan %s:%w", file, spaced(err)))
	}
	return p, true, nil
}

// spaced is err behind a file's name and colon: a place follows at once, and words
// after a space.
func spaced(err error) error {
	if f, is := err.(anot.PlanFault); is && f.Line > 0 {
		return err
	}
	return fmt.Errorf(" %w", err)
}

// lwtSample is the sample that a plan is for: the one asked for, or else the one
// that it is from; nil without either.
func (f *sampleFlags) lwtSample(a *app, p *anot.Plan, asked bool) (*task.Task, *task.Sample, error) {
	if p.From == nil && !asked {
		return nil, nil, nil
	}
	if p.From != nil && f.sample == "" {
		f.sample = p.From.Sample
	}
	c, err := f.chooseSample(a, p.From, asked)
	return c.task, &c.sample, err
}

// checkLWT prints the faults of an LWT, and what cannot be checked without a sample.
func (a *app) checkLWT(file string, p *anot.Plan, sample *task.Sample) error {
	var problem *methods.Problem
	if sample != nil {
		problem = &sample.Problem
	}
	faults, notes := p.Check(problem)
	for _, fault := range faults {
		fmt.Fprintf(a.text(), "fault: %s:%v\n", file, spaced(fault))
	}
	if sample == nil {
		for _, what := range p.Unchecked() {
			notes = append(notes, "not checked without --task: "+what)
		}
	} else if p.Query != "" && p.Query != sample.Problem.Query {
		notes = append(notes, fmt.Sprintf("it was written for another request: %s", display.Line(p.Query, 120)))
	}
	for _, note := range notes {
		fmt.Fprintln(a.text(), "note:", note)
	}
	if len(faults) > 0 {
		return fmt.Errorf("check plan %s: the plan has %s", file, report.Plural(len(faults), "fault"))
	}
	return nil
}

// drawLWT draws what can be read of an LWT.
func (a *app) drawLWT(file string, p *anot.Plan, d drawFlags) error {
	d.draw(a, p.Graph())
	if faults, _ := p.Check(nil); len(faults) > 0 {
		return fmt.Errorf("draw plan %s: it has %s, so that the drawing may lack parts: \"noema plan validate\" lists them", file, report.Plural(len(faults), "fault"))
	}
	return nil
}

// showLWT lists the steps of an LWT layer by layer.
func (a *app) showLWT(p *anot.Plan) {
	for _, line := range p.Strategy {
		fmt.Fprintln(a.text(), report.Plain(line))
	}
	uses := map[string][]string{}
	g := p.Graph()
	for _, e := range g.Edges {
		uses[e.To] = append(uses[e.To], e.From)
	}
	for _, n := range g.Nodes {
		fmt.Fprintf(a.text(), "%s  layer %d  %s", n.ID, n.Layer, display.Line(n.Text, 100))
		if len(uses[n.ID]) > 0 {
			fmt.Fprintf(a.text(), "  after %v", uses[n.ID])
		}
		fmt.Fprintln(a.text())
	}
}

// exportLWT is the LWT of an ANoT trial, with where it is from.
func exportLWT(ctx context.Context, store *cache.Store, run *record.Run, t *record.Trial) ([]byte, error) {
	p, err := anot.PlanOf(t.Events)
	if err != nil {
		return nil, fmt.Errorf("%w (outcome %s: %s)", err, t.Answer.Outcome, cmp.Or(t.Answer.Reason, "no reason"))
	}
	if p.From, err = originOf(run, t); err != nil {
		return nil, err
	}
	stored, err := runner.LoadTask(ctx, store, run)
	if err != nil {
		return nil, err
	}
	for _, s := range stored.Samples {
		if s.ID == t.ID.Sample {
			p.Query = s.Problem.Query
		}
	}
	return plainJSON(p, "  ")
}

// originOf says which trial a plan is from.
func originOf(run *record.Run, t *record.Trial) (*anot.Origin, error) {
	from := &anot.Origin{Run: run.ID, Task: run.Config.Task.Name, Sample: t.ID.Sample, Seed: t.Seed}
	if config := run.Config.Task.Config; config != "" {
		from.Task += "?" + config
	}
	for _, m := range run.Config.Methods {
		if m.Label == t.ID.Method {
			from.Options, from.Shuffle = m.Options, m.Shuffle
		}
	}
	var err error
	if run.Config.Sampling != (record.Sampling{}) {
		from.Sampling, err = json.Marshal(run.Config.Sampling)
	}
	return from, err
}

// runLWT runs an LWT on a sample as its trial saw it, if it is from one.
func (a *app) runLWT(ctx context.Context, p *anot.Plan, t *task.Task, s task.Sample, model string) error {
	by := byHand{task: t, sample: s, model: model, name: "plan"} // an LWT names items by their numbers in the task
	if from := p.From; from != nil && from.Sample == s.ID {
		by.seed, by.shuffle = &from.Seed, from.Shuffle
		if len(from.Sampling) > 0 {
			if err := json.Unmarshal(from.Sampling, &by.sampling); err != nil {
				return fmt.Errorf("read the plan's sampling: %w", err)
			}
		}
	}
	return a.runByHand(ctx, by, func(ctx context.Context, problem methods.Problem, h methods.Host) (methods.Answer, error) {
		return anot.RunPlan(ctx, p, problem, h)
	})
}
