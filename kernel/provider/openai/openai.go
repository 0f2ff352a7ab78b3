// Package openai serves models through OpenAI's two protocols: chat
// completions, which every compatible server speaks too (vLLM, llama.cpp,
// routers; chosen by base URL), and responses, which OpenAI's newest models
// are made for.
//
// # What is sent
//
// One Complete is one attempt: the SDK's own retries are off. Compatible
// servers and newer models refuse parameters that others demand, so a 400
// that names one is answered by sending the same request again without it,
// and the [Provider] remembers that for its server and model. The same goes
// for a server that cannot enforce a JSON schema: the schema is then appended
// to the conversation as an instruction, and whoever asked validates the
// reply as always. [Provider.Adaptations] lists what was learned.
//
// Replies are streamed where the server can, so that one that stops in its
// middle is noticed; see [exchange].
//
// The key of a completion stays that of the request as it was asked, never
// that of the adapted one. So a record does not depend on how many requests
// it took to learn what a server accepts, and a replay needs no server.
//
// The seed that is sent is [WireSeed] of the request's seed and draw: a
// server that honours seeds would otherwise give every draw the same answer.
package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"

	"noema/kernel/provider"
	"noema/kernel/provider/exchange"
	"noema/kernel/provider/prices"
	"noema/methods"
)

// Kind is the provider's name, as written before the slash of a model.
const Kind = "openai"

// DefaultBaseURL is where requests go if Config names no other server.
const DefaultBaseURL = "https://api.openai.com/v1"

// API is one of OpenAI's protocols.
type API string

// The protocols.
const (
	Chat      API = "chat"      // chat completions; the default
	Responses API = "responses" // responses
)

// Config says which model to serve and from where.
type Config struct {
	Model          string          // as the server knows it, for example "gpt-5-nano"
	API            API             // empty means Chat
	Effort         string          // reasoning effort, such as "low"; empty leaves it to the model
	BaseURL        string          // empty means DefaultBaseURL
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
	api      API
	effort   string
	tariff   prices.Tariff
	exchange *exchange.Exchange
	rules    *exchange.Rules
	learned  *exchange.Learned
	logprobs exchange.Logprobs
	options  []option.RequestOption
}

var _ provider.Provider = (*Provider)(nil)

// New makes a provider. It opens no connection. The SDK's environment
// variables are not read: what a run depends on is in its Config.
func New(c Config) (*Provider, error) {
	if strings.TrimSpace(c.Model) == "" {
		return nil, errors.New("openai: no model named (write openai/NAME, for example openai/gpt-5-nano)")
	}
	if c.API == "" {
		c.API = Chat
	}
	if c.API != Chat && c.API != Responses {
		return nil, fmt.Errorf("openai: unknown API %q: use chat or responses", c.API)
	}
	base, err := exchange.ParseBase(Kind, c.BaseURL, DefaultBaseURL, "OPENAI_BASE_URL")
	if err != nil {
		return nil, err
	}
	key := strings.TrimSpace(c.APIKey)
	if key == "" && base.Endpoint == "" {
		return nil, fmt.Errorf("openai: no API key for %s (set OPENAI_API_KEY, or OPENAI_BASE_URL for another server)", DefaultBaseURL)
	}
	p := &Provider{
		info: provider.Info{
			ID:             methods.ModelID{Provider: Kind, Endpoint: base.Endpoint, Model: c.Model, Config: identity(c)},
			MaxConnections: c.MaxConnections,
		},
		api:    c.API,
		effort: c.Effort,
		tariff: tariff(c, base),
		rules:  chatRules(),
	}
	start := exchange.Form{Alternate: base.Endpoint == ""}
	if c.API == Responses {
		p.rules, start = responsesRules(), exchange.Form{}
	}
	p.learned = exchange.NewLearned(p.rules, start)
	p.exchange = exchange.New(p.exchangeConfig(c, key))
	p.options = p.requestOptions(base, key)
	return p, nil
}

// identity is what besides the model's name changes its answers.
func identity(c Config) string {
	var parts []string
	if c.API == Responses {
		parts = append(parts, "api=responses")
	}
	if c.Effort != "" {
		parts = append(parts, "effort="+c.Effort)
	}
	return strings.Join(parts, "&")
}

// tariff is what the model charges.
func tariff(c Config, base exchange.Base) prices.Tariff {
	if c.Price != nil {
		return prices.Tariff{Price: c.Price}
	}
	return c.Prices.At(Kind, base.Endpoint, c.Model)
}

func (p *Provider) exchangeConfig(c Config, key string) exchange.Config {
	x := exchange.Config{
		Kind: Kind, Client: c.HTTPClient, Key: key,
		KeyHint:  "check OPENAI_API_KEY",
		URLHint:  "check the model's name and OPENAI_BASE_URL; most servers want it to end in /v1",
		First:    c.FirstTimeout,
		Idle:     c.IdleTimeout,
		Complete: completeChat,
	}
	if c.API == Responses {
		// A model that reasons says at once that it has begun, and then
		// nothing until its answer.
		x.Answering, x.Complete = `.delta"`, completeResponse
	}
	return x
}

func (p *Provider) requestOptions(base exchange.Base, key string) []option.RequestOption {
	opts := []option.RequestOption{
		option.WithBaseURL(base.URL),
		option.WithHTTPClient(p.exchange.Client()),
		option.WithMaxRetries(0),
	}
	for name, values := range base.Query {
		for _, v := range values {
			opts = append(opts, option.WithQueryAdd(name, v))
		}
	}
	if key != "" {
		opts = append(opts, option.WithAPIKey(key))
	}
	return opts
}

// Info describes the provider.
func (p *Provider) Info() provider.Info { return p.info }

// Adaptations lists in words what the server refused so far and what is sent
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
	return p.learned.Complete(ctx, p.exchange, r, p.attempt, p.learned.Adapt)
}

func (p *Provider) attempt(ctx context.Context, r methods.Request, f exchange.Form) (methods.Completion, error) {
	if r.Schema != nil && p.rules.InWords(f) {
		r.Messages = exchange.Instruct(r.Messages, r.Schema)
	}
	send, err := p.sender(r, f)
	if err != nil {
		return methods.Completion{}, err
	}
	raw, err := p.exchange.Do(ctx, send)
	if err != nil {
		return methods.Completion{}, err
	}
	decode := p.decodeChat
	if p.api == Responses {
		decode = p.decodeResponse
	}
	c, err := decode(raw)
	if err == nil {
		err = p.logprobs.Settle(&c, r.Sampling)
	}
	if err == nil && (p.api == Responses || f.Without[stop]) {
		exchange.CutAtStop(&c, r.Sampling.Stop)
	}
	return c, err
}

// sender is what sends the request. What the SDK makes of the reply is not
// used: the exchange reads it.
func (p *Provider) sender(r methods.Request, f exchange.Form) (func(context.Context) error, error) {
	opts := slices.Clip(p.options)
	if p.api == Responses {
		params, err := p.responseParams(r, f)
		service := responses.NewResponseService(opts...)
		return func(ctx context.Context) error {
			if f.Without[stream] {
				_, err := service.New(ctx, params)
				return err
			}
			return service.NewStreaming(ctx, params).Err()
		}, err
	}
	params, err := p.chatParams(r, f)
	service := sdk.NewChatCompletionService(opts...)
	return func(ctx context.Context) error {
		if f.Without[stream] {
			_, err := service.New(ctx, params)
			return err
		}
		return service.NewStreaming(ctx, params).Err()
	}, err
}
