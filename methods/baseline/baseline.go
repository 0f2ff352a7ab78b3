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
// All show the model all of the problem's data. Where the problem's tools can find
// what they hold, react and llm-compiler get the question alone, and search.
package baseline

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"noema/methods"
	"noema/methods/internal/trial"
	"noema/methods/reply"
)

// Method is one of the baselines. It has no state: one value serves any
// number of trials.
type Method struct {
	name    string
	version string // empty: "2"
	prompts string // version of its prompts; empty: "2"
	summary string
	answers []methods.AnswerKind // none: every kind
	tools   []string             // as in Description
	own     []string             // its options beside those of all
	prompt  string               // its own prompt, if another can be given in its place
	ask     func(context.Context, *solver, string) (reply.Reading, error)
}

var (
	_ methods.Method    = Method{}
	_ methods.Describer = Method{}
)

// All returns every baseline by name.
func All() map[string]methods.Method {
	all := map[string]methods.Method{}
	for _, m := range []Method{Direct(), CoT(), SelfConsistency(), PlanAndSolve(), ReAct(), LLMCompiler(), Listwise(), Pairwise()} {
		all[m.name] = m
	}
	return all
}

// Direct asks for the answer alone, as JSON under a schema, or for the likeliest
// label of a choice (see [askLikelihood]).
func Direct() Method {
	return Method{name: "direct", summary: "asks for the answer in one call", ask: askDirect, own: []string{"by", "prompt"}, prompt: directPrompt}
}

// CoT is chain of thought: it asks for reasoning step by step and for the
// answer on the last line.
//
// Source: Wei et al. 2022, with one example instead of eight, which is about
// something else and shows the form; the wording is that of Kojima et al. 2022.
func CoT() Method {
	return Method{
		name: "cot", prompts: "3", summary: "asks for reasoning step by step, then the answer, in one call", ask: askCoT,
		own: []string{"prompt", "example"}, prompt: cotPrompt,
	}
}

// options are the options of all baselines, see [methods.OptionsOf]; each has
// some of them, see names.
type options struct {
	Retries         int     `json:"retries" default:"2" min:"0" doc:"how often the model is asked again after an unusable reply"`
	MaxContextChars int     `json:"max_context_chars" default:"0" min:"0" doc:"bytes of data that the prompt shows, from the start; 0 for all"`
	MaxTokens       int     `json:"max_tokens" default:"0" min:"0" doc:"output limit of the call; 0 for the provider's own"`
	By              string  `json:"by" default:"reply" choices:"reply,likelihood" doc:"what decides a choice: the reply, or the label whose letter is likeliest, for models that give log probabilities"`
	Prompt          string  `json:"prompt" doc:"the prompt, or @FILE: {question} stands for the question with its data and an empty line, {form} for the form of the answer alone, such as number"`
	Example         bool    `json:"example" default:"true" doc:"whether an example with its reply comes first"`
	Draws           int     `json:"draws" default:"5" min:"1" max:"1000" doc:"how many chains of thought"`
	Temperature     float64 `json:"temperature" default:"0.7" min:"0" max:"2" doc:"temperature of the chains"`
	Steps           int     `json:"steps" default:"12" min:"1" max:"1000" doc:"turns before the answer is demanded"`
	Window          int     `json:"window" default:"20" min:"2" doc:"items that one call ranks"`
	Stride          int     `json:"stride" default:"10" min:"1" doc:"items by which the window moves, fewer than it has"`
	Passes          int     `json:"passes" default:"1" min:"1" max:"100" doc:"how often the window passes over the list"`
	Replans         int     `json:"replans" default:"1" min:"0" doc:"how many new plans the joiner may ask for"`
}

// names are those of the options that the method has.
func (m Method) names() []string {
	return append([]string{"retries", "max_context_chars", "max_tokens"}, m.own...)
}

// Describe implements [methods.Describer].
func (m Method) Describe() methods.Description {
	names := m.names()
	declared := methods.OptionsOf(options{})
	for i := range declared {
		if declared[i].Name == "prompt" {
			declared[i].Default = m.prompt
		}
	}
	return methods.Description{
		Name:          m.name,
		Version:       cmp.Or(m.version, "2"),
		PromptVersion: cmp.Or(m.prompts, "2"),
		Summary:       m.summary,
		Answers:       m.answers,
		Tools:         m.tools,
		Options:       slices.DeleteFunc(declared, func(o methods.Option) bool { return !slices.Contains(names, o.Name) }),
	}
}

