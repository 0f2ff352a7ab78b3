// Package phases is what methods that spend several calls on one question are made
// of: propose drafts and steps, judge them, select some, merge them. A method of your
// own can import it; each function says which calls it makes.
//
//	t, err := phases.Start(p, h, &o, &o.Options)                // o embeds phases.Options
//	drafts, err := t.Drafts(ctx, t.Reason("draft", d, 0.7), …)  // propose
//	values, err := t.Values(ctx, "judge", texts, votes, 0)      // judge
//	best := phases.Best(values, 2)                              // select
//	answer, err := phases.Majority(answers, p.Answer)           // merge
//	return t.End(ctx, "my-method", r, err)
//
// Calls that do not depend on each other are made at the same time, each under a path
// that says its place and not its time, so that a replay is exact. Replies are read by
// package reply, so no method is favoured by a more patient reader.
package phases

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"noema/methods"
	"noema/methods/internal/trial"
	"noema/methods/reply"
)

// Version is that of the prompts of this package; it is part of the PromptVersion of
// the methods that use them.
const Version = "1"

// Options are what all methods of these phases have: embed them in a struct of
// options, see [methods.OptionsOf].
type Options struct {
	Retries         int `json:"retries" default:"2" min:"0" doc:"how often the model is asked again after an unusable reply"`
	MaxContextChars int `json:"max_context_chars" default:"0" min:"0" doc:"bytes of data that the prompt shows, from the start; 0 for all"`
	MaxTokens       int `json:"max_tokens" default:"0" min:"0" doc:"output limit of the call; 0 for the provider's own"`
}

// Common is the part of a method's options that all have.
func (o *Options) Common() *Options { return o }

// Judged is what methods that judge drafts or steps have beside [Options]: embed it, too.
type Judged struct {
	JudgedBy methods.ModelName `json:"judged_by" doc:"which of the experiment's models judges, by its name: judge for --model 'A?with.judge=B'; empty for the one that answers"`
}

// ErrNoAnswer says that every call succeeded and no reply held an answer.
var ErrNoAnswer = errors.New("no reply holds an answer")

// ErrNoPlan says that no reply held a plan that can be run: the trial ends Refused.
var ErrNoPlan = errors.New("no valid plan")

// answerPath is the call path of a question that takes one call, and of events about
// the answer.
const answerPath = "answer"

// Trial is one problem being solved.
type Trial struct {
	methods.Problem
	Host     methods.Host
	Question string // the problem as text: its data, its request, which answer is wanted
	options  *Options
	judges   Judged
}

// Start begins a trial: it reads p.Options into the struct that o points at, whose part
// common is, and refuses problems that cannot be answered. A ranking's K is set to all items where the problem leaves it open.
func Start(p methods.Problem, h methods.Host, o any, common *Options) (*Trial, error) {
	if err := methods.DecodeOptions(p, o); err != nil {
		return nil, err
	}
	t := &Trial{Problem: p, Host: h, options: common}
	if len(p.Options) > 0 {
		_ = json.Unmarshal(p.Options, &t.judges) // o has decoded them
	}
	spec := &t.Answer
	switch spec.Kind {
	case methods.Ranking:
		if spec.N < 1 {
			return nil, fmt.Errorf("cannot rank %d items", spec.N)
		}
		if spec.K < 1 || spec.K > spec.N {
			spec.K = spec.N
		}
	case methods.Choice:
		if len(spec.Labels) == 0 {
			return nil, errors.New("cannot choose: the problem has no labels")
		}
	case methods.Number, methods.Text, methods.Set, methods.Fields:
	default:
		return nil, fmt.Errorf("unknown answer kind %q", spec.Kind)
	}
	items, data, err := reply.DataOf(t.Context, spec.Kind)
	if err != nil {
		return nil, err
	}
	if limit := t.options.MaxContextChars; limit > 0 {
		items = t.cut("items", items, limit)
		data = t.cut("data", data, max(0, limit-len(items)))
	}
	t.Question = reply.Posed(t.Query, items, data, *spec)
	return t, nil
}

// cut shortens a part of the data to its first limit bytes.
func (t *Trial) cut(what, text string, limit int) string {
	short, cut := reply.Head(text, limit)
	if cut {
		t.Emit(answerPath, methods.Truncated, 1, nil, "%s: %d of %d bytes shown (head)", what, len(short), len(text))
	}
	return short
}

// Request is a greedy call with the trial's seed and output limit.
func (t *Trial) Request(path string, messages ...methods.Message) methods.Request {
	return methods.Request{Messages: messages, Sampling: methods.Sampling{Seed: t.Seed, MaxTokens: t.options.MaxTokens}, Path: path}
}

// judging is a call that judges: by the model that the option judged_by names.
func (t *Trial) judging(r methods.Request) methods.Request {
	r.By = string(t.judges.JudgedBy)
	return r
}

// Emit sends an event about a call path, whose first element is the phase. Data may be
// nil.
func (t *Trial) Emit(path string, kind methods.EventKind, level int, data any, format string, args ...any) {
	trial.Emit(t.Host, path, kind, level, data, format, args...)
}

// Patience is how often a call of the trial is asked again.
func (t *Trial) Patience() reply.Options { return reply.Options{Retries: t.options.Retries} }

// End is how a trial ends: by what was read or by err. A ranking that cannot be read
// is the ranking 1..K with the outcome Defaulted, any other answer none with the
// outcome Unparsed, or Refused for an [ErrNoPlan]. At the budget the outcome is
// OverBudget, again with 1..K for a ranking. Other errors are returned with the
// method's name. t may be nil after a [Start] that failed.
func (t *Trial) End(ctx context.Context, method string, r reply.Reading, err error) (methods.Answer, error) {
	if err == nil {
		if len(r.Dropped) > 0 {
			t.Emit(answerPath, methods.Dropped, 1, nil, "left out of the answer: %d values", len(r.Dropped))
		}
		return r.Answer, nil
	}
	unusable := methods.Unparsed
	if errors.Is(err, ErrNoPlan) {
		unusable = methods.Refused
	}
	outcome, ended := trial.Ending(ctx, method, err, unusable)
	if errors.Is(ended, ErrNoAnswer) {
		outcome, ended = methods.Unparsed, nil
	}
	if ended != nil {
		return methods.Answer{}, ended
	}
	a := reply.Fallback(t.Answer, outcome, trial.Without(outcome, err).Reason)
	if t.Answer.Kind == methods.Ranking {
		t.Emit(answerPath, methods.Fallback, 1, nil, "rank the items as they come: %s", reply.OneLine(a.Reason, 300))
	}
	return a, nil
}

// Lost reports whether err is a reply that could not be used, which a method may go on
// without, and emits that it is left out. Errors of the host are not lost: they end the
// trial.
func (t *Trial) Lost(ctx context.Context, path string, err error) bool {
	lost := errors.Is(err, reply.ErrInvalid) && ctx.Err() == nil
	if lost {
		t.Emit(path, methods.Dropped, 1, nil, "left out: %v", err)
	}
	return lost
}

// Each runs n steps at the same time and returns the error of the first that has one,
// in their order. It runs all of them whatever fails: the set of calls must not depend
// on which was faster.
func Each(n int, step func(i int) error) error {
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { errs[i] = step(i) })
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
