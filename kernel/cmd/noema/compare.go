package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"noema/kernel"
	"noema/kernel/builtin"
	"noema/kernel/gateway"
	"noema/kernel/record"
	"noema/kernel/report"
	"noema/kernel/runner"
	"noema/methods"
)

// comparison is what the flags of compare, or an experiment file, say.
type comparison struct {
	kernel.Experiment

	methodOptions []string // key=value
	taskOptions   []string
	sampling      []string
	temperature   float64
	replay        bool
	dryRun        bool
	watch         bool
	scale         []int // sizes of the task, one run each
	paired        pairing
}

// pairing is how methods are compared, and what is printed of it.
type pairing struct {
	kernel.Comparing
	by       string
	html     string
	md, json bool
}

// flags declares the flags of whatever compares methods.
func (p *pairing) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&p.Baseline, "baseline", "", "compare every other method with this one (default: every pair)")
	f.StringSliceVar(&p.Metrics, "metric", nil, "measures to compare, the headline first (default: the task's)")
	f.StringVar(&p.by, "by", "", "group: show each group of samples, too")
	f.Int64Var(&p.BudgetTokens, "budget-tokens", 0, "count trials that used more tokens as wrong, so that all methods have the same budget")
	f.IntVar(&p.BudgetCalls, "budget-calls", 0, "count trials that made more calls as wrong")
	f.Float64Var(&p.BudgetCost, "budget-cost", 0, "count trials that cost more dollars as wrong")
	f.Uint64Var(&p.Comparing.Seed, "bootstrap-seed", 0, "random seed of the bootstrap intervals")
	f.StringVar(&p.html, "html", "", "write the comparison to this file, as one HTML page with plots")
	f.BoolVar(&p.md, "md", false, "print Markdown")
	f.BoolVar(&p.json, "json", false, "print one JSON object instead of the table")
}

// options checks the flags.
func (p *pairing) options() (kernel.Comparing, error) {
	if p.by != "" && p.by != "group" {
		return p.Comparing, fmt.Errorf("--by %q: use group", p.by)
	}
	if p.md && p.json {
		return p.Comparing, errors.New("--md and --json exclude each other")
	}
	p.ByGroup = p.by == "group"
	return p.Comparing, nil
}

// flags declares the flags that compare and run share; those of selection
// and content are compare's alone, because an experiment file says them.
func (c *comparison) contentFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&c.Task, "task", "cafes", "task: cafes, cafes?n=20, a .jsonl file, or a folder in the public ANoT format")
	f.StringSliceVar(&c.Methods, "methods", []string{"direct", "cot", "anot"}, "methods to compare, as in direct,anot?builder=compiled")
	f.StringVar(&c.Model, "model", "sim", "model: sim, openai/NAME, anthropic/NAME, gemini/NAME, ollama/NAME, local/FOLDER, scripted/FILE, with ?options (keys and servers: noema model list)")
	f.StringArrayVarP(&c.methodOptions, "method-option", "M", nil, "option of every method that has it, or of one, as in -M anot.builder=compiled")
	f.StringArrayVarP(&c.taskOptions, "task-option", "T", nil, "option of the task, as in -T n=20")
	f.StringArrayVarP(&c.sampling, "sampling", "S", nil, "sampling of every call: temperature, top_p, top_k, max_tokens, logprobs")
	f.StringVar(&c.Limit, "limit", "", "samples to use: 10 for the first ten, 10-20 for a range")
	f.StringSliceVar(&c.SampleIDs, "sample-id", nil, "use only the samples with these ids")
	f.IntVar(&c.Epochs, "epochs", 1, "repetitions of each sample")
	f.Uint64Var(&c.Seed, "seed", 0, "random seed of the run")
	f.Float64Var(&c.temperature, "temperature", math.NaN(), "temperature of every call (default: the method's own, which is 0)")
	f.IntVar(&c.CallLimit, "call-limit", 0, "model and tool calls per trial")
	f.Int64Var(&c.TokenLimit, "token-limit", 0, "tokens per trial")
	f.Float64Var(&c.CostLimit, "cost-limit", 0, "dollars per trial")
	f.DurationVar(&c.TimeLimit, "time-limit", 0, "recorded model and tool time per trial, as in 90s")
	f.StringVar(&c.Attack, "attack", "", "change the texts that methods read: typo, inject, fake-review, sarcastic, verbose, duplicate or heterogeneous, at a rate, as in typo:0.1")
	f.IntSliceVar(&c.scale, "scale", nil, "run at each of these sizes n of the task, with the same requests, as in 10,20,30,40,50")
	f.Lookup("temperature").DefValue = "0" // which help leaves out
}

