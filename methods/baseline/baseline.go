// Package baseline holds the methods that others are measured against, each as
// its paper has it, with what differs in its doc comment:
//
//	direct            asks for the answer                        every kind of answer
//	cot               asks for reasoning first                   every kind
//	self-consistency  several chains of thought, the majority    every kind
//	plan-and-solve    a plan, then its solution, in one call     every kind
//	react             thoughts and tool calls in turns           every kind
//	llm-compiler      one plan of tool calls, run in parallel    every kind
//	listwise          windows of a list, ranked and moved up     rankings
//	pairwise          items of a list compared two by two        rankings
//
// All show the model all of the problem's data.
package baseline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"noema/methods"
	"noema/methods/reply"
)

// Method is one of the baselines. It has no state: one value serves any
// number of trials.
type Method struct {
	name    string
	summary string
	answers []methods.AnswerKind // none: every kind
	options []methods.Option     // beside those of all
	ask     func(context.Context, *trial, string) (reading, error)
}

var (
	_ methods.Method    = Method{}
	_ methods.Describer = Method{}
)

// All returns every baseline by name.
func All() map[string]methods.Method {
	all := map[string]methods.Method{}
	for _, m := range []Method{direct(), cot(), selfConsistency(), planAndSolve(), react(), compiler(), listwise(), pairwise()} {
		all[m.name] = m
	}
	return all
}

// Direct asks for the answer alone, as JSON under a schema.
func Direct() methods.Method { return direct() }

func direct() Method {
	return Method{name: "direct", summary: "asks for the answer in one call", ask: askDirect}
}

// CoT is chain of thought: it asks for reasoning step by step and for the
// answer on the last line.
//
// Source: Wei et al. 2022, in the zero-shot form of Kojima et al. 2022.
// Differs: the answer is asked for in the same call, on a marked line.
func CoT() methods.Method { return cot() }

func cot() Method {
	return Method{name: "cot", summary: "asks for reasoning step by step, then the answer, in one call", ask: askCoT}
}

// options are the options of all methods with their names as users write
// them.
type options struct {
	Retries         int     `json:"retries"`
	MaxContextChars int     `json:"max_context_chars"`
	MaxTokens       int     `json:"max_tokens"`
	Draws           int     `json:"draws"`
	Temperature     float64 `json:"temperature"`
	Steps           int     `json:"steps"`
	Window          int     `json:"window"`
	Stride          int     `json:"stride"`
	Passes          int     `json:"passes"`
	Replans         int     `json:"replans"`
}

// common are the options that every baseline has.
func common() []methods.Option {
	return []methods.Option{
		{Name: "retries", Type: methods.IntOption, Default: strconv.Itoa(reply.DefaultRetries), Doc: "how often the model is asked again after an unusable reply"},
		{Name: "max_context_chars", Type: methods.IntOption, Default: "0", Doc: "bytes of data that the prompt shows, from the start; 0 for all"},
		{Name: "max_tokens", Type: methods.IntOption, Default: "0", Doc: "output limit of the call; 0 for the provider's own"},
	}
}

// Describe implements [methods.Describer].
func (m Method) Describe() methods.Description {
	return methods.Description{
		Name:          m.name,
		Version:       "1",
		PromptVersion: promptVersion,
		Summary:       m.summary,
		Answers:       m.answers,
		Options:       append(common(), m.options...),
	}
}

// callPath is the call path of the one call.
const callPath = "answer"

// trial is one problem being solved.
type trial struct {
	methods.Problem
	host methods.Host
	opts options
}

// reading is an answer as it was read, and what was left out of it.
type reading struct {
	answer  methods.Answer
	dropped []string
}

// Solve implements [methods.Method]. A ranking that cannot be read is the
// ranking 1..K with the outcome Defaulted, any other answer none with the
// outcome Unparsed. At the budget the outcome is OverBudget, again with the
// ranking 1..K for a ranking.
func (m Method) Solve(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
	t, err := m.newTrial(p, h)
	if err != nil {
		return methods.Answer{}, fmt.Errorf("%s: %w", m.name, err)
	}
	q, err := t.question()
	if err != nil {
		return methods.Answer{}, fmt.Errorf("%s: %w", m.name, err)
	}
	r, err := m.ask(ctx, t, q)
	switch {
	case err == nil:
		if len(r.dropped) > 0 {
			t.emit(methods.Dropped, "left out of the answer: %d values", len(r.dropped))
		}
		return r.answer, nil
	case ctx.Err() != nil:
		err = ctx.Err()
	case errors.Is(err, methods.ErrMiss):
	case errors.Is(err, methods.ErrBudget):
		return t.fallback(methods.OverBudget, err), nil
	case errors.Is(err, reply.ErrInvalid), errors.Is(err, errNoAnswer):
		return t.fallback(methods.Unparsed, err), nil
	case errors.Is(err, errNoPlan):
		return t.fallback(methods.Refused, err), nil
	}
	return methods.Answer{}, fmt.Errorf("%s: %w", m.name, err)
}

