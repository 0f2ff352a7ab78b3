package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"noema/kernel/base/score"
	"noema/kernel/result/record"
	"noema/kernel/run/gateway"
	"noema/kernel/task"
	"noema/methods"
	"noema/plugins"
)

// errTrialTimeout is the cause of a trial's end by Setup.TrialTimeout.
var errTrialTimeout = errors.New("the trial took longer than its wall-clock limit")

// seedDigest is the digest of the task that the trials' seeds are derived from.
func (x *execution) seedDigest() string {
	if d := x.exp.Task.SeedDigest; d != "" {
		return d
	}
	return x.run.Config.Task.Digest
}

// environment is the one of a trial with problem p, in its first state, with its
// identity.
func (x *execution) environment(p methods.Problem) (task.Environment, string, error) {
	return task.EnvironmentOf(x.exp.Task.Environment, x.run.Config.Task.Digest, p)
}

// trial runs one trial and returns its sealed record. An error means that the
// trial has no result and the run cannot go on: it was interrupted, a limit
// of the run is reached, every further call would fail the same way, or the place
// where it ran is lost ([plugins.ErrLost]).
func (x *execution) trial(ctx context.Context, id record.TrialID, at Place) (*record.Trial, error) {
	method, sample := x.methods[id.Method], x.samples[id.Sample]
	seed := record.TrialSeed(x.run.Config.Seed, x.seedDigest(), id.Sample, id.Epoch)
	problem, target, err := sample.Present(seed, method.Shuffle)
	if err != nil {
		return nil, err
	}
	environment, environmentID, err := x.environment(problem)
	if err != nil {
		return nil, err
	}
	if environment != nil {
		problem.Tools = environment.Tools()
	}
	recorded, err := x.precedent(ctx, id)
	if err != nil {
		return nil, err
	}
	instead, err := x.instead(ctx, id, method)
	if err != nil {
		return nil, err
	}
	limits, err := x.limits(ctx, id, method)
	if err != nil {
		return nil, err
	}
	of := gateway.Trial{
		ID: id, Method: methodIdentity(method), Effects: score.ByEffects(x.exp.Task.Scorer), Sampling: x.run.Config.Sampling, Limits: limits,
		Environment: environment, EnvironmentID: environmentID, Recorded: recorded, Instead: instead, SeedsOf: seedsOf(method), Variant: variant(method),
		OnEvent: func(e methods.Event) { x.observe.Event(id, e) },
		OnCall:  func(r methods.Request, c methods.Completion, err error) { x.observe.Call(id, r, c, err) },
	}
	problem.Options = method.Options
	shown, err := x.exp.Task.Shown(problem, method.Description)
	if err != nil {
		return nil, err
	}
	t := &record.Trial{ID: id, Seed: seed, Transcript: &record.Transcript{}, Target: target, Started: time.Now().UTC()}
	tctx, cancel := context.WithTimeoutCause(ctx, x.exp.TrialTimeout, errTrialTimeout)
	defer cancel()
	log := &printed{line: func(line string) {
		x.observe.Event(id, methods.Event{Phase: "printed", Kind: "printed", Text: x.exp.Redactor.Text(line), Level: 1})
	}}
	tctx = plugins.WithOutput(tctx, log.write)
	host := x.gateway.Host(of)
	solver := method.Solver
	if at != nil {
		solver = at
	}
	answer, solveErr := solve(tctx, solver, shown, host)
	paid := 0
	var process *plugins.Failure
	for alone := plugins.Alone(tctx); errors.As(solveErr, &process) && process.Shared && tctx.Err() == nil; alone = plugins.Alone(alone) {
		// Another trial may be to blame. What was answered comes from the store.
		paid += host.Withdraw()
		if of.Environment, of.EnvironmentID, err = x.environment(problem); err != nil {
			return nil, err
		}
		host = x.gateway.Host(of)
		log.reset()
		answer, solveErr = solve(alone, solver, shown, host)
	}
	t.Wall = time.Since(t.Started)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err := x.gateway.Fatal(); err != nil {
		return nil, err
	}
	if errors.Is(solveErr, plugins.ErrLost) && tctx.Err() == nil {
		x.lost(id, host)
		return nil, solveErr
	}
	if errors.Is(context.Cause(tctx), errTrialTimeout) && solveErr != nil {
		solveErr = fmt.Errorf("%w (%v): %w", errTrialTimeout, x.exp.TrialTimeout, solveErr)
	}
	t.Printed = log.String()
	report := host.Report()
	conclude(t, x.exp.Task.Scorer, sample, answer, report.Effects, transcribe(t, report, answer, solveErr))
	t.Provider += paid
	x.compareLost(t)
	if err := x.grade(ctx, t, problem, recorded); err != nil {
		return nil, err
	}
	redactTrial(x.exp.Redactor, t)
	return t, t.Seal()
}