// carryFlags declares the flags that say how a run is carried out.
func (c *comparison) carryFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntVar(&c.RunCallLimit, "run-call-limit", 0, "model and tool calls of the whole run; when reached, it stops and can be resumed")
	f.Int64Var(&c.RunTokenLimit, "run-token-limit", 0, "tokens of the whole run")
	f.Float64Var(&c.RunCostLimit, "run-cost-limit", 0, "dollars of the whole run")
	f.DurationVar(&c.RunTimeLimit, "run-time-limit", 0, "recorded model and tool time of the whole run")
	f.StringVar(&c.Cache, "cache", "auto", "how to use the store: auto, replay, refresh, verify or off")
	f.BoolVar(&c.replay, "replay", false, "answer from the store alone; the same as --cache replay")
	f.BoolVar(&c.Fresh, "fresh", false, "begin a new run even if an unfinished one could be resumed")
	f.IntVar(&c.MaxSamples, "max-samples", 16, "trials at once")
	f.IntVar(&c.MaxConnections, "max-connections", 0, "provider calls at once (default: the provider's)")
	f.IntVar(&c.Retries, "retries", kernel.DefaultRetries, "further attempts after a failed provider call")
	f.DurationVar(&c.TrialTimeout, "trial-timeout", 15*time.Minute, "wall-clock time after which a hanging trial fails")
	f.BoolVar(&c.dryRun, "dry-run", false, "make no call: tell what the store has, and estimate the calls and the cost of the rest")
	f.BoolVar(&c.watch, "watch", false, "compare again whenever the code of a plugin among the methods changes, until Ctrl-C")
	c.paired.flags(cmd)
}

func compareCommand(a *app) *cobra.Command {
	var c comparison
	cmd := &cobra.Command{
		Use:   "compare [RUN...]",
		Short: "compare methods side by side: run them over a task, or take stored runs",
		Long: `Runs every method over every sample of a task, with the same samples, seeds and
draws for each, and prints them side by side, with the difference of each pair and
how sure it is. All model calls go through the store: what was asked before is not
asked again. If the same comparison was interrupted, it goes on where it stopped.

With RUN, methods of stored runs are compared; nothing is run. They must be over the
same samples (--force pairs what can be paired).`,
		Example: `  noema compare --task cafes --methods direct,cot,anot
  noema compare --task cafes?n=20 --methods anot,anot?builder=compiled --limit 20
  noema compare --task questions.jsonl --methods direct,cot --model openai/gpt-5-nano --epochs 3
  noema compare --task cafes --methods anot --token-limit 4000 --run-cost-limit 2.50
  noema compare --task cafes --methods direct,anot --model openai/gpt-5-nano --dry-run
  noema compare last --baseline direct --by group --html comparison.html
  noema compare 20261120-1405 20261120-1512 --budget-tokens 4000`,
		Args: cobra.ArbitraryArgs, ValidArgsFunction: a.completeRuns,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return a.compareRuns(cmd, args, &c.paired)
			}
			if c.watch {
				return a.watch(cmd.Context(), &c)
			}
			return a.compare(cmd.Context(), &c)
		},
	}
	cmd.Flags().BoolVar(&c.paired.Force, "force", false, "pair what can be paired of runs over different data")
	c.contentFlags(cmd)
	c.carryFlags(cmd)
	completeCompare(a, cmd)
	return cmd
}

// completeCompare offers values to the shell.
func completeCompare(a *app, cmd *cobra.Command) {
	list := func(values func() []string) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return values(), cobra.ShellCompDirectiveNoFileComp
		}
	}
	complete := map[string]func() []string{
		"methods": func() []string {
			if a.settle(cmd) != nil {
				return nil
			}
			all, _ := a.lab.Plugins()
			names := make([]string, len(all))
			for i, src := range all {
				names[i] = src.Name
			}
			return names
		},
		"task": func() []string {
			var names []string
			for _, t := range (builtin.Catalog{}).Tasks() {
				names = append(names, t.Name)
			}
			return names
		},
		"model": func() []string {
			return []string{"sim", "openai/", "anthropic/", "gemini/", "ollama/", "local/", "scripted/"}
		},
		"cache": func() []string { return []string{"auto", "replay", "refresh", "verify", "off"} },
	}
	for flag, values := range complete {
		if err := cmd.RegisterFlagCompletionFunc(flag, list(values)); err != nil {
			panic(err) // the flag is declared above
		}
	}
}

