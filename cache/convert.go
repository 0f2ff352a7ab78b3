package cache

import (
	"time"

	"noema/cache/internal/recordpb"
	"noema/methods"
)

// Conversions between the vocabulary and its stored form. Empty and nil
// slices are one in the store and come back as nil.

func completionToPB(r CompletionRecord) *recordpb.Completion {
	return &recordpb.Completion{
		Text:      r.Completion.Text,
		ToolCalls: each(r.Completion.ToolCalls, callToPB),
		Finish:    string(r.Completion.Finish),
		Model:     r.Completion.Model,
		Usage:     usageToPB(r.Completion.Usage),
		Attempts:  each(r.Attempts, attemptToPB),
		At:        timeToPB(r.At),
		Draw:      int64(r.Draw),
		Epoch:     int64(r.Epoch),
		Logprobs:  each(r.Completion.Logprobs, logprobToPB),
	}
}

func completionFromPB(p *recordpb.Completion) CompletionRecord {
	return CompletionRecord{
		Completion: methods.Completion{
			Text:      p.GetText(),
			ToolCalls: each(p.GetToolCalls(), callFromPB),
			Finish:    methods.FinishReason(p.GetFinish()),
			Model:     p.GetModel(),
			Usage:     usageFromPB(p.GetUsage()),
			Logprobs:  each(p.GetLogprobs(), logprobFromPB),
		},
		Attempts: each(p.GetAttempts(), attemptFromPB),
		At:       timeFromPB(p.GetAt()),
		Draw:     int(p.GetDraw()),
		Epoch:    int(p.GetEpoch()),
	}
}

func requestToPB(id methods.ModelID, r methods.Request) *recordpb.Request {
	p := &recordpb.Request{
		Model: &recordpb.ModelID{
			Provider: id.Provider,
			Endpoint: id.Endpoint,
			Model:    id.Model,
			Weights:  id.Weights,
			Config:   id.Config,
		},
		Messages: each(r.Messages, messageToPB),
		Sampling: &recordpb.Sampling{
			Temperature: r.Sampling.Temperature,
			TopP:        r.Sampling.TopP,
			TopK:        int64(r.Sampling.TopK),
			MaxTokens:   int64(r.Sampling.MaxTokens),
			Stop:        r.Sampling.Stop,
			Seed:        r.Sampling.Seed,
			Logprobs:    int64(r.Sampling.Logprobs),
		},
		Tools: each(r.Tools, toolToPB),
		Draw:  int64(r.Draw),
		Path:  r.Path,
	}
	if r.Schema != nil {
		p.Schema = &recordpb.Schema{Name: r.Schema.Name, Json: r.Schema.JSON}
	}
	return p
}

func requestFromPB(p *recordpb.Request) (methods.ModelID, methods.Request) {
	id, s := p.GetModel(), p.GetSampling()
	r := methods.Request{
		Messages: each(p.GetMessages(), messageFromPB),
		Sampling: methods.Sampling{
			Temperature: s.GetTemperature(),
			TopP:        s.GetTopP(),
			TopK:        int(s.GetTopK()),
			MaxTokens:   int(s.GetMaxTokens()),
			Stop:        s.GetStop(),
			Seed:        s.GetSeed(),
			Logprobs:    int(s.GetLogprobs()),
		},
		Tools: each(p.GetTools(), toolFromPB),
		Draw:  int(p.GetDraw()),
		Path:  p.GetPath(),
	}
	if sc := p.GetSchema(); sc != nil {
		r.Schema = &methods.Schema{Name: sc.GetName(), JSON: orNil(sc.GetJson())}
	}
	return methods.ModelID{
		Provider: id.GetProvider(),
		Endpoint: id.GetEndpoint(),
		Model:    id.GetModel(),
		Weights:  id.GetWeights(),
		Config:   id.GetConfig(),
	}, r
}

func toolRecordToPB(r ToolRecord) *recordpb.ToolResult {
	return &recordpb.ToolResult{
		Call:      callToPB(r.Call),
		Content:   r.Result.Content,
		IsError:   r.Result.IsError,
		At:        timeToPB(r.At),
		LatencyNs: int64(r.Latency),
		Attempts:  each(r.Attempts, attemptToPB),
	}
}

func toolRecordFromPB(p *recordpb.ToolResult) ToolRecord {
	r := ToolRecord{
		Result:   methods.ToolResult{Content: p.GetContent(), IsError: p.GetIsError()},
		At:       timeFromPB(p.GetAt()),
		Latency:  time.Duration(p.GetLatencyNs()),
		Attempts: each(p.GetAttempts(), attemptFromPB),
	}
	if c := p.GetCall(); c != nil {
		r.Call = callFromPB(c)
	}
	return r
}

func seedToPB(r SeedRecord) *recordpb.Seed {
	return &recordpb.Seed{Data: r.Data, Usage: usageToPB(r.Usage), At: timeToPB(r.At)}
}

