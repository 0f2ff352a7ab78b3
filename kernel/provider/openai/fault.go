package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/openai/openai-go/v3/option"

	"noema/kernel/provider"
)

// faultLimit is how much of an error's body is read, in bytes.
const faultLimit = 64 << 10

// maxRetryAfter bounds what a server can ask for.
const maxRetryAfter = 24 * time.Hour

// errTooLarge ends the reading of a reply.
var errTooLarge = fmt.Errorf("reply is larger than %d MiB", replyLimit>>20)

// refusal is an error reply as the server sent it. It does not leave this
// package: its text is not yet free of keys.
type refusal struct {
	status     int
	retryAfter time.Duration
	text       string // the message, or the body where there is none
	param      string
	code       string
	html       bool
	isError    bool // the body says that it is an error
}

func (f *refusal) Error() string { return fmt.Sprintf("HTTP %d", f.status) }

// inspect is the SDK's middleware: it turns error replies into refusals
// before the SDK parses them (it loses the status of those that are not
// JSON), and bounds the size of the others.
func (p *Provider) inspect(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	res, err := next(req)
	if err != nil {
		return nil, err
	}
	if res.StatusCode < 200 || res.StatusCode > 299 {
		defer res.Body.Close()
		body, err := io.ReadAll(io.LimitReader(res.Body, faultLimit))
		if err != nil && len(body) == 0 {
			body = nil // the status says enough
		}
		f := parseFault(body)
		f.status, f.retryAfter = res.StatusCode, retryAfter(res.Header, time.Now())
		return nil, f
	}
	if res.ContentLength > replyLimit {
		_ = res.Body.Close()
		return nil, errTooLarge
	}
	res.Body = &limitedBody{ReadCloser: res.Body, left: replyLimit}
	return res, nil
}

// limitedBody fails, rather than ends, at its limit.
type limitedBody struct {
	io.ReadCloser
	left int64
}

func (b *limitedBody) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, errTooLarge
	}
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return n, errTooLarge
	}
	return n, err
}

// parseFault reads an error body in any of the forms in use: OpenAI's
// {"error":{…}}, {"error":"text"}, {"message":…} and FastAPI's {"detail":…}.
func parseFault(body []byte) *refusal {
	f := &refusal{text: string(body), html: looksLikeHTML(body)}
	var outer map[string]json.RawMessage
	if json.Unmarshal(body, &outer) != nil {
		return f
	}
	fields := outer
	var inner map[string]json.RawMessage
	if json.Unmarshal(outer["error"], &inner) == nil && inner != nil {
		fields, f.isError = inner, true
	}
	for _, raw := range []json.RawMessage{fields["message"], outer["error"], outer["detail"]} {
		var text string
		if json.Unmarshal(raw, &text) == nil && text != "" {
			f.text, f.isError = text, true
			break
		}
	}
	_ = json.Unmarshal(fields["param"], &f.param) // null and absent leave it empty
	var number int
	if json.Unmarshal(fields["code"], &number) == nil && number >= 400 && number < 600 {
		f.status = number
	} else {
		_ = json.Unmarshal(fields["code"], &f.code)
	}
	return f
}

func looksLikeHTML(body []byte) bool {
	return bytes.HasPrefix(bytes.TrimSpace(body), []byte("<"))
}

// failure maps what went wrong with an attempt to what callers know.
func (p *Provider) failure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("openai: %w", ctx.Err())
	}
	var refused *refusal
	var known *provider.Error
	var inURL *url.Error
	switch {
	case errors.As(err, &refused):
		return p.faultError(refused)
	case errors.As(err, &known):
		return known
	case errors.Is(err, errTooLarge):
		return &provider.Error{Kind: provider.Malformed, Err: errTooLarge}
	case errors.As(err, &inURL):
		err = inURL.Err // without the URL, which may hold credentials
	}
	return &provider.Error{Kind: provider.Network, Err: errors.New(p.clean(err.Error()))}
}

func (p *Provider) faultError(f *refusal) error {
	e := &provider.Error{Kind: provider.KindOf(f.status), Status: f.status, RetryAfter: f.retryAfter}
	switch {
	case f.html:
		e.Err = errors.New("the server sent an HTML page")
	case strings.TrimSpace(f.text) != "":
		e.Err = errors.New(p.clean(f.text))
	}
	switch {
	case e.Kind == provider.Unauthorized:
		e.Hint = "check OPENAI_API_KEY"
	case f.code == "insufficient_quota":
		e.Kind, e.Hint = provider.Rejected, "the account has no credit left"
	case f.status == http.StatusRequestEntityTooLarge, f.code == "context_length_exceeded",
		f.status < 500 && contextLength.MatchString(f.text):
		e.Kind, e.Hint = provider.ContextLength, "the prompt does not fit the model's context"
	case f.status == http.StatusNotFound:
		e.Hint = "check the model's name and OPENAI_BASE_URL; most servers want it to end in /v1"
	}
	return e
}

var contextLength = regexp.MustCompile(`(?i)maximum context length|context (window|length|size)|prompt is too long|too many tokens`)

// masked matches keys and what is left of them when a server masks them.
var masked = regexp.MustCompile(`\bsk-[\w*-]+|\S*\*{3,}\S*|(?i:bearer)\s+\S+`)

// clean makes a server's text fit for an error: one line, at most 300
// characters, valid UTF-8, without the key.
func (p *Provider) clean(text string) string {
	if p.key != "" {
		text = strings.ReplaceAll(text, p.key, "[key]")
	}
	text = masked.ReplaceAllString(text, "[key]")
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "�")), " ")
	if runes := []rune(text); len(runes) > 300 {
		text = string(runes[:300]) + "…"
	}
	return text
}

// retryAfter reads how long the server asks to wait: retry-after-ms, or
// Retry-After in seconds or as a date. A date counts from the server's own
// clock where it sent one. 0 means that it did not ask.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return bounded(ms * float64(time.Millisecond))
	}
	value := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(value, 64); err == nil {
		return bounded(s * float64(time.Second))
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	if sent, err := http.ParseTime(h.Get("Date")); err == nil {
		now = sent
	}
	return bounded(float64(at.Sub(now)))
}

func bounded(ns float64) time.Duration {
	if math.IsNaN(ns) || ns <= 0 {
		return 0
	}
	if ns >= float64(maxRetryAfter) {
		return maxRetryAfter
	}
	return time.Duration(ns)
}
