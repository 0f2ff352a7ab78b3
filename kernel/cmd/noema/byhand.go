package main

import (
	"cmp"
	"context"
	"fmt"

	"noema/kernel/result/record"
	"noema/kernel/run/gateway"
	"noema/kernel/show/report"
	"noema/kernel/task"
	"noema/methods"
)

// byHand is one sample to be solved outside of a run.
type byHand struct {
	task     *task.Task
	sample   task.Sample
	model    string
	name     string  // of what solves it
	seed     *uint64 // of the trial; nil for that of a run with the seed 0
	shuffle  bool
	sampling record.Sampling
}

// runByHand solves a sample through the gateway, so that what the model said is
// kept and a second run is free.
func (a *app) runByHand(ctx context.Context, by byHand, solve func(context.Context, methods.Problem, methods.Host) (methods.Answer, error)) error {
	p, err := a.lab.Model(by.model, false, 0)
	if err != nil {
		return err
	}
	store, err := a.lab.Store()
	if err != nil {
		return err
	}
	g, err := gateway.New(gateway.Options{Store: store, Provider: p, Redactor: a.redactor})
	if err != nil {
		return err
	}
	digest, err := by.task.Digest()
	if err != nil {
		return err
	}
	digest, of := by.sample.Seeded(digest)
	seed := record.TrialSeed(0, digest, of, 0)
	if by.seed != nil {
		seed = *by.seed
	}
	problem, target, err := by.sample.Present(seed, by.shuffle)
	if err != nil {
		return err
	}
	id := record.TrialID{Method: by.name, Sample: by.sample.ID}
	progress := a.lab.Progress()
	host := g.Host(gateway.Trial{
		ID: id, Sampling: by.sampling, OnEvent: func(e methods.Event) { progress.Event(id, e) },
		OnCall: func(r methods.Request, c methods.Completion, err error) { progress.Call(id, r, c, err) },
	})
	answer, err := solve(ctx, problem, host)
	if err != nil {
		return err
	}
	report.Answer(a.stdout, answer, target)
	stats := g.Stats()
	fmt.Fprintf(a.stdout, "calls   %d to the provider, %d from the store\n", stats.Provider, stats.Cached)
	if p.Info().Simulated {
		fmt.Fprintln(a.stdout, "simulated model")
	}
	if answer.Outcome == methods.Failed {
		return fmt.Errorf("run %s on sample %s: %s", by.name, by.sample.ID, cmp.Or(answer.Reason, "it failed"))
	}
	return nil
}
