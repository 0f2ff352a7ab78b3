package lab

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"noema/kernel/base/files"
	"noema/kernel/model/provider"
	"noema/kernel/result/record"
	"noema/kernel/run/runner"
	"noema/kernel/task"
	"noema/methods"
	"noema/plugins"
)

// Catalog opens the built-in tasks and models, and serves the built-in methods.
type Catalog interface {
	// Tasks lists the tasks that need no files.
	Tasks() []TaskEntry
	// Task opens a task: one of Tasks by name, or a file or a folder.
	Task(ctx context.Context, s Spec) (*Task, error)
	// Models lists how models are written, such as "openai/NAME".
	Models() []string
	// Model returns the provider of a model. With recorded set it will never be
	// called, and needs no key.
	Model(s Spec, recorded bool, maxConnections int) (provider.Provider, error)
	// Embedder opens an embedding model, written as models are.
	Embedder(name string) (task.Embedder, error)
	// Methods names the built-in methods. The program serves each, as a plugin
	// of its own, when it is started with ServeArgs and the name.
	Methods() []string
	ServeArgs() []string
}

// TaskEntry describes a task of a catalog.
type TaskEntry struct {
	Name, Summary string
	Options       []methods.Option
}

// Plugins lists every method that there is outside of scripts: the built-in
// ones and what the plugin folders hold. A built-in hides a found plugin of
// its name. The list is good even when there is an error, about folders.
func (l *Lab) Plugins() ([]plugins.Source, error) {
	names := slices.Sorted(slices.Values(l.o.Catalog.Methods()))
	all, err := plugins.Builtins(l.o.Catalog.ServeArgs(), names)
	if err != nil {
		return nil, err
	}
	found, faults := plugins.Discover(l.o.PluginDirs)
	for _, src := range found {
		if !slices.Contains(names, src.Name) {
			all = append(all, src)
		}
	}
	return all, faults
}

// plugin finds the plugin of a method's name, or at its path. What is withheld is not copied.
func (l *Lab) plugin(name string, hide withholding) (plugins.Source, error) {
	if command, ok := strings.CutPrefix(name, plugins.ExecPrefix); ok {
		src, err := plugins.Exec(l.programs(), command, hide.known())
		return src, Misused(err)
	}
	if plugins.IsPath(name) {
		src, err := plugins.At(name)
		return src, Misused(err)
	}
	all, faults := l.Plugins()
	var names []string
	for _, src := range all {
		if src.Name == name {
			return src, nil
		}
		names = append(names, src.Name)
	}
	names = append(names, l.functionNames()...)
	err := fmt.Errorf("unknown method %q%s: the methods are %s", name, methods.DidYouMean(name, names), strings.Join(names, ", "))
	return plugins.Source{}, Misused(errors.Join(err, faults))
}

// OpenPlugin starts one plugin and pins its code.
func (l *Lab) OpenPlugin(ctx context.Context, src plugins.Source) (runner.Method, error) {
	return l.openPlugin(ctx, src, nil)
}

func (l *Lab) openPlugin(ctx context.Context, src plugins.Source, hide withholding) (runner.Method, error) {
	host, err := l.pluginHost()
	if err != nil {
		return runner.Method{}, err
	}
	if src, err = l.granted(src); err != nil {
		return runner.Method{}, err
	}
	if src.Dir != "" && !l.copied(src.Dir) {
		if src, err = plugins.Choose(src, hide.known()); err != nil {
			return runner.Method{}, Misused(fmt.Errorf("open plugin %q: %w", src.Name, err))
		}
	}
	at, digest, err := l.pinned(src)
	if err != nil {
		return runner.Method{}, err
	}
	if l.o.Debug > 0 || l.o.Attach != nil { // what it prints is then the one trial's
		at.Serial = true
	}
	if !src.Builtin {
		at.Digest = digest
	}
	p, err := host.Open(ctx, at)
	if err != nil {
		return runner.Method{}, err
	}
	inForce, full := p.Isolation()
	m := runner.Method{
		Solver: p, Description: p.Describe(),
		Plugin: record.Plugin{
			Method: src.Name, Builtin: src.Builtin, Path: src.Path, Digest: digest,
			Isolation: inForce, Weak: !full, Allowed: src.Asks(), NoCalls: src.NoCalls,
			Versions: src.Versions(ctx), Copied: src.Copied(), Left: leftOf(src),
		},
	}
	if !src.Builtin {
		m.Code = digest
	}
	return m, nil
}

