// Package anthropic serves models through Anthropic's messages API, with its
// official SDK.
//
// # What is sent
//
// One Complete is one attempt: the SDK's own retries are off. Replies are
// streamed, so that one that stops in its middle is noticed; the server sends
// a sign of life while a model thinks.
//
// The API has no seed: draws differ by chance alone, and two calls at
// temperature 0 may differ. It demands a limit of output tokens: where a
// request has none, [DefaultMaxTokens] is sent, or the model's own limit where
// that is lower. System turns go to the one place that the API has for them,
// in their order.
//
// A schema is first asked for as the output format, which the server enforces.
// A server or model that cannot do so, or refuses this schema, is given the
// schema as a tool that the model must call; and where that cannot be, because
// the request has tools of its own or the schema is no object, it is asked for
// in words. [Provider.Adaptations] lists what was learned.
package anthropic

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"noema/kernel/provider"
	"noema/kernel/provider/exchange"
	"noema/kernel/provider/prices"
	"noema/methods"
)

// Kind is the provider's name, as written before the slash of a model.
const Kind = "anthropic"

// DefaultBaseURL is where requests go if Config names no other server.
const DefaultBaseURL = "https://api.anthropic.com"

// DefaultMaxTokens is the limit of output tokens of requests that have none.
const DefaultMaxTokens = 8192

// Config says which model to serve and from where.
type Config struct {
	Model          string          // as the server knows it, for example "claude-haiku-4-5"
	BaseURL        string          // empty means DefaultBaseURL; a /v1 at its end is dropped
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
	limit    atomic.Int64 // of output tokens, where a request has none
	messages sdk.MessageService
}

var _ provider.Provider = (*Provider)(nil)

// New makes a provider. It opens no connection. The SDK's environment
// variables are not read: what a run depends on is in its Config.
func New(c Config) (*Provider, error) {
	if strings.TrimSpace(c.Model) == "" {
		return nil, errors.New("anthropic: no model named (write anthropic/NAME, for example anthropic/claude-haiku-4-5)")
	}
	base, err := exchange.ParseBase(Kind, exchange.WithoutV1(c.BaseURL), DefaultBaseURL, "ANTHROPIC_BASE_URL")
	if err != nil {
		return nil, err
	}
	key := strings.TrimSpace(c.APIKey)
	if key == "" && base.Endpoint == "" {
		return nil, fmt.Errorf("anthropic: no API key for %s (set ANTHROPIC_API_KEY, or ANTHROPIC_BASE_URL for another server)", DefaultBaseURL)
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
	p.limit.Store(DefaultMaxTokens)
	p.learned = exchange.NewLearned(p.rules, exchange.Form{})
	p.exchange = exchange.New(exchange.Config{
		Kind: Kind, Client: c.HTTPClient, Key: key,
		KeyHint:  "check ANTHROPIC_API_KEY",
		URLHint:  "check the model's name and ANTHROPIC_BASE_URL",
		First:    c.FirstTimeout,
		Idle:     c.IdleTimeout,
		Complete: complete,
	})
	p.messages = sdk.NewMessageService(p.options(base, key)...)
	return p, nil
}

func (p *Provider) options(base exchange.Base, key string) []option.RequestOption {
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

// Adaptations lists in words what the server refused so far and what is done
// in its place. It is sorted, and empty for a server that accepts everything.
func (p *Provider) Adaptations() []string {
	list := p.learned.List()
	if n := p.limit.Load(); n != DefaultMaxTokens {
		list = append(list, fmt.Sprintf("max_tokens is %d where a request has no limit: the model allows no more", n))
	}
	return list
}

// CloseIdleConnections closes the connections that no request uses.
func (p *Provider) CloseIdleConnections() { p.exchange.CloseIdleConnections() }

// Complete makes one attempt. A failure is a [*provider.Error], or wraps
// ctx's error if ctx ended.
func (p *Provider) Complete(ctx context.Context, r methods.Request) (methods.Completion, error) {
	if err := provider.NoLogprobs(Kind, r.Sampling); err != nil {
		return methods.Completion{}, err
	}
	return p.learned.Complete(ctx, p.exchange, r, p.attempt, p.adapt)
}

// adapt learns from a refusal and reports whether there is another form worth
// sending.
func (p *Provider) adapt(f exchange.Form, r methods.Request, refused *exchange.Refusal) bool {
	if m := lowerLimit.FindStringSubmatch(refused.Text); m != nil && r.Sampling.MaxTokens == 0 {
		n, err := strconv.ParseInt(m[1], 10, 64)
		if err == nil && n > 0 && n < p.limit.Load() {
			p.limit.Store(n)
			return true
		}
		return false
	}
	if eitherOr.MatchString(refused.Text) { // of temperature and top_p, the first says more
		refused.Param = topP
	}
	return p.learned.Adapt(f, r, refused)
}

func (p *Provider) attempt(ctx context.Context, r methods.Request, f exchange.Form) (methods.Completion, error) {
	params, byTool, err := p.params(r, f)
	if err != nil {
		return methods.Completion{}, err
	}
	raw, err := p.exchange.Do(ctx, func(ctx context.Context) error {
		return p.messages.NewStreaming(ctx, params).Err() // the exchange reads the reply
	})
	if err != nil {
		return methods.Completion{}, err
	}
	return p.decode(raw, byTool)
}
