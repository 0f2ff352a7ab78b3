package wire

import (
	"encoding/json"
	"strings"
	"time"

	"noema/methods"
)

// clean makes a string fit for the wire: protobuf strings are valid UTF-8.
func clean[S ~string](s S) string { return strings.ToValidUTF8(string(s), "\uFFFD") }

func mapSlice[A, B any](in []A, f func(A) B) []B {
	if len(in) == 0 {
		return nil
	}
	out := make([]B, len(in))
	for i, a := range in {
		out[i] = f(a)
	}
	return out
}

// FromDescription converts a description for the wire.
func FromDescription(d methods.Description) *Description {
	return &Description{
		Name: clean(d.Name), Version: clean(d.Version), PromptVersion: clean(d.PromptVersion),
		Summary: clean(d.Summary), Answers: mapSlice(d.Answers, clean[methods.AnswerKind]),
		Options: mapSlice(d.Options, func(o methods.Option) *Option {
			return &Option{
				Name: clean(o.Name), Type: clean(o.Type), Default: clean(o.Default),
				Choices: mapSlice(o.Choices, clean[string]), Doc: clean(o.Doc),
			}
		}),
	}
}

// ToDescription is the inverse of FromDescription.
func ToDescription(d *Description) methods.Description {
	return methods.Description{
		Name: d.GetName(), Version: d.GetVersion(), PromptVersion: d.GetPromptVersion(), Summary: d.GetSummary(),
		Answers: mapSlice(d.GetAnswers(), func(s string) methods.AnswerKind { return methods.AnswerKind(s) }),
		Options: mapSlice(d.GetOptions(), func(o *Option) methods.Option {
			return methods.Option{
				Name: o.GetName(), Type: methods.OptionType(o.GetType()), Default: o.GetDefault(),
				Choices: o.GetChoices(), Doc: o.GetDoc(),
			}
		}),
	}
}

// FromProblem converts a problem for the wire.
func FromProblem(p methods.Problem) *Problem {
	return &Problem{
		Id: clean(p.ID), Query: clean(p.Query), Context: p.Context, Tools: mapSlice(p.Tools, fromToolSpec),
		Answer: &AnswerSpec{
			Kind: clean(p.Answer.Kind), N: int64(p.Answer.N), K: int64(p.Answer.K),
			Labels: mapSlice(p.Answer.Labels, clean[string]), Names: mapSlice(p.Answer.Names, clean[string]),
		},
		Seed: p.Seed, Options: p.Options,
	}
}

// ToProblem is the inverse of FromProblem.
func ToProblem(p *Problem) methods.Problem {
	a := p.GetAnswer()
	return methods.Problem{
		ID: p.GetId(), Query: p.GetQuery(), Context: raw(p.GetContext()), Tools: mapSlice(p.GetTools(), toToolSpec),
		Answer: methods.AnswerSpec{
			Kind: methods.AnswerKind(a.GetKind()), N: int(a.GetN()), K: int(a.GetK()), Labels: a.GetLabels(), Names: a.GetNames(),
		},
		Seed: p.GetSeed(), Options: raw(p.GetOptions()),
	}
}

// raw turns wire bytes into JSON, with nil for none, so that a value that
// crossed equals the one that did not.
func raw(b []byte) json.RawMessage {
	if len(b) == 0 {
		return nil
	}
	return b
}

// FromAnswer converts an answer for the wire.
func FromAnswer(a methods.Answer) *Answer {
	return &Answer{
		Value: a.Value, Outcome: clean(a.Outcome), Reason: clean(a.Reason),
		Evidence: mapSlice(a.Evidence, func(e methods.Evidence) *Evidence {
			return &Evidence{Source: clean(e.Source), Text: clean(e.Text)}
		}),
	}
}

// ToAnswer is the inverse of FromAnswer.
func ToAnswer(a *Answer) methods.Answer {
	return methods.Answer{
		Value: raw(a.GetValue()), Outcome: methods.Outcome(a.GetOutcome()), Reason: a.GetReason(),
		Evidence: mapSlice(a.GetEvidence(), func(e *Evidence) methods.Evidence {
			return methods.Evidence{Source: e.GetSource(), Text: e.GetText()}
		}),
	}
}

// FromEvent converts an event for the wire.
func FromEvent(e methods.Event) *Event {
	return &Event{
		Path: clean(e.Path), Phase: clean(e.Phase), Kind: clean(e.Kind), Text: clean(e.Text), Data: e.Data, Level: int64(e.Level),
	}
}

// ToEvent is the inverse of FromEvent.
func ToEvent(e *Event) methods.Event {
	return methods.Event{
		Path: e.GetPath(), Phase: e.GetPhase(), Kind: methods.EventKind(e.GetKind()), Text: e.GetText(),
		Data: raw(e.GetData()), Level: int(e.GetLevel()),
	}
}

// FromRequest converts a request for the wire.
func FromRequest(r methods.Request) *Request {
	s := r.Sampling
	out := &Request{
		Messages: mapSlice(r.Messages, func(m methods.Message) *Message {
			return &Message{
				Role: clean(m.Role), Content: clean(m.Content),
				ToolCalls: mapSlice(m.ToolCalls, FromToolCall), CallId: clean(m.CallID),
			}
		}),
		Sampling: &Sampling{
			Temperature: s.Temperature, TopP: s.TopP, TopK: int64(s.TopK), MaxTokens: int64(s.MaxTokens),
			Stop: mapSlice(s.Stop, clean[string]), Seed: s.Seed, Logprobs: int64(s.Logprobs),
		},
		Tools: mapSlice(r.Tools, fromToolSpec), Draw: int64(r.Draw), Path: clean(r.Path),
	}
	if r.Schema != nil {
		out.Schema = &Schema{Name: clean(r.Schema.Name), Json: r.Schema.JSON}
	}
	return out
}

