package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"
)

// experimentFile is an experiment declared as YAML. Its keys are compare's
// flags; options are maps.
type experimentFile struct {
	Name     string `yaml:"name"`
	Question string `yaml:"question"`

	Task        string         `yaml:"task"`
	TaskOptions map[string]any `yaml:"task-options"`
	Model       string         `yaml:"model"`
	Methods     []string       `yaml:"methods"`
	Options     map[string]any `yaml:"method-options"`
	Sampling    map[string]any `yaml:"sampling"`
	Limit       string         `yaml:"limit"`
	SampleIDs   []string       `yaml:"sample-id"`
	Epochs      int            `yaml:"epochs"`
	Seed        uint64         `yaml:"seed"`
	Scale       []int          `yaml:"scale"`
	Attack      string         `yaml:"attack"`

	CallLimit  int     `yaml:"call-limit"`
	TokenLimit int64   `yaml:"token-limit"`
	CostLimit  float64 `yaml:"cost-limit"`
}

func runCommand(a *app) *cobra.Command {
	var c comparison
	cmd := &cobra.Command{
		Use:   "run FILE.yaml... | FILE.go [ARGUMENT...]",
		Short: "run experiments that files declare, or a script",
		Long: `Runs a script, a Go file of package main, in a session of cells: the same file
also runs with "go run". Its arguments follow its name, after -- if they begin
with a dash. The exit code is the script's own.

Or runs the comparisons that YAML files declare, one after the other. Their keys are
the flags of compare: name, question, task, task-options, model, methods,
method-options, sampling, limit, sample-id, epochs, seed, scale, attack,
call-limit, token-limit, cost-limit. Given again after an interruption, finished runs are
repeated from the store, and the unfinished one goes on.`,
		Example: `  noema run experiments/first-comparison/main.go
  noema run experiments/cafes/experiment.yaml
  noema run experiments/grid/*.yaml`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if strings.HasSuffix(args[0], ".go") {
				return a.script(cmd.Context(), args)
			}
			all := make([]comparison, len(args))
			for i, file := range args { // all are read before the first is run
				all[i] = c
				if err := all[i].readFile(file); err != nil {
					return usage(err)
				}
			}
			for i := range all {
				if i > 0 && !c.paired.json {
					fmt.Fprintln(a.stdout)
				}
				if err := a.compare(cmd.Context(), &all[i]); err != nil {
					return err
				}
			}
			return nil
		},
	}
	c.carryFlags(cmd)
	return cmd
}

// readFile fills in what an experiment file says.
func (c *comparison) readFile(path string) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read experiment: %w", err)
	}
	file := experimentFile{Task: "cafes", Model: "sim", Epochs: 1}
	err = yaml.NewDecoder(bytes.NewReader(raw), yaml.Strict()).Decode(&file)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read experiment %s: %w", path, err)
	}
	if len(file.Methods) == 0 {
		return fmt.Errorf("read experiment %s: no methods: add a line such as methods: [direct, anot]", path)
	}
	c.temperature = math.NaN()
	c.Name, c.Question, c.Task, c.Model, c.Methods = file.Name, file.Question, file.Task, file.Model, file.Methods
	if strings.HasPrefix(c.Task, "./") || strings.HasPrefix(c.Task, "../") { // as seen from the file
		c.Task = filepath.Join(filepath.Dir(path), c.Task)
	}
	c.taskOptions, c.methodOptions, c.sampling = pairs(file.TaskOptions), pairs(file.Options), pairs(file.Sampling)
	c.Limit, c.SampleIDs, c.Epochs, c.Seed, c.scale = file.Limit, file.SampleIDs, file.Epochs, file.Seed, file.Scale
	c.Attack = file.Attack
	c.CallLimit, c.TokenLimit, c.CostLimit = file.CallLimit, file.TokenLimit, file.CostLimit
	return nil
}

// pairs writes a map as key=value; kernel.ParsePairs does not mind the order.
func pairs(m map[string]any) []string {
	var out []string
	for k, v := range m {
		out = append(out, fmt.Sprintf("%s=%v", k, v))
	}
	return out
}