// pinned is the code of a plugin, which nobody changes, with its digest. Of several that
// open the same code at once, one computes it.
func (l *Lab) pinned(src plugins.Source) (at plugins.Source, digest string, err error) {
	l.pinning.Lock()
	defer l.pinning.Unlock()
	if digest, err = plugins.OpenDigests(filepath.Join(l.o.Home, "digests.json")).Of(src); err != nil {
		return src, "", err
	}
	at, err = l.Copies().Snapshot(src, digest)
	return at, digest, err
}

// shuffleOption is the option that the kernel keeps for itself, for every
// method: whether the items of rankings are shuffled per trial.
const shuffleOption = "shuffle"

// maxMethods bounds an experiment: each two of its methods are compared.
const maxMethods = 500

// OpenMethods opens the methods of the given texts. Shared options go to each
// method that has them; "method.option" goes to one.
func (l *Lab) OpenMethods(ctx context.Context, texts []string, shared map[string]string) ([]runner.Method, error) {
	return l.openMethods(ctx, texts, shared, nil)
}

// openMethods is OpenMethods for an experiment whose tasks are withheld from them.
func (l *Lab) openMethods(ctx context.Context, texts []string, shared map[string]string, hide withholding) ([]runner.Method, error) {
	if len(texts) > maxMethods {
		return nil, Misused(fmt.Errorf("declare experiment: %d methods: at most %d are compared with each other", len(texts), maxMethods))
	}
	specs := make([]Spec, len(texts))
	for i, text := range texts {
		if strings.TrimSpace(text) == "" {
			return nil, Misused(fmt.Errorf("methods %q: one of the names is empty: leave out a comma", strings.Join(texts, ",")))
		}
		var err error
		if specs[i], err = ParseSpec(strings.TrimSpace(text)); err != nil {
			return nil, Misused(err)
		}
	}
	out, err := sideBySide(len(specs), func(i int) (runner.Method, error) { return l.openMethod(ctx, specs[i].Name, hide) })
	if err != nil {
		return nil, err
	}
	used := map[string]bool{}
	for i, s := range specs {
		m := &out[i]
		m.Label = s.Label(m.Plugin.Method)
		options := sharedOptions(m.Description, m.Plugin.Method, shared, used)
		for name, value := range s.Options {
			if options[name], err = valueOf(value); err != nil {
				return nil, Misused(fmt.Errorf("method %q: option %q: %w", m.Label, name, err))
			}
		}
		if m.Shuffle, err = takeShuffle(options); err != nil {
			return nil, Misused(err)
		}
		if m.Options, err = encodeOptions(m.Description, options); err != nil {
			return nil, Misused(err)
		}
	}
	for name := range shared {
		if !used[name] {
			return nil, Misused(fmt.Errorf("method option for %s: %w", strings.Join(texts, ", "), methods.UnknownOption(name, knownOptions(out))))
		}
	}
	return out, nil
}

// openAtOnce is how many processes are started side by side: starting one is in part
// waiting for it.
const openAtOnce = 8

// sideBySide returns what open makes of each of n places, or the error of the first
// place that has one.
func sideBySide(n int, open func(i int) (runner.Method, error)) ([]runner.Method, error) {
	opened, faults := make([]runner.Method, n), make([]error, n)
	var opening errgroup.Group
	opening.SetLimit(openAtOnce)
	for i := range n {
		opening.Go(func() error {
			opened[i], faults[i] = open(i)
			return nil
		})
	}
	_ = opening.Wait() // the errors are in their places
	for _, err := range faults {
		if err != nil {
			return nil, err
		}
	}
	return opened, nil
}

