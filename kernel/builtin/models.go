package builtin

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"noema/kernel"
	"noema/kernel/provider"
	"noema/kernel/provider/anthropic"
	"noema/kernel/provider/gemini"
	"noema/kernel/provider/local"
	"noema/kernel/provider/none"
	"noema/kernel/provider/ollama"
	"noema/kernel/provider/openai"
	"noema/kernel/provider/prices"
	"noema/kernel/provider/scripted"
	"noema/kernel/provider/sim"
	"noema/kernel/task"
	"noema/methods"
)

// Models implements [kernel.Catalog].
func (Catalog) Models() []string {
	return []string{"sim", "openai/NAME", "anthropic/NAME", "gemini/NAME", "ollama/NAME", "local/FOLDER", "scripted/FILE"}
}

// Model implements [kernel.Catalog]: the provider of a model written
// provider/name?options.
func (c Catalog) Model(s kernel.Spec, recorded bool, maxConnections int) (provider.Provider, error) {
	p, err := c.openModel(s, recorded, maxConnections)
	if err != nil || !recorded {
		return p, err
	}
	return none.New(p.Info()), nil
}

func (c Catalog) openModel(s kernel.Spec, recorded bool, maxConnections int) (provider.Provider, error) {
	kind, name, _ := strings.Cut(s.Name, "/")
	switch kind {
	case sim.Kind:
		if name != "" {
			return nil, kernel.Misused(fmt.Errorf("model %q: the simulated model has no names: use sim or sim?error=0.1", s.Name))
		}
		o, err := sim.ParseOptions(s.Options)
		if err != nil {
			return nil, kernel.Misused(err)
		}
		p, err := sim.New(o)
		if err != nil {
			return nil, kernel.Misused(err)
		}
		return p, nil
	case openai.Kind, anthropic.Kind, gemini.Kind, ollama.Kind:
		return openServed(kind, name, s.Options, recorded, maxConnections)
	case local.Kind:
		return openLocal(name, s.Options)
	case scripted.Kind:
		return scripted.Load(name)
	}
	return nil, unknownModel(s.Name)
}

func unknownModel(name string) error {
	return kernel.Misused(fmt.Errorf("unknown model %q: use one of %s", name, strings.Join(Catalog{}.Models(), ", ")))
}

// server is where a kind of provider finds its server and key.
type server struct{ url, key, example string }

// servers are read from the variables that everyone knows.
var servers = map[string]server{
	openai.Kind:    {"OPENAI_BASE_URL", "OPENAI_API_KEY", "openai/gpt-5-nano"},
	anthropic.Kind: {"ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY", "anthropic/claude-haiku-4-5"},
	gemini.Kind:    {"GEMINI_BASE_URL", "GEMINI_API_KEY", "gemini/gemini-2.5-flash"},
	ollama.Kind:    {"OLLAMA_HOST", "OLLAMA_API_KEY", "ollama/llama3.2"},
}

// checkOptions refuses options that a kind of provider has not.
func checkOptions(kind string, options map[string]string) error {
	known := []string{"price_input", "price_output"}
	if kind == openai.Kind {
		known = append([]string{"api", "effort"}, known...)
	}
	for _, option := range slices.Sorted(maps.Keys(options)) {
		if !slices.Contains(known, option) {
			return kernel.Misused(fmt.Errorf("model options: %s has no option %q: there are %s", kind, option, strings.Join(known, ", ")))
		}
	}
	return nil
}

// openServed opens a model that a server serves.
func openServed(kind, name string, options map[string]string, recorded bool, maxConnections int) (provider.Provider, error) {
	at := servers[kind]
	if name == "" {
		return nil, kernel.Misused(fmt.Errorf("model %q: say which, as in %s", kind, at.example))
	}
	if err := checkOptions(kind, options); err != nil {
		return nil, err
	}
	options = maps.Clone(options)
	take := func(name string) string {
		text := options[name]
		delete(options, name)
		return text
	}
	api, effort := "", ""
	if kind == openai.Kind {
		api, effort = take("api"), take("effort")
	}
	price, err := parsePrice(options)
	if err != nil {
		return nil, kernel.Misused(err)
	}
	table, err := priceTable()
	if err != nil {
		return nil, kernel.Misused(err)
	}
	url, key := os.Getenv(at.url), os.Getenv(at.key)
	if kind == gemini.Kind && key == "" {
		key = os.Getenv("GOOGLE_API_KEY")
	}
	if recorded && key == "" {
		key = "not needed"
	}
	switch kind {
	case anthropic.Kind:
		return anthropic.New(anthropic.Config{Model: name, BaseURL: url, APIKey: key, Price: price, Prices: table, MaxConnections: maxConnections})
	case gemini.Kind:
		return gemini.New(gemini.Config{Model: name, BaseURL: url, APIKey: key, Price: price, Prices: table, MaxConnections: maxConnections})
	case ollama.Kind:
		return ollama.New(ollama.Config{Model: name, BaseURL: url, APIKey: os.Getenv(at.key), Price: price, Prices: table, MaxConnections: maxConnections})
	}
	if api != "" && api != string(openai.Chat) && api != string(openai.Responses) {
		return nil, kernel.Misused(fmt.Errorf("model options: api %q: use chat or responses", api))
	}
	return openai.New(openai.Config{
		Model: name, API: openai.API(api), Effort: effort, BaseURL: url, APIKey: key, Price: price, Prices: table, MaxConnections: maxConnections,
	})
}

