package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"noema/kernel/builtin"
)

// variable is the environment variable of a flag.
func variable(flag string) string {
	return "NOEMA_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// settleFlags sets the flags of cmd that the command line left open, from the
// environment or else from noema.yaml. An empty variable counts as not set.
func settleFlags(cmd *cobra.Command) error {
	file, values, err := readSettings(cmd.Root())
	if err != nil {
		return err
	}
	var faults []error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Changed || f.Name == "help" {
			return
		}
		if v := os.Getenv(variable(f.Name)); v != "" {
			if err := cmd.Flags().Set(f.Name, v); err != nil {
				faults = append(faults, fmt.Errorf("%s: %w", variable(f.Name), err))
			}
			return
		}
		for _, v := range values[f.Name] {
			if err := cmd.Flags().Set(f.Name, v); err != nil {
				faults = append(faults, fmt.Errorf("%s: %s: %w", file, f.Name, err))
			}
		}
	})
	return errors.Join(faults...)
}

// readSettings reads the nearest noema.yaml: flag names with a value or a list
// of values each. A name that no verb knows is an error.
func readSettings(root *cobra.Command) (file string, values map[string][]string, err error) {
	file, err = builtin.FindUpward("noema.yaml")
	if err != nil || file == "" {
		return "", nil, err
	}
	raw, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil, nil
	}
	if err != nil {
		return "", nil, err
	}
	var content map[string]any
	if len(bytes.TrimSpace(raw)) > 0 {
		if err := yaml.Unmarshal(raw, &content); err != nil {
			return "", nil, fmt.Errorf("read %s: %w", file, err)
		}
	}
	known := map[string]bool{}
	collectFlags(root, known)
	values = map[string][]string{}
	for name, v := range content {
		if !known[name] {
			return "", nil, fmt.Errorf("read %s: no verb has a flag %q", file, name)
		}
		if values[name], err = settingValues(v); err != nil {
			return "", nil, fmt.Errorf("read %s: %s: %w", file, name, err)
		}
	}
	return file, values, nil
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