// ToRequest is the inverse of FromRequest.
func ToRequest(r *Request) methods.Request {
	s := r.GetSampling()
	out := methods.Request{
		Messages: mapSlice(r.GetMessages(), func(m *Message) methods.Message {
			return methods.Message{
				Role: methods.Role(m.GetRole()), Content: m.GetContent(),
				ToolCalls: mapSlice(m.GetToolCalls(), ToToolCall), CallID: m.GetCallId(),
			}
		}),
		Sampling: methods.Sampling{
			Temperature: s.GetTemperature(), TopP: s.GetTopP(), TopK: int(s.GetTopK()), MaxTokens: int(s.GetMaxTokens()),
			Stop: s.GetStop(), Seed: s.GetSeed(), Logprobs: int(s.GetLogprobs()),
		},
		Tools: mapSlice(r.GetTools(), toToolSpec), Draw: int(r.GetDraw()), Path: r.GetPath(),
	}
	if r.Schema != nil {
		out.Schema = &methods.Schema{Name: r.Schema.GetName(), JSON: raw(r.Schema.GetJson())}
	}
	return out
}

// FromCompletion converts a completion for the wire.
func FromCompletion(c methods.Completion) *Completion {
	u := c.Usage
	return &Completion{
		Text: clean(c.Text), ToolCalls: mapSlice(c.ToolCalls, FromToolCall), Finish: clean(c.Finish), Model: clean(c.Model),
		Usage: &Usage{
			Calls: int64(u.Calls), ToolCalls: int64(u.ToolCalls), InputTokens: u.InputTokens, OutputTokens: u.OutputTokens,
			CostNanoUsd: int64(u.Cost), LatencyNs: int64(u.Latency), Unpriced: int64(u.Unpriced), Unmetered: int64(u.Unmetered),
			CachedTokens: u.CachedTokens, CacheWriteTokens: u.CacheWriteTokens, ReasoningTokens: u.ReasoningTokens,
		},
		Logprobs: mapSlice(c.Logprobs, fromLogprob),
	}
}

// ToCompletion is the inverse of FromCompletion.
func ToCompletion(c *Completion) methods.Completion {
	u := c.GetUsage()
	return methods.Completion{
		Text: c.GetText(), ToolCalls: mapSlice(c.GetToolCalls(), ToToolCall),
		Finish: methods.FinishReason(c.GetFinish()), Model: c.GetModel(),
		Usage: methods.Usage{
			Calls: int(u.GetCalls()), ToolCalls: int(u.GetToolCalls()), InputTokens: u.GetInputTokens(), OutputTokens: u.GetOutputTokens(),
			Cost: methods.NanoUSD(u.GetCostNanoUsd()), Latency: time.Duration(u.GetLatencyNs()),
			Unpriced: int(u.GetUnpriced()), Unmetered: int(u.GetUnmetered()),
			CachedTokens: u.GetCachedTokens(), CacheWriteTokens: u.GetCacheWriteTokens(), ReasoningTokens: u.GetReasoningTokens(),
		},
		Logprobs: mapSlice(c.GetLogprobs(), toLogprob),
	}
}

func fromLogprob(t methods.TokenLogprob) *TokenLogprob {
	return &TokenLogprob{Token: clean(t.Token), Bytes: t.Bytes, Logprob: t.Logprob, Top: mapSlice(t.Top, fromLogprob)}
}

func toLogprob(t *TokenLogprob) methods.TokenLogprob {
	return methods.TokenLogprob{Token: t.GetToken(), Bytes: raw(t.GetBytes()), Logprob: t.GetLogprob(), Top: mapSlice(t.GetTop(), toLogprob)}
}

func fromToolSpec(t methods.ToolSpec) *ToolSpec {
	return &ToolSpec{
		Name: clean(t.Name), Description: clean(t.Description), Parameters: t.Parameters, Result: t.Result, Pure: t.Pure,
	}
}

func toToolSpec(t *ToolSpec) methods.ToolSpec {
	return methods.ToolSpec{
		Name: t.GetName(), Description: t.GetDescription(), Parameters: raw(t.GetParameters()), Result: raw(t.GetResult()), Pure: t.GetPure(),
	}
}

// FromToolCall converts a tool call for the wire.
func FromToolCall(c methods.ToolCall) *ToolCall {
	return &ToolCall{Id: clean(c.ID), Name: clean(c.Name), Arguments: c.Arguments, Path: clean(c.Path)}
}

// ToToolCall is the inverse of FromToolCall.
func ToToolCall(c *ToolCall) methods.ToolCall {
	return methods.ToolCall{ID: c.GetId(), Name: c.GetName(), Arguments: raw(c.GetArguments()), Path: c.GetPath()}
}

// FromToolResult converts a tool result for the wire.
func FromToolResult(r methods.ToolResult) *ToolResult {
	return &ToolResult{Content: clean(r.Content), IsError: r.IsError}
}

// ToToolResult is the inverse of FromToolResult.
func ToToolResult(r *ToolResult) methods.ToolResult {
	return methods.ToolResult{Content: r.GetContent(), IsError: r.GetIsError()}
}
