// Package aot is AoT, the Atom of Thought: a model plans, a machine executes.
// It is not the Atom of Thoughts of Teng et al. (2025), which contracts a question
// step by step, nor the Algorithm of Thoughts of Sel et al. (2023), which searches
// within one reply.
//
// The model writes a plan of atoms, each one operation with its arguments and
// dependencies. [Validate] finds everything that is wrong with it before any of
// it runs, and the model is told all of it at once. [Execute] then runs the
// plan: independent atoms at the same time, with retries for tools that have
// effects, and with compensations when the plan fails.
//
// An atom is a tool of the problem, a decision of the method ([Decisions]), or the
// final atom, which builds the answer: a number, a text, a label, a set, fields,
// or a ranking of the items. Decisions are computed without a model, but for read
// and read_each, which have a model read a text that no pattern can; their calls
// stand in the transcript below their atom's path.
//
// A ranking names items of equal rank as a list. Which of them comes first, and
// the order of the items that the plan does not rank, which come last, is drawn
// from the trial's seed, so that no item gains by its number; the answer's
// evidence and an event name them. See [TiesDrawn].
//
// A plan and its state are plain JSON. A plan can be kept, edited by hand,
// drawn ([Plan.Graph]) and run again, and an execution that
// stopped goes on from its [State]. Inside a trial the store of the Host does
// that work: a killed trial is simply run again, and finds its plan and the
// results of its finished atoms there.
//
// Source: seed 002. Differs: execution follows the dependencies rather than
// the ids; arguments are checked against the tools' schemas; decisions over
// lists and texts are added to those over numbers; and the seed's
// extension ideas are all here.
package aot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"noema/methods"
	"noema/methods/internal/trial"
	"noema/methods/reply"
)

// Method is AoT. It has no state: one value serves any number of trials.
type Method struct{}

var (
	_ methods.Method    = Method{}
	_ methods.Describer = Method{}
)

// New returns the method.
func New() methods.Method { return Method{} }

// options are the method's options, see [methods.OptionsOf].
type options struct {
	Retries         int `json:"retries" default:"2" min:"0" doc:"how often the model is asked again after a plan with faults"`
	AtomRetries     int `json:"atom_retries" default:"1" min:"0" doc:"how often a failed call of a tool with effects is repeated"`
	TimeoutMS       int `json:"timeout_ms" default:"0" min:"0" doc:"limit of one tool call in milliseconds; 0 for none, and then reruns cannot differ"`
	Concurrency     int `json:"concurrency" default:"16" min:"1" doc:"how many atoms run at the same time"`
	MaxContextChars int `json:"max_context_chars" default:"0" min:"0" doc:"bytes of data that the prompt shows, from the start; 0 for all"`
	MaxTokens       int `json:"max_tokens" default:"0" min:"0" doc:"output limit of one call; 0 for the provider's own"`

	Data string `json:"data" default:"auto" choices:"auto,full,outline" doc:"how the prompt shows the data: in full, as an outline of what is where, or as an outline if there are tools and more than 8000 bytes"`
}

// Describe implements [methods.Describer].
func (Method) Describe() methods.Description {
	return methods.Description{
		Name:          "aot",
		Version:       "3",
		PromptVersion: promptVersion,
		Summary:       "Atom of Thought: plans atoms, checks the plan, runs it with tools (not Atom of Thoughts, nor Algorithm of Thoughts)",
		Answers:       []methods.AnswerKind{methods.Number, methods.Text, methods.Choice, methods.Set, methods.Fields, methods.Ranking},
		Tools:         []string{methods.AnyTool},
		Options:       methods.OptionsOf(options{}),
	}
}

// solver solves one problem.
type solver struct {
	trial.Trial
	opts  options
	tools toolset
}

// Solve implements [methods.Method]. Without a valid plan after the retries the
// outcome is Refused, with a failed atom Failed, at the budget OverBudget, and
// with a final value of another kind than the answer's Unparsed; none of these
// has a value.
func (Method) Solve(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
	t, err := newSolver(p, h)
	if err != nil {
		return methods.Answer{}, fmt.Errorf("aot: %w", err)
	}
	a, err := t.solve(ctx)
	if err == nil {
		return a, nil
	}
	unusable := methods.Refused
	var failed *FailedError
	if errors.As(err, &failed) { // by a text that the model could not read, perhaps
		unusable = methods.Failed
	}
	a, ended := trial.Ended(ctx, "aot", err, unusable)
	if errors.As(ended, &failed) && !errors.Is(ended, methods.ErrMiss) {
		return trial.Without(methods.Failed, err), nil
	}
	return a, ended
}

