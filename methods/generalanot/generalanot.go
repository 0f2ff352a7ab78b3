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
	"math"
	"slices"
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

// New returns the method.
func New() methods.Method { return Method{} }

// options are the method's options with their names as users write them.
type options struct {
	Filter         string  `json:"filter"`
	Threshold      float64 `json:"threshold"`
	Rounds         int     `json:"rounds"`
	Retries        int     `json:"retries"`
	MaxFailed      int     `json:"max_failed"`
	MaxReviewChars int     `json:"max_review_chars"`
	Strategy       string  `json:"strategy"`
	MaxTokens      int     `json:"max_tokens"`
	Seed           string  `json:"seed"`
}

func defaults() options {
	return options{Filter: filterWords, Threshold: 0.3, Rounds: 3, Retries: reply.DefaultRetries, Strategy: keepHead}
}

func (o options) check() error {
	switch {
	case !slices.Contains(Filters(), o.Filter):
		return fmt.Errorf("option filter: %q is none of %s", o.Filter, strings.Join(Filters(), ", "))
	case !(math.Abs(o.Threshold) <= 1):
		return fmt.Errorf("option threshold: %v is no similarity: want -1 to 1", o.Threshold)
	case !slices.Contains(Strategies(), o.Strategy):
		return fmt.Errorf("option strategy: %q is none of %s", o.Strategy, strings.Join(Strategies(), ", "))
	case o.Rounds < 1:
		return errors.New("option rounds: want 1 or more")
	case o.Retries < 0 || o.MaxFailed < 0 || o.MaxReviewChars < 0 || o.MaxTokens < 0:
		return errors.New("options retries, max_failed, max_review_chars and max_tokens: want 0 or more")
	}
	return nil
}

// Describe implements [methods.Describer].
func (Method) Describe() methods.Description {
	return methods.Description{
		Name:          "general-anot",
		Version:       "2",
		PromptVersion: promptVersion,
		Summary:       "compiles the policy once, extracts from each review, computes the result",
		Answers:       []methods.AnswerKind{methods.Fields},
		Options: []methods.Option{
			{Name: "filter", Type: methods.StringOption, Default: filterWords, Choices: Filters(),
				Doc: "how keywords pick reviews: as whole words, as any part of the text, not at all, by their meaning, or by words or meaning"},
			{Name: "threshold", Type: methods.NumberOption, Default: "0.3",
				Doc: "from which similarity of meaning on a review is picked, by filters that need a task with embeddings"},
			{Name: "rounds", Type: methods.IntOption, Default: "3", Doc: "how often the policy may be compiled until the Formula Seed is valid"},
			{Name: "retries", Type: methods.IntOption, Default: "2", Doc: "how often a review is asked about again after an unusable reply"},
			{Name: "max_failed", Type: methods.IntOption, Default: "0", Doc: "how many extractions may fail for the outcome to be answered all the same"},
			{Name: "max_review_chars", Type: methods.IntOption, Default: "0", Doc: "characters shown of a review; 0 for what the Formula Seed says"},
			{Name: "strategy", Type: methods.StringOption, Default: keepHead, Choices: Strategies(),
				Doc: "which part of a review longer than max_review_chars is kept"},
			{Name: "max_tokens", Type: methods.IntOption, Default: "0", Doc: "output limit of one call; 0 for the provider's own"},
			{Name: "seed", Type: methods.StringOption, Doc: "a Formula Seed as JSON, to be used instead of compiling the policy"},
		},
	}
}

// trial is one problem being solved.
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
		return methods.Answer{}, fmt.Errorf("general-anot: %w", ctx.Err())
	case errors.Is(err, methods.ErrMiss):
		return methods.Answer{}, fmt.Errorf("general-anot: %w", err)
	case errors.Is(err, methods.ErrBudget):
		return methods.Answer{Outcome: methods.OverBudget, Reason: reply.OneLine(err.Error(), maxReason)}, nil
	case errors.As(err, &refused):
		return methods.Answer{Outcome: methods.Refused, Reason: reply.OneLine(err.Error(), maxReason)}, nil
	}
	return methods.Answer{}, fmt.Errorf("general-anot: %w", err)
}

// maxReason bounds a reason, in bytes.
const maxReason = 1000

func newTrial(p methods.Problem, h methods.Host) (*trial, error) {
	t := &trial{Problem: p, host: h, opts: defaults()}
	if p.Answer.Kind != methods.Fields {
		return nil, fmt.Errorf("cannot answer a problem of kind %q: only fields", p.Answer.Kind)
	}
	if err := methods.DecodeOptions(p, &t.opts); err != nil {
		return nil, err
	}
	if err := t.opts.check(); err != nil {
		return nil, err
	}
	var err error
	t.data, err = ParseContext(p.Context)
	return t, err
}

// solve runs the phases.
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