// transcribe takes the transcript into the trial, unless there is too much of it,
// and returns how the method ended.
func transcribe(t *record.Trial, r gateway.Report, answer methods.Answer, err error) error {
	t.Calls, t.Events, t.Usage, t.Provider = r.Calls, r.Events, r.Usage, r.Provider
	if transcriptSize(t.Calls, t.Events, answer) > maxTranscript {
		t.Calls, t.Events = nil, nil
		return fmt.Errorf("the calls, events and answer of the trial exceed %d MiB", maxTranscript>>20)
	}
	if r.Excess != "" && err == nil {
		return errors.New(r.Excess)
	}
	return err
}

// methodIdentity is what method seeds are kept under: all that decides what
// the method compiles.
func methodIdentity(m Method) string {
	id := m.identity()
	if m.Intervention != nil {
		id.Label, id.Intervention = m.Intervention.Of, nil
	}
	raw, err := json.Marshal(id)
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

// conclude sets the trial's answer, failure and, where the right answer is known,
// score.
func conclude(t *record.Trial, scorer string, s task.Sample, answer methods.Answer, effects []methods.ToolResult, err error) {
	spec := s.Problem.Answer
	if err == nil {
		if err = check(spec, answer); err == nil {
			t.Answer = answer
		}
	}
	if err != nil {
		t.Failure = clip(err.Error())
		t.Answer = methods.Answer{Outcome: methods.Failed, Reason: "see failure"}
		var process *plugins.Failure
		switch {
		case errors.Is(err, methods.ErrBudget):
			t.Answer = methods.Answer{Outcome: methods.OverBudget, Reason: "a limit was reached"}
		case errors.As(err, &process), errors.Is(err, methods.ErrProvider) && providerFailed(t.Calls), errors.Is(err, errTrialTimeout):
			t.Infra = true
		}
	}
	if _, graded := score.GradingOf(scorer); !t.HasTarget() && !graded {
		return
	}
	by, err := score.ByName(scorer, spec)
	if err != nil {
		t.Failure = err.Error()
		t.Answer = methods.Answer{Outcome: methods.Failed, Reason: "see failure"}
		return
	}
	if t.Score, err = score.Trial(by, spec, t.Answer, t.Target, effects); err != nil {
		t.Failure = clip(err.Error())
		t.Answer = methods.Answer{Outcome: methods.Failed, Reason: "see failure"}
		// What cannot be scored is wrong. Without a score it would be left out
		// of comparisons, and a method could choose what it is measured on. If
		// the target is to blame there is no score.
		t.Score, _ = score.Trial(by, spec, t.Answer, t.Target, effects)
	}
}

// providerFailed reports whether the transcript bears out a method that says so.
func providerFailed(calls []record.Call) bool {
	return slices.ContainsFunc(calls, func(c record.Call) bool { return c.Fault == record.ProviderFault })
}

// check reports whether an answer is one to the spec, and can be kept.
func check(spec methods.AnswerSpec, a methods.Answer) error {
	if depth := record.Depth(a.Value); depth > record.MaxDepth {
		return fmt.Errorf("check answer: its JSON is nested %d levels deep: the maximum is %d", depth, record.MaxDepth)
	}
	return spec.Check(a)
}

// maxTranscript bounds what a trial's record is made of, in bytes, so that one
// method without measure fails its trial and not, when the store refuses the
// record, the run of all others.
const maxTranscript = 24 << 20

// transcriptSize is the same for equal executions: it counts texts, not their
// encoding.
func transcriptSize(calls []record.Call, events []methods.Event, a methods.Answer) int {
	const each = 256 // what a call or an event takes beside its texts, roughly
	size := len(a.Value) + len(a.Reason)
	for _, e := range a.Evidence {
		size += len(e.Source) + len(e.Text)
	}
	for _, c := range calls {
		size += len(c.Path) + len(c.Error) + each
	}
	for _, e := range events {
		size += len(e.Path) + len(e.Phase) + len(e.Kind) + len(e.Text) + len(e.Data)
	}
	return size
}

// clip bounds the words of a failure, which may be a plugin's.
func clip(s string) string {
	const most = 64 << 10
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
