package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"noema/kernel/base/files"
	"noema/kernel/session/builtin"
	"noema/methods"
)

// variable is the environment variable of a flag.
func variable(flag string) string {
	return "NOEMA_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// Where the value of a flag comes from.
const (
	fromCommandLine = "the command line"
	fromEnvironment = "the environment"
	fromFile        = "noema.yaml"
)

// settleFlags sets the flags of cmd that the command line left open, from the
// environment or else from noema.yaml, and returns where each flag's value comes
// from. An empty variable counts as not set.
func settleFlags(cmd *cobra.Command, tell func(string)) (map[string]string, error) {
	if err := checkVariables(cmd.Root(), os.Environ()); err != nil {
		return nil, err
	}
	file, values, told, err := readSettings(cmd.Root())
	for _, line := range told {
		tell(line)
	}
	if err != nil {
		return nil, err
	}
	source := map[string]string{}
	var faults []error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Changed {
			source[f.Name] = fromCommandLine
		}
		if f.Changed || f.Name == "help" {
			return
		}
		if v := os.Getenv(variable(f.Name)); v != "" {
			source[f.Name] = fromEnvironment
			if err := cmd.Flags().Set(f.Name, v); err != nil {
				faults = append(faults, fmt.Errorf("%s: %w", variable(f.Name), err))
			}
			return
		}
		for _, v := range values[f.Name] {
			if source[f.Name] = fromFile; f.Name == "nats" {
				tell(fmt.Sprintf("nats is %s, by %s: workers there get the code and the questions", v, file))
			}
			if err := cmd.Flags().Set(f.Name, v); err != nil {
				faults = append(faults, fmt.Errorf("%s: %s: %w", file, f.Name, err))
			}
		}
	})
	return source, errors.Join(faults...)
}

// checkVariables refuses a variable whose name is nearly that of a flag, such as
// NOEMA_COST_LIMT: a limit that is not set would go unnoticed. Other variables may
// be another program's.
func checkVariables(root *cobra.Command, environment []string) error {
	flags := map[string]bool{}
	collectFlags(root, flags)
	known := map[string]bool{"PLUGIN": true, "PARENT": true, "FUNCTIONS": true} // between noema and programs that it starts, or that start it
	for flag := range flags {
		known[strings.TrimPrefix(variable(flag), "NOEMA_")] = true
	}
	var faults []error
	for _, pair := range environment {
		name, _, _ := strings.Cut(pair, "=")
		rest, ours := strings.CutPrefix(name, "NOEMA_")
		if !ours || known[rest] {
			continue
		}
		if near := methods.DidYouMean(rest, slices.Collect(maps.Keys(known))); near != "" {
			faults = append(faults, fmt.Errorf("unknown variable %s%s Correct its name, or unset it", name, strings.Replace(near, `"`, `"NOEMA_`, 1)))
		}
	}
	return errors.Join(faults...)
}

// readSettings reads the nearest noema.yaml: flag names with a value or a list
// of values each. A name that no verb knows is an error.
func readSettings(root *cobra.Command) (file string, values map[string][]string, told []string, err error) {
	file, told, err = builtin.FindUpward("noema.yaml")
	if err != nil || file == "" {
		return "", nil, told, err
	}
	raw, err := files.Read(file, files.MaxConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil, told, nil
	}
	if err != nil {
		return "", nil, told, err
	}
	var content map[string]any
	if len(bytes.TrimSpace(raw)) > 0 {
		if err := files.YAML(raw, &content); err != nil {
			return "", nil, told, fmt.Errorf("read %s: %w", file, err)
		}
	}
	known := map[string]bool{}
	collectFlags(root, known)
	values = map[string][]string{}
	for name, v := range content {
		if !known[name] {
			return "", nil, told, fmt.Errorf("read %s: unknown flag %q%s", file, name, methods.DidYouMean(name, slices.Sorted(maps.Keys(known))))
		}
		if values[name], err = settingValues(v); err != nil {
			return "", nil, told, fmt.Errorf("read %s: %s: %w", file, name, err)
		}
	}
	return file, values, told, nil
}

// settingValues turns one value or a list into flag values.
func settingValues(v any) ([]string, error) {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	var out []string
	for _, item := range list {
		switch item.(type) {
		case string, bool, int, int64, uint64, float64:
			out = append(out, fmt.Sprint(item))
		default:
			return nil, fmt.Errorf("use a text, a number, true, false or a list of those")
		}
	}
	return out, nil
}

func collectFlags(c *cobra.Command, into map[string]bool) {
	add := func(f *pflag.Flag) { into[f.Name] = true }
	c.Flags().VisitAll(add)
	c.PersistentFlags().VisitAll(add)
	for _, sub := range c.Commands() {
		collectFlags(sub, into)
	}
}
