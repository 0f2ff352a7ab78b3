// Package engineplanner is Engine Planner: the model says what a query asks for,
// in one call, and an engine does the rest. The engine takes the workflow of the
// query's type, fills in the facts, runs the tools one after the other, and words
// the answer by a template. Workflows, templates and aliases are data of the task
// (package workflow): a new type of query needs no code.
//
// Source: seed 004. Differs: the model's types are checked against the
// workflows; a failed evaluation runs the basic search and says so; the answer
// is a value of the problem's kind, with the worded answer beside it; see
// [methods.Worded].
package engineplanner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"noema/methods"
	"noema/methods/internal/trial"
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

// options are the method's options, see [methods.OptionsOf].
type options struct {
	Retries   int `json:"retries" default:"0" min:"0" doc:"how often the model is asked again after an unusable evaluation, before the basic search"`
	MaxTokens int `json:"max_tokens" default:"0" min:"0" doc:"output limit of the call; 0 for the provider's own"`
}

// Describe implements [methods.Describer].
func (Method) Describe() methods.Description {
	return methods.Description{
		Name:          "engine-planner",
		Version:       "4", // an evaluation may leave facts out, types have aliases, and no search stands for a query that was not understood
		PromptVersion: promptVersion,
		Summary:       "extracts facts in one call, then runs a workflow of tools without a model",
		Answers:       []methods.AnswerKind{methods.Number, methods.Set, methods.Text},
		Tools:         []string{"search_logs"}, // what a failed evaluation falls back on
		Options:       methods.OptionsOf(options{}),
	}
}

// solver answers one query.
type solver struct {
	trial.Trial
	opts   options
	domain workflow.Domain
}

// Solve implements [methods.Method]. An evaluation that cannot be used leads to
// the fallback workflow and the outcome Defaulted; a step that fails gives what
// was found until then with the outcome Failed.
func (Method) Solve(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
	a, err := solve(ctx, p, h)
	if err == nil {
		return a, nil
	}
	return trial.Ended(ctx, "engine-planner", err, "")
}

func solve(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
	t := &solver{}
	switch p.Answer.Kind {
	case methods.Number, methods.Set, methods.Text:
	default:
		return methods.Answer{}, fmt.Errorf("cannot answer a problem of kind %q: only numbers, sets and texts", p.Answer.Kind)
	}
	var err error
	if t.Trial, err = trial.Start(p, h, &t.opts, &t.opts.MaxTokens); err != nil {
		return methods.Answer{}, err
	}
	if len(p.Context) == 0 {
		return methods.Answer{}, errors.New("the problem has no workflows: Engine Planner needs a task over logs")
	}
	if err := json.Unmarshal(p.Context, &t.domain); err != nil {
		return methods.Answer{}, fmt.Errorf("read workflows from the problem's context: %w", err)
	}
	if faults := t.domain.Faults(p.Tools); len(faults) > 0 {
		return methods.Answer{}, fmt.Errorf("read workflows: faults: %d, the first: %s", len(faults), faults[0])
	}
	e, fault, err := t.evaluate(ctx)
	if err != nil {
		return methods.Answer{}, err
	}
	a, err := t.run(ctx, e)
	switch {
	case err != nil || fault == "":
	case a.Outcome == methods.Answered:
		a = a.As(methods.Defaulted, "basic search: "+fault)
	case e.unread:
		a = a.As(a.Outcome, a.Reason+": "+fault)
	}
	return a, err
}

// The phases, with which call paths begin.
const (
	phaseEvaluate = "evaluate"
	phaseEngine   = "engine"
)

func stepPath(i int) string { return phaseEngine + "/" + strconv.Itoa(i+1) }
