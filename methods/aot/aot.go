// Package aot is AoT, the Atom of Thought: a model plans, a machine executes.
//
// The model writes a plan of atoms, each one operation with its arguments and
// dependencies. [Validate] finds everything that is wrong with it before any of
// it runs, and the model is told all of it at once. [Execute] then runs the
// plan without a model: independent atoms at the same time, with retries for
// tools that have effects, and with compensations when the plan fails.
//
// A plan and its state are plain JSON. A plan can be kept, edited by hand,
// drawn ([Plan.DOT], [Plan.Mermaid]) and run again, and an execution that
// stopped goes on from its [State]. Inside a trial the store of the Host does
// that work: a killed trial is simply run again, and finds its plan and the
// results of its finished atoms there.
//
// Source: seed 002. Differs: execution follows the dependencies rather than
// the ids; arguments are checked against the tools' schemas; and the seed's
// extension ideas are all here.
package aot

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"noema/methods"
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

// options are the method's options with their names as users write them.
type options struct {
	Retries         int `json:"retries"`
	AtomRetries     int `json:"atom_retries"`
	TimeoutMS       int `json:"timeout_ms"`
	Concurrency     int `json:"concurrency"`
	MaxContextChars int `json:"max_context_chars"`
	MaxTokens       int `json:"max_tokens"`
}

func defaults() options {
	return options{Retries: reply.DefaultRetries, AtomRetries: 1, Concurrency: DefaultConcurrency}
}

func (o options) check() error {
	if min(o.Retries, o.AtomRetries, o.TimeoutMS, o.MaxContextChars, o.MaxTokens) < 0 {
		return errors.New("options retries, atom_retries, timeout_ms, max_context_chars and max_tokens: want 0 or more")
	}
	if o.Concurrency < 1 {
		return errors.New("option concurrency: want 1 or more")
	}
	return nil
}

// Describe implements [methods.Describer].
func (Method) Describe() methods.Description {
	o := defaults()
	return methods.Description{
		Name:          "aot",
		Version:       "2",
		PromptVersion: promptVersion,
		Summary:       "plans atoms, checks the plan, runs it without a model",
		Answers:       []methods.AnswerKind{methods.Number, methods.Text, methods.Choice},
		Options: []methods.Option{
			{Name: "retries", Type: methods.IntOption, Default: strconv.Itoa(o.Retries), Doc: "how often the model is asked again after a plan with faults"},
			{Name: "atom_retries", Type: methods.IntOption, Default: strconv.Itoa(o.AtomRetries), Doc: "how often a failed call of a tool with effects is repeated"},
			{Name: "timeout_ms", Type: methods.IntOption, Default: "0", Doc: "limit of one tool call in milliseconds; 0 for none, and then reruns cannot differ"},
			{Name: "concurrency", Type: methods.IntOption, Default: strconv.Itoa(o.Concurrency), Doc: "how many atoms run at the same time"},
			{Name: "max_context_chars", Type: methods.IntOption, Default: "0", Doc: "bytes of data that the prompt shows, from the start; 0 for all"},
			{Name: "max_tokens", Type: methods.IntOption, Default: "0", Doc: "output limit of one call; 0 for the provider's own"},
		},
	}
}

// trial is one problem being solved.
type trial struct {
	methods.Problem
	host  methods.Host
	opts  options
	tools toolset
}

// Solve implements [methods.Method]. Without a valid plan after the retries the
// outcome is Refused, with a failed atom Failed, at the budget OverBudget, and
// with a final value of another kind than the answer's Unparsed; none of these
// has a value.
func (Method) Solve(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
	t, err := newTrial(p, h)
	if err != nil {
		return methods.Answer{}, fmt.Errorf("aot: %w", err)
	}
	a, err := t.solve(ctx)
	var failed *FailedError
	switch {
	case err == nil:
		return a, nil
	case ctx.Err() != nil:
		return methods.Answer{}, fmt.Errorf("aot: %w", ctx.Err())
	case errors.Is(err, methods.ErrMiss):
		return methods.Answer{}, fmt.Errorf("aot: %w", err)
	case errors.Is(err, methods.ErrBudget):
		return none(methods.OverBudget, err), nil
	case errors.Is(err, reply.ErrInvalid):
		return none(methods.Refused, err), nil
	case errors.As(err, &failed):
		return none(methods.Failed, err), nil
	}
	return methods.Answer{}, fmt.Errorf("aot: %w", err)
}