func newSolver(p methods.Problem, h methods.Host) (*solver, error) {
	if _, ok := answerSchema(p.Answer); !ok || p.Answer.Kind == "" {
		return nil, fmt.Errorf("cannot answer a problem of kind %q", p.Answer.Kind)
	}
	switch {
	case p.Answer.Kind == methods.Choice && len(p.Answer.Labels) == 0:
		return nil, errors.New("cannot choose: the problem has no labels")
	case p.Answer.Kind == methods.Ranking && p.Answer.N < 1:
		return nil, errors.New("cannot rank: the problem has no items")
	case p.Answer.Kind == methods.Fields && len(p.Answer.Names) == 0:
		return nil, errors.New("cannot fill in fields: the problem names none")
	}
	t := &solver{}
	var err error
	if t.Trial, err = trial.Start(p, h, &t.opts, &t.opts.MaxTokens); err != nil {
		return nil, err
	}
	t.tools, err = newToolset(p.Tools, offered(p.Tools, p.Answer))
	return t, err
}

// solve runs the three phases: plan and validate, repeatedly, then execute.
func (t *solver) solve(ctx context.Context) (methods.Answer, error) {
	plan, err := t.plan(ctx)
	if err != nil {
		return methods.Answer{}, err
	}
	t.Emit(runPhase, methods.PhaseStart, 1, nil, "run %d atoms", len(plan.order))
	state, err := plan.execute(ctx, t.Host, Options{
		Concurrency: t.opts.Concurrency, Retries: t.opts.AtomRetries,
		Timeout: time.Duration(t.opts.TimeoutMS) * time.Millisecond, Trace: t.Host, ask: t.ask,
	})
	t.Host.Emit(methods.GraphEvent(runPhase, plan.drawn(state)))
	if err != nil {
		return methods.Answer{}, err
	}
	a := t.answer(state)
	t.Emit(runPhase, methods.PhaseEnd, 1, nil, "answer %s (%s)", reply.OneLine(string(a.Value), 100), a.Outcome)
	return a, nil
}

// plan asks for a plan until one has no faults.
func (t *solver) plan(ctx context.Context) (*program, error) {
	data, err := t.data()
	if err != nil {
		return nil, err
	}
	t.Emit(planPhase, methods.PhaseStart, 1, nil, "plan for: %s", reply.OneLine(t.Query, 120))
	req := t.Request(planPhase, methods.Ask(planPrompt(t.Query, data, t.Tools, t.Answer))...)
	req.Schema = &methods.Schema{Name: "plan", JSON: planSchema(t.Tools, t.Answer)}
	var r planReading
	parse := func(text string) (err error) {
		r, err = t.read(text)
		return err
	}
	if _, _, err := reply.Text(ctx, t.Host, req, parse, reply.Options{Retries: t.opts.Retries}); err != nil {
		return nil, err
	}
	if r.rung != reply.Strict {
		t.Emit(planPhase, methods.Repair, 1, nil, "read the plan from %s", r.rung)
	}
	for _, line := range r.added {
		t.Emit(planPhase, methods.Repair, 2, nil, "%s", line)
	}
	t.Emit(planPhase, methods.Plan, 1, encode(r.program.plan), "%d atoms", len(r.program.order))
	return r.program, nil
}

// planReading is a plan found in a reply.
type planReading struct {
	program *program
	rung    reply.Rung
	added   []string // dependencies that the plan left out
}

// read finds a plan in a reply and lists all its faults. It does not use the
// schema of the request, which would tell some faults before the others.
func (t *solver) read(text string) (r planReading, err error) {
	raw, rung, err := reply.Extract(text, func(raw json.RawMessage) error {
		var top struct{ Atoms []json.RawMessage }
		if json.Unmarshal(raw, &top) != nil || top.Atoms == nil {
			return errors.New(`want a JSON object with the key "atoms" and a list of atoms`)
		}
		return nil
	})
	if err != nil {
		return r, err
	}
	r.rung = rung
	plan, found := ParsePlan(raw)
	plan, r.added = Repair(plan)
	var more []Fault
	r.program, more = t.tools.prepare(plan, t.Answer)
	if faults := Faults(found, more, t.tools.unsaid(plan)); len(faults) > 0 {
		return r, &InvalidPlanError{faults}
	}
	return r, nil
}
