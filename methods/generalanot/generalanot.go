// Package generalanot is General ANoT: a method that judges a restaurant by a
// policy over its reviews.
//
// The policy is compiled once into a [FormulaSeed], by a model, and the seed
// is kept in the store. It is then carried out for one restaurant after the
// other: FILTER picks reviews by keyword or by meaning, EXTRACT has a model
// fill in a few fields for each of them, COMPUTE evaluates Python expressions
// over what was filled in (see package pyexpr). So a model reads text, and
// arithmetic is left to a machine.
//
// Source: seed 001. Differs: keywords match whole words; an extraction that
// fails is left out and counted instead of being replaced by a default; a
// formula that fails makes its value undefined, not 0; a seed is validated
// before it is used, and everything wrong with it goes back to the model.
package generalanot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"noema/methods"
	"noema/methods/reply"
)

// Method is General ANoT. It has no state: one value serves any number of
// trials.
type Method struct{}

var (
	_ methods.Method    = Method{}
	_ methods.Describer = Method{}
)

func New() methods.Method { return Method{} }

// options are declared by their tags; see [methods.OptionsOf].
type options struct {
	Filter         string  `json:"filter" default:"words" choices:"words,substring,none,semantic,union" doc:"how keywords pick reviews: as whole words, as any part of the text, not at all, by their meaning, or by words or meaning"`
	Threshold      float64 `json:"threshold" default:"0.3" min:"-1" max:"1" doc:"similarity of meaning from which a review is picked, by filters that need a task with embeddings"`
	Rounds         int     `json:"rounds" default:"3" min:"1" doc:"how often the policy may be compiled until the Formula Seed is valid"`
	Retries        int     `json:"retries" default:"2" min:"0" doc:"how often a review is asked about again after an unusable reply"`
	MaxFailed      int     `json:"max_failed" default:"0" min:"0" doc:"how many extractions may fail while the outcome is still answered"`
	MaxReviewChars int     `json:"max_review_chars" default:"0" min:"0" doc:"characters shown of a review; 0 for what the Formula Seed says"`
	Strategy       string  `json:"strategy" default:"head" choices:"head,tail,head+tail" doc:"which part of a review longer than max_review_chars is kept"`
	MaxTokens      int     `json:"max_tokens" default:"0" min:"0" doc:"output limit of one call; 0 for the provider's own"`
	Seed           string  `json:"seed" doc:"a Formula Seed as JSON, to be used instead of compiling the policy"`
}

// Describe implements [methods.Describer].
func (Method) Describe() methods.Description {
	return methods.Description{
		Name:          "general-anot",
		Version:       "2",
		PromptVersion: promptVersion,
		Summary:       "compiles the policy once, extracts from each review, computes the result",
		Answers:       []methods.AnswerKind{methods.Fields},
		Options:       methods.OptionsOf(options{}),
	}
}

type trial struct {
	methods.Problem
	host methods.Host
	opts options
	data *Context
}

// Solve implements [methods.Method]. The value of the answer holds the output
// fields that are defined; one that is not is absent.
//
// The outcome is Answered if every extraction succeeded (but for max_failed of
// them) and every output field is defined. Lost extractions make it Failed if
// the provider lost them and Unparsed if the replies were unusable, with the
// value computed from the rest; without any extraction there is no value. A
// formula that failed makes it Failed. It is Refused if the policy did not
// compile to a valid seed, and OverBudget at the budget, both without a value.
func (Method) Solve(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
	t, err := newTrial(p, h)
	if err != nil {
		return methods.Answer{}, fmt.Errorf("general-anot: %w", err)
	}
	a, err := t.solve(ctx)
	var refused *refusedError
	switch {
	case err == nil:
		return a, nil
	case ctx.Err() != nil:
		err = ctx.Err()
	case errors.Is(err, methods.ErrMiss):
	case errors.Is(err, methods.ErrBudget):
		return methods.Answer{}.As(methods.OverBudget, reply.OneLine(err.Error(), maxReason)), nil
	case errors.As(err, &refused):
		return methods.Answer{}.As(methods.Refused, reply.OneLine(err.Error(), maxReason)), nil
	}
	return methods.Answer{}, fmt.Errorf("general-anot: %w", err)
}

// maxReason bounds a reason, in bytes.
const maxReason = 1000

func newTrial(p methods.Problem, h methods.Host) (*trial, error) {
	t := &trial{Problem: p, host: h}
	if p.Answer.Kind != methods.Fields {
		return nil, fmt.Errorf("cannot answer a problem of kind %q: only fields", p.Answer.Kind)
	}
	if err := methods.DecodeOptions(p, &t.opts); err != nil {
		return nil, err
	}
	var err error
	t.data, err = ParseContext(p.Context)
	return t, err
}

func (t *trial) solve(ctx context.Context) (methods.Answer, error) {
	p, err := t.program(ctx)
	if err != nil {
		return methods.Answer{}, err
	}
	relevant, err := t.filter(ctx, p)
	if err != nil {
		return methods.Answer{}, err
	}
	found, err := t.extract(ctx, p, relevant)
	if err != nil {
		return methods.Answer{}, err
	}
	if len(relevant) > 0 && len(found.list) == 0 {
		a := methods.Answer{}.As(found.outcome(), found.reason(len(relevant)))
		t.emit(phaseCompute, methods.StepError, 1, nil, "nothing to compute from: %s", a.Reason)
		return a, nil
	}
	r, err := t.compute(ctx, p, found.list)
	if err != nil {
		return methods.Answer{}, err
	}
	return t.conclude(p, found, r, len(relevant)), nil
}

// request is a call with what all calls share.
func (t *trial) request(path, prompt string) methods.Request {
	return methods.Request{
		Messages: methods.Ask(prompt),
		Sampling: methods.Sampling{Seed: t.Seed, MaxTokens: t.opts.MaxTokens},
		Path:     path,
	}
}

// The phases, with which call paths begin.
const (
	phaseCompile = "compile"
	phaseFilter  = "filter"
	phaseExtract = "extract"
	phaseCompute = "compute"
)

// emit sends an event of the phase that path begins with. Data may be nil.
func (t *trial) emit(path string, kind methods.EventKind, level int, data any, format string, args ...any) {
	phase, _, _ := strings.Cut(path, "/")
	var raw json.RawMessage
	if data != nil {
		raw = plainJSON(data)
	}
	t.host.Emit(methods.Event{
		Path:  path,
		Phase: phase,
		Kind:  kind,
		Text:  reply.OneLine(fmt.Sprintf(format, args...), 400),
		Data:  raw,
		Level: level,
	})
}
