package export

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"noema/kernel/base/pause"
)

// otlpVariable is the value of a variable of the OTLP exporter's standard, where
// the one for traces wins.
func otlpVariable(name string) string {
	return cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_TRACES_"+name), os.Getenv("OTEL_EXPORTER_OTLP_"+name))
}

// OTLP returns what sends spans by OTLP over HTTP, as protobuf. The variables of
// the standard, OTEL_EXPORTER_OTLP_ENDPOINT, _HEADERS, _TIMEOUT (in milliseconds)
// and _COMPRESSION, and the same with _TRACES, say where to and how.
func OTLP(ctx context.Context) (func(*tracepb.TracesData) error, error) {
	endpoint := os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
	if base := os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT"); endpoint == "" && base != "" {
		endpoint = strings.TrimRight(base, "/") + "/v1/traces"
	}
	if endpoint == "" {
		return nil, errors.New("export otlp: set OTEL_EXPORTER_OTLP_ENDPOINT to the collector, such as http://localhost:4318")
	}
	header := http.Header{"Content-Type": {"application/x-protobuf"}}
	for _, pair := range strings.FieldsFunc(otlpVariable("HEADERS"), func(r rune) bool { return r == ',' }) {
		name, value, ok := strings.Cut(pair, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if !ok || err != nil {
			return nil, errors.New("export otlp: OTEL_EXPORTER_OTLP_HEADERS must be NAME=VALUE, separated by commas")
		}
		header.Set(strings.TrimSpace(name), value)
	}
	timeout := 10 * time.Second
	if ms, err := strconv.Atoi(otlpVariable("TIMEOUT")); err == nil && ms > 0 {
		timeout = time.Duration(ms) * time.Millisecond
	}
	compress := otlpVariable("COMPRESSION") == "gzip"
	if compress {
		header.Set("Content-Encoding", "gzip")
	}
	client := &http.Client{Timeout: timeout}
	return func(spans *tracepb.TracesData) error {
		raw, err := proto.Marshal(spans)
		if err == nil && compress {
			raw, err = zipped(raw)
		}
		if err == nil {
			err = post(ctx, client, endpoint, header, raw)
		}
		if err != nil {
			return fmt.Errorf("export otlp: %w", err)
		}
		return nil
	}, nil
}

func zipped(raw []byte) ([]byte, error) {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write(raw)
	return out.Bytes(), errors.Join(err, w.Close())
}

// post sends a message, and once again if the collector is busy or does not
// answer.
func post(ctx context.Context, client *http.Client, endpoint string, header http.Header, raw []byte) error {
	for attempt := 0; ; attempt++ {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, bytes.NewReader(raw))
		if err != nil {
			return err
		}
		request.Header = header
		response, err := client.Do(request)
		wait := time.Second
		if err == nil {
			said, _ := io.ReadAll(io.LimitReader(response.Body, 1000)) // only for the error
			response.Body.Close()
			switch response.StatusCode {
			case http.StatusOK, http.StatusAccepted, http.StatusNoContent:
				return nil
			case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
				if after, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil {
					wait = min(time.Duration(after)*time.Second, time.Minute)
				}
			default:
				attempt = retries // the same again would fail, too
			}
			err = fmt.Errorf("%s: %s: %.200q", endpoint, response.Status, said)
		}
		if attempt >= retries {
			return err
		}
		if err := pause.For(ctx, wait); err != nil {
			return err
		}
	}
}

// retries of a message to the collector.
const retries = 1

// OTLPFile returns what writes spans to w as OTLP's JSON, a message a line, which
// collectors read as files.
func OTLPFile(w io.Writer) func(*tracepb.TracesData) error {
	return func(spans *tracepb.TracesData) error {
		raw, err := protojson.MarshalOptions{UseEnumNumbers: true}.Marshal(spans)
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
		_, err = w.Write(append(raw, '\n'))
		return err
	}
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
