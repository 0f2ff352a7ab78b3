// Package exchange is what all providers that speak HTTP share: a [Client]
// writes a request as its [Protocol] says, makes one exchange with the server,
// and reads the reply to its end or to a fault that has a name. A package of a
// provider only declares its [Service] and its Protocol.
//
// So every provider has the same limits and tells the same faults apart: a
// reply that stops in its middle, one that never starts, one that never ends,
// one that is not a completion. No request is repeated here, and no redirect is
// followed with a key in its headers.
//
// Servers and models refuse parameters that others demand. A refusal that names
// one is an error of kind [provider.Adapted]: the client remembers to do without
// it, and the caller's next attempt does. The key of a completion stays that of
// the request as it was asked, so a record does not depend on how many attempts
// it took to learn what a server accepts, and a replay needs no server.
package exchange

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"noema/kernel/model/provider"
	"noema/kernel/model/provider/prices"
	"noema/methods"
	"noema/plugins/program/wires"
)

// Service is a kind of provider as its users meet it.
type Service struct {
	Kind        string   // before the slash of a model, such as "openai"
	Summary     string   // for listings
	Example     string   // name of a model
	BaseURL     string   // of the provider's own server
	URLVariable string   // environment variable with the base URL of another server
	KeyVariable []string // environment variables with the key; the first that is set counts
	KeyOptional bool     // the own server needs no key
	Start       string   // command that starts the own server, if it is on this machine
	Probe       string   // path below the base URL that needs the key and costs nothing, such as a list of models
	NotFound    string   // what else helps where the server has no such model or path; NAME is the model's name

	// Address turns what users write as a base URL into one; nil takes it as it is.
	Address func(raw string) string
	// Features of each protocol that the service has, the default first. The
	// name of the provider is set from Kind.
	Features []provider.Features
}

// Config says which model to serve and from where.
type Config struct {
	Model          string          // as the server knows it
	BaseURL        string          // empty means the provider's own server
	APIKey         string          // may be empty for servers of one's own
	Price          *provider.Price // nil takes the one in Prices; see prices.Table.At
	Prices         *prices.Table   // nil means the built-in one
	MaxConnections int             // see provider.Info
	Thoughts       string          // see provider.Info
	HTTPClient     *http.Client    // nil means one for 1,000 connections to the server

	// FirstTimeout is how long the first byte of a reply may take: a model may
	// think for minutes before it. 0 means 10 minutes.
	FirstTimeout time.Duration
	// IdleTimeout is how long a reply may pause once it has begun: spaces, comments and pings of
	// a stream are a pause. 0 means a minute.
	IdleTimeout time.Duration
	// TotalTimeout is how long a request may take from its beginning to the end of its reply,
	// whatever comes meanwhile. 0 means half an hour.
	TotalTimeout time.Duration
}

// Protocol is how requests are written for a server and its replies are read.
type Protocol struct {
	Features  provider.Features // none means the first of its service
	Identity  string            // what besides the model's name changes its answers, such as "effort=low"
	KeyHeader string            // header that carries the key; empty means a bearer token
	Header    map[string]string // further headers
	Rules     Rules

	// Encode writes a request: the path below the base URL, and the JSON body.
	Encode func(Draft) (path string, body any, err error)
	// Decode reads the whole body of a reply. Its errors are those of
	// [Malformed] and [Short], or a [*provider.Error].
	Decode func(body []byte, d Draft) (Reply, error)
	// Answering, if set, is what a reply contains once its answer has begun;
	// until then its pauses may be as long as FirstTimeout. It is for protocols
	// that say at once that they have begun, and then think in silence.
	Answering string
	// Raw are the wires of programs' requests that the server speaks.
	Raw map[wires.Wire]Spoken
	// Amend, if set, puts into such a request what the model's options say.
	Amend func(wires.Wire, map[string]json.RawMessage)
	// Learn, if set, reads a refusal before the rules do. It may rewrite it, and
	// reports whether it has learned what to do without.
	Learn func(*Refusal, methods.Request) bool
}

