package builtin

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"noema/kernel/base/hub"
	"noema/kernel/lab"
	"noema/kernel/model/library"
	"noema/kernel/model/provider"
	"noema/kernel/model/provider/anthropic"
	"noema/kernel/model/provider/exchange"
	"noema/kernel/model/provider/gemini"
	"noema/kernel/model/provider/local"
	"noema/kernel/model/provider/none"
	"noema/kernel/model/provider/ollama"
	"noema/kernel/model/provider/openai"
	"noema/kernel/model/provider/prices"
	"noema/kernel/model/provider/scripted"
	"noema/kernel/model/provider/sim"
	"noema/kernel/task"
	"noema/methods"
)

// Provider is a row of the table of providers.
type Provider struct {
	Kind     string // before the slash of a model
	Form     string // how models are written in listings
	Summary  string
	Example  string // a model; empty where the name is left out
	Options  []methods.Option
	Features []provider.Features // of each protocol, the default first
	Server   *exchange.Service   // nil where models run in the process
	open     func(wanted) (provider.Provider, error)
}

// wanted is the model that a user asks for.
type wanted struct {
	lab.Spec
	model          string // what follows the slash in its name
	home           string // see [Catalog]
	recorded       bool   // it will never be called
	maxConnections int
}

// parse reads the options into a struct that declares them.
func (w wanted) parse(into any) error {
	if err := methods.ParseOptions(w.Options, into); err != nil {
		return lab.Misused(fmt.Errorf("model %q: %w", w.Name, err))
	}
	return nil
}

// Providers lists all providers, in the order of listings. Adding one is a line here.
func Providers() []Provider {
	return []Provider{
		{
			Kind: sim.Kind, Form: sim.Kind, Options: methods.OptionsOf(sim.Options{}), open: openSim,
			Summary: "a simulated model that reads only the prompt; for developing and testing, not evidence about language models",
		},
		served(openai.Service(), openai.New),
		served(anthropic.Service(), anthropic.New),
		served(gemini.Service(), gemini.New),
		served(ollama.Service(), ollama.New),
		served(openai.Compatible(exchange.Service{
			Kind: "openrouter", Summary: "OpenRouter, which passes requests on to many providers", Example: "openai/gpt-5-nano",
			BaseURL: "https://openrouter.ai/api/v1", URLVariable: "OPENROUTER_BASE_URL", KeyVariable: []string{"OPENROUTER_API_KEY"}, Probe: "/key",
		})),
		{
			Kind: local.Kind, Form: "local/NAME", Example: "local/smollm2-135m", Options: methods.OptionsOf(local.Options{}),
			Summary:  "a model in this process: a name of \"noema model list\", of the hub (hf/ORG/REPO), or the path of a GGUF file or a folder (Llama, Mistral, Qwen2, Qwen3, Gemma 3, GPT-2)",
			Features: []provider.Features{local.Features()}, open: openLocal,
		},
		{
			Kind: scripted.Kind, Form: "scripted/FILE", Example: "scripted/replies.yaml", open: openScripted,
			Summary: "replies from a JSON or YAML file, for tests",
		},
	}
}

// Models implements [lab.Catalog].
func (Catalog) Models() []string {
	var forms []string
	for _, p := range Providers() {
		forms = append(forms, p.Form)
	}
	return forms
}

// Model implements [lab.Catalog]: the provider of a model written
// provider/name?options, with further ones among its options: see [provider.Team].
func (c Catalog) Model(s lab.Spec, recorded bool, maxConnections int) (provider.Provider, error) {
	alone, others := lab.Spec{Name: s.Name, Options: map[string]string{}}, map[string]provider.Provider{}
	for key, value := range s.Options {
		name, further := strings.CutPrefix(key, provider.With)
		if !further {
			alone.Options[key] = value
			continue
		}
		spec, err := lab.ParseSpec(value)
		if err == nil {
			others[name], err = c.one(spec, recorded, maxConnections)
		}
		if err != nil {
			return nil, lab.Misused(fmt.Errorf("model %q, called %q: %w", s.Name, name, err))
		}
	}
	first, err := c.one(alone, recorded, maxConnections)
	if err != nil {
		return nil, err
	}
	return provider.Team(first, others), nil
}

// one is the provider of one model.
func (c Catalog) one(s lab.Spec, recorded bool, maxConnections int) (provider.Provider, error) {
	kind, name, _ := strings.Cut(s.Name, "/")
	var kinds []string
	for _, row := range Providers() {
		kinds = append(kinds, row.Kind)
		if row.Kind != kind {
			continue
		}
		if name == "" && row.Example != "" {
			return nil, lab.Misused(fmt.Errorf("model %q: name one, as in %s", kind, row.Example))
		}
		p, err := row.open(wanted{s, name, c.Home, recorded, maxConnections})
		if err != nil || !recorded {
			return p, err
		}
		return none.New(p.Info()), nil
	}
	return nil, lab.Misused(fmt.Errorf("unknown model %q%s: use one of %s",
		s.Name, methods.DidYouMean(kind, kinds), strings.Join(Catalog{}.Models(), ", ")))
}

