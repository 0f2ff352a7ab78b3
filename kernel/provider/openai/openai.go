// Package openai serves models through the chat-completions protocol: those
// of OpenAI itself, and those of every compatible server (vLLM, llama.cpp,
// Ollama, routers), which is chosen by its base URL.
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
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"noema/kernel/provider"
	"noema/methods"
)

// Kind is the provider's name, as written before the slash of a model.
const Kind = "openai"

// DefaultBaseURL is where requests go if Config names no other server.
const DefaultBaseURL = "https://api.openai.com/v1"

// replyLimit is the largest reply that is read, in bytes.
const replyLimit = 32 << 20

// maxAdaptations bounds the requests of one Complete: one for each parameter
// that a server can refuse.
const maxAdaptations = 10

// Config says which model to serve and from where.
type Config struct {
	Model          string          // as the server knows it, for example "gpt-5-nano"
	BaseURL        string          // empty means DefaultBaseURL
	APIKey         string          // may be empty for servers of one's own
	Price          *provider.Price // nil takes the built-in table's, for OpenAI's own models
	MaxConnections int             // see provider.Info
	HTTPClient     *http.Client    // nil means one that stands 1,000 connections to the server
}

// Provider serves one model. It is safe for concurrent use.
type Provider struct {
	info   provider.Info
	price  *provider.Price
	key    string // only to keep it out of errors
	http   *http.Client
	chat   sdk.ChatCompletionService
	server learned
}

var _ provider.Provider = (*Provider)(nil)

// New makes a provider. It opens no connection. The SDK's environment
// variables are not read: what a run depends on is in its Config.
func New(c Config) (*Provider, error) {
	if strings.TrimSpace(c.Model) == "" {
		return nil, errors.New("openai: no model named (write openai/NAME, for example openai/gpt-5-nano)")
	}
	base, err := parseBase(c.BaseURL)
	if err != nil {
		return nil, err
	}
	key := strings.TrimSpace(c.APIKey)
	if key == "" && base.endpoint == "" {
		return nil, fmt.Errorf("openai: no API key for %s (set OPENAI_API_KEY, or OPENAI_BASE_URL for another server)", DefaultBaseURL)
	}
	p := &Provider{
		info: provider.Info{
			ID:             methods.ModelID{Provider: Kind, Endpoint: base.endpoint, Model: c.Model},
			MaxConnections: c.MaxConnections,
		},
		price: c.Price,
		key:   key,
		http:  c.HTTPClient,
	}
	if p.price == nil && base.endpoint == "" {
		p.price = Price(c.Model)
	}
	if p.http == nil {
		p.http = newClient()
	}
	p.server.form.oldTokens = base.endpoint != ""
	p.chat = sdk.NewChatCompletionService(p.options(base)...)
	return p, nil
}

func (p *Provider) options(base base) []option.RequestOption {
	opts := []option.RequestOption{
		option.WithBaseURL(base.url),
		option.WithHTTPClient(p.http),
		option.WithMaxRetries(0),
		option.WithMiddleware(p.inspect),
	}
	for name, values := range base.query {
		for _, v := range values {
			opts = append(opts, option.WithQueryAdd(name, v))
		}
	}
	if p.key != "" {
		opts = append(opts, option.WithAPIKey(p.key))
	}
	return opts
}

// Info describes the provider.
func (p *Provider) Info() provider.Info { return p.info }

// Adaptations lists in words what the server refused so far and what is sent
// in its place. It is sorted, and empty for a server that accepts everything.
func (p *Provider) Adaptations() []string { return p.server.list() }

// CloseIdleConnections closes the connections that no request uses.
func (p *Provider) CloseIdleConnections() { p.http.CloseIdleConnections() }

// Complete makes one attempt. A failure is a [*provider.Error], or wraps
// ctx's error if ctx ended.
func (p *Provider) Complete(ctx context.Context, r methods.Request) (methods.Completion, error) {
	var err error
	for range maxAdaptations {
		form := p.server.current(r.Schema)
		var raw []byte
		if raw, err = p.attempt(ctx, r, form); err == nil {
			return p.decode(raw)
		}
		var refused *refusal
		if !errors.As(err, &refused) || !p.server.adapt(form, r, refused) {
			break
		}
	}
	return methods.Completion{}, p.failure(ctx, err)
}

func (p *Provider) attempt(ctx context.Context, r methods.Request, f form) ([]byte, error) {
	params, err := p.params(r, f)
	if err != nil {
		return nil, err
	}
	var raw []byte
	_, err = p.chat.New(ctx, params, option.WithResponseBodyInto(&raw))
	return raw, err
}
