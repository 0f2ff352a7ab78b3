// Package gemini serves models through Google's Gemini API (API key mode),
// with its official SDK.
//
// # What is sent
//
// One Complete is one attempt: the SDK does not repeat requests. Replies are
// streamed, so that one that stops in its middle is noticed.
//
// The SDK builds and signs requests; the replies are read here, because the
// SDK's reader writes to standard error and loses a reply whose token counts
// are no numbers of 32 bits.
//
// A schema is sent as responseJsonSchema, which the server enforces. A server
// that cannot do so, or refuses this schema, is asked for it in words; so is
// one that takes no schema beside tools. [Provider.Adaptations] lists what was
// learned.
//
// Models that think sign their tool calls, and want the signature back with
// the next turn. It travels in the call's id, so that a conversation is whole
// without anything kept here.
package gemini

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"google.golang.org/genai"

	"noema/kernel/provider"
	"noema/kernel/provider/exchange"
	"noema/kernel/provider/prices"
	"noema/methods"
)

// Kind is the provider's name, as written before the slash of a model.
const Kind = "gemini"

// DefaultBaseURL is where requests go if Config names no other server.
const DefaultBaseURL = "https://generativelanguage.googleapis.com"

// Config says which model to serve and from where.
type Config struct {
	Model          string          // as the server knows it, for example "gemini-2.5-flash"
	BaseURL        string          // empty means DefaultBaseURL; without the version
	APIKey         string          // may be empty for servers of one's own
	Price          *provider.Price // nil takes the one in Prices; see prices.Table.At
	Prices         *prices.Table   // nil means the built-in one
	MaxConnections int             // see provider.Info
	HTTPClient     *http.Client    // nil means one that stands 1,000 connections to the server
	IdleTimeout    time.Duration   // how long a reply may pause; see exchange.Config.Idle
	FirstTimeout   time.Duration   // how long its first byte may take; see exchange.Config.First
}

// Provider serves one model. It is safe for concurrent use.
type Provider struct {
	info     provider.Info
	tariff   prices.Tariff
	exchange *exchange.Exchange
	rules    *exchange.Rules
	learned  *exchange.Learned
	logprobs exchange.Logprobs
	models   *genai.Models
}

var _ provider.Provider = (*Provider)(nil)

// New makes a provider. It opens no connection. What a run depends on is in
// its Config, not in the SDK's environment variables.
func New(c Config) (*Provider, error) {
	c.Model = strings.TrimPrefix(strings.TrimSpace(c.Model), "models/")
	if c.Model == "" {
		return nil, errors.New("gemini: no model named (write gemini/NAME, for example gemini/gemini-2.5-flash)")
	}
	base, err := exchange.ParseBase(Kind, c.BaseURL, DefaultBaseURL, "GEMINI_BASE_URL")
	if err != nil {
		return nil, err
	}
	if len(base.Query) > 0 {
		return nil, errors.New("gemini: a base URL with a query cannot be used (check GEMINI_BASE_URL)")
	}
	key := strings.TrimSpace(c.APIKey)
	if key == "" && base.Endpoint == "" {
		return nil, fmt.Errorf("gemini: no API key for %s (set GEMINI_API_KEY, or GEMINI_BASE_URL for another server)", DefaultBaseURL)
	}
	p := &Provider{
		info: provider.Info{
			ID:             methods.ModelID{Provider: Kind, Endpoint: base.Endpoint, Model: c.Model},
			MaxConnections: c.MaxConnections,
		},
		tariff: prices.Tariff{Price: c.Price},
		rules:  rules(),
	}
	if c.Price == nil {
		p.tariff = c.Prices.At(Kind, base.Endpoint, c.Model)
	}
	p.learned = exchange.NewLearned(p.rules, exchange.Form{})
	p.exchange = exchange.New(exchange.Config{
		Kind: Kind, Client: c.HTTPClient, Key: key,
		KeyHint:  "check GEMINI_API_KEY",
		URLHint:  "check the model's name and GEMINI_BASE_URL, which is without the version",
		First:    c.FirstTimeout,
		Idle:     c.IdleTimeout,
		Complete: complete,
	})
	return p, p.connect(base, key)
}

// connect makes the SDK's client, which opens no connection.
func (p *Provider) connect(base exchange.Base, key string) error {
	if key == "" {
		key = "none" // the SDK insists on one, and would look for it in the environment
	}
	client, err := genai.NewClient(context.Background(), &genai.ClientConfig{
		APIKey: key, Backend: genai.BackendGeminiAPI, HTTPClient: p.exchange.Client(),
		HTTPOptions: genai.HTTPOptions{BaseURL: base.URL},
	})
	if err != nil { // its text holds the whole configuration
		return errors.New("gemini: the SDK refuses the configuration (check GEMINI_API_KEY and GEMINI_BASE_URL)")
	}
	p.models = client.Models
	return nil
}

// Info describes the provider.
func (p *Provider) Info() provider.Info { return p.info }

// Adaptations lists in words what the server refused so far and what is done
// in its place. It is sorted, and empty for a server that accepts everything.
func (p *Provider) Adaptations() []string { return p.learned.List() }

// CloseIdleConnections closes the connections that no request uses.
func (p *Provider) CloseIdleConnections() { p.exchange.CloseIdleConnections() }

// Complete makes one attempt. A failure is a [*provider.Error], or wraps
// ctx's error if ctx ended.
func (p *Provider) Complete(ctx context.Context, r methods.Request) (methods.Completion, error) {
	if err := p.logprobs.Check(r.Sampling); err != nil {
		return methods.Completion{}, err
	}
	return p.learned.Complete(ctx, p.exchange, r, p.attempt, p.adapt)
}

// adapt learns from a refusal. The API names parameters in many ways.
func (p *Provider) adapt(f exchange.Form, r methods.Request, refused *exchange.Refusal) bool {
	for pattern, name := range spellings {
		refused.Text = strings.ReplaceAll(refused.Text, pattern, name)
	}
	return p.learned.Adapt(f, r, refused)
}

func (p *Provider) attempt(ctx context.Context, r methods.Request, f exchange.Form) (methods.Completion, error) {
	contents, config, err := p.request(r, f)
	if err != nil {
		return methods.Completion{}, err
	}
	raw, err := p.exchange.Do(ctx, func(ctx context.Context) error {
		for _, err := range p.models.GenerateContentStream(ctx, p.info.ID.Model, contents, config) {
			if err != nil {
				return err
			}
		}
		return nil
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
