package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"noema/kernel/base/files"
	"noema/kernel/lab"
	"noema/kernel/lab/plugindev"
	"noema/kernel/session/builtin"
	"noema/methods"
	"noema/plugins"
	"noema/plugins/python"
)

func pluginCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{Use: "plugin", Short: "list, make, build and promote methods as plugins", RunE: helpOnly}
	var asJSON bool
	list := &cobra.Command{
		Use: "list", Short: "list the methods, built in and found, with their options", Example: "  noema plugin list",
		RunE: func(cmd *cobra.Command, _ []string) error { return a.listPlugins(cmd.Context(), asJSON) },
	}
	addJSON(list, &asJSON)
	cmd.AddCommand(
		list, showPluginCommand(a), newPluginCommand(a), buildPluginCommand(a), checkPluginCommand(a), replayPluginCommand(a), promoteCommand(a), allowPluginCommand(a), sdkCommand(a),
	)
	return cmd
}

// pluginDir is the folder in which plugins are made: the first of those that
// are searched.
func (a *app) pluginDir(given string) string {
	if given != "" {
		return given
	}
	return builtin.PluginDirs(a.pluginPath, a.home)[0]
}

// pluginAt finds the folder of a plugin by name or path.
func (a *app) pluginAt(name string) string {
	if plugins.IsPath(name) {
		return name
	}
	sources, _ := a.lab.Plugins() // a faulty one beside it does not matter here
	for _, s := range sources {
		if s.Name == name && !s.Builtin {
			return s.Path
		}
	}
	return filepath.Join(a.pluginDir(""), name)
}

// refuseBuiltin refuses a name under which no plugin would be found.
func refuseBuiltin(name string) error {
	if slices.Contains(builtin.Catalog{}.Methods(), name) {
		return usage(fmt.Errorf("new plugin %q: a built-in method has this name", name))
	}
	return nil
}

func newPluginCommand(a *app) *cobra.Command {
	var o plugindev.Options
	var from string
	cmd := &cobra.Command{
		Use: "new NAME|FILE.go", Short: "make a method that works, as a file or a folder", Args: cobra.ExactArgs(1),
		Long: `With FILE.go, writes a method that works to that file of Go, which runs as it is:
edit it and compare it. With NAME, makes a folder with a method, its manifest, a test
and a README of one screen, in the first folder of $NOEMA_PLUGINS, or among the
plugins of the home. Edit it, build it, compare it.

--from makes it from a built-in method, prompts and all: a file of Go for a small one, a
folder with its packages for any. "noema plugin check" shows that it still makes the
same calls, or the first that differs.`,
		Example: `  noema plugin new my_method.go
  noema compare --task arithmetic --methods direct,./my_method.go --limit 20 --watch
  noema plugin new --from cot my_cot.go
  noema plugin new --from anot my-anot
  noema plugin new my-method
  noema plugin build my-method
  noema compare --task arithmetic --methods direct,my-method --limit 20`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if from != "" && o.Language != "go" {
				return usage(fmt.Errorf("new plugin: %q is written in Go: leave out --lang", from))
			}
			if plugindev.IsFile(args[0]) {
				return a.newMethodFile(cmd.Context(), filepath.Join(o.Dir, args[0]), from, o)
			}
			o.Name, o.Dir = args[0], a.pluginDir(o.Dir)
			if err := refuseBuiltin(o.Name); err != nil {
				return err
			}
			dir, err := a.newMethodFolder(from, o)
			if err != nil {
				return err
			}
			by := o.Name
			if filepath.Join(a.pluginDir(""), by) != dir {
				by = dir
			}
			next, err := o.Next(dir, by)
			fmt.Fprintf(a.stdout, "made %s\nnext: %s\n", dir, strings.Join(next, "\n      "))
			return err
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "a built-in method to begin with, such as cot")
	cmd.Flags().StringVar(&o.Language, "lang", "go", "go or python")
	cmd.Flags().StringVar(&o.Python, "python", "", "the Python that runs it (default: python3)")
	cmd.Flags().StringVar(&o.Dir, "dir", "", "make it in this folder")
	addSource(cmd, &o.Checkout)
	return cmd
}

// newMethodFolder makes a folder with a method of its own, or one that begins as a
// built-in.
func (a *app) newMethodFolder(from string, o plugindev.Options) (string, error) {
	if from == "" {
		return plugindev.New(o)
	}
	origin, err := originOf(from)
	if err != nil {
		return "", err
	}
	return plugindev.FolderFrom(origin, o)
}

// originOf is the package of a built-in method.
func originOf(name string) (plugindev.Origin, error) {
	m, ok := builtin.Methods()[name]
	if !ok {
		names := builtin.Catalog{}.Methods()
		return plugindev.Origin{}, usage(fmt.Errorf("new plugin: no built-in method %q%s: they are %s", name, methods.DidYouMean(name, names), strings.Join(names, ", ")))
	}
	t := reflect.TypeOf(m)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return plugindev.Origin{Name: name, Package: t.PkgPath()}, nil
}

