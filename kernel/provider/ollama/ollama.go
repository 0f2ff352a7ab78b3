// Package ollama serves models through the native protocol of Ollama
// (/api/chat), which says more than its OpenAI-compatible one: schemas bound
// the decoding itself, seeds are honoured, top_k is a parameter, and a prompt
// that does not fit can be refused rather than cut in silence.
//
// One Complete is one attempt. Replies are streamed, so that one that stops
// in its middle is noticed; a model that is still being loaded is not: the
// first byte may take as long as Config.FirstTimeout.
package ollama

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"noema/kernel/provider"
	"noema/kernel/provider/exchange"
	"noema/kernel/provider/prices"
	"noema/methods"
)

// Kind is the provider's name, as written before the slash of a model.
const Kind = "ollama"

// DefaultBaseURL is where requests go if Config names no other server.
const DefaultBaseURL = "http://localhost:11434"

// Config says which model to serve and from where.
type Config struct {
	Model          string          // as the server knows it, for example "llama3.2:3b"
	BaseURL        string          // as Ollama reads OLLAMA_HOST: a port alone will do; empty means DefaultBaseURL
	APIKey         string          // usually empty; sent as a bearer token
	Price          *provider.Price // nil takes the one in Prices, if that has it
	Prices         *prices.Table   // nil means the built-in one
	MaxConnections int             // see provider.Info
	HTTPClient     *http.Client    // nil means one that stands 1,000 connections to the server
	IdleTimeout    time.Duration   // how long a reply may pause; see exchange.Config.Idle
	FirstTimeout   time.Duration   // how long its first byte may take; see exchange.Config.First
	KeepAlive      string          // how long the server keeps the model loaded, such as "30m"; empty leaves it to the server
	Context        int             // size of the context window in tokens (num_ctx); 0 leaves it to the server
}

// Provider serves one model. It is safe for concurrent use.
type Provider struct {
	info      provider.Info
	tariff    prices.Tariff
	exchange  *exchange.Exchange
	rules     *exchange.Rules
	learned   *exchange.Learned
	logprobs  exchange.Logprobs
	url, key  string
	keepAlive string
	context   int
}

var _ provider.Provider = (*Provider)(nil)

// New makes a provider. It opens no connection.
func New(c Config) (*Provider, error) {
	if strings.TrimSpace(c.Model) == "" {
		return nil, errors.New("ollama: no model named (write ollama/NAME, for example ollama/llama3.2)")
	}
	base, err := exchange.ParseBase(Kind, host(c.BaseURL), DefaultBaseURL, "OLLAMA_HOST")
	if err != nil {
		return nil, err
	}
	if c.Context < 0 {
		return nil, fmt.Errorf("ollama: a context of %d tokens cannot be", c.Context)
	}
	p := &Provider{
		info: provider.Info{
			ID:             methods.ModelID{Provider: Kind, Endpoint: base.Endpoint, Model: c.Model},
			MaxConnections: c.MaxConnections,
		},
		tariff: prices.Tariff{Price: c.Price},
		rules:  rules(), url: base.URL + "/api/chat", key: strings.TrimSpace(c.APIKey),
		keepAlive: c.KeepAlive, context: c.Context,
	}
	if len(base.Query) > 0 {
		p.url += "?" + base.Query.Encode()
	}
	if c.Context > 0 { // what does not fit is refused, so the size changes answers
		p.info.ID.Config = fmt.Sprintf("context=%d", c.Context)
	}
	if c.Price == nil {
		if c.Prices == nil {
			c.Prices = prices.Builtin()
		}
		p.tariff = c.Prices.Tariff(Kind, c.Model)
	}
	p.learned = exchange.NewLearned(p.rules, exchange.Form{})
	p.exchange = exchange.New(exchange.Config{
		Kind: Kind, Client: c.HTTPClient, Key: p.key,
		KeyHint:  "check the server's key",
		URLHint:  fmt.Sprintf("check OLLAMA_HOST and the model's name; \"ollama pull %s\" fetches it", c.Model),
		First:    c.FirstTimeout,
		Idle:     c.IdleTimeout,
		Complete: complete,
	})
	return p, nil
}

// host is a base URL of what Ollama's own tools take as one: the scheme, the
// host and the port may each be left out, and a server's own OLLAMA_HOST, which
// listens everywhere, is found at home. The /v1 of its other protocol is
// dropped. What is no URL stays as it is, for the error.
func host(raw string) string {
	raw = strings.TrimSpace(raw)
	if raw == "" {
		return ""
	}
	port := "11434"
	if scheme, _, ok := strings.Cut(raw, "://"); !ok {
		raw = "http://" + raw
	} else if port = "80"; strings.EqualFold(scheme, "https") {
		port = "443"
	}
	u, err := url.Parse(raw)
	if err != nil {
		return raw
	}
	if p := u.Port(); p != "" {
		port = p
	}
	name := u.Hostname()
	switch name {
	case "", "0.0.0.0":
		name = "127.0.0.1"
	case "::":
		name = "::1"
	}
	u.Host = net.JoinHostPort(name, port)
	return exchange.WithoutV1(u.String())
}

// Info describes the provider.
func (p *Provider) Info() provider.Info { return p.info }

// Adaptations lists in words what the server refused so far and what is done
// in its place.
func (p *Provider) Adaptations() []string { return p.learned.List() }

// CloseIdleConnections closes the connections that no request uses.
func (p *Provider) CloseIdleConnections() { p.exchange.CloseIdleConnections() }

// Complete makes one attempt. A failure is a [*provider.Error], or wraps
// ctx's error if ctx ended.
func (p *Provider) Complete(ctx context.Context, r methods.Request) (methods.Completion, error) {
	if err := p.logprobs.Check(r.Sampling); err != nil {
		return methods.Completion{}, err
	}
	return p.learned.Complete(ctx, p.exchange, r, p.attempt, p.learned.Adapt)
}

func (p *Provider) attempt(ctx context.Context, r methods.Request, f exchange.Form) (methods.Completion, error) {
	wire, err := p.request(r, f)
	if err != nil {
		return methods.Completion{}, err
	}
	body, err := json.Marshal(wire)
	if err != nil {
		return methods.Completion{}, &provider.Error{Kind: provider.Rejected, Err: fmt.Errorf("encode request: %w", err)}
	}
	raw, err := p.exchange.Do(ctx, func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url, bytes.NewReader(body))
		if err != nil {
			return err
		}
		req.Header.Set("Content-Type", "application/json")
		if p.key != "" {
			req.Header.Set("Authorization", "Bearer "+p.key)
		}
		res, err := p.exchange.Client().Do(req)
		if err == nil {
			err = res.Body.Close()
		}
		return err
	})
	if err != nil {
		return methods.Completion{}, err
	}
	c, err := p.decode(raw)
	if err == nil {
		err = p.logprobs.Settle(&c, r.Sampling)
	}
	return c, err
}
