// Package anot is ANoT, the Adaptive Network of Thought: a method for ranking
// items over structured data from several sources. Choices, sets and verdicts it
// answers by taking their labels for the items.
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
	"cmp"
	"context"
	"errors"
	"fmt"

	"noema/methods"
	"noema/methods/anot/internal/lwt"
	"noema/methods/internal/trial"
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

// options are the method's options, see [methods.OptionsOf].
type options struct {
	Builder      string `json:"builder" default:"react" choices:"react,compiled" doc:"who writes the LWT: a model with tools, or code without a model"`
	Retries      int    `json:"retries" default:"2" min:"0" doc:"how often phase 1 is asked again after an unusable reply"`
	Iterations   int    `json:"iterations" default:"10" min:"1" doc:"how many turns phase 2 may take"`
	Top          int    `json:"top" default:"0" min:"0" doc:"how many items to rank; 0 for as many as the problem wants"`
	ReadChars    int    `json:"read_chars" default:"1500" min:"1" doc:"how many bytes one read in phase 2 shows"`
	ExampleChars int    `json:"example_chars" default:"80" min:"1" doc:"how many bytes of a text phase 1 is shown"`
	LWT          string `json:"lwt" doc:"an LWT as \"plan export\" writes it, or its text, to be run in place of phases 1 and 2"`
	MaxTokens    int    `json:"max_tokens" default:"0" min:"0" doc:"output limit of one call; 0 for the provider's own"`
}

// Describe implements [methods.Describer].
func (Method) Describe() methods.Description {
	return methods.Description{
		Name:          "anot",
		Version:       "3", // an LWT that leaves a condition without a step is refused once, then reported
		PromptVersion: promptVersion,
		Summary:       "plans conditions, checks every item against each, ranks by the outcome",
		Answers:       []methods.AnswerKind{methods.Ranking, methods.Choice, methods.LabelledSet, methods.VerdictFields},
		Options:       methods.OptionsOf(options{}),
	}
}

// solver solves one problem.
type solver struct {
	trial.Trial
	opts options
	data *lwt.Data
	n    int // items
	k    int // items to name

	labels []string // the items, where the problem is not a ranking
}

// Solve implements [methods.Method]. Of a problem that is not a ranking the items
// are its labels; see labels.go for what the answer is then, and without one it has
// no value. Of a ranking: without a strategy or a valid LWT the
// outcome is Refused, at the budget it is OverBudget, and without a number in
// the final output Defaulted; all three come with the ranking 1..K, which says
// nothing about the items. If a step failed the outcome is Failed with the
// ranking of the final step, if that ran.
func (Method) Solve(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
	t, err := newSolver(p, h)
	if err != nil {
		return methods.Answer{}, fmt.Errorf("anot: %w", err)
	}
	a, err := t.solve(ctx)
	if err == nil {
		return a, nil
	}
	outcome, ended := trial.Ending(ctx, "anot", err, methods.Refused)
	if ended != nil && !errors.Is(ended, errNoProgram) {
		return methods.Answer{}, ended
	}
	return t.fallback(cmp.Or(outcome, methods.Refused), err.Error()), nil
}

func newSolver(p methods.Problem, h methods.Host) (*solver, error) {
	t := &solver{n: p.Answer.N, k: p.Answer.K}
	var err error
	if t.Trial, err = trial.Start(p, h, &t.opts, &t.opts.MaxTokens); err != nil {
		return nil, err
	}
	if t.labels, err = labelsOf(p.Answer); err != nil {
		return nil, err
	}
	if t.labels != nil {
		t.n, t.k = len(t.labels), len(t.labels)
		if t.Context, err = withLabels(p.Context, t.labels); err != nil {
			return nil, err
		}
	}
	if t.n < 1 {
		return nil, fmt.Errorf("cannot rank %d items", t.n)
	}
	if t.data, err = lwt.NewData(p.Query, t.Context); err != nil {
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
func (t *solver) solve(ctx context.Context) (methods.Answer, error) {
	if have := t.data.Items(); have != t.n {
		t.Emit("P1", methods.Dropped, 1, nil, "the problem wants %d items ranked, its context has %d", t.n, have)
	}
	plan, err := t.given()
	if plan == nil && err == nil {
		plan, err = t.written(ctx)
	}
	if err != nil {
		return methods.Answer{}, err
	}
	return t.execute(ctx, plan)
}

// written is the plan that phases 1 and 2 write.
func (t *solver) written(ctx context.Context) (*lwt.Plan, error) {
	s, err := t.strategy(ctx)
	if err != nil {
		return nil, err
	}
	return t.program(ctx, s)
}

// fallback is the ranking 1..K, flagged as what it is; where the items are labels
// there is no value.
func (t *solver) fallback(o methods.Outcome, reason string) methods.Answer {
	if t.labels != nil {
		return methods.Answer{Outcome: o, Reason: reply.OneLine(reason, 1000)}
	}
	t.Emit("P3", methods.Fallback, 1, nil, "rank the items as they come: %s", reply.OneLine(reason, 300))
	return methods.RankingAnswer(reply.InOrder(t.k)).As(o, reply.OneLine(reason, 1000))
}
