package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"noema/kernel/gateway"
	"noema/kernel/record"
	"noema/kernel/score"
	"noema/kernel/task"
	"noema/methods"
	"noema/plugins"
)

// errTrialTimeout is the cause of a trial's end by Setup.TrialTimeout.
var errTrialTimeout = errors.New("the trial took longer than its wall-clock limit")

// trial runs one trial and returns its sealed record. An error means that the
// trial has no result and the run cannot go on: it was interrupted, a limit
// of the run is reached, or every further call would fail the same way.
func (x *execution) trial(ctx context.Context, id record.TrialID) (*record.Trial, error) {
	method, sample := x.methods[id.Method], x.samples[id.Sample]
	seed := record.TrialSeed(x.run.Config.Seed, x.run.Config.Task.Digest, id.Sample, id.Epoch)
	problem, target, err := sample.Present(seed, method.Shuffle)
	if err != nil {
		return nil, err
	}
	problem.Options = method.Options
	if x.exp.Task.Environment != nil {
		problem.Tools = x.exp.Task.Environment.Tools()
	}
	recorded, err := x.precedent(ctx, id)
	if err != nil {
		return nil, err
	}
	replaced, err := x.replaced(ctx, id)
	if err != nil {
		return nil, err
	}
	host := x.gateway.Host(gateway.Trial{
		ID: id, Method: methodIdentity(method), Sampling: x.run.Config.Sampling, Limits: x.run.Config.Limits,
		Environment: x.exp.Task.Environment, EnvironmentID: x.run.Config.Task.Digest, Recorded: recorded, Replaced: replaced,
		OnEvent: func(e methods.Event) { x.observe.Event(id, e) },
		OnCall:  func(r methods.Request, c methods.Completion, err error) { x.observe.Call(id, r, c, err) },
	})

	t := &record.Trial{ID: id, Seed: seed, Target: target, Started: time.Now().UTC()}
	tctx, cancel := context.WithTimeoutCause(ctx, x.exp.TrialTimeout, errTrialTimeout)
	defer cancel()
	answer, solveErr := solve(tctx, method.Solver, problem, host)
	t.Wall = time.Since(t.Started)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err := x.gateway.Fatal(); err != nil {
		return nil, err
	}
	if errors.Is(context.Cause(tctx), errTrialTimeout) && solveErr != nil {
		solveErr = fmt.Errorf("%w (%v): %w", errTrialTimeout, x.exp.TrialTimeout, solveErr)
	}
	report := host.Report()
	t.Calls, t.Events, t.Usage, t.Provider = report.Calls, report.Events, report.Usage, report.Provider
	if report.Flooded && solveErr == nil {
		solveErr = fmt.Errorf("the method emitted more than %d MiB of events", gateway.MaxEventBytes>>20)
	}
	conclude(t, x.exp.Task.Scorer, sample, answer, solveErr)
	return t, t.Seal()
}

// methodIdentity is what method seeds are kept under: all that decides what
// the method compiles.
func methodIdentity(m Method) string {
	raw, err := json.Marshal(m.identity())
	if err != nil { // strings and valid JSON always encode
		panic(err)
	}
	return string(raw)
}

// solve guards against methods that panic in this process; a plugin's panic
// comes as an error.
func solve(ctx context.Context, m methods.Method, p methods.Problem, h methods.Host) (a methods.Answer, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("method panicked: %v", r)
		}
	}()
	return m.Solve(ctx, p, h)
}

// conclude sets the trial's answer, failure and score.
func conclude(t *record.Trial, scorer string, s task.Sample, answer methods.Answer, err error) {
	spec := s.Problem.Answer
	if err == nil {
		if err = spec.Check(answer); err == nil {
			t.Answer = answer
		}
	}
	if err != nil {
		t.Failure = err.Error()
		t.Answer = methods.Answer{Outcome: methods.Failed, Reason: "see failure"}
		var process *plugins.Failure
		switch {
		case errors.Is(err, methods.ErrBudget):
			t.Answer = methods.Answer{Outcome: methods.OverBudget, Reason: "a limit was reached"}
		case errors.As(err, &process), errors.Is(err, methods.ErrProvider), errors.Is(err, errTrialTimeout):
			t.Infra = true
		}
	}
	var sc score.Score
	by, err := score.ByName(scorer, spec)
	if err == nil {
		sc, err = by.Score(spec, t.Answer, t.Target)
	}
	if err != nil {
		t.Failure = err.Error()
		t.Answer = methods.Answer{Outcome: methods.Failed, Reason: "see failure"}
		return
	}
	t.Score = sc
}