// callPath is the call path of the one call.
const callPath = "answer"

// solver solves one problem.
type solver struct {
	trial.Trial
	opts options
}

// Solve implements [methods.Method]. A ranking that cannot be read is the
// ranking 1..K with the outcome Defaulted, any other answer none with the
// outcome Unparsed, or Refused where it was a plan that was wanted. At the budget the outcome is OverBudget, again with the
// ranking 1..K for a ranking.
func (m Method) Solve(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
	r, t, err := m.solve(ctx, p, h)
	if err == nil {
		if len(r.Dropped) > 0 {
			t.Emit(callPath, methods.Dropped, 1, nil, "left out of the answer: %d values", len(r.Dropped))
		}
		return r.Answer, nil
	}
	unusable := methods.Unparsed
	if errors.Is(err, errNoPlan) {
		unusable = methods.Refused
	}
	outcome, ended := trial.Ending(ctx, m.name, err, unusable)
	if errors.Is(ended, errNoAnswer) {
		outcome, ended = methods.Unparsed, nil
	}
	if ended != nil {
		return methods.Answer{}, ended
	}
	return t.fallback(outcome, err), nil
}

func (m Method) solve(ctx context.Context, p methods.Problem, h methods.Host) (r reply.Reading, t *solver, err error) {
	if t, err = m.newSolver(p, h); err != nil {
		return r, t, err
	}
	q, err := t.question()
	if err != nil {
		return r, t, err
	}
	r, err = m.ask(ctx, t, q)
	return r, t, err
}

// errNoAnswer says that every call succeeded and none gave an answer.
var errNoAnswer = errors.New("no reply holds an answer")

func (m Method) newSolver(p methods.Problem, h methods.Host) (*solver, error) {
	if err := m.known(p.Options); err != nil {
		return nil, err
	}
	t := &solver{}
	var err error
	if t.Trial, err = trial.Start(p, h, &t.opts, &t.opts.MaxTokens); err != nil {
		return nil, err
	}
	t.opts.Prompt = cmp.Or(t.opts.Prompt, m.prompt)
	if t.opts.Stride >= t.opts.Window {
		return nil, fmt.Errorf("option stride is %d: want less than the window of %d", t.opts.Stride, t.opts.Window)
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
	return t, nil
}

// known refuses options of other baselines.
func (m Method) known(given json.RawMessage) error {
	var set map[string]json.RawMessage
	_ = json.Unmarshal(given, &set) // DecodeOptions says what is wrong
	have := m.names()
	for _, name := range slices.Sorted(maps.Keys(set)) {
		if !slices.Contains(have, name) {
			return methods.UnknownOption(name, have)
		}
	}
	return nil
}

// fallback is the answer when there is none: for a ranking the items as they
// come, flagged.
func (t *solver) fallback(o methods.Outcome, cause error) methods.Answer {
	a := reply.Fallback(t.Answer, o, trial.Without(o, cause).Reason)
	if t.Answer.Kind == methods.Ranking {
		t.Emit(callPath, methods.Fallback, 1, nil, "rank the items as they come: %s", reply.OneLine(a.Reason, 300))
	}
	return a
}

// ask asks for an {"answer": …} of the form that spec says.
func (t *solver) ask(ctx context.Context, path, question string, spec methods.AnswerSpec) (reply.Reading, error) {
	req := t.Request(path, methods.Ask(inPlaces(cmp.Or(t.opts.Prompt, directPrompt), question, jsonForm(spec)))...)
	req.Schema = schema(spec)
	return reply.Final(ctx, t.Host, req, spec, reply.ObjectForm, reply.Options{Retries: t.opts.Retries})
}

// reason asks for a text that ends on a line with the answer.
func (t *solver) reason(ctx context.Context, req methods.Request, retries int) (reply.Reading, error) {
	return reply.Final(ctx, t.Host, req, t.Answer, reply.LineForm, reply.Options{Retries: retries})
}

func askDirect(ctx context.Context, t *solver, question string) (reply.Reading, error) {
	if t.opts.By == likelihood {
		return askLikelihood(ctx, t, question)
	}
	return t.ask(ctx, callPath, question, t.Answer)
}

func askCoT(ctx context.Context, t *solver, question string) (reply.Reading, error) {
	return t.reason(ctx, t.Request(callPath, t.conversation(question, false)...), t.opts.Retries)
}
