// Package exchange is what providers that speak HTTP have in common: one
// exchange with a model server, read to its end or to a fault that is named.
//
// The SDKs build and sign requests; they do not read replies. An [Exchange]
// sits below them as their HTTP transport, reads the whole reply itself and
// hands them an empty one. So every provider knows the same limits and tells
// the same faults apart: a reply that stops in its middle, one that never
// starts, one that never ends, one that is no reply. No SDK repeats a request
// or follows a redirect with a key in its headers.
package exchange

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"noema/kernel/provider"
)

// The defaults of [Config].
const (
	DefaultFirst = 10 * time.Minute
	DefaultIdle  = time.Minute
)

// ReplyLimit is the largest reply that is read, in bytes.
const ReplyLimit = 32 << 20

// Config says how to talk to one server.
type Config struct {
	Kind    string       // the provider's name, with which errors begin
	Client  *http.Client // nil means one that stands 1,000 connections to the server
	Key     string       // kept out of errors
	KeyHint string       // what helps against a refused key, such as "check OPENAI_API_KEY"
	URLHint string       // what helps where there is nothing at the URL

	// First is how long the first byte of a reply may take: a model may think
	// for minutes before it. 0 means DefaultFirst.
	First time.Duration
	// Idle is how long a reply may pause once it has begun. 0 means
	// DefaultIdle.
	Idle time.Duration
	// Answering, if set, is what a reply contains once its answer has begun;
	// until then its pauses may be as long as First. It is for protocols that
	// say at once that they have begun, and then think in silence.
	Answering string
	// Complete reports whether a reply that was cut off is whole all the same,
	// such as one whose server does not close the stream. It was paid for.
	Complete func(body []byte) bool
}

// Exchange makes exchanges with one server. It is safe for concurrent use.
type Exchange struct {
	config Config
	next   http.RoundTripper
	client *http.Client
}

// New returns an Exchange. It opens no connection.
func New(c Config) *Exchange {
	if c.First <= 0 {
		c.First = DefaultFirst
	}
	if c.Idle <= 0 {
		c.Idle = DefaultIdle
	}
	if c.Client == nil {
		c.Client = newClient()
	}
	x := &Exchange{config: c, next: c.Client.Transport}
	if x.next == nil {
		x.next = http.DefaultTransport
	}
	client := *c.Client
	client.Transport = x
	// A redirect would carry the key to wherever the server says.
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	x.client = &client
	return x
}

// Client is what the SDK is to send its requests with, within [Exchange.Do].
func (x *Exchange) Client() *http.Client { return x.client }

// CloseIdleConnections closes the connections that no request uses.
func (x *Exchange) CloseIdleConnections() { x.config.Client.CloseIdleConnections() }

// held is where RoundTrip leaves what it read for Do.
type held struct {
	sent bool
	body []byte
	err  error
}

type heldKey struct{}

// errTwice ends an SDK's attempt to repeat a request.
var errTwice = errors.New("a second request within one attempt")

// Do lets send make one request with [Exchange.Client] and returns the body
// of the reply. The error is a [*Refusal] for a reply of another status than
// 2xx, and else whatever [Exchange.Failure] understands.
func (x *Exchange) Do(ctx context.Context, send func(context.Context) error) ([]byte, error) {
	h := &held{}
	err := send(context.WithValue(ctx, heldKey{}, h))
	switch {
	case h.err != nil:
		return nil, h.err
	case h.sent:
		return h.body, nil // what an SDK makes of its empty reply does not matter
	case err == nil:
		err = errors.New("no request was sent")
	}
	return nil, err
}

// RoundTrip implements [http.RoundTripper] for the SDKs.
func (x *Exchange) RoundTrip(req *http.Request) (*http.Response, error) {
	h, ok := req.Context().Value(heldKey{}).(*held)
	if !ok || h.sent {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, errTwice
	}
	h.sent = true
	if h.body, h.err = x.read(req); h.err != nil {
		return nil, h.err
	}
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: http.NoBody, Request: req,
	}, nil
}

// Failure maps what went wrong with an attempt to what callers know: a
// [*provider.Error], or ctx's error where ctx ended.
func (x *Exchange) Failure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", x.config.Kind, ctx.Err())
	}
	var refused *Refusal
	var known *provider.Error
	var inURL *url.Error
	switch {
	case errors.As(err, &refused):
		return x.Refused(refused)
	case errors.As(err, &known):
		return known
	case errors.Is(err, errTooLarge):
		return &provider.Error{Kind: provider.Malformed, Err: errTooLarge}
	case errors.As(err, &inURL):
		err = inURL.Err // without the URL, which may hold credentials
	}
	return &provider.Error{Kind: provider.Network, Err: errors.New(x.Clean(err.Error()))}
}

// Malformed is the error for a reply that is no completion. Routers send
// errors of the servers behind them with status 200; those keep their kind.
func (x *Exchange) Malformed(raw []byte, cause error) error {
	if f := parseRefusal(raw); f.IsError {
		if f.Status == 0 { // it does not say which
			return &provider.Error{Kind: provider.Malformed, Err: errors.New(x.Clean(f.Text))}
		}
		return x.Refused(f)
	}
	if looksLikeHTML(raw) {
		cause = errors.New("decode reply: it is an HTML page")
		return &provider.Error{Kind: provider.Malformed, Err: cause, Hint: x.config.URLHint}
	}
	return &provider.Error{Kind: provider.Malformed, Err: errors.New(x.Clean(cause.Error()))}
}

// Short is the error for a reply that ended before it was complete.
func (x *Exchange) Short() error {
	return &provider.Error{Kind: provider.Network, Err: errors.New("the reply ends in its middle")}
}

// newClient returns a client for many calls at once to one host. The default
// transport keeps two idle connections to a host, so a thousand calls in
// flight would open a new one for nearly every call.
func newClient() *http.Client {
	dialer := &net.Dialer{Timeout: 15 * time.Second, KeepAlive: 30 * time.Second}
	return &http.Client{Transport: &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         dialer.DialContext,
		ForceAttemptHTTP2:   true,
		MaxIdleConns:        2048,
		MaxIdleConnsPerHost: 2048,
		IdleConnTimeout:     90 * time.Second,
		TLSHandshakeTimeout: 15 * time.Second,
	}}
}

// masked matches keys and what is left of them when a server masks them.
const maskedForms = `\bsk-[\w*-]+|\bAIza[\w*-]+|\S*\*{3,}\S*|(?i:bearer)\s+\S+|([?&](key|api_key|token)=)[^&\s"]+`

// Clean makes a server's text fit for an error: one line, at most 300
// characters, valid UTF-8, without the key.
func (x *Exchange) Clean(text string) string {
	if x.config.Key != "" {
		text = strings.ReplaceAll(text, x.config.Key, "[key]")
	}
	text = masked.ReplaceAllString(text, "[key]")
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "�")), " ")
	if runes := []rune(text); len(runes) > 300 {
		text = string(runes[:300]) + "…"
	}
	return text
}