// Spoken is a wire as a server speaks it: where, and how its whole replies are read.
type Spoken struct {
	Path   string
	Decode func(body []byte, d Draft) (Reply, error)
}

// Draft is a request as it is to be written: what the server is known to
// refuse is left out of it.
type Draft struct {
	methods.Request
	Form
	Temperature *float64 // nil where it is not to be sent
	Seed        *int64   // nil where it is not to be sent; depends on the draw
}

// Reply is what a server answered.
type Reply struct {
	methods.Completion
	Counts Counts
}

// Client serves one model of a server. It is safe for concurrent use.
type Client struct {
	service  Service
	protocol Protocol
	config   Config
	base     Base
	info     provider.Info
	tariff   prices.Tariff
	learned  *learned
	logprobs logprobs
	http     *http.Client
	memory   *memory // of the replies in flight
}

var _ provider.Provider = (*Client)(nil)

// New makes a client. It opens no connection, and reads no environment
// variable: what a run depends on is in its Config.
func New(s Service, p Protocol, c Config) (*Client, error) {
	if c.Model = strings.TrimSpace(c.Model); c.Model == "" {
		return nil, fmt.Errorf("%s: no model named (write %[1]s/NAME, for example %[1]s/%s)", s.Kind, s.Example)
	}
	base, err := s.Base(c.BaseURL)
	if err != nil {
		return nil, err
	}
	if c.APIKey = strings.TrimSpace(c.APIKey); c.APIKey == "" && base.Endpoint == "" && !s.KeyOptional {
		return nil, fmt.Errorf("%s: no API key for %s (set %s, or %s for another server)", s.Kind, s.BaseURL, s.KeyVariable[0], s.URLVariable)
	}
	if p.Features.Protocol == "" && len(s.Features) > 0 {
		p.Features = s.Features[0]
	}
	p.Features.Provider = s.Kind
	c.FirstTimeout, c.IdleTimeout = cmp.Or(c.FirstTimeout, 10*time.Minute), cmp.Or(c.IdleTimeout, time.Minute)
	c.TotalTimeout = cmp.Or(c.TotalTimeout, 30*time.Minute)
	x := &Client{
		service: s, protocol: p, config: c, base: base, http: client(c.HTTPClient), memory: newMemory(poolBytes),
		info: provider.Info{
			ID:             methods.ModelID{Provider: s.Kind, Endpoint: base.Endpoint, Model: c.Model, Config: p.Identity},
			MaxConnections: c.MaxConnections, Thoughts: c.Thoughts,
		},
		tariff:  prices.Tariff{Price: c.Price},
		learned: newLearned(p.Rules, base.Endpoint == ""),
	}
	if c.Price == nil {
		x.tariff = c.Prices.At(s.Kind, base.Endpoint, c.Model)
	}
	x.info.Price = x.tariff.Price
	return x, nil
}

// Info describes the model.
func (c *Client) Info() provider.Info { return c.info }

// Features says what the protocol does with the parts of a request.
func (c *Client) Features() provider.Features { return c.protocol.Features }

// CloseIdleConnections closes the connections that no request uses.
func (c *Client) CloseIdleConnections() { c.http.CloseIdleConnections() }

// Complete makes one attempt. A failure is a [*provider.Error], or wraps ctx's
// error if ctx ended. A [*provider.Miscount] comes with the answer.
func (c *Client) Complete(ctx context.Context, r methods.Request) (methods.Completion, error) {
	if r.Raw != nil {
		done, err := c.completeRaw(ctx, r)
		if other, failure := unserved(*r.Raw, err); !other {
			return done, failure
		}
		r.Raw = nil // what was read of it says all
	}
	if err := c.check(r); err != nil {
		return methods.Completion{}, err
	}
	d := c.draft(r)
	done, err := c.attempt(ctx, d, r)
	if _, ok := errors.AsType[*provider.Miscount](err); ok {
		return done, err
	}
	var refused *Refusal
	if ctx.Err() == nil && errors.As(err, &refused) && c.adapt(d.Form, r, refused) {
		err = &provider.Error{Kind: provider.Adapted, Status: refused.Status, Err: errors.New(c.clean(refused.Text))}
	}
	if err != nil {
		return methods.Completion{}, c.failure(ctx, err)
	}
	return done, nil
}