func seedFromPB(p *recordpb.Seed) SeedRecord {
	return SeedRecord{Data: orNil(p.GetData()), Usage: usageFromPB(p.GetUsage()), At: timeFromPB(p.GetAt())}
}

func callToPB(c methods.ToolCall) *recordpb.ToolCall {
	return &recordpb.ToolCall{Id: c.ID, Name: c.Name, Arguments: c.Arguments, Path: c.Path}
}

func callFromPB(p *recordpb.ToolCall) methods.ToolCall {
	return methods.ToolCall{ID: p.GetId(), Name: p.GetName(), Arguments: orNil(p.GetArguments()), Path: p.GetPath()}
}

func messageToPB(m methods.Message) *recordpb.Message {
	return &recordpb.Message{
		Role:      string(m.Role),
		Content:   m.Content,
		ToolCalls: each(m.ToolCalls, callToPB),
		CallId:    m.CallID,
	}
}

func messageFromPB(p *recordpb.Message) methods.Message {
	return methods.Message{
		Role:      methods.Role(p.GetRole()),
		Content:   p.GetContent(),
		ToolCalls: each(p.GetToolCalls(), callFromPB),
		CallID:    p.GetCallId(),
	}
}

func logprobToPB(t methods.TokenLogprob) *recordpb.TokenLogprob {
	return &recordpb.TokenLogprob{Token: t.Token, Bytes: t.Bytes, Logprob: t.Logprob, Top: each(t.Top, logprobToPB)}
}

func logprobFromPB(p *recordpb.TokenLogprob) methods.TokenLogprob {
	return methods.TokenLogprob{
		Token:   p.GetToken(),
		Bytes:   orNil(p.GetBytes()),
		Logprob: p.GetLogprob(),
		Top:     each(p.GetTop(), logprobFromPB),
	}
}

func toolToPB(t methods.ToolSpec) *recordpb.ToolSpec {
	return &recordpb.ToolSpec{
		Name:        t.Name,
		Description: t.Description,
		Parameters:  t.Parameters,
		Result:      t.Result,
		Pure:        t.Pure,
	}
}

func toolFromPB(p *recordpb.ToolSpec) methods.ToolSpec {
	return methods.ToolSpec{
		Name:        p.GetName(),
		Description: p.GetDescription(),
		Parameters:  orNil(p.GetParameters()),
		Result:      orNil(p.GetResult()),
		Pure:        p.GetPure(),
	}
}

func attemptToPB(a Attempt) *recordpb.Attempt {
	return &recordpb.Attempt{Kind: a.Kind, Status: int64(a.Status), Message: a.Message, WaitNs: int64(a.Wait)}
}

func attemptFromPB(p *recordpb.Attempt) Attempt {
	return Attempt{
		Kind:    p.GetKind(),
		Status:  int(p.GetStatus()),
		Message: p.GetMessage(),
		Wait:    time.Duration(p.GetWaitNs()),
	}
}

func usageToPB(u methods.Usage) *recordpb.Usage {
	return &recordpb.Usage{
		Calls:        int64(u.Calls),
		ToolCalls:    int64(u.ToolCalls),
		InputTokens:  u.InputTokens,
		OutputTokens: u.OutputTokens,
		CostNanoUsd:  int64(u.Cost),
		LatencyNs:    int64(u.Latency),
		Unpriced:     int64(u.Unpriced),
		Unmetered:    int64(u.Unmetered),

		CachedTokens:     u.CachedTokens,
		CacheWriteTokens: u.CacheWriteTokens,
		ReasoningTokens:  u.ReasoningTokens,
	}
}

func usageFromPB(p *recordpb.Usage) methods.Usage {
	return methods.Usage{
		Calls:        int(p.GetCalls()),
		ToolCalls:    int(p.GetToolCalls()),
		InputTokens:  p.GetInputTokens(),
		OutputTokens: p.GetOutputTokens(),
		Cost:         methods.NanoUSD(p.GetCostNanoUsd()),
		Latency:      time.Duration(p.GetLatencyNs()),
		Unpriced:     int(p.GetUnpriced()),
		Unmetered:    int(p.GetUnmetered()),

		CachedTokens:     p.GetCachedTokens(),
		CacheWriteTokens: p.GetCacheWriteTokens(),
		ReasoningTokens:  p.GetReasoningTokens(),
	}
}

// timeToPB drops the time zone: times come back in UTC.
func timeToPB(t time.Time) *recordpb.Time {
	if t.IsZero() {
		return nil
	}
	return &recordpb.Time{Seconds: t.Unix(), Nanos: int32(t.Nanosecond())}
}

func timeFromPB(p *recordpb.Time) time.Time {
	if p == nil {
		return time.Time{}
	}
	return time.Unix(p.GetSeconds(), int64(p.GetNanos())).UTC()
}

func each[A, B any](in []A, f func(A) B) []B {
	if len(in) == 0 {
		return nil
	}
	out := make([]B, len(in))
	for i, a := range in {
		out[i] = f(a)
	}
	return out
}

func orNil(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return b
}
