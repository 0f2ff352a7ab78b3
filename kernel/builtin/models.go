package builtin

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"noema/kernel"
	"noema/kernel/provider"
	"noema/kernel/provider/none"
	"noema/kernel/provider/openai"
	"noema/kernel/provider/scripted"
	"noema/kernel/provider/sim"
	"noema/methods"
)

// Models implements [kernel.Catalog].
func (Catalog) Models() []string {
	return []string{"sim", "openai/NAME", "scripted/FILE"}
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
	case openai.Kind:
		return openOpenAI(name, s.Options, recorded, maxConnections)
	case scripted.Kind:
		return scripted.Load(name)
	}
	return nil, kernel.Misused(fmt.Errorf("unknown model %q: use one of %s", s.Name, strings.Join(c.Models(), ", ")))
}

// openOpenAI reads key and server from the variables that everyone knows.
func openOpenAI(name string, options map[string]string, recorded bool, maxConnections int) (provider.Provider, error) {
	if name == "" {
		return nil, kernel.Misused(errors.New("model \"openai\": say which, as in openai/gpt-5-nano"))
	}
	price, err := parsePrice(options)
	if err != nil {
		return nil, kernel.Misused(err)
	}
	key := os.Getenv("OPENAI_API_KEY")
	if recorded && key == "" {
		key = "not needed"
	}
	return openai.New(openai.Config{
		Model: name, BaseURL: os.Getenv("OPENAI_BASE_URL"), APIKey: key, Price: price, MaxConnections: maxConnections,
	})
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
			return nil, fmt.Errorf("model options: give price_input and price_output, in dollars per million tokens, and nothing else")
		}
		dollars, err := strconv.ParseFloat(text, 64)
		if err != nil || dollars < 0 || dollars > 1e6 {
			return nil, fmt.Errorf("model options: %s %q is no price in dollars per million tokens", name, text)
		}
		*into = methods.NanoUSD(dollars*1000 + 0.5)
	}
	if len(options) > 2 {
		return nil, fmt.Errorf("model options: only price_input and price_output are known")
	}
	return &price, nil
}
