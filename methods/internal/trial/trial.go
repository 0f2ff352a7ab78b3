// Package trial is what the methods have in common while each solves one
// problem: requests, events, steps that wait for each other, and how an error
// ends a trial.
package trial

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"noema/methods"
	"noema/methods/reply"
)

// Trial is one problem being solved.
type Trial struct {
	methods.Problem
	Host      methods.Host
	MaxTokens int // output limit of one call; 0 for the provider's own
}

// Start begins a trial: the problem's options go into opts, which has the output
// limit of a call at maxTokens.
func Start(p methods.Problem, h methods.Host, opts any, maxTokens *int) (Trial, error) {
	err := methods.DecodeOptions(p, opts)
	return Trial{Problem: p, Host: h, MaxTokens: *maxTokens}, err
}

// Request is a call with the trial's seed and output limit.
func (t Trial) Request(path string, messages ...methods.Message) methods.Request {
	return methods.Request{
		Messages: messages,
		Sampling: methods.Sampling{Seed: t.Seed, MaxTokens: t.MaxTokens},
		Path:     path,
	}
}

// Emit sends an event to the host; see [Emit].
func (t Trial) Emit(path string, kind methods.EventKind, level int, data any, format string, args ...any) {
	Emit(t.Host, path, kind, level, data, format, args...)
}

// Emit sends an event about a call path, whose first element is the phase. Data
// may be nil; a json.RawMessage is sent as it is.
func Emit(to methods.Tracer, path string, kind methods.EventKind, level int, data any, format string, args ...any) {
	phase, _, _ := strings.Cut(path, "/")
	e := methods.Event{Path: path, Phase: phase, Kind: kind, Level: level, Text: reply.OneLine(fmt.Sprintf(format, args...), 400)}
	raw, isRaw := data.(json.RawMessage)
	if !isRaw && data != nil {
		raw, _ = json.Marshal(data) // strings, numbers and lists of them always encode
	}
	e.Data = raw
	to.Emit(e)
}

// Ending says how a trial ends that err stopped: with an answer of the outcome
// OverBudget or, after replies that could not be used, unusable; otherwise
// without an answer, by the returned error, which names the method.
func Ending(ctx context.Context, method string, err error, unusable methods.Outcome) (methods.Outcome, error) {
	switch {
	case ctx.Err() != nil:
		err = ctx.Err()
	case errors.Is(err, methods.ErrMiss):
	case errors.Is(err, methods.ErrBudget):
		return methods.OverBudget, nil
	case errors.Is(err, reply.ErrRefused) && unusable != "":
		return methods.Refused, nil
	case errors.Is(err, reply.ErrInvalid) && unusable != "":
		return unusable, nil
	}
	return "", fmt.Errorf("%s: %w", method, err)
}

// Ended is how a trial ends that err stopped, by [Ending] and without a value.
func Ended(ctx context.Context, method string, err error, unusable methods.Outcome) (methods.Answer, error) {
	outcome, ended := Ending(ctx, method, err, unusable)
	if ended != nil {
		return methods.Answer{}, ended
	}
	return Without(outcome, err), nil
}

// Without is an answer without a value, for the reason of an error.
func Without(o methods.Outcome, cause error) methods.Answer {
	return methods.Answer{Outcome: o, Reason: reply.OneLine(cause.Error(), 1000)}
}

// Section writes a part of a prompt between a pair of tags.
func Section(b *strings.Builder, tag, text string) {
	fmt.Fprintf(b, "<%s>\n%s\n</%s>\n", tag, text, tag)
}

// Steps calls run for every step, each as soon as the steps that it needs have
// returned, and returns when all have. It runs all of them whatever fails: the
// set of calls must not depend on which step was faster.
func Steps(needs [][]int, run func(step int)) {
	done := make([]chan struct{}, len(needs))
	for i := range done {
		done[i] = make(chan struct{})
	}
	var all sync.WaitGroup
	for i, needed := range needs {
		all.Go(func() {
			defer close(done[i])
			for _, n := range needed {
				<-done[n]
			}
			run(i)
		})
	}
	all.Wait()
}