// newMethodFile writes a method to a file. One that a built-in is made into is started
// once, since noema must be able to interpret it.
func (a *app) newMethodFile(ctx context.Context, file, from string, o plugindev.Options) error {
	if o.Language != "go" {
		return usage(fmt.Errorf("new plugin %s: a file of Go is not in %s: give a name without .go", file, o.Language))
	}
	if err := refuseBuiltin(plugins.FileMethod(file)); err != nil {
		return err
	}
	if from == "" {
		if err := plugindev.NewFile(file); err != nil {
			return err
		}
	} else {
		origin, err := originOf(from)
		if err == nil {
			err = plugindev.FileFrom(origin, file, o.Checkout)
		}
		if err != nil {
			return err
		}
		if _, err := a.lab.OpenMethods(ctx, []string{file}, nil); err != nil {
			return errors.Join(usage(fmt.Errorf("new plugin: %q as one file cannot be interpreted: give a name without .go, which makes a folder: %w", from, err)), os.Remove(file))
		}
	}
	fmt.Fprintf(a.stdout, "made %s\nnext: noema compare --task arithmetic --methods %s --limit 20 --watch\n", file, files.Word("direct,"+file))
	return nil
}

func buildPluginCommand(a *app) *cobra.Command {
	var checkout string
	cmd := &cobra.Command{
		Use: "build NAME|FILE.go", Short: "build a plugin: compile Go, check Python and compile its bytecode", Args: cobra.ExactArgs(1),
		Example: "  noema plugin build my-method\n  noema plugin build my_method.go",
		RunE: func(cmd *cobra.Command, args []string) error {
			made, begun := a.pluginAt(args[0]), time.Now()
			err := error(nil)
			if file := made; plugindev.IsFile(file) {
				made = filepath.Join(filepath.Dir(file), plugins.FileMethod(file))
				err = plugindev.BuildFile(cmd.Context(), file, made, checkout, a.stderr)
			} else {
				err = plugindev.Build(cmd.Context(), a.lab.Copies(), made, a.stderr)
			}
			if err != nil {
				return err
			}
			fmt.Fprintf(a.stdout, "built %s in %.1f s\n", made, time.Since(begun).Seconds())
			return nil
		},
	}
	addSource(cmd, &checkout)
	return cmd
}

// addSource declares --source.
func addSource(cmd *cobra.Command, checkout *string) {
	cmd.Flags().StringVar(checkout, "source", "", "noema's source, which it is built with (default: found)")
}

func allowPluginCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "allow NAME|PATH", Short: "permit a plugin the network or the files that its manifest asks for", Args: cobra.ExactArgs(1),
		Long: `Permits a plugin what its plugin.yaml asks for with "network: true" or "read: [PATH]".
Every other plugin runs without network and reads only its own code and the
system's libraries. The permission ends when the manifest changes; tables of runs
that used it say so.`,
		Example: "  noema plugin allow my-method",
		RunE: func(_ *cobra.Command, args []string) error {
			asked, err := a.lab.Allow(args[0])
			if err != nil {
				return err
			}
			fmt.Fprintf(a.stdout, "allowed %s: %s\n", args[0], strings.Join(asked, ", "))
			return nil
		},
	}
}

func sdkCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "sdk [DIR]", Short: "write the Python SDK as a wheel, which pip installs", Args: cobra.MaximumNArgs(1),
		Example: "  noema plugin sdk",
		RunE: func(_ *cobra.Command, args []string) error {
			name, wheel, err := python.Wheel()
			if err != nil {
				return err
			}
			dir := "."
			if len(args) > 0 {
				dir = args[0]
			}
			file := dir + string(filepath.Separator) + name // pip takes a bare name for a package of its index
			if err := os.WriteFile(file, wheel, 0o644); err != nil {
				return fmt.Errorf("write the Python SDK: %w", err)
			}
			fmt.Fprintf(a.stdout, "made %s\nnext: pip install %s\n", file, files.Word(file))
			return nil
		},
	}
}

func promoteCommand(a *app) *cobra.Command {
	var o plugindev.Options
	var task, model string
	var samples int
	cmd := &cobra.Command{
		Use: "promote FILE", Short: "make a plugin of a function in a script or notebook", Args: cobra.ExactArgs(1),
		Long: `Makes a plugin of the function that a script or notebook hands to lab.AddMethod:
copies it with all that it needs of the file, builds it, and runs function and
plugin on the same samples to show that they make the same calls and give the
same answers.`,
		Example: "  noema plugin promote experiments/write-a-method/main.go",
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Dir = a.pluginDir(o.Dir)
			p, err := plugindev.Promote(args[0], o)
			if err != nil {
				return err
			}
			fmt.Fprintf(a.stdout, "made %s of %s\n", p.Dir, p.Function)
			if err := plugindev.Build(cmd.Context(), a.lab.Copies(), p.Dir, a.stderr); err != nil {
				return err
			}
			return a.prove(cmd.Context(), p, lab.Experiment{Task: task, Model: model, Limit: fmt.Sprint(samples)})
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Name, "name", "", "which method, if the file adds several")
	f.StringVar(&o.Dir, "dir", "", "make it in this folder")
	addSource(cmd, &o.Checkout)
	f.StringVar(&task, "task", "arithmetic", "the task of the proof")
	f.StringVar(&model, "model", "sim?error=0.2", "the model of the proof")
	f.IntVar(&samples, "samples", 5, "how many samples the proof takes")
	return cmd
}

