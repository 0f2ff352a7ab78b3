// Package sim is a simulated model: a program that answers the prompts of the
// built-in methods. It is what runs on a machine without a key.
//
// It is not a language model, and what it scores says nothing about any. It
// exists to develop methods and to test the whole road without cost, and to
// study how errors of single steps travel through a method: its errors have
// known rates, are independent of each other and come back exactly.
//
// # What it reads
//
// Only the request: what no prompt showed is in no reply, which a test holds. It answers every prompt in which it finds the whole
// question of a generated task with the data that the question needs: a request
// for a cafe with the items, a policy with the reviews, a story, a Game of 24, a question over
// articles or with tools that find them, a question about logs with the tools. The reply has the form that the
// request's schema, its tools or the prompt's own lines ask for, see [reply.go].
// Beyond that it knows the dialogues of ANoT, General ANoT, AoT, Engine Planner,
// Research Tree and of the tool-using baselines by their structure: sections
// between tags, keys of the JSON that is wanted, lines of a strategy. So it knows what
// package phases has a model do: propose a next step, judge, vote, criticise and merge.
//
// It reads questions with the tasks' own packages, which know the wording of
// generated texts and of no others. It sees no target, no sample id, no call
// path. To every other prompt it says [provider.NotUnderstood], which runs count.
//
// # How it errs
//
// Each elementary step goes wrong with the rate of its kind, by itself. The kinds go by
// what is done, and apply to every method that has a model do it:
//
//	request  what is asked for is read: one condition of a request, one formula, the
//	         threshold or one field of a policy, one step of a story, one hop, query or
//	         errand is misread or lost. direct and cot read it in their one prompt, ANoT in
//	         phase 1, General ANoT when it compiles, AoT and llm-compiler when they plan,
//	         react and Research Tree in their turns, Engine Planner in its call
//	judge    what data say is read: one value is held to one condition, one review to
//	         some words or to one field of a policy, one text to where a relation leads;
//	         one reservation that must be given back is overlooked. ANoT's phase 3 and
//	         General ANoT's extraction do it one by one, direct and cot all at once
//	compute  what no machine computes is worked out: one step of a story, one term of a
//	         policy, one sum or count is off by one; two neighbours in a ranking change places
//	write    what a machine will run is written: one step of an LWT leaves an item out or
//	         looks at other data, one formula of a Formula Seed or of a plan is another,
//	         one planned call is lost or has another operation, one hold does not say how it
//	         is undone. Only methods that write programs can err so
//	format   the reply is prose without an answer; any prompt
//
// Who judges, criticises or merges earlier work reads the question afresh, so that its
// errors are not those of the work; a language model's often are.
//
// A method thus errs only where it has a model work, and a machine in its place errs
// never. Some of these errors a validator can see, such as a lost field that formulas
// still use, or a step whose result nothing needs any more. A number misread
// as 0 can become a divisor. The others pass, as they do with real models.
//
// The rates do not depend on how much a prompt asks for at once, though a language
// model's do: that dividing work makes each part easier is what the simulation leaves out.
//
// Whether a step goes wrong is decided by a hash. For request, judge and compute it is of
// the sampling seed, the draw, and the fact that the step is about, such as a condition
// and the number and value of an item: so two methods misread the same fact of the same
// sample alike, however they ask. For the others it is of the conversation, the schema
// and the tools. A prompt that is asked again, since its reply could not be used, is read
// afresh. The same request errs in the same way for ever.
//
// # What it costs
//
// A token is four bytes, rounded up. A call costs [InputPrice] and
// [OutputPrice] a token. Its latency is recorded and never waited for:
//
//	(200 ms + 0.05 ms × input tokens + 8 ms × output tokens) × j
//
// with j between 0.8 and 1.2, drawn from the same hash.
package sim

import (
	"context"
	"fmt"
	"strings"
	"time"

	"noema/kernel/model/provider"
	"noema/methods"
)

// Kind is the provider's name; it serves one model, which has no name.
const Kind = "sim"

// The prices, in nano-dollars per token: $0.10 and $0.40 per million.
const (
	InputPrice  methods.NanoUSD = 100
	OutputPrice methods.NanoUSD = 400
)

// malformedReply is what a format error looks like.
const malformedReply = "Sure! I looked at everything with care, and there are several good options here; which one fits best depends on what matters most to you."

// Provider is the simulated model. It has no state.
type Provider struct{ options Options }

var _ provider.Provider = Provider{}

// New makes a simulated model.
func New(o Options) (Provider, error) {
	for _, rate := range o.rates() {
		if !(rate >= 0 && rate <= 1) {
			return Provider{}, fmt.Errorf("sim: the error rate %v is not between 0 and 1", rate)
		}
	}
	return Provider{o}, nil
}

// Info describes the model. Its options are part of its identity.
func (p Provider) Info() provider.Info {
	return provider.Info{
		ID:             methods.ModelID{Provider: Kind, Config: p.options.String()},
		Simulated:      true,
		MaxConnections: 64,
	}
}

