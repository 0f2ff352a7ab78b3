// Package anot is ANoT, the Adaptive Network of Thought: a method for ranking
// items over structured data from several sources.
//
// Phase 1 reads the request and turns it into a [Strategy]: conditions and
// how they combine. Phase 2 writes an LWT that checks every item against
// every condition (see package lwt). Phase 3 runs it, independent steps at
// the same time, and reads the ranking from the output of its final step.
//
// Source: seed 000. Differs: conditions nest under AND, OR and NOT and may ask
// who wrote a review; a step starts when its inputs are there rather than
// with its layer; phase 2 can also be done without a model (option builder);
// nothing that went wrong is passed over in silence.
package anot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"noema/methods"
	"noema/methods/anot/lwt"
	"noema/methods/reply"
)

// Method is ANoT. It has no state: one value serves any number of trials.
type Method struct{}

var (
	_ methods.Method    = Method{}
	_ methods.Describer = Method{}
)

// New returns the method.
func New() methods.Method { return Method{} }

// The values of the option builder.
const (
	builderReact    = "react"
	builderCompiled = "compiled"
)

// options are the method's options with their names as users write them.
type options struct {
	Builder      string `json:"builder"`
	Retries      int    `json:"retries"`
	Iterations   int    `json:"iterations"`
	Top          int    `json:"top"`
	ReadChars    int    `json:"read_chars"`
	ExampleChars int    `json:"example_chars"`
	MaxTokens    int    `json:"max_tokens"`
}

func defaults() options {
	return options{Builder: builderReact, Retries: reply.DefaultRetries, Iterations: 10, ReadChars: 1500, ExampleChars: 80}
}

func (o options) check() error {
	switch {
	case o.Builder != builderReact && o.Builder != builderCompiled:
		return fmt.Errorf("option builder: %q is neither %q nor %q", o.Builder, builderReact, builderCompiled)
	case o.Retries < 0 || o.Top < 0 || o.MaxTokens < 0:
		return errors.New("options retries, top and max_tokens: want 0 or more")
	case o.Iterations < 1 || o.ReadChars < 1 || o.ExampleChars < 1:
		return errors.New("options iterations, read_chars and example_chars: want 1 or more")
	}
	return nil
}

// Describe implements [methods.Describer].
func (Method) Describe() methods.Description {
	return methods.Description{
		Name:          "anot",
		Version:       "2",
		PromptVersion: promptVersion,
		Summary:       "plans conditions, checks every item against each, ranks by the outcome",
		Answers:       []methods.AnswerKind{methods.Ranking},
		Options: []methods.Option{
			{Name: "builder", Type: methods.StringOption, Default: builderReact, Choices: []string{builderReact, builderCompiled},
				Doc: "who writes the LWT: a model with tools, or code without a model"},
			{Name: "retries", Type: methods.IntOption, Default: "2", Doc: "how often phase 1 is asked again after an unusable reply"},
			{Name: "iterations", Type: methods.IntOption, Default: "10", Doc: "how many turns phase 2 may take"},
			{Name: "top", Type: methods.IntOption, Default: "0", Doc: "how many items to rank; 0 for as many as the problem wants"},
			{Name: "read_chars", Type: methods.IntOption, Default: "1500", Doc: "how many bytes one read in phase 2 shows"},
			{Name: "example_chars", Type: methods.IntOption, Default: "80", Doc: "how many bytes of a text phase 1 is shown"},
			{Name: "max_tokens", Type: methods.IntOption, Default: "0", Doc: "output limit of one call; 0 for the provider's own"},
		},
	}
}

// trial is one problem being solved.
type trial struct {
	methods.Problem
	host methods.Host
	opts options
	data *lwt.Data
	n    int // items
	k    int // items to name
}

// Solve implements [methods.Method]. Without a strategy or a valid LWT the
// outcome is Refused, at the budget it is OverBudget, and without a number in
// the final output Defaulted; all three come with the ranking 1..K, which says
// nothing about the items. If a step failed the outcome is Failed with the
// ranking of the final step, if that ran.
func (Method) Solve(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
	t, err := newTrial(p, h)
	if err != nil {
		return methods.Answer{}, fmt.Errorf("anot: %w", err)
	}
	a, err := t.solve(ctx)
	var invalid *reply.InvalidError
	switch {
	case err == nil:
		return a, nil
	case ctx.Err() != nil:
		return methods.Answer{}, fmt.Errorf("anot: %w", ctx.Err())
	case errors.Is(err, methods.ErrMiss):
		return methods.Answer{}, fmt.Errorf("anot: %w", err)
	case errors.Is(err, methods.ErrBudget):
		return t.fallback(methods.OverBudget, err.Error()), nil
	case errors.As(err, &invalid), errors.Is(err, errNoProgram):
		return t.fallback(methods.Refused, err.Error()), nil
	}
	return methods.Answer{}, fmt.Errorf("anot: %w", err)
}

func newTrial(p methods.Problem, h methods.Host) (*trial, error) {
	t := &trial{Problem: p, host: h, opts: defaults(), n: p.Answer.N, k: p.Answer.K}
	if p.Answer.Kind != methods.Ranking {
		return nil, fmt.Errorf("cannot answer a problem of kind %q: only rankings", p.Answer.Kind)
	}
	if t.n < 1 {
		return nil, fmt.Errorf("a ranking of %d items is none", t.n)
	}
	if err := methods.DecodeOptions(p, &t.opts); err != nil {
		return nil, err
	}
	if err := t.opts.check(); err != nil {
		return nil, err
	}
	var err error
	if t.data, err = lwt.NewData(p.Query, p.Context); err != nil {
		return nil, err
	}
	if t.opts.Top > 0 {
		t.k = t.opts.Top
	}
	if t.k < 1 || t.k > t.n {
		t.k = t.n
	}
	return t, nil
}

// solve runs the three phases.
func (t *trial) solve(ctx context.Context) (methods.Answer, error) {
	if have := t.data.Items(); have != t.n {
		t.emit("P1", methods.Dropped, 1, nil, "the problem wants %d items ranked, its context has %d", t.n, have)
	}
	s, err := t.strategy(ctx)
	if err != nil {
		return methods.Answer{}, err
	}
	plan, err := t.program(ctx, s)
	if err != nil {
		return methods.Answer{}, err
	}
	return t.execute(ctx, plan)
}

// request is a call with what all calls share.
func (t *trial) request(path string, messages ...methods.Message) methods.Request {
	return methods.Request{
		Messages: messages,
		Sampling: methods.Sampling{Seed: t.Seed, MaxTokens: t.opts.MaxTokens},
		Path:     path,
	}
}

// fallback is the ranking 1..K, flagged as what it is.
func (t *trial) fallback(o methods.Outcome, reason string) methods.Answer {
	t.emit("P3", methods.Fallback, 1, nil, "rank the items as they come: %s", reply.OneLine(reason, 300))
	items := make([]int, t.k)
	for i := range items {
		items[i] = i + 1
	}
	return methods.RankingAnswer(items).As(o, reply.OneLine(reason, 1000))
}

// emit sends an event of the phase that path begins with. Data may be nil.
func (t *trial) emit(path string, kind methods.EventKind, level int, data any, format string, args ...any) {
	var raw json.RawMessage
	if data != nil {
		raw, _ = json.Marshal(data) // strings, numbers and lists of them always encode
	}
	t.host.Emit(methods.Event{
		Path:  path,
		Phase: path[:2],
		Kind:  kind,
		Text:  fmt.Sprintf(format, args...),
		Data:  raw,
		Level: level,
	})
}