// prove runs function and plugin on the same samples, and compares call by
// call.
func (a *app) prove(ctx context.Context, p plugindev.Promotion, exp lab.Experiment) error {
	o := a.sessionOptions()
	session, l, err := builtin.NewSession(o)
	if err != nil {
		return err
	}
	defer session.Close()
	defer l.Close()
	name, _, _ := strings.Cut(p.Name, "@")
	out := plainOutput{a.stderr, a.stderr, a.stdin}
	add := fmt.Sprintf("if err := lab.AddMethod(%q, %s, %s); err != nil { panic(err) }", name, p.Function, p.Kinds)
	for _, text := range []string{p.Declarations, add} {
		if _, err := session.Run(ctx, text, out); err != nil {
			return fmt.Errorf("prove: run the function: %w", err)
		}
	}
	exp.Methods = []string{name}
	function, err := l.Run(exp)
	if err != nil {
		return fmt.Errorf("prove: run the function: %w", err)
	}
	if err := l.Close(); err != nil { // the store takes one at a time
		return err
	}
	exp.Methods = []string{p.Dir}
	plugin, err := a.lab.Run(exp)
	if err != nil {
		return fmt.Errorf("prove: run the plugin: %w", err)
	}
	return a.sameTranscripts(function, plugin)
}

// sameTranscripts demands that two runs of one sample each made the same calls
// and gave the same answers.
func (a *app) sameTranscripts(x, y *lab.Result) error {
	calls := 0
	for i, t := range x.Result.Trials {
		other := y.Result.Trials[i]
		if t.ID.Sample != other.ID.Sample || len(t.Calls) != len(other.Calls) {
			return fmt.Errorf("prove: sample %s: the function made %d calls, the plugin %d", t.ID.Sample, len(t.Calls), len(other.Calls))
		}
		for k, c := range t.Calls {
			if o := other.Calls[k]; c.Path != o.Path || c.Key != o.Key || c.Digest != o.Digest {
				return fmt.Errorf("prove: sample %s, call %s: function and plugin differ", t.ID.Sample, c.Path)
			}
			calls++
		}
		if fmt.Sprint(t.Answer) != fmt.Sprint(other.Answer) {
			return fmt.Errorf("prove: sample %s: function and plugin answer differently", t.ID.Sample)
		}
	}
	fmt.Fprintf(a.stdout, "proven: function and plugin make the same %d calls on %d samples and give the same answers\n", calls, len(x.Trials))
	return nil
}

func checkPluginCommand(a *app) *cobra.Command {
	var o plugindev.CheckOptions
	var memory byteSize
	cmd := &cobra.Command{
		Use: "check NAME|PATH", Short: "check that a plugin keeps the contract", Args: cobra.ExactArgs(1),
		Long: `Runs a plugin through the process boundary on small problems, and reports whether it
keeps the contract: answers, does the same twice, stops at its budget and when it
is cancelled, survives hostile input, and keeps to its memory. A file of Go is also compiled,
where the Go toolchain is there, to show that both make the same calls. A plugin that was
made from a built-in method is compared with it.`,
		Example: "  noema plugin check my-method\n  noema plugin check my_method.go\n  noema plugin check ./my-method",
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Limits.Memory = int64(memory)
			o.Builtins, _ = a.lab.Plugins() // faulty ones beside it do not matter here
			o.Progress = func(r plugindev.Result) { fmt.Fprint(a.stderr, ".") }
			report, err := a.checkPlugin(cmd.Context(), args[0], o)
			fmt.Fprintln(a.stderr)
			if err != nil {
				return err
			}
			fmt.Fprint(a.text(), report)
			if report.Failed() > 0 {
				return &codedError{code: exitError}
			}
			return nil
		},
	}
	addSource(cmd, &o.Checkout)
	cmd.Flags().Var(&memory, "memory", "memory that a process may have, as in 512MiB (default: the kernel's own limit)")
	return cmd
}

// checkPlugin checks a plugin by name, also a built-in one, or by path.
func (a *app) checkPlugin(ctx context.Context, name string, o plugindev.CheckOptions) (*plugindev.Report, error) {
	if plugins.IsPath(name) {
		src, err := plugins.At(name)
		if err != nil {
			return nil, fmt.Errorf("check plugin: %w", err)
		}
		return plugindev.Check(ctx, src, o)
	}
	sources, faults := a.lab.Plugins()
	for _, s := range sources {
		if s.Name == name {
			return plugindev.Check(ctx, s, o)
		}
	}
	return nil, errors.Join(usage(fmt.Errorf("check plugin %q: no plugin has this name: see noema plugin list", name)), faults)
}
