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
var errTrialTimeout = errors.New("the trial took longer than its limit, without its model calls")

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

// posed is a trial before its method begins.
type posed struct {
	method  Method
	sample  task.Sample
	problem methods.Problem // with all that the task tells
	shown   methods.Problem // what of it the method sees
	calls   gateway.Trial   // what its calls meet
	trial   *record.Trial   // with what is known so far
}

// pose makes a trial's problem and reads what its calls depend on.
func (x *execution) pose(ctx context.Context, id record.TrialID) (p posed, err error) {
	p.method, p.sample = x.methods[id.Method], x.samples[id.Sample]
	digest, of := p.sample.Seeded(x.seedDigest())
	seed := record.TrialSeed(x.run.Config.Seed, digest, of, id.Epoch)
	p.trial = &record.Trial{ID: id, Seed: seed, Transcript: &record.Transcript{}}
	shown, err := x.present(id, seed, p.method.Shuffle)
	if err != nil {
		return p, err
	}
	p.problem, p.trial.Target = shown.problem, shown.target
	p.calls = gateway.Trial{
		ID: id, Method: methodIdentity(p.method), Effects: x.exp.Task.Scorer.ByEffects(), Sampling: x.run.Config.Sampling,
		SeedsOf: seedsOf(p.method), Variant: variant(p.method),
		OnEvent: func(e methods.Event) { x.observe.Event(id, e) },
		OnCall: func(r methods.Request, c methods.Completion, err error) {
			x.board.call(id, r.Path)
			x.observe.Call(id, r, c, err)
		},
	}
	if p.calls.Environment, p.calls.EnvironmentID = shown.environment, shown.environmentID; shown.environment == nil {
		if p.calls.Environment, p.calls.EnvironmentID, err = x.environment(p.problem); err != nil {
			return p, err
		}
	}
	if p.calls.Environment != nil {
		p.problem.Tools = p.calls.Environment.Tools()
	}
	if p.calls.Recorded, err = x.precedent(ctx, id); err != nil {
		return p, err
	}
	if p.calls.Instead, err = x.instead(ctx, id, p.method); err != nil {
		return p, err
	}
	if p.calls.Limits, err = x.limits(ctx, id, p.method); err != nil {
		return p, err
	}
	p.problem.Options = p.method.Options
	p.shown, err = x.exp.Task.Shown(p.problem, p.method.Description)
	return p, err
}

// trial runs one trial and returns its sealed record. An error means that the
// trial has no result and the run cannot go on: it was interrupted, a limit
// of the run is reached, every further call would fail the same way, or the place
// where it ran is lost ([plugins.ErrLost]).
func (x *execution) trial(ctx context.Context, id record.TrialID, at Place) (*record.Trial, error) {
	p, err := x.pose(ctx, id)
	if err != nil {
		return nil, err
	}
	t := p.trial
	t.Started = time.Now().UTC()
	tctx, clock, cancel := gateway.WithClock(ctx, x.exp.TrialTimeout, errTrialTimeout)
	defer cancel()
	p.calls.Clock = clock
	log := &printed{line: func(line string) {
		x.observe.Event(id, methods.Event{Phase: "printed", Kind: "printed", Text: x.exp.Redactor.Text(line), Level: 1})
	}}
	s, err := x.solve(plugins.WithOutput(tctx, log.write), p, at, log)
	if err != nil {
		return nil, err
	}
	t.Wall = time.Since(t.Started)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err := x.gateway.Fatal(); err != nil {
		return nil, err
	}
	if errors.Is(s.err, plugins.ErrLost) && tctx.Err() == nil {
		x.elsewhere.lost(id, s.host)
		return nil, s.err
	}
	if errors.Is(context.Cause(tctx), errTrialTimeout) && s.err != nil {
		s.err = fmt.Errorf("%w (%v): %w", errTrialTimeout, x.exp.TrialTimeout, s.err)
	}
	t.Printed = log.String()
	report := s.host.Report()
	conclude(t, x.exp.Task.Scorer, p.sample, s.answer, report.Effects, transcribe(t, report, s.answer, s.err))
	x.elsewhere.found(t, x.observe.Warn)
	if err := x.grade(ctx, t, p.problem, p.calls.Recorded); err != nil {
		return nil, err
	}
	redactTrial(x.exp.Redactor, t)
	return t, t.Seal()
}

// solved is how a method ended, and the host of its calls.
type solved struct {
	answer methods.Answer
	err    error
	host   *gateway.Host
}

// solve has the method solve a posed problem at a place, nil for here. Where its process
// died and another trial may be to blame, it solves the problem again in a process of its
// own: what was answered before comes from the store.
func (x *execution) solve(ctx context.Context, p posed, at Place, log *printed) (s solved, err error) {
	solver := p.method.Solver
	if at != nil {
		solver = at
	}
	s.host = x.gateway.Host(p.calls)
	s.answer, s.err = guarded(ctx, solver, p.shown, s.host)
	var process *plugins.Failure
	for alone := plugins.Alone(ctx); errors.As(s.err, &process) && process.Shared && ctx.Err() == nil; alone = plugins.Alone(alone) {
		p.trial.Provider += s.host.Withdraw()
		if p.calls.Environment, p.calls.EnvironmentID, err = x.environment(p.problem); err != nil {
			return s, err
		}
		s.host = x.gateway.Host(p.calls)
		log.reset()
		s.answer, s.err = guarded(alone, solver, p.shown, s.host)
	}
	return s, nil
}

// transcribe takes the transcript into the trial, unless there is too much of it,
// and returns how the method ended.
func transcribe(t *record.Trial, r gateway.Report, answer methods.Answer, err error) error {
	t.Calls, t.Events, t.Usage = r.Calls, r.Events, r.Usage
	t.Provider += r.Provider // beside what withdrawn attempts paid
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
	return string(methods.Must(json.Marshal(id))) // strings and valid JSON always encode
}

// guarded solves with a method that may panic in this process; a plugin's panic
// comes as an error.
func guarded(ctx context.Context, m methods.Method, p methods.Problem, h methods.Host) (a methods.Answer, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("method panicked: %v", r)
		}
	}()
	return m.Solve(ctx, p, h)
}

// conclude sets the trial's answer, failure and, where the right answer is known,
// score.
func conclude(t *record.Trial, scoring score.Scoring, s task.Sample, answer methods.Answer, effects []methods.ToolResult, err error) {
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
	if _, graded := scoring.Grading(); !t.HasTarget() && !graded {
		return
	}
	by, err := scoring.For(spec)
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

// providerFailed checks a method's claim that its provider failed against the transcript.
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
