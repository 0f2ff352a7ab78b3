// Package provider says what serves a model: the interface that every
// provider implements, the errors it reports and the prices it charges. The
// providers themselves live in the packages below this one; the gateway calls
// them, and only package builtin names them.
//
// A provider makes one attempt per call. Retries, backoff, limits, caching
// and accounting are the gateway's, which needs to see every attempt.
package provider

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"noema/methods"
)

// Provider serves one model. Complete makes one attempt; a failure is an
// [*Error] wherever the provider can tell what went wrong, and a [*Miscount] comes
// with an answer. Complete fills
// Usage (Calls is 1) but leaves Usage.Latency zero, unless it simulates or measures one. A
// provider without log probabilities refuses requests for them: [NoLogprobs].
type Provider interface {
	methods.Model
	Info() Info
}

// Info is what the gateway must know of a provider.
type Info struct {
	ID             methods.ModelID
	Simulated      bool   // no language model answers; every face that shows its numbers says so
	MaxConnections int    // most calls at once by default; 0 leaves it to the gateway
	Price          *Price // of its tokens, for estimates; nil for an unknown one
	Thoughts       string // the marks between which it thinks, "<a>,</a>", beside the usual ones; no part of keys
}

// Kind classifies failures by what helps against them.
type Kind string

// The kinds of failure.
const (
	RateLimited   Kind = "rate_limited"   // 429: wait and try again
	Unavailable   Kind = "unavailable"    // 5xx, 408, 409: try again
	Network       Kind = "network"        // refused, reset, cut, timed out: try again
	Malformed     Kind = "malformed"      // a reply that is not a completion: try again
	Unauthorized  Kind = "unauthorized"   // 401, 403: the key is wrong
	Exhausted     Kind = "exhausted"      // the account has no credit left, whatever the status
	ContextLength Kind = "context_length" // the prompt does not fit
	Adapted       Kind = "adapted"        // the server refuses a part of the request, which is left out from now on: try again at once
	Rejected      Kind = "rejected"       // any other refusal of this request
)

// Error is a failed attempt.
type Error struct {
	Kind       Kind
	Status     int           // HTTP status; 0 if there was none
	RetryAfter time.Duration // as the server asked; 0 if it did not
	Hint       string        // what the user can do; empty if nothing
	Err        error         // the cause, free of keys and headers
}

// Error says what failed and, if known, what helps.
func (e *Error) Error() string {
	s := "provider " + string(e.Kind)
	if e.Status != 0 {
		s += fmt.Sprintf(" (HTTP %d)", e.Status)
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Retryable reports whether another attempt may succeed.
func (e *Error) Retryable() bool {
	switch e.Kind {
	case RateLimited, Unavailable, Network, Malformed, Adapted:
		return true
	}
	return false
}

// Retryable reports whether err is an [*Error] worth another attempt. Any
// other error is final.
func Retryable(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Retryable()
}

// KindOf maps an HTTP status to a kind.
func KindOf(status int) Kind {
	switch {
	case status == http.StatusTooManyRequests:
		return RateLimited
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return Unauthorized
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status >= 500:
		return Unavailable
	}
	return Rejected
}

// Price is what a model charges per token, in nano-dollars. One dollar per
// million tokens is 1000.
type Price struct {
	Input, Output methods.NanoUSD
	CachedInput   *methods.NanoUSD // of input that the provider read from its cache; nil is Input
	CacheWrite    *methods.NanoUSD // of input that it wrote to its cache; nil is Input
}

// Cost is the price of the tokens of u. A nil Price is an unknown one: the
// second result is then false.
func (p *Price) Cost(u methods.Usage) (methods.NanoUSD, bool) {
	if p == nil {
		return 0, false
	}
	cached, written := p.Input, p.Input
	if p.CachedInput != nil {
		cached = *p.CachedInput
	}
	if p.CacheWrite != nil {
		written = *p.CacheWrite
	}
	plain := u.InputTokens - u.CachedTokens - u.CacheWriteTokens
	return p.Input*methods.NanoUSD(plain) + cached*methods.NanoUSD(u.CachedTokens) +
		written*methods.NanoUSD(u.CacheWriteTokens) + p.Output*methods.NanoUSD(u.OutputTokens), true
}

// CheckLogprobs refuses a number of log probabilities out of range. Every
// provider that gives any calls it first.
func CheckLogprobs(s methods.Sampling) error {
	if s.Logprobs >= 0 && s.Logprobs <= methods.MaxLogprobs {
		return nil
	}
	return &Error{
		Kind: Rejected, Err: fmt.Errorf("%d log probabilities per token are out of range", s.Logprobs),
		Hint: fmt.Sprintf("ask for 1 to %d, or 0 for none", methods.MaxLogprobs),
	}
}

// NoLogprobs refuses a request for log probabilities, for a provider that gives
// none: a reply without them would look like an answer to what was asked.
func NoLogprobs(kind string, s methods.Sampling) error {
	if err := CheckLogprobs(s); err != nil || s.Logprobs == 0 {
		return err
	}
	return &Error{
		Kind: Rejected, Err: fmt.Errorf("%s gives no log probabilities", kind),
		Hint: "ask for none, or use a model of a provider that gives them",
	}
}

// TokenLogprob is a token of the given bytes with its log probability.
func TokenLogprob(raw []byte, logprob float64) methods.TokenLogprob {
	t := methods.TokenLogprob{Token: strings.ToValidUTF8(string(raw), "\uFFFD"), Logprob: logprob}
	if t.Token != string(raw) {
		t.Bytes = raw
	}
	return t
}

// CutLogprobs are the tokens of a text that was cut at end, including one that
// is only in part before it.
func CutLogprobs(tokens []methods.TokenLogprob, end int) []methods.TokenLogprob {
	at := 0
	for i, t := range tokens {
		if at >= end {
			return tokens[:i:i]
		}
		at += len(t.Raw())
	}
	return tokens
}

// NotUnderstood is the reply of the simulated model to a prompt that it does not
// understand. Runs count such replies, because they say nothing about a method.
const NotUnderstood = "I am a simulated model and cannot answer this."

// MaxTokens is above what any model reads or writes in one call.
const MaxTokens = 100_000_000

// Miscount is the error of a reply whose token counts cannot be. Complete returns
// it together with the completion: the answer stands, as it is paid for, and its
// usage is unknown.
type Miscount struct {
	Provider string // kind of the provider
	Counts   string // what it reports, as in "-5 input tokens"
}

// Error names the provider and the counts.
func (m *Miscount) Error() string {
	return fmt.Sprintf("%s reports %s for one call, which cannot be: the counts are not used", m.Provider, m.Counts)
}

// CheckUsage refuses a usage that cannot be: limits and costs are computed from
// it, and a negative count would pay for other calls. kind is the provider's, for
// the error.
func CheckUsage(kind string, u methods.Usage) error {
	for _, n := range []int64{u.InputTokens, u.OutputTokens, u.CachedTokens, u.CacheWriteTokens, u.ReasoningTokens} {
		if n < 0 || n > MaxTokens {
			return &Error{Kind: Rejected, Err: fmt.Errorf("%s reports %d tokens for one call, which cannot be: the reply is not used", kind, n)}
		}
	}
	if u.Cost < 0 || u.Latency < 0 {
		return &Error{Kind: Rejected, Err: fmt.Errorf("%s reports a negative cost or time for one call: the reply is not used", kind)}
	}
	return nil
}