func none(o methods.Outcome, cause error) methods.Answer {
	return methods.Answer{Outcome: o, Reason: reply.OneLine(cause.Error(), 1000)}
}

func newTrial(p methods.Problem, h methods.Host) (*trial, error) {
	t := &trial{Problem: p, host: h, opts: defaults()}
	if _, ok := answerSchema(p.Answer); !ok || p.Answer.Kind == "" {
		return nil, fmt.Errorf("cannot answer a problem of kind %q: only numbers, texts and choices", p.Answer.Kind)
	}
	if p.Answer.Kind == methods.Choice && len(p.Answer.Labels) == 0 {
		return nil, errors.New("a choice without labels is none")
	}
	if err := methods.DecodeOptions(p, &t.opts); err != nil {
		return nil, err
	}
	if err := t.opts.check(); err != nil {
		return nil, err
	}
	var err error
	t.tools, err = newToolset(p.Tools)
	return t, err
}

// solve runs the three phases: plan and validate, repeatedly, then execute.
func (t *trial) solve(ctx context.Context) (methods.Answer, error) {
	plan, err := t.plan(ctx)
	if err != nil {
		return methods.Answer{}, err
	}
	t.emit(runPhase, methods.PhaseStart, 1, nil, "run %d atoms", len(plan.order))
	state, err := plan.execute(ctx, t.host, Options{
		Concurrency: t.opts.Concurrency, Retries: t.opts.AtomRetries,
		Timeout: time.Duration(t.opts.TimeoutMS) * time.Millisecond, Trace: t.host,
	})
	t.host.Emit(methods.GraphEvent(runPhase, plan.drawn(state)))
	if err != nil {
		return methods.Answer{}, err
	}
	a := t.answer(state)
	t.emit(runPhase, methods.PhaseEnd, 1, nil, "answer %s (%s)", reply.OneLine(string(a.Value), 100), a.Outcome)
	return a, nil
}

// plan asks for a plan until one has no faults.
func (t *trial) plan(ctx context.Context) (*program, error) {
	data, err := t.data()
	if err != nil {
		return nil, err
	}
	t.emit(planPhase, methods.PhaseStart, 1, nil, "plan for: %s", reply.OneLine(t.Query, 120))
	req := methods.Request{
		Messages: methods.Ask(planPrompt(t.Query, data, t.Tools, t.Answer)),
		Sampling: methods.Sampling{Seed: t.Seed, MaxTokens: t.opts.MaxTokens},
		Schema:   &methods.Schema{Name: "plan", JSON: json.RawMessage(planSchema)},
		Path:     planPhase,
	}
	var r planReading
	parse := func(text string) (err error) {
		r, err = t.read(text)
		return err
	}
	if _, _, err := reply.Text(ctx, t.host, req, parse, reply.Options{Retries: t.opts.Retries}); err != nil {
		return nil, err
	}
	if r.rung != reply.Strict {
		t.emit(planPhase, methods.Repair, 1, nil, "read the plan from %s", r.rung)
	}
	for _, line := range r.added {
		t.emit(planPhase, methods.Repair, 2, nil, "%s", line)
	}
	t.emit(planPhase, methods.Plan, 1, r.program.plan, "%d atoms", len(r.program.order))
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
func (t *trial) read(text string) (r planReading, err error) {
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
	if faults := Faults(found, more); len(faults) > 0 {
		return r, &InvalidPlanError{faults}
	}
	return r, nil
}

// data shows the problem's context, one value to a line.
func (t *trial) data() (string, error) {
	if len(bytes.TrimSpace(t.Context)) == 0 {
		return "", nil
	}
	var fields map[string]any
	if err := decode(t.Context, &fields); err != nil {
		return "", fmt.Errorf("decode context: %w", err)
	}
	var lines []string
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		lines = append(lines, key+": "+string(encode(fields[key])))
	}
	text := strings.Join(lines, "\n")
	if limit := t.opts.MaxContextChars; limit > 0 {
		short, cut := reply.Head(text, limit)
		if cut {
			t.emit(planPhase, methods.Truncated, 1, nil, "data: %d of %d bytes shown (head)", len(short), len(text))
		}
		text = short
	}
	return text, nil
}

func (t *trial) emit(phase string, kind methods.EventKind, level int, data any, format string, args ...any) {
	e := methods.Event{Path: phase, Phase: phase, Kind: kind, Text: fmt.Sprintf(format, args...), Level: level}
	if data != nil {
		e.Data = encode(data)
	}
	t.host.Emit(e)
}
