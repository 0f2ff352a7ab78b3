// Package ollama serves models through the native protocol of Ollama
// (/api/chat), which says more than its OpenAI-compatible one: schemas bound
// the decoding itself, seeds are honoured, top_k is a parameter, and a prompt
// that does not fit can be refused rather than cut in silence. See package
// exchange for what it has in common with other providers.
package ollama

import (
	"fmt"
	"net"
	"net/url"
	"strings"

	"noema/kernel/model/provider"
	"noema/kernel/model/provider/exchange"
)

// Kind is the provider's name, as written before the slash of a model.
const Kind = "ollama"

// Options of a model.
type Options struct {
	Context   int    `json:"context" min:"0" doc:"size of the context window in tokens (default: the server's)"`
	KeepAlive string `json:"keep_alive" doc:"how long the server keeps the model loaded, such as 30m (default: the server's)"`
	exchange.Options
}

// Service describes the provider.
func Service() exchange.Service {
	return exchange.Service{
		Kind: Kind, Summary: "Ollama, by its own protocol", Example: "llama3.2",
		BaseURL: "http://localhost:11434", URLVariable: "OLLAMA_HOST", KeyVariable: []string{"OLLAMA_API_KEY"}, KeyOptional: true,
		NotFound: `; "ollama pull NAME" fetches it`, Start: "ollama serve", Probe: "/api/tags",
		Address: host, Features: []provider.Features{features()},
	}
}

func features() provider.Features {
	f := provider.AllNative("ollama chat",
		"A schema that the server cannot turn into a grammar is asked for in words and validated by whoever asked.",
		"Log probabilities came with Ollama 0.12.11; an older server, which ignores the request for them, is an error.",
		"A prompt that does not fit is refused by servers that can; older ones cut it in silence.",
		"An effort is sent as think: a level, which few models tell apart, or false for none.",
		"Each draw sends a seed of its own.")
	f.Seed = provider.BestEffort
	return f
}

// New makes a client of a model.
func New(c exchange.Config, o Options) (*exchange.Client, error) {
	effort, err := o.ReadEffort(Kind, 0)
	if err != nil {
		return nil, err
	}
	p := exchange.Protocol{
		Rules: exchange.Rules{
			Temperature: "temperature", TopP: "top_p", TopK: "top_k", Seed: "seed", Stop: "stop",
			// A server may not turn this schema into a grammar, an old one none.
			Schema: []string{"format", "grammar", "json_schema", "json schema"},
		},
		Encode: func(d exchange.Draft) (string, any, error) { return "/api/chat", encode(c.Model, o, d), nil },
		Decode: decode,
	}
	if o.Context > 0 { // what does not fit is refused, so the size changes answers
		p.Identity = fmt.Sprintf("context=%d", o.Context)
	}
	if effort.Level != "" {
		p.Identity = strings.TrimPrefix(p.Identity+"&"+effort.Identity(), "&")
	}
	return exchange.New(Service(), p, c)
}

// host turns what Ollama's own tools take into a base URL: the scheme, the host
// and the port may each be left out, and a server's own OLLAMA_HOST, which
// listens on all addresses, is reached on the local one. The /v1 of its other
// protocol is dropped. What is not a URL stays as it is, for the error.
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
