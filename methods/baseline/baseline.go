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
	"fmt"
	"maps"
	"slices"

	"noema/methods"
	"noema/methods/phases"
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
	return Method{name: "direct", summary: "asks for the answer in one call", ask: askDirect, own: []string{"by", "prompt"}, prompt: phases.DirectPrompt}
}

// CoT is chain of thought: it asks for reasoning step by step and for the
// answer on the last line.
//
// Source: Wei et al. 2022, with one example instead of eight, which is about
// something else and shows the form; the wording is that of Kojima et al. 2022.
func CoT() Method {
	return Method{
		name: "cot", prompts: "3", summary: "asks for reasoning step by step, then the answer, in one call", ask: askCoT,
		own: []string{"prompt", "example"}, prompt: phases.ReasonPrompt,
	}
}

// options are the options of all baselines, see [methods.OptionsOf]; each has
// some of them, see names.
type options struct {
	phases.Options
	By          string  `json:"by" default:"reply" choices:"reply,likelihood" doc:"what decides a choice: the reply, or the label whose letter is likeliest, for models that give log probabilities"`
	Prompt      string  `json:"prompt" doc:"the prompt, or @FILE: {question} stands for the question with its data and an empty line, {form} for the form of the answer alone, such as number"`
	Example     bool    `json:"example" default:"true" doc:"whether an example with its reply comes first"`
	Draws       int     `json:"draws" default:"5" min:"1" max:"1000" doc:"how many chains of thought"`
	Temperature float64 `json:"temperature" default:"0.7" min:"0" max:"2" doc:"temperature of the chains"`
	Steps       int     `json:"steps" default:"12" min:"1" max:"1000" doc:"turns before the answer is demanded"`
	Window      int     `json:"window" default:"20" min:"2" doc:"items that one call ranks"`
	Stride      int     `json:"stride" default:"10" min:"1" doc:"items by which the window moves, fewer than it has"`
	Passes      int     `json:"passes" default:"1" min:"1" max:"100" doc:"how often the window passes over the list"`
	Replans     int     `json:"replans" default:"1" min:"0" doc:"how many new plans the joiner may ask for"`
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
	*phases.Trial
	opts options
}

// Solve implements [methods.Method]; see [phases.Trial.End] for how it ends without an
// answer.
func (m Method) Solve(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
	t, err := m.newSolver(p, h)
	if err != nil {
		return t.End(ctx, m.name, reply.Reading{}, err)
	}
	r, err := m.ask(ctx, t, t.Question)
	return t.End(ctx, m.name, r, err)
}

func (m Method) newSolver(p methods.Problem, h methods.Host) (t *solver, err error) {
	t = &solver{}
	if err := m.known(p.Options); err != nil {
		return t, err
	}
	if t.Trial, err = phases.Start(p, h, &t.opts, &t.opts.Options); err != nil {
		return t, err
	}
	t.opts.Prompt = cmp.Or(t.opts.Prompt, m.prompt)
	if t.opts.Stride >= t.opts.Window {
		return t, fmt.Errorf("option stride is %d: want less than the window of %d", t.opts.Stride, t.opts.Window)
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

// ask asks for an {"answer": …} of the form that spec says.
func (t *solver) ask(ctx context.Context, path, question string, spec methods.AnswerSpec) (reply.Reading, error) {
	req := t.Request(path, methods.Ask(phases.Fill(cmp.Or(t.opts.Prompt, phases.DirectPrompt), question, phases.JSONForm(spec)))...)
	req.Schema = phases.Schema(spec)
	return reply.Final(ctx, t.Host, req, spec, reply.ObjectForm, t.Patience())
}

// conversation asks the question by the method's prompt of reasoning.
func (t *solver) conversation(planned bool) []methods.Message {
	return t.Conversation(t.opts.Prompt, t.opts.Example, planned)
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

func askCoT(ctx context.Context, t *solver, _ string) (reply.Reading, error) {
	return t.reason(ctx, t.Request(callPath, t.conversation(false)...), t.opts.Retries)
}
