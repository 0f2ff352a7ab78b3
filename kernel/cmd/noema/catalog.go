package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"noema/kernel/provider"
	"noema/kernel/provider/none"
	"noema/kernel/provider/openai"
	"noema/kernel/provider/scripted"
	"noema/kernel/provider/sim"
	"noema/kernel/record"
	"noema/kernel/runner"
	"noema/methods"
	"noema/plugins"
)

// modelForms lists what --model takes, for help and errors.
func modelForms() []string {
	return []string{"sim", "openai/NAME", "scripted/FILE"}
}

// openModel returns the provider of a model written provider/name?options.
// With recorded set it will never be called, and needs no key.
func openModel(text string, recorded bool, maxConnections int) (provider.Provider, error) {
	s, err := parseSpec(text)
	if err != nil {
		return nil, usage(err)
	}
	kind, name, _ := strings.Cut(s.name, "/")
	var p provider.Provider
	switch kind {
	case sim.Kind:
		if name != "" {
			return nil, usage(fmt.Errorf("model %q: the simulated model has no names: use sim or sim?error=0.1", text))
		}
		o, err := sim.ParseOptions(s.options)
		if err != nil {
			return nil, usage(err)
		}
		p, err = sim.New(o)
		if err != nil {
			return nil, usage(err)
		}
	case openai.Kind:
		if p, err = openOpenAI(name, s.options, recorded, maxConnections); err != nil {
			return nil, err
		}
	case scripted.Kind:
		if p, err = scripted.Load(name); err != nil {
			return nil, err
		}
	default:
		return nil, usage(fmt.Errorf("unknown model %q: use one of %s", text, strings.Join(modelForms(), ", ")))
	}
	if recorded {
		return none.New(p.Info()), nil
	}
	return p, nil
}

// openOpenAI reads key and server from the variables that everyone knows.
func openOpenAI(name string, options map[string]string, recorded bool, maxConnections int) (provider.Provider, error) {
	if name == "" {
		return nil, usage(errors.New("model \"openai\": say which, as in openai/gpt-5-nano"))
	}
	price, err := parsePrice(options)
	if err != nil {
		return nil, usage(err)
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

// sources lists every plugin: the built-in methods and what the plugin
// folders hold. A built-in hides a found plugin of its name.
func (a *app) sources() ([]plugins.Source, error) {
	names := slices.Sorted(maps.Keys(builtins()))
	all, err := plugins.Builtins([]string{serveVerb}, names)
	if err != nil {
		return nil, err
	}
	found, faults := plugins.Discover(a.pluginDirs())
	for _, src := range found {
		if !slices.Contains(names, src.Name) {
			all = append(all, src)
		}
	}
	return all, faults
}

// methodSource finds the plugin of a method's name, or at its path.
func (a *app) methodSource(name string) (plugins.Source, error) {
	if strings.ContainsRune(name, filepath.Separator) {
		src, err := plugins.At(name)
		return src, usage(err)
	}
	all, faults := a.sources()
	names := make([]string, len(all))
	for i, src := range all {
		if src.Name == name {
			return src, nil
		}
		names[i] = src.Name
	}
	err := fmt.Errorf("unknown method %q: there are %s", name, strings.Join(names, ", "))
	return plugins.Source{}, usage(errors.Join(err, faults))
}

// shuffleOption is the option that the kernel keeps for itself, for every
// method: whether the items of rankings are shuffled per trial.
const shuffleOption = "shuffle"

// openMethods starts the plugins of the given specs. Shared options, from -M,
// go to each method that has them; "method.option" goes to one.
func (a *app) openMethods(ctx context.Context, host *plugins.Host, texts []string, shared map[string]string) ([]runner.Method, error) {
	var out []runner.Method
	used := map[string]bool{}
	for _, text := range texts {
		s, err := parseSpec(strings.TrimSpace(text))
		if err != nil {
			return nil, usage(err)
		}
		src, err := a.methodSource(s.name)
		if err != nil {
			return nil, err
		}
		m, err := a.openMethod(ctx, host, src)
		if err != nil {
			return nil, err
		}
		m.Label = s.label(src.Name)
		options := sharedOptions(m.Description, src.Name, shared, used)
		maps.Copy(options, s.options)
		if m.Shuffle, err = takeShuffle(options); err != nil {
			return nil, usage(err)
		}
		if m.Options, err = encodeOptions(m.Description, options); err != nil {
			return nil, usage(err)
		}
		out = append(out, m)
	}
	for name := range shared {
		if !used[name] {
			return nil, usage(fmt.Errorf("-M %s: none of the methods %s has this option: they have %s",
				name, strings.Join(texts, ", "), knownOptions(out)))
		}
	}
	return out, nil
}

// knownOptions lists what -M can name for the given methods.
func knownOptions(all []runner.Method) string {
	names := []string{shuffleOption}
	for _, m := range all {
		for _, o := range m.Description.Options {
			if !slices.Contains(names, o.Name) {
				names = append(names, o.Name)
			}
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// openMethod starts one plugin and pins its code.
func (a *app) openMethod(ctx context.Context, host *plugins.Host, src plugins.Source) (runner.Method, error) {
	p, err := host.Open(ctx, src)
	if err != nil {
		return runner.Method{}, err
	}
	digest, err := plugins.OpenDigests(filepath.Join(a.home, "digests.json")).Of(src)
	if err != nil {
		return runner.Method{}, err
	}
	m := runner.Method{
		Solver: p, Description: p.Describe(),
		Plugin: record.Plugin{Method: src.Name, Builtin: src.Builtin, Path: src.Path, Digest: digest},
	}
	if !src.Builtin {
		m.Code = digest
	}
	return m, nil
}

// sharedOptions picks what of -M a method takes, and notes it in used.
func sharedOptions(d methods.Description, name string, shared map[string]string, used map[string]bool) map[string]string {
	options := map[string]string{}
	for full, value := range shared {
		option, own := strings.CutPrefix(full, name+".")
		has := option == shuffleOption || slices.ContainsFunc(d.Options, func(o methods.Option) bool { return o.Name == option })
		if has || own { // an own option that is unknown is told by encodeOptions
			options[option] = value
			used[full] = true
		}
	}
	return options
}

func takeShuffle(options map[string]string) (bool, error) {
	text, ok := options[shuffleOption]
	if !ok {
		return true, nil
	}
	delete(options, shuffleOption)
	shuffle, err := strconv.ParseBool(text)
	if err != nil {
		return false, fmt.Errorf("option %q: %q is no bool", shuffleOption, text)
	}
	return shuffle, nil
}