// Contact asks the server for what its service names as Probe. A failure is as one of
// [Client.Complete].
func (c *Client) Contact(ctx context.Context) error {
	room := &share{of: c.memory}
	defer room.release()
	raw, err := c.post(ctx, c.service.Probe, nil, room, json.Valid)
	if err == nil && !json.Valid(raw) {
		err = Malformed(raw, "not JSON")
	}
	if err == nil {
		return nil
	}
	return c.failure(ctx, err)
}

// check refuses what no server could answer.
func (c *Client) check(r methods.Request) error {
	for i, m := range r.Messages {
		switch m.Role {
		case methods.System, methods.User, methods.Assistant, methods.Tool:
		default:
			return &provider.Error{Kind: provider.Rejected, Err: fmt.Errorf("message %d: unknown role %q", i+1, m.Role)}
		}
	}
	if c.protocol.Features.Logprobs == provider.Unsupported {
		return provider.NoLogprobs(c.service.Kind, r.Sampling)
	}
	return c.logprobs.check(r.Sampling)
}

// draft is r without what the server is known to refuse.
func (c *Client) draft(r methods.Request) Draft {
	d := Draft{Request: r, Form: c.learned.form(r.Schema)}
	rules := c.protocol.Rules
	if rules.Temperature != "" && !d.Without[rules.Temperature] { // 0 is greedy, and no server's default: it is always sent
		d.Temperature = &r.Sampling.Temperature
	}
	if rules.Seed != "" && !d.Without[rules.Seed] {
		n := wireSeed(r.Sampling.Seed, r.Draw)
		d.Seed = &n
	}
	if d.Without[rules.TopP] {
		d.Sampling.TopP = 0
	}
	if d.Without[rules.TopK] {
		d.Sampling.TopK = 0
	}
	if d.Without[rules.Stop] {
		d.Sampling.Stop = nil
	}
	if d.InWords {
		d.AskInWords()
	}
	return d
}

func (c *Client) attempt(ctx context.Context, d Draft, asked methods.Request) (methods.Completion, error) {
	path, body, err := c.protocol.Encode(d)
	if err != nil {
		return methods.Completion{}, err
	}
	room := &share{of: c.memory}
	defer room.release()
	raw, err := c.post(ctx, path, body, room, func(body []byte) bool {
		_, err := c.protocol.Decode(body, d)
		return err == nil
	})
	if err != nil {
		return methods.Completion{}, err
	}
	return c.complete(c.protocol.Decode, raw, d, asked)
}

// complete reads the body of a reply.
func (c *Client) complete(decode func([]byte, Draft) (Reply, error), raw []byte, d Draft, asked methods.Request) (methods.Completion, error) {
	reply, err := decode(raw, d)
	if err != nil {
		return methods.Completion{}, err
	}
	done := reply.Completion
	if textOf(done) > textLimit {
		return methods.Completion{}, &provider.Error{Kind: provider.Rejected, Err: errTooLong}
	}
	done.Usage = reply.Counts.usage(c.tariff, len(done.ToolCalls) > 0 || done.Text != "" && done.Finish != methods.FinishFilter)
	if err := c.logprobs.order(&done, asked.Sampling); err != nil {
		return methods.Completion{}, err
	}
	if stop := c.protocol.Rules.Stop; stop == "" || d.Without[stop] {
		cutAtStop(&done, asked.Sampling.Stop)
	}
	if wrong := reply.Counts.wrong(); wrong != "" {
		return done, &provider.Miscount{Provider: c.service.Kind, Counts: wrong}
	}
	return done, nil
}

func (c *Client) adapt(f Form, r methods.Request, refused *Refusal) bool {
	if c.protocol.Learn != nil && c.protocol.Learn(refused, r) {
		return true
	}
	return c.learned.adapt(f, r, refused)
}

// textOf is the size of what a completion says.
func textOf(c methods.Completion) int {
	size := len(c.Text)
	for _, call := range c.ToolCalls {
		size += len(call.Name) + len(call.Arguments)
	}
	return size
}