// valueOf is the value of an option as it is written: @FILE is the content of a file.
// The label of the method keeps the name of the file.
func valueOf(text string) (string, error) {
	file, named := strings.CutPrefix(text, "@")
	if !named {
		return text, nil
	}
	raw, err := files.Read(file, files.MaxText)
	return string(raw), err
}

// openMethod opens a function that a script added, or else a plugin.
func (l *Lab) openMethod(ctx context.Context, name string, hide withholding) (runner.Method, error) {
	if f, ok := l.function(name); ok {
		return f.method(), nil
	}
	src, err := l.plugin(name, hide)
	if err != nil {
		return runner.Method{}, err
	}
	return l.openPlugin(ctx, src, hide)
}

// RecordedMethods opens the methods of a run with the options that it had.
func (l *Lab) RecordedMethods(ctx context.Context, run *record.Run) ([]runner.Method, error) {
	if err := run.Replayable(); err != nil {
		return nil, Misused(err)
	}
	return sideBySide(len(run.Config.Methods), func(i int) (runner.Method, error) {
		m := run.Config.Methods[i]
		method, err := l.recordedMethod(ctx, run, m)
		if err != nil {
			return method, fmt.Errorf("open method %q of run %s: %w", m.Label, run.ID, err)
		}
		method.Label, method.Options, method.Shuffle = m.Label, m.Options, m.Shuffle
		if method.Intervention = m.Intervention; m.Intervention != nil && m.Intervention.Kind == record.Truth {
			method.Truth, err = l.truth()
		}
		return method, err
	})
}

// recordedMethod finds a method of a run at the path where its code was, or else a copy of
// that code, or else by its name.
func (l *Lab) recordedMethod(ctx context.Context, run *record.Run, m record.Method) (runner.Method, error) {
	label := m.Label
	if m.Intervention != nil {
		label = m.Intervention.Of
	}
	s, err := ParseSpec(label)
	if err != nil {
		return runner.Method{}, err
	}
	i := slices.IndexFunc(run.Plugins, func(p record.Plugin) bool { return p.Method == s.Name })
	if i >= 0 && run.Plugins[i].Path == functionPath {
		if f, ok := l.function(s.Name); ok {
			return f.method(), nil
		}
		return runner.Method{}, errors.New("it was a function of a script: run that script, or promote the function to a plugin")
	}
	if i >= 0 && !run.Plugins[i].Builtin {
		if src, err := l.recordedSource(run.Plugins[i]); err == nil {
			opened, err := l.OpenPlugin(ctx, src)
			if digest := run.Plugins[i].Digest; l.o.Rebuilt[digest] {
				opened.Code = digest
			}
			return opened, err
		}
		if src, err := l.Code(run.Plugins[i]); err == nil { // of a run that came in a pack
			return l.OpenPlugin(ctx, src)
		}
	}
	return l.openMethod(ctx, s.Name, nil)
}

// recordedSource is the code at the path where it was, as it was chosen then: without what was
// withheld. A run of before code was chosen had all of its folder.
func (l *Lab) recordedSource(p record.Plugin) (plugins.Source, error) {
	src, err := plugins.At(p.Path)
	if err != nil || src.Dir == "" || l.copied(src.Dir) {
		return src, err
	}
	if digest, err := plugins.CodeDigest(src); err == nil && digest == p.Digest {
		return l.Code(p)
	}
	return src.Without(p.Withheld()), nil
}

// knownOptions lists what shared options can name for the given methods.
func knownOptions(all []runner.Method) []string {
	var names []string
	for _, m := range all {
		names = append(names, optionNames(m.Description)...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// sharedOptions picks what of the shared options a method takes, and notes it
// in used.
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
		return false, fmt.Errorf("option %q: %q is not true or false", shuffleOption, text)
	}
	return shuffle, nil
}