// Complete answers a prompt. It fails only if ctx ended.
func (p Provider) Complete(ctx context.Context, r methods.Request) (methods.Completion, error) {
	if err := ctx.Err(); err != nil {
		return methods.Completion{}, fmt.Errorf("sim: %w", err)
	}
	if err := provider.NoLogprobs(Kind, r.Sampling); err != nil {
		return methods.Completion{}, err
	}
	n := newNoise(p.options.rates(), r)
	text, calls := answer(r, n)
	if n.errs(format) {
		text, calls = malformedReply, nil
	}
	text, finish := cut(text, r.Sampling)
	if calls != nil {
		finish = methods.FinishTools
	}
	return methods.Completion{Text: text, ToolCalls: calls, Finish: finish, Model: Kind, Usage: meter(r, text, n)}, nil
}

// answer is what the model says, format errors aside.
func answer(r methods.Request, n noise) (string, []methods.ToolCall) {
	for _, p := range newPrompts(r) {
		n.attempt = p.reasked()
		if call, ok := p.callTool(n); ok {
			return "", []methods.ToolCall{call}
		}
		if text, ok := dialogue(p, n); ok {
			return text, nil
		}
	}
	return provider.NotUnderstood, nil
}

// dialogue answers the prompts of methods with a dialogue of their own, which
// it knows by their sections and by the keys and marks that the reply should
// have, and every other prompt by the question in it.
func dialogue(p prompt, n noise) (string, bool) {
	if text, ok := deliberate(p, n); ok {
		return text, true
	}
	head, rest, _ := strings.Cut(p.text, "\n")
	switch {
	case p.wants("```python\n"):
		return writeProgram(p, n)
	case checkLine.MatchString(head) && strings.Contains(head, labelMark):
		return checkLabels(p, n)
	case checkLine.MatchString(head): // a step that buildLWT wrote
		return checkCondition(head, rest, n)
	case strings.HasPrefix(head, finalStep): // as well
		return rankItems(head, rest, n)
	case p.wants("===STRATEGY===") && p.wants(labelMark):
		return labelStrategy(p)
	case p.has("strategy") && p.wants("Data by name: "):
		return buildLabels(p)
	case p.wants("===STRATEGY==="):
		return extractStrategy(p.text, n)
	case p.has("strategy"):
		return buildLWT(p.text, p.after, n)
	case p.has("structure"):
		return compileStep(p, n)
	case p.wants("signals") && p.wants("output_fields"):
		return planStructure(p, n)
	case p.wants(`compute_dag`):
		return compileSeed(p, n)
	case p.has("review") && p.has("fields"):
		return extractFields(p.text, "review", n)
	case p.has("text") && p.has("fields"):
		return extractFields(p.text, "text", n)
	case p.wants(`"query_type"`):
		return evaluateQuery(p.text, n)
	case p.has("tree") && p.wants(`"tool"`):
		return research(p.text, n)
	case p.has("tree"):
		return answerNow(p.text, n)
	case p.has("text") && p.has("question"):
		return answerFrom(p, n)
	case p.wants(`{"atoms": [`) && p.has("decisions"):
		return planAtoms(p, n)
	case p.wants(`{"calls": [`) && p.has("tools"):
		return planCalls(p, n)
	case p.has("results"):
		return joinResults(p, n)
	case p.wants(`"thought"`) && p.wants(`"answer"`):
		return actInTurns(p, n)
	}
	return p.reply(n)
}

// cut applies the limits that a real model would obey.
func cut(text string, s methods.Sampling) (string, methods.FinishReason) {
	for _, stop := range s.Stop {
		if i := strings.Index(text, stop); stop != "" && i >= 0 {
			text = text[:i]
		}
	}
	if s.MaxTokens > 0 && tokens(len(text)) > int64(s.MaxTokens) {
		return strings.ToValidUTF8(text[:s.MaxTokens*bytesPerToken], ""), methods.FinishLength
	}
	return text, methods.FinishStop
}

const bytesPerToken = 4

func tokens(bytes int) int64 { return int64(bytes+bytesPerToken-1) / bytesPerToken }

func meter(r methods.Request, text string, n noise) methods.Usage {
	size := 0
	for _, m := range r.Messages {
		size += len(m.Content)
		for _, c := range m.ToolCalls {
			size += len(c.Name) + len(c.Arguments)
		}
	}
	u := methods.Usage{Calls: 1, InputTokens: tokens(size), OutputTokens: tokens(len(text))}
	u.Cost = InputPrice*methods.NanoUSD(u.InputTokens) + OutputPrice*methods.NanoUSD(u.OutputTokens)
	base := 200*time.Millisecond +
		50*time.Microsecond*time.Duration(u.InputTokens) +
		8*time.Millisecond*time.Duration(u.OutputTokens)
	jitter := 800 + int64(n.below(401, latency, 0)) // thousandths
	u.Latency = time.Duration(int64(base) / 1000 * jitter)
	return u
}
