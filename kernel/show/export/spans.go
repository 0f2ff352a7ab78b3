package export

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"time"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"noema/kernel/result/record"
	"noema/methods"
)

// batch is how many spans leave together, unless one trial has more.
const batch = 512

// Spans gives the run to send as OpenTelemetry spans under the conventions for
// generative AI (gen_ai.*): one trace for each trial, whose root span invokes the
// method as an agent, with a span for each model and tool call below it. A
// trial's calls are laid end to end with the time that each took when it was
// made, since answers from the store have no time of their own in this run;
// noema.call.path is the logical place. Trace and span ids follow from the
// trial's hash, so that a second export is the same.
func (s Source) Spans(send func(*tracepb.TracesData) error) error {
	var spans []*tracepb.Span
	flush := func() error {
		if len(spans) == 0 {
			return nil
		}
		resource := &resourcepb.Resource{Attributes: []*commonpb.KeyValue{text("service.name", "noema"), text("noema.run", s.Run.ID)}}
		scope := &tracepb.ScopeSpans{Scope: &commonpb.InstrumentationScope{Name: "noema"}, Spans: spans}
		spans = nil
		return send(&tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{{Resource: resource, ScopeSpans: []*tracepb.ScopeSpans{scope}}}})
	}
	for _, t := range s.Result.Trials {
		t, err := s.Whole(t)
		if err != nil {
			return err
		}
		made, err := s.trialSpans(t)
		if err != nil {
			return err
		}
		if spans = append(spans, made...); len(spans) >= batch {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// trialSpans are the spans of a trial, its root first.
func (s Source) trialSpans(t *record.Trial) ([]*tracepb.Span, error) {
	ids := sha256.Sum256([]byte(s.Run.ID + "\x00" + t.ID.String() + "\x00" + t.Hash))
	newSpan := func(number int, name string, at time.Time, attributes ...*commonpb.KeyValue) *tracepb.Span {
		id := sha256.Sum256(fmt.Appendf(nil, "%s %d", hex.EncodeToString(ids[:]), number))
		return &tracepb.Span{
			TraceId: ids[:16], SpanId: id[:8], Name: name, Kind: tracepb.Span_SPAN_KIND_INTERNAL,
			StartTimeUnixNano: uint64(at.UnixNano()), Attributes: attributes,
		}
	}
	root := newSpan(1, "invoke_agent "+t.ID.Method, t.Started,
		text("gen_ai.operation.name", "invoke_agent"), text("gen_ai.agent.name", t.ID.Method))
	root.Attributes = slices.Concat(root.Attributes, s.model(t.Usage), []*commonpb.KeyValue{
		text("noema.run", s.Run.ID), text("noema.task", s.Run.Config.Task.Name),
		text("noema.sample", t.ID.Sample), integer("noema.epoch", int64(t.ID.Epoch+1)),
		text("noema.outcome", string(t.Answer.Outcome)), text("noema.answer", s.clean(string(t.Answer.Value))),
		text("noema.trial.hash", t.Hash), boolean("noema.simulated_model", s.Run.Config.Model.Simulated), boolean("noema.infrastructure_failure", t.Infra),
	})
	scores := scoresOf(t)
	for _, name := range slices.Sorted(maps.Keys(scores)) {
		root.Attributes = append(root.Attributes, double("noema.score."+name, scores[name]))
	}
	if t.Failure != "" {
		fail(root, s.clean(t.Failure))
	}
	spans, at := []*tracepb.Span{root}, t.Started
	for i, c := range t.Calls {
		operation := map[record.CallKind]string{record.CompletionCall: "chat", record.ToolCall: "execute_tool", record.SeedCall: "build_seed"}[c.Kind]
		span := newSpan(i+2, operation+" "+s.Run.Config.Model.ID.Model+c.Path, at,
			text("gen_ai.operation.name", operation), text("noema.call.path", c.Path), text("noema.call.key", c.Key),
			integer("noema.call.draw", int64(c.Draw)), integer("noema.call.failed_attempts", int64(c.Attempts)))
		span.Kind, span.ParentSpanId = tracepb.Span_SPAN_KIND_CLIENT, root.SpanId
		if err := s.describeCall(span, t, c); err != nil {
			return nil, err
		}
		at = at.Add(c.Usage.Latency)
		span.EndTimeUnixNano = uint64(at.UnixNano())
		spans = append(spans, span)
	}
	root.EndTimeUnixNano = uint64(at.UnixNano())
	return spans, nil
}

// describeCall adds the usage, the request and the reply of a model call.
func (s Source) describeCall(span *tracepb.Span, t *record.Trial, c record.Call) error {
	if c.Kind == record.CompletionCall {
		span.Attributes = append(span.Attributes, s.model(c.Usage)...)
	}
	if c.Fault != "" {
		fail(span, s.clean(c.Error))
		span.Attributes = append(span.Attributes, text("error.type", string(c.Fault)))
	}
	if s.Read == nil || c.Kind != record.CompletionCall || c.Fault != "" {
		return nil
	}
	x, err := s.Read(t.ID, c)
	if err != nil {
		return err
	}
	raw, err := record.Marshal(chat(x.Request.Messages))
	if err != nil {
		return err
	}
	reply, err := record.Marshal([]message{{"assistant", x.Record.Completion.Text}})
	if err != nil {
		return err
	}
	span.Attributes = append(span.Attributes, double("gen_ai.request.temperature", x.Request.Sampling.Temperature),
		text("gen_ai.input.messages", s.clean(string(raw))), text("gen_ai.output.messages", s.clean(string(reply))))
	return nil
}

// model says which model was asked and what it used; parts of the tokens only
// where the provider reports them.
func (s Source) model(u methods.Usage) []*commonpb.KeyValue {
	out := []*commonpb.KeyValue{
		text("gen_ai.provider.name", s.Run.Config.Model.ID.Provider), text("gen_ai.request.model", s.Run.Config.Model.ID.String()),
		integer("gen_ai.usage.input_tokens", u.InputTokens), integer("gen_ai.usage.output_tokens", u.OutputTokens),
	}
	for _, p := range []struct {
		name string
		n    int64
	}{
		{"gen_ai.usage.cache_read.input_tokens", u.CachedTokens},
		{"gen_ai.usage.cache_creation.input_tokens", u.CacheWriteTokens},
		{"gen_ai.usage.reasoning.output_tokens", u.ReasoningTokens},
	} {
		if p.n > 0 {
			out = append(out, integer(p.name, p.n))
		}
	}
	return out
}

func fail(span *tracepb.Span, why string) {
	span.Status = &tracepb.Status{Code: tracepb.Status_STATUS_CODE_ERROR, Message: why}
}

func text(key, value string) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: value}}}
}

func integer(key string, value int64) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: value}}}
}

func double(key string, value float64) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_DoubleValue{DoubleValue: value}}}
}

func boolean(key string, value bool) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_BoolValue{BoolValue: value}}}
}