// served is the row of a provider whose models a server serves.
func served[O interface {
	Price() (*provider.Price, error)
	Marks() (string, error)
}](s exchange.Service, open func(exchange.Config, O) (*exchange.Client, error)) Provider {
	var declared O
	for i := range s.Features {
		s.Features[i].Provider = s.Kind
	}
	return Provider{
		Kind: s.Kind, Form: s.Kind + "/NAME", Example: s.Kind + "/" + s.Example, Options: methods.OptionsOf(declared), Features: s.Features, Server: &s,
		Summary: fmt.Sprintf("%s; server in %s (default %s), key in %s", s.Summary, s.URLVariable, s.BaseURL, strings.Join(s.KeyVariable, " or ")),
		open: func(w wanted) (provider.Provider, error) {
			o := declared
			if err := w.parse(&o); err != nil {
				return nil, err
			}
			price, err := o.Price()
			thoughts, wrong := o.Marks()
			if err = errors.Join(err, wrong); err != nil {
				return nil, lab.Misused(fmt.Errorf("model %q: %w", w.Name, err))
			}
			table, err := priceTable(w.home)
			if err != nil {
				return nil, err
			}
			_, key := s.Key(os.Getenv)
			if w.recorded && key == "" {
				key = "not needed"
			}
			return open(exchange.Config{
				Model: w.model, BaseURL: os.Getenv(s.URLVariable), APIKey: key, Price: price, Prices: table, MaxConnections: w.maxConnections, Thoughts: thoughts,
			}, o)
		},
	}
}

// priceTable is the built-in one with $NOEMA_HOME/prices.yaml over it.
func priceTable(home string) (*prices.Table, error) {
	home, err := Home(cmp.Or(home, os.Getenv("NOEMA_HOME")))
	if err != nil {
		return nil, err
	}
	var kinds []string
	for _, p := range Providers() {
		if p.Server != nil {
			kinds = append(kinds, p.Kind)
		}
	}
	return prices.Load(filepath.Join(home, "prices.yaml"), kinds)
}

func openSim(w wanted) (provider.Provider, error) {
	if w.model != "" {
		return nil, lab.Misused(fmt.Errorf("model %q: the simulated model has no names: use sim or sim?error=0.1", w.Name))
	}
	o, err := sim.ParseOptions(w.Options)
	if err != nil {
		return nil, lab.Misused(err)
	}
	p, err := sim.New(o)
	if err != nil {
		return nil, lab.Misused(err)
	}
	return p, nil
}

func openLocal(w wanted) (provider.Provider, error) {
	var o local.Options
	if err := w.parse(&o); err != nil {
		return nil, err
	}
	if o.Engine != "" && o.Engine != local.Native && !w.recorded {
		return nil, lab.Misused(fmt.Errorf("model %q: there is no engine %q any more: leave engine out, and the model runs on noema's own", w.Name, o.Engine))
	}
	path, err := findModel(w.home, w.model)
	if err != nil {
		return nil, lab.NotHere(lab.Misused(fmt.Errorf("model %q: %w", w.Name, err)))
	}
	p, err := local.New(path, o)
	if errors.Is(err, fs.ErrNotExist) {
		err = lab.NotHere(err)
	}
	if err != nil {
		return nil, lab.Misused(err)
	}
	return p, nil
}

// Library is what models there are on this machine, and where more come from.
func Library(home string) (library.Library, error) {
	home, err := Home(cmp.Or(home, os.Getenv("NOEMA_HOME")))
	if err != nil {
		return library.Library{}, err
	}
	client, err := hub.FromEnvironment(os.Getenv)
	return library.Library{Home: home, Hub: client}, err
}

// findModel gives the folder or file that a name after local/ stands for.
func findModel(home, name string) (string, error) {
	lib, err := Library(home)
	if err != nil {
		return "", err
	}
	return lib.Find(name)
}

func openScripted(w wanted) (provider.Provider, error) {
	if err := w.parse(&struct{}{}); err != nil {
		return nil, err
	}
	p, err := scripted.Load(w.model)
	if errors.Is(err, fs.ErrNotExist) {
		err = lab.Misused(err)
	}
	return p, err
}

// FeaturesOf are what a model's provider does with a request; false for those
// that are not models to be tested.
func FeaturesOf(p provider.Provider) (provider.Features, bool) {
	if c, ok := p.(interface{ Features() provider.Features }); ok {
		return c.Features(), true
	}
	for _, row := range Providers() {
		if row.Kind == p.Info().ID.Provider && len(row.Features) > 0 {
			return row.Features[0], true
		}
	}
	return provider.Features{}, false
}

// Embedder implements [lab.Catalog]: models of the BERT family, written
// local/NAME or local/FOLDER.
func (c Catalog) Embedder(name string) (task.Embedder, error) {
	kind, dir, _ := strings.Cut(name, "/")
	if kind != local.Kind || dir == "" {
		return nil, lab.Misused(fmt.Errorf("embedding model %q: name a model of the BERT family, as in local/minilm", name))
	}
	if _, options, ok := strings.Cut(dir, "?"); ok {
		return nil, lab.Misused(fmt.Errorf("embedding model %q: embedding models have no options: leave out %q", name, "?"+options))
	}
	path, err := findModel(c.Home, dir)
	if err != nil {
		return nil, lab.Misused(fmt.Errorf("embedding model %q: %w", name, err))
	}
	e, err := local.NewEmbedder(path, local.Options{})
	if err != nil {
		return nil, lab.Misused(err)
	}
	return e, nil
}