// Why a method came to nothing without an error.
var (
	errNoAnswer = errors.New("no reply holds an answer")
	errNoPlan   = errors.New("no valid plan")
)

func (m Method) newTrial(p methods.Problem, h methods.Host) (*trial, error) {
	t := &trial{Problem: p, host: h, opts: options{
		Retries: reply.DefaultRetries, Draws: 5, Temperature: 0.7, Steps: 12, Window: 20, Stride: 10, Passes: 1, Replans: 1,
	}}
	if err := m.known(p.Options); err != nil {
		return nil, err
	}
	if err := methods.DecodeOptions(p, &t.opts); err != nil {
		return nil, err
	}
	if err := t.opts.check(); err != nil {
		return nil, err
	}
	spec := &t.Answer
	switch spec.Kind {
	case methods.Ranking:
		if spec.N < 1 {
			return nil, fmt.Errorf("a ranking of %d items is none", spec.N)
		}
		if spec.K < 1 || spec.K > spec.N {
			spec.K = spec.N
		}
	case methods.Choice:
		if len(spec.Labels) == 0 {
			return nil, errors.New("a choice without labels is none")
		}
	case methods.Number, methods.Text, methods.Set, methods.Fields:
	default:
		return nil, fmt.Errorf("unknown answer kind %q", spec.Kind)
	}
	return t, nil
}

// known refuses options of other baselines.
func (m Method) known(given json.RawMessage) error {
	var set map[string]json.RawMessage
	if len(given) == 0 || json.Unmarshal(given, &set) != nil {
		return nil // DecodeOptions tells what is wrong
	}
	have := append(common(), m.options...)
	for name := range set {
		if !slices.ContainsFunc(have, func(o methods.Option) bool { return o.Name == name }) {
			return fmt.Errorf("unknown option %q", name)
		}
	}
	return nil
}

func (o options) check() error {
	switch {
	case o.Retries < 0 || o.MaxContextChars < 0 || o.MaxTokens < 0 || o.Replans < 0:
		return errors.New("options retries, max_context_chars, max_tokens and replans: want 0 or more")
	case o.Draws < 1 || o.Steps < 1 || o.Passes < 1:
		return errors.New("options draws, steps and passes: want 1 or more")
	case o.Draws > 1000 || o.Steps > 1000 || o.Passes > 100:
		return errors.New("options draws and steps: want at most 1,000, and passes 100")
	case o.Temperature < 0 || o.Temperature > 2:
		return errors.New("option temperature: want 0 to 2")
	case o.Window < 2 || o.Stride < 1 || o.Stride >= o.Window:
		return errors.New("options window and stride: want a window of 2 or more and a stride of 1 or more below it")
	}
	return nil
}

// fallback is the answer when there is none: for a ranking the items as they
// come, flagged.
func (t *trial) fallback(o methods.Outcome, cause error) methods.Answer {
	reason := reply.OneLine(cause.Error(), 1000)
	if t.Answer.Kind != methods.Ranking {
		return methods.Answer{Outcome: o, Reason: reason}
	}
	if o == methods.Unparsed {
		o = methods.Defaulted
	}
	t.emit(methods.Fallback, "rank the items as they come: %s", reply.OneLine(reason, 300))
	items := make([]int, t.Answer.K)
	for i := range items {
		items[i] = i + 1
	}
	return methods.RankingAnswer(items).As(o, reason)
}

func (t *trial) emit(kind methods.EventKind, format string, args ...any) {
	t.emitAt(callPath, kind, format, args...)
}

// emitAt sends an event of the phase that path begins with.
func (t *trial) emitAt(path string, kind methods.EventKind, format string, args ...any) {
	phase, _, _ := strings.Cut(path, "/")
	t.host.Emit(methods.Event{Path: path, Phase: phase, Kind: kind, Text: reply.OneLine(fmt.Sprintf(format, args...), 400), Level: 1})
}

func (t *trial) request(prompt string) methods.Request {
	return methods.Request{
		Messages: methods.Ask(prompt),
		Sampling: methods.Sampling{Seed: t.Seed, MaxTokens: t.opts.MaxTokens},
		Path:     callPath,
	}
}

func askDirect(ctx context.Context, t *trial, question string) (r reading, err error) {
	req := t.request(directPrompt(question, t.Answer))
	req.Schema = schema(t.Answer)
	check := func(raw json.RawMessage) (err error) {
		var body struct{ Answer json.RawMessage }
		if err := json.Unmarshal(raw, &body); err != nil {
			return err
		}
		r, err = fromJSON(body.Answer, t.Answer)
		return err
	}
	_, _, err = reply.JSON(ctx, t.host, req, check, reply.Options{Retries: t.opts.Retries})
	return r, err
}

func askCoT(ctx context.Context, t *trial, question string) (r reading, err error) {
	parse := func(text string) (err error) {
		r, err = fromText(text, t.Answer)
		return err
	}
	req := t.request(cotPrompt(question, t.Answer))
	_, _, err = reply.Text(ctx, t.host, req, parse, reply.Options{Retries: t.opts.Retries})
	return r, err
}
