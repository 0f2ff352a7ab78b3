package export

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"noema/kernel/record"
	"noema/kernel/runner"
	"noema/methods"
)

// Spans gives the run as OpenTelemetry spans under the conventions for
// generative AI (gen_ai.*): one trace for each trial, whose root span invokes the
// method as an agent, with a span for each model and tool call below it. A
// trial's calls are laid end to end with the time that each took when it was
// made, since answers from the store have no time of their own in this run;
// noema.call.path tells the logical place. Trace and span ids follow from the
// trial's hash, so that a second export is the same.
func (s Source) Spans(ctx context.Context, to sdktrace.SpanExporter) error {
	ids := &identities{}
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithIDGenerator(ids), sdktrace.WithBatcher(to, sdktrace.WithBlocking()),
		sdktrace.WithResource(resource.NewSchemaless(attribute.String("service.name", "noema"), attribute.String("noema.run", s.Run.ID))),
	)
	tracer := provider.Tracer("noema")
	red := newRedactor()
	for _, t := range s.Result.Trials {
		ids.begin(s.Run.ID, t)
		if err := s.trialSpans(ctx, tracer, red, t); err != nil {
			provider.Shutdown(ctx) //nolint:errcheck // the first error counts
			return err
		}
	}
	if err := provider.ForceFlush(ctx); err != nil {
		return fmt.Errorf("export spans: %w", err)
	}
	return provider.Shutdown(ctx)
}

func (s Source) trialSpans(ctx context.Context, tracer trace.Tracer, red redactor, t *record.Trial) error {
	start := t.Started
	ctx, span := tracer.Start(ctx, "invoke_agent "+t.ID.Method, trace.WithNewRoot(), trace.WithTimestamp(start), trace.WithAttributes(
		attribute.String("gen_ai.operation.name", "invoke_agent"), attribute.String("gen_ai.agent.name", t.ID.Method),
		attribute.String("gen_ai.provider.name", s.Run.Config.Model.ID.Provider), attribute.String("gen_ai.request.model", s.Run.Config.Model.ID.String()),
		attribute.Int64("gen_ai.usage.input_tokens", t.Usage.InputTokens), attribute.Int64("gen_ai.usage.output_tokens", t.Usage.OutputTokens),
		attribute.String("noema.run", s.Run.ID), attribute.String("noema.task", s.Run.Config.Task.Name),
		attribute.String("noema.sample", t.ID.Sample), attribute.Int("noema.epoch", t.ID.Epoch+1),
		attribute.String("noema.outcome", string(t.Answer.Outcome)), attribute.String("noema.answer", red.text(string(t.Answer.Value))),
		attribute.String("noema.trial.hash", t.Hash), attribute.Bool("noema.simulated_model", s.Run.Config.Model.Simulated),
	))
	span.SetAttributes(parts(t.Usage)...)
	for _, name := range slices.Sorted(maps.Keys(t.Score.Values)) {
		span.SetAttributes(attribute.Float64("noema.score."+name, t.Score.Values[name]))
	}
	if t.Failure != "" {
		span.SetStatus(codes.Error, red.text(t.Failure))
	}
	at := start
	for _, c := range t.Calls {
		if err := s.callSpan(ctx, tracer, red, t, c, at); err != nil {
			return err
		}
		at = at.Add(c.Usage.Latency)
	}
	span.End(trace.WithTimestamp(at))
	return nil
}

func (s Source) callSpan(ctx context.Context, tracer trace.Tracer, red redactor, t *record.Trial, c record.Call, at time.Time) error {
	operation := map[record.CallKind]string{record.CompletionCall: "chat", record.ToolCall: "execute_tool", record.SeedCall: "build_seed"}[c.Kind]
	_, span := tracer.Start(ctx, operation+" "+s.Run.Config.Model.ID.Model+c.Path, trace.WithTimestamp(at), trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(
			attribute.String("gen_ai.operation.name", operation), attribute.String("noema.call.path", c.Path),
			attribute.String("noema.call.key", c.Key), attribute.Int("noema.call.draw", c.Draw), attribute.Int("noema.call.failed_attempts", c.Attempts),
		))
	if c.Kind == record.CompletionCall {
		span.SetAttributes(
			attribute.String("gen_ai.provider.name", s.Run.Config.Model.ID.Provider), attribute.String("gen_ai.request.model", s.Run.Config.Model.ID.String()),
			attribute.Int64("gen_ai.usage.input_tokens", c.Usage.InputTokens), attribute.Int64("gen_ai.usage.output_tokens", c.Usage.OutputTokens),
		)
		span.SetAttributes(parts(c.Usage)...)
	}
	if c.Fault != "" {
		span.SetStatus(codes.Error, red.text(c.Error))
		span.SetAttributes(attribute.String("error.type", string(c.Fault)))
	}
	defer span.End(trace.WithTimestamp(at.Add(c.Usage.Latency)))
	if s.Read == nil || c.Kind != record.CompletionCall || c.Fault != "" {
		return nil
	}
	x, err := s.Read(t.ID, c)
	if err != nil {
		return err
	}
	return contentAttributes(span, red, x)
}

// parts are those of the tokens that the provider told.
func parts(u methods.Usage) []attribute.KeyValue {
	var out []attribute.KeyValue
	for _, p := range []struct {
		name string
		n    int64
	}{
		{"gen_ai.usage.cache_read.input_tokens", u.CachedTokens},
		{"gen_ai.usage.cache_creation.input_tokens", u.CacheWriteTokens},
		{"gen_ai.usage.reasoning.output_tokens", u.ReasoningTokens},
	} {
		if p.n > 0 {
			out = append(out, attribute.Int64(p.name, p.n))
		}
	}
	return out
}

func contentAttributes(span trace.Span, red redactor, x runner.Exchange) error {
	raw, err := record.Marshal(chat(x.Request.Messages))
	if err != nil {
		return err
	}
	reply, err := record.Marshal([]message{{"assistant", x.Record.Completion.Text}})
	if err != nil {
		return err
	}
	span.SetAttributes(
		attribute.Float64("gen_ai.request.temperature", x.Request.Sampling.Temperature),
		attribute.String("gen_ai.input.messages", red.text(string(raw))), attribute.String("gen_ai.output.messages", red.text(string(reply))),
	)
	return nil
}

// identities derives trace and span ids from trials.
type identities struct {
	seed  [sha256.Size]byte
	count uint64
}

func (i *identities) begin(run string, t *record.Trial) {
	i.seed = sha256.Sum256([]byte(run + "\x00" + t.ID.String() + "\x00" + t.Hash))
	i.count = 0
}

// NewIDs implements sdktrace.IDGenerator.
func (i *identities) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	var id trace.TraceID
	copy(id[:], i.seed[:])
	return id, i.NewSpanID(ctx, id)
}

// NewSpanID implements sdktrace.IDGenerator.
func (i *identities) NewSpanID(context.Context, trace.TraceID) trace.SpanID {
	i.count++
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", hex.EncodeToString(i.seed[:]), i.count))
	var id trace.SpanID
	copy(id[:], sum[:])
	return id
}
