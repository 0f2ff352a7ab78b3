package exchange

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxRetryAfter bounds what a server can ask for.
const maxRetryAfter = 24 * time.Hour

// Refusal is an error reply as the server sent it. It does not leave a
// provider: its text may still hold keys.
type Refusal struct {
	Status     int
	RetryAfter time.Duration
	Text       string // the message, or the body where there is none
	Param      string // the parameter at fault, where the server says
	Code       string // the error's name, such as "context_length_exceeded"
	HTML       bool   // the body is a page
	IsError    bool   // the body says that it is an error
}

// Error implements error, without the server's text.
func (f *Refusal) Error() string { return fmt.Sprintf("HTTP %d", f.Status) }

func readRefusal(res *http.Response) *Refusal {
	body, err := io.ReadAll(io.LimitReader(res.Body, refusalLimit))
	if err != nil && len(body) == 0 {
		body = nil // the status says enough
	}
	f := parseRefusal(body)
	f.Status = res.StatusCode
	if after := retryAfter(res.Header, time.Now()); after > 0 {
		f.RetryAfter = after
	}
	return f
}

// parseRefusal reads an error body, or an error within a reply, in any of the
// forms in use: OpenAI's
// {"error":{"message","param","code"}}, Anthropic's {"error":{"type",
// "message"}}, Google's {"error":{"code","status","details"}} (also as the
// one element of a list), {"error":"text"}, {"message":…} and FastAPI's
// {"detail":…}.
func parseRefusal(body []byte) *Refusal {
	f := &Refusal{Text: string(body), HTML: looksLikeHTML(body)}
	var outer map[string]json.RawMessage
	if json.Unmarshal(unlisted(body), &outer) != nil {
		return f
	}
	fields := outer
	var inner map[string]json.RawMessage
	if json.Unmarshal(outer["error"], &inner) == nil && inner != nil {
		fields, f.IsError = inner, true
	}
	for _, raw := range []json.RawMessage{fields["message"], outer["error"], outer["detail"]} {
		var text string
		if json.Unmarshal(raw, &text) == nil && text != "" {
			f.Text, f.IsError = text, true
			break
		}
	}
	_ = json.Unmarshal(fields["param"], &f.Param) // null and absent leave it empty
	f.setCode(fields)
	f.RetryAfter = retryInfo(fields["details"])
	return f
}

// unlisted is the first element of a list of errors, as Google's streams send.
func unlisted(body []byte) []byte {
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		return list[0]
	}
	return body
}

func (f *Refusal) setCode(fields map[string]json.RawMessage) {
	var number int
	if json.Unmarshal(fields["code"], &number) == nil && number >= 400 && number < 600 {
		f.Status = number
	}
	for _, name := range []string{"code", "status", "type"} {
		var text string
		if json.Unmarshal(fields[name], &text) == nil && text != "" {
			f.Code = text
			break
		}
	}
	if f.Status == 0 && f.IsError {
		f.Status = statuses[f.Code]
		if f.Status == 0 {
			var kind string
			_ = json.Unmarshal(fields["type"], &kind)
			f.Status = statuses[kind]
		}
	}
}

// statuses are those of errors that come within a reply of status 200.
//
// Source: the error tables of Anthropic, OpenAI and Google (canonical codes).
var statuses = map[string]int{
	"invalid_request_error": 400, "authentication_error": 401, "permission_error": 403, "not_found_error": 404,
	"request_too_large": 413, "rate_limit_error": 429, "api_error": 500, "timeout_error": 504, "overloaded_error": 529,
	"rate_limit_exceeded": 429, "insufficient_quota": 429, "server_error": 500, "invalid_prompt": 400, "context_length_exceeded": 400,
	"INVALID_ARGUMENT": 400, "UNAUTHENTICATED": 401, "PERMISSION_DENIED": 403, "NOT_FOUND": 404,
	"RESOURCE_EXHAUSTED": 429, "INTERNAL": 500, "UNAVAILABLE": 503, "DEADLINE_EXCEEDED": 504,
}

// retryInfo reads how long Google's error details ask to wait, as in
// {"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"1.5s"}.
func retryInfo(details json.RawMessage) time.Duration {
	var list []struct {
		Type  string `json:"@type"`
		Delay string `json:"retryDelay"`
	}
	if json.Unmarshal(details, &list) != nil {
		return 0
	}
	for _, d := range list {
		if seconds, ok := strings.CutSuffix(d.Delay, "s"); ok && strings.HasSuffix(d.Type, "google.rpc.RetryInfo") {
			if s, err := strconv.ParseFloat(seconds, 64); err == nil {
				return bounded(s * float64(time.Second))
			}
		}
	}
	return 0
}

func looksLikeHTML(body []byte) bool {
	return bytes.HasPrefix(bytes.TrimSpace(body), []byte("<"))
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