// Embedder implements [kernel.Catalog]: models of the BERT family in a folder,
// written local/FOLDER.
func (Catalog) Embedder(name string) (task.Embedder, error) {
	kind, dir, _ := strings.Cut(name, "/")
	if kind != local.Kind || dir == "" {
		return nil, kernel.Misused(fmt.Errorf("embedding model %q: name a folder with a model of the BERT family, as in local/models/all-MiniLM-L6-v2", name))
	}
	if _, options, ok := strings.Cut(dir, "?"); ok {
		return nil, kernel.Misused(fmt.Errorf("embedding model %q: embedding models have no options: leave out %q", name, "?"+options))
	}
	e, err := local.NewEmbedder(dir, local.Options{})
	if err != nil {
		return nil, kernel.Misused(err)
	}
	return e, nil
}

// openLocal loads a model from a folder.
func openLocal(dir string, options map[string]string) (provider.Provider, error) {
	if dir == "" {
		return nil, kernel.Misused(fmt.Errorf("model %q: name a folder, as in local/models/SmolLM2-135M-Instruct", local.Kind))
	}
	var o local.Options
	into := map[string]*int{"max_tokens": &o.MaxTokens, "context": &o.Context, "batch": &o.Batch}
	for name, text := range options {
		if name == "backend" {
			o.Backend = text
			continue
		}
		field, ok := into[name]
		if !ok {
			return nil, kernel.Misused(fmt.Errorf("model options: local has no option %q: there are backend, batch, context and max_tokens", name))
		}
		n, err := strconv.Atoi(text)
		if err != nil {
			return nil, kernel.Misused(fmt.Errorf("model options: %s %q is no number", name, text))
		}
		if n < 0 {
			return nil, kernel.Misused(fmt.Errorf("model options: %s %d is below 0", name, n))
		}
		*field = n
	}
	p, err := local.New(dir, o)
	if err != nil {
		return nil, kernel.Misused(err)
	}
	return p, nil
}

// priceTable is the built-in one with $NOEMA_HOME/prices.yaml over it.
func priceTable() (*prices.Table, error) {
	home, err := Home(os.Getenv("NOEMA_HOME"))
	if err != nil {
		return nil, err
	}
	return prices.Load(filepath.Join(home, "prices.yaml"))
}

// Features are what each provider that a server serves does with a request, in
// the order of the documentation.
func Features() []provider.Features {
	return []provider.Features{
		openai.Features(openai.Chat), openai.Features(openai.Responses), anthropic.Features(), gemini.Features(), ollama.Features(), local.Features(),
	}
}

// FeaturesOf are those of a model written provider/name?options.
func FeaturesOf(s kernel.Spec) (provider.Features, bool) {
	kind, _, _ := strings.Cut(s.Name, "/")
	for _, f := range Features() {
		if f.Provider == kind && (kind != openai.Kind || s.Options["api"] != string(openai.Responses) || f.Protocol != openai.Features(openai.Chat).Protocol) {
			return f, true
		}
	}
	return provider.Features{}, false
}

// parsePrice reads price_input and price_output, in dollars per million
// tokens; neither leaves the provider's own table in force.
func parsePrice(options map[string]string) (*provider.Price, error) {
	if len(options) == 0 {
		return nil, nil
	}
	var price provider.Price
	for name, into := range map[string]*methods.NanoUSD{"price_input": &price.Input, "price_output": &price.Output} {
		text, ok := options[name]
		if !ok {
			return nil, fmt.Errorf("model options: give price_input and price_output, in dollars per million tokens: one needs the other")
		}
		dollars, err := strconv.ParseFloat(text, 64)
		if err != nil || dollars < 0 || dollars > 1e6 {
			return nil, fmt.Errorf("model options: %s %q is no price in dollars per million tokens", name, text)
		}
		*into = methods.NanoUSD(dollars*1000 + 0.5)
	}
	return &price, nil
}
