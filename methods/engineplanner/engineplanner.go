// Package engineplanner is Engine Planner: the model says what a query asks for,
// in one call, and an engine does the rest. The engine takes the workflow of the
// query's type, fills in the facts, runs the tools one after the other, and words
// the answer by a template. Workflows, templates and aliases are data of the task
// (package workflow): a new type of query needs no code.
//
// Source: seed 004. Differs: the model's types are checked against the
// workflows; a failed evaluation runs the basic search and says so; the answer
// is a value of the problem's kind, with the worded answer as evidence.
package engineplanner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"noema/methods"
	"noema/methods/reply"
	"noema/methods/workflow"
)

// Method is Engine Planner. It has no state.
type Method struct{}

var (
	_ methods.Method    = Method{}
	_ methods.Describer = Method{}
)

// New returns the method.
func New() Method { return Method{} }

// options with their names as users write them.
type options struct {
	Retries   int `json:"retries"`
	MaxTokens int `json:"max_tokens"`
}

// Describe implements [methods.Describer].
func (Method) Describe() methods.Description {
	return methods.Description{
		Name:          "engine-planner",
		Version:       "1",
		PromptVersion: promptVersion,
		Summary:       "extracts facts in one call, then runs a workflow of tools without a model",
		Answers:       []methods.AnswerKind{methods.Number, methods.Set, methods.Text},
		Options: []methods.Option{
			{Name: "retries", Type: methods.IntOption, Default: "0", Doc: "how often the model is asked again after an unusable evaluation, before the basic search"},
			{Name: "max_tokens", Type: methods.IntOption, Default: "0", Doc: "output limit of the call; 0 for the provider's own"},
		},
	}
}

// trial is one query being answered.
type trial struct {
	methods.Problem
	host   methods.Host
	opts   options
	domain workflow.Domain
}

// Solve implements [methods.Method]. An evaluation that cannot be used leads to
// the fallback workflow and the outcome Defaulted; a step that fails gives what
// was found until then with the outcome Failed.
func (Method) Solve(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
	a, err := solve(ctx, p, h)
	switch {
	case err == nil:
		return a, nil
	case ctx.Err() != nil:
		err = ctx.Err()
	case errors.Is(err, methods.ErrMiss):
	case errors.Is(err, methods.ErrBudget):
		return methods.Answer{Outcome: methods.OverBudget, Reason: reply.OneLine(err.Error(), 1000)}, nil
	}
	return methods.Answer{}, fmt.Errorf("engine-planner: %w", err)
}

func solve(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
	t := &trial{Problem: p, host: h}
	switch p.Answer.Kind {
	case methods.Number, methods.Set, methods.Text:
	default:
		return methods.Answer{}, fmt.Errorf("cannot answer a problem of kind %q: only numbers, sets and texts", p.Answer.Kind)
	}
	if err := methods.DecodeOptions(p, &t.opts); err != nil {
		return methods.Answer{}, err
	}
	if t.opts.Retries < 0 || t.opts.MaxTokens < 0 {
		return methods.Answer{}, errors.New("options retries and max_tokens: want 0 or more")
	}
	if err := json.Unmarshal(p.Context, &t.domain); err != nil {
		return methods.Answer{}, fmt.Errorf("read workflows: the problem's context has none: %w", err)
	}
	if faults := t.domain.Faults(p.Tools); len(faults) > 0 {
		return methods.Answer{}, fmt.Errorf("read workflows: %d faults, the first: %s", len(faults), faults[0])
	}
	e, fault, err := t.evaluate(ctx)
	if err != nil {
		return methods.Answer{}, err
	}
	a, err := t.run(ctx, e)
	if err == nil && fault != "" && a.Outcome == methods.Answered {
		a = a.As(methods.Defaulted, "basic search: "+fault)
	}
	return a, err
}

// The phases, with which call paths begin.
const (
	phaseEvaluate = "evaluate"
	phaseEngine   = "engine"
)

func (t *trial) emit(path string, kind methods.EventKind, level int, format string, args ...any) {
	phase := path
	if len(path) > len(phaseEngine) && path[:len(phaseEngine)] == phaseEngine {
		phase = phaseEngine
	}
	t.host.Emit(methods.Event{Path: path, Phase: phase, Kind: kind, Level: level, Text: reply.OneLine(fmt.Sprintf(format, args...), 400)})
}

func stepPath(i int) string { return phaseEngine + "/" + strconv.Itoa(i+1) }
