package export

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
)

// OTLP returns the exporter that sends spans by OTLP over HTTP. Where to is said
// by the variables of the standard, such as OTEL_EXPORTER_OTLP_ENDPOINT and
// OTEL_EXPORTER_OTLP_HEADERS.
func OTLP(ctx context.Context) (sdktrace.SpanExporter, error) {
	return otlptracehttp.New(ctx)
}

// OTLPFile returns the exporter that writes spans to w as OTLP's JSON, a
// message a line, which collectors read as files.
func OTLPFile(ctx context.Context, w io.Writer) (sdktrace.SpanExporter, error) {
	return otlptrace.New(ctx, fileClient{w})
}

// fileClient is an OTLP client whose server is a file.
type fileClient struct{ w io.Writer }

// Start implements otlptrace.Client.
func (fileClient) Start(context.Context) error { return nil }

// Stop implements otlptrace.Client.
func (fileClient) Stop(context.Context) error { return nil }

// UploadTraces implements otlptrace.Client.
func (c fileClient) UploadTraces(_ context.Context, spans []*tracepb.ResourceSpans) error {
	raw, err := protojson.MarshalOptions{UseEnumNumbers: true}.Marshal(&tracepb.TracesData{ResourceSpans: spans})
	if err != nil {
		return fmt.Errorf("export spans: %w", err)
	}
	var tree any
	if err := json.Unmarshal(raw, &tree); err != nil {
		return fmt.Errorf("export spans: %w", err)
	}
	hexIDs(tree)
	if raw, err = json.Marshal(tree); err != nil {
		return fmt.Errorf("export spans: %w", err)
	}
	_, err = c.w.Write(append(raw, '\n'))
	return err
}

// hexIDs writes ids in hex, as OTLP's JSON wants them, where protobuf's has
// base64.
func hexIDs(v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, x := range v {
			s, isText := x.(string)
			if isText && (key == "traceId" || key == "spanId" || key == "parentSpanId") {
				if raw, err := base64.StdEncoding.DecodeString(s); err == nil {
					v[key] = hex.EncodeToString(raw)
				}
				continue
			}
			hexIDs(x)
		}
	case []any:
		for _, x := range v {
			hexIDs(x)
		}
	}
}
