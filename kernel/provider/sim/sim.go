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
// Only the text of the messages. It recognises a prompt by the first line of
// the first user message:
//
//   - ANoT: phases 1 and 2, the condition steps and the final step of phase 3
//   - General ANoT: compile, and extract from one review
//   - AoT: plan, and plan again, for answers that are numbers
//   - direct and chain of thought: rankings, fields answers to a policy,
//     numbers
//
// It reads requests, policies, reviews and stories with the packages words of
// the tasks, which know the wording of generated texts and of no others. Items
// it judges, and policies it computes, from what the prompt shows. It sees no
// target, no sample id, no call path. To every other prompt it says that it
// cannot answer.
//
// # How it errs
//
// Each elementary reading goes wrong with a fixed probability, by itself:
//
//	extract  ANoT phase 1: a condition is misread or lost
//	build    ANoT phase 2: a step leaves an item out or names a wrong field
//	judge    ANoT phase 3: the verdict on one item and one condition is reversed
//	rank     ANoT final step: two neighbours in the ranking change places
//	compile  General ANoT: one formula or the verdict's threshold is misread; one
//	         field, or one value of it, is lost
//	review   General ANoT: one field of one review gets another of its values
//	plan     AoT: one step has another number or another operation, or is lost
//	read     direct, cot: the verdict on one item and one condition is reversed;
//	         one field of one review gets another of its values; one step of a
//	         calculation goes wrong as in a plan
//	format   any prompt: the reply is prose without an answer
//
// Some of these errors a validator can see, such as a lost field that formulas
// still use, or a step whose result nothing needs any more. A number misread
// as 0 can become a divisor. The others pass, as they do with real models.
//
// Whether one does is decided by a hash of the conversation, the schema and
// tools, the sampling seed, the draw and the place of the reading in it. So
// the same request errs in the same way for ever, another seed or draw errs
// anew, and two methods that ask the same question get the same answer. A
// re-asked prompt is another conversation, so it is read afresh.
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

	"noema/kernel/provider"
	"noema/methods"
)

// Kind is the provider's name; it serves one model, which has no name.
const Kind = "sim"

// The prices, in nano-dollars per token: $0.10 and $0.40 per million.
const (
	InputPrice  methods.NanoUSD = 100
	OutputPrice methods.NanoUSD = 400
)

// CannotAnswer is the reply to a prompt that the simulation does not know.
const CannotAnswer = "I am a simulated model and cannot answer this."

// malformedReply is what a format error looks like.
const malformedReply = "Sure! I looked at everything with care, and there are several good options here; which one fits best depends on what matters most to you."

// Provider is the simulated model. It has no state.
type Provider struct{ options Options }

var _ provider.Provider = Provider{}

// New makes a simulated model.
func New(o Options) (Provider, error) {
	if err := o.check(); err != nil {
		return Provider{}, err
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
	text := answer(r.Messages, n)
	if n.errs(format) {
		text = malformedReply
	}
	text, finish := cut(text, r.Sampling)
	return methods.Completion{Text: text, Finish: finish, Model: Kind, Usage: meter(r, text, n)}, nil
}

// answer is what the model says, format errors aside.
func answer(messages []methods.Message, n noise) string {
	prompt, turns := conversation(messages)
	head, rest, _ := strings.Cut(prompt, "\n")
	var text string
	var ok bool
	switch {
	case head == "ANoT phase 1: extract the strategy.":
		text, ok = extractStrategy(rest, n)
	case head == "ANoT phase 2: build the LWT.":
		text, ok = buildLWT(rest, turns, n)
	case strings.HasPrefix(head, "Check condition "):
		text, ok = checkCondition(head, rest, n)
	case strings.HasPrefix(head, "Rank the items 1 to "):
		text, ok = rankItems(head, rest, n)
	case head == "Answer directly (ranking).":
		text, ok = answerDirectly(rest, n)
	case head == "Reason, then answer (ranking).", head == "Plan, solve, then answer (ranking).":
		text, ok = reason(rest, n)
	case head == "General ANoT: compile the policy.":
		text, ok = compileSeed(rest, n)
	case head == "General ANoT: extract from one review.":
		text, ok = extractFields(rest, n)
	case head == "Answer directly (fields).":
		text, ok = answerFields(rest, n)
	case head == "Reason, then answer (fields).", head == "Plan, solve, then answer (fields).":
		text, ok = reasonFields(rest, n)
	case head == "AoT: make a plan.":
		text, ok = planAtoms(rest, n)
	case head == "Answer directly (number).":
		text, ok = answerNumber(rest, n)
	case head == "Reason, then answer (number).", head == "Plan, solve, then answer (number).":
		text, ok = reasonNumber(rest, n)
	default:
		text, ok = answerWithTools(head, rest, turns, n)
	}
	if !ok {
		return CannotAnswer
	}
	return text
}

// answerWithTools is what the model says where methods offer tools or articles.
func answerWithTools(head, rest string, turns []methods.Message, n noise) (text string, ok bool) {
	switch {
	case head == "Research Tree: choose the next action.":
		text, ok = research(rest, n)
	case head == "Research Tree: answer now.":
		text, ok = answerNow(rest)
	case head == "Answer directly (text).", head == "Join the results (text).", head == "Think, act and observe in turns (text).":
		text, ok = answerFromArticles(rest, n)
	case head == "Reason, then answer (text).", head == "Plan, solve, then answer (text).":
		text, ok = reasonFromArticles(rest, n)
	case head == "Engine Planner: extract facts from a query.":
		text, ok = evaluateQuery(rest, n)
	case asksLogs(rest) && strings.HasPrefix(head, "Think, act and observe in turns ("):
		text, ok = searchInTurns(rest, turns, n)
	case asksLogs(rest) && strings.HasPrefix(head, "Plan tool calls"):
		text, ok = planSearch(rest, n)
	case strings.HasPrefix(head, "Join the results (") && strings.Contains(rest, "search_logs("):
		text, ok = joinSearch(rest)
	case head == "Think, act and observe in turns (number).":
		text, ok = actInTurns(rest, turns, n)
	case strings.HasPrefix(head, "Think, act and observe in turns ("):
		text, ok = answerOf(head, rest, n)
	case head == "Plan tool calls that run in parallel.":
		text, ok = planCalls(rest, n)
	case head == "Join the results (number).":
		text, ok = joinNumber(rest, n)
	case strings.HasPrefix(head, "Join the results ("):
		text, ok = answerOf(head, rest, n)
	}
	return text, ok
}

// conversation splits messages into the first user message, which tells the
// kind of prompt, and what was said after it.
func conversation(messages []methods.Message) (prompt string, after []methods.Message) {
	for i, m := range messages {
		if m.Role == methods.User {
			return m.Content, messages[i+1:]
		}
	}
	return "", nil
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
	jitter := 800 + int64(n.below(401, latency)) // thousandths
	u.Latency = time.Duration(int64(base) / 1000 * jitter)
	return u
}