// compare carries a comparison out and prints its result.
func (a *app) compare(ctx context.Context, c *comparison) error {
	exp, err := c.experiment()
	if err != nil {
		return usage(err)
	}
	options, err := c.paired.options()
	if err != nil {
		return usage(err)
	}
	if c.dryRun {
		return a.estimate(exp, c.paired.json)
	}
	if len(c.scale) > 0 {
		return a.compareScaled(ctx, c, exp, options)
	}
	_, err = a.compareOnce(ctx, c, exp, options)
	return err
}

// compareOnce runs one experiment and prints its result.
func (a *app) compareOnce(ctx context.Context, c *comparison, exp kernel.Experiment, options kernel.Comparing) (*kernel.Result, error) {
	result, err := a.lab.Run(exp)
	if result == nil {
		return nil, err
	}
	if err == nil || len(result.Trials) > 0 {
		if printErr := a.printCompared(result, options, &c.paired); printErr != nil {
			return result, errors.Join(err, printErr)
		}
	}
	if err != nil {
		if ctx.Err() != nil {
			err = errors.New("interrupted: run the same command to go on")
		}
		return result, err
	}
	return result, failedTrials(result.Result)
}

// compareScaled runs an experiment at several sizes of its task, with the same
// requests at each, and prints how the methods bear it.
func (a *app) compareScaled(ctx context.Context, c *comparison, exp kernel.Experiment, options kernel.Comparing) error {
	var results []*kernel.Result
	for _, n := range c.scale {
		at := exp
		at.TaskOptions = maps.Clone(exp.TaskOptions)
		at.TaskOptions["n"] = strconv.Itoa(n)
		result, err := a.compareOnce(ctx, c, at, options)
		if err != nil {
			return err
		}
		results = append(results, result)
		if !c.paired.json {
			fmt.Fprintln(a.stdout)
		}
	}
	if c.paired.json {
		return nil
	}
	table, err := report.ScaleTable(c.scale, summaries(results))
	if err != nil {
		return err
	}
	return a.print(table.Display(), c.paired.md)
}

func summaries(results []*kernel.Result) []*runner.Summary {
	var all []*runner.Summary
	for _, r := range results {
		if s, err := r.Summary(); err == nil { // it was printed before
			all = append(all, s)
		}
	}
	return all
}

// failedTrials gives a finished run with failed trials its exit code.
func failedTrials(r *runner.Result) error {
	failed := 0
	var first *record.Trial
	for _, t := range r.Trials {
		if t.Failure != "" && t.Answer.Outcome == methods.Failed {
			if first == nil {
				first = t
			}
			failed++
		}
	}
	if failed == 0 {
		return nil
	}
	return &codedError{code: exitFailed, err: fmt.Errorf("%d of %d trials failed; the first, %s: %s",
		failed, len(r.Trials), first.ID, first.Failure)}
}

// experiment is what the flags declare.
func (c *comparison) experiment() (kernel.Experiment, error) {
	e := c.Experiment
	if len(e.Methods) == 0 {
		return e, errors.New("--methods is empty: name one, as in direct")
	}
	for flag, pairs := range map[string]struct {
		given []string
		into  *map[string]string
	}{"-M": {c.methodOptions, &e.MethodOptions}, "-T": {c.taskOptions, &e.TaskOptions}, "-S": {c.sampling, &e.Sampling}} {
		var err error
		if *pairs.into, err = kernel.ParsePairs(flag, pairs.given); err != nil {
			return e, err
		}
	}
	if !math.IsNaN(c.temperature) {
		if _, twice := e.Sampling["temperature"]; twice {
			return e, errors.New("temperature is given by --temperature and by -S")
		}
		e.Sampling["temperature"] = strconv.FormatFloat(c.temperature, 'g', -1, 64)
	}
	if c.replay {
		e.Cache = string(gateway.Replay)
	}
	return e, c.checkNumbers(&e)
}

// checkNumbers refuses what would otherwise be taken for the default: on the
// command line a 0 was meant.
func (c *comparison) checkNumbers(e *kernel.Experiment) error {
	for flag, value := range map[string]float64{
		"epochs": float64(e.Epochs), "max-samples": float64(e.MaxSamples), "trial-timeout": e.TrialTimeout.Seconds(),
	} {
		if value <= 0 {
			return fmt.Errorf("--%s is too small: %g, where more than 0 makes sense", flag, value)
		}
	}
	if e.Retries < 0 {
		return fmt.Errorf("--retries is too small: %d, where at least 0 makes sense", e.Retries)
	}
	if e.Retries == 0 {
		e.Retries = -1
	}
	return nil
}
