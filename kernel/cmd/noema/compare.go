package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"noema/kernel/gateway"
	"noema/kernel/record"
	"noema/kernel/report"
	"noema/kernel/runner"
	"noema/methods"
	"noema/plugins"
)

// comparison is what the flags of compare, or an experiment file, say.
type comparison struct {
	name, question string

	task, model   string
	methods       []string
	methodOptions []string // key=value
	taskOptions   []string
	sampling      []string
	limit         string
	sampleIDs     []string
	epochs        int
	seed          uint64
	temperature   float64

	callLimit, runCallLimit   int
	tokenLimit, runTokenLimit int64
	costLimit, runCostLimit   float64
	timeLimit, runTimeLimit   time.Duration

	cacheMode      string
	replay, fresh  bool
	maxSamples     int
	maxConnections int
	retries        int
	trialTimeout   time.Duration
	json           bool
}

// flags declares the flags that compare and run share; those of selection
// and content are compare's alone, because an experiment file says them.
func (c *comparison) contentFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&c.task, "task", "cafes", "task: cafes, cafes?n=20, a .jsonl file, or a folder in the public ANoT format")
	f.StringSliceVar(&c.methods, "methods", []string{"direct", "cot", "anot"}, "methods to compare, as in direct,anot?builder=compiled")
	f.StringVar(&c.model, "model", "sim", "model: sim, sim?error=0.1, openai/NAME, scripted/FILE")
	f.StringArrayVarP(&c.methodOptions, "method-option", "M", nil, "option of every method that has it, or of one, as in -M anot.builder=compiled")
	f.StringArrayVarP(&c.taskOptions, "task-option", "T", nil, "option of the task, as in -T n=20")
	f.StringArrayVarP(&c.sampling, "sampling", "S", nil, "sampling of every call: temperature, top_p, top_k, max_tokens")
	f.StringVar(&c.limit, "limit", "", "samples to use: 10 for the first ten, 10-20 for a range")
	f.StringSliceVar(&c.sampleIDs, "sample-id", nil, "use only the samples with these ids")
	f.IntVar(&c.epochs, "epochs", 1, "repetitions of each sample")
	f.Uint64Var(&c.seed, "seed", 0, "random seed of the run")
	f.Float64Var(&c.temperature, "temperature", math.NaN(), "temperature of every call (default: the method's own, which is 0)")
	f.IntVar(&c.callLimit, "call-limit", 0, "model and tool calls per trial")
	f.Int64Var(&c.tokenLimit, "token-limit", 0, "tokens per trial")
	f.Float64Var(&c.costLimit, "cost-limit", 0, "dollars per trial")
	f.DurationVar(&c.timeLimit, "time-limit", 0, "recorded model and tool time per trial, as in 90s")
	f.Lookup("temperature").DefValue = "0" // which help leaves out
}

// carryFlags declares the flags that say how a run is carried out.
func (c *comparison) carryFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntVar(&c.runCallLimit, "run-call-limit", 0, "model and tool calls of the whole run; when reached, it stops and can be resumed")
	f.Int64Var(&c.runTokenLimit, "run-token-limit", 0, "tokens of the whole run")
	f.Float64Var(&c.runCostLimit, "run-cost-limit", 0, "dollars of the whole run")
	f.DurationVar(&c.runTimeLimit, "run-time-limit", 0, "recorded model and tool time of the whole run")
	f.StringVar(&c.cacheMode, "cache", "auto", "how to use the store: auto, replay, refresh, verify or off")
	f.BoolVar(&c.replay, "replay", false, "answer from the store alone; the same as --cache replay")
	f.BoolVar(&c.fresh, "fresh", false, "begin a new run even if an unfinished one could be resumed")
	f.IntVar(&c.maxSamples, "max-samples", 16, "trials at once")
	f.IntVar(&c.maxConnections, "max-connections", 0, "provider calls at once (default: the provider's)")
	f.IntVar(&c.retries, "retries", 5, "further attempts after a failed provider call")
	f.DurationVar(&c.trialTimeout, "trial-timeout", 15*time.Minute, "wall-clock time after which a hanging trial fails")
	f.BoolVar(&c.json, "json", false, "print one JSON object instead of the table")
}

func compareCommand(a *app) *cobra.Command {
	var c comparison
	cmd := &cobra.Command{
		Use:   "compare",
		Short: "run methods side by side over a task",
		Long: `Runs every method over every sample of a task, with the same samples, seeds and
draws for each, and prints them side by side. All model calls go through the
store: what was asked before is not asked again. If the same comparison was
interrupted, it goes on where it stopped.`,
		Example: `  noema compare --task cafes --methods direct,cot,anot
  noema compare --task cafes?n=20 --methods anot,anot?builder=compiled --limit 20
  noema compare --task questions.jsonl --methods direct,cot --model openai/gpt-5-nano --epochs 3
  noema compare --task cafes --methods anot --token-limit 4000 --run-cost-limit 2.50`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.compare(cmd.Context(), &c) },
	}
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
			all, _ := a.sources()
			names := make([]string, len(all))
			for i, src := range all {
				names[i] = src.Name
			}
			return names
		},
		"task":  taskNames,
		"model": func() []string { return []string{"sim", "openai/", "scripted/"} },
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
		return err
	}
	options, err := parsePairs("-M", c.methodOptions)
	if err != nil {
		return usage(err)
	}
	host, err := plugins.NewHost(plugins.HostOptions{MaxIdle: max(8, c.maxSamples)})
	if err != nil {
		return err
	}
	defer host.Close()
	if exp.Methods, err = a.openMethods(ctx, host, c.methods, options); err != nil {
		return err
	}
	store, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	defer store.Close()

	progress := report.NewProgress(a.stderr, a.debug)
	result, err := exp.Run(ctx, store, progress)
	progress.Stop()
	if result == nil {
		return declared(err)
	}
	if err == nil || len(result.Trials) > 0 {
		if printErr := a.printResult(result, c.json); printErr != nil {
			return errors.Join(err, printErr)
		}
	}
	if err != nil {
		if ctx.Err() != nil {
			err = errors.New("interrupted: run the same command to go on")
		}
		return err
	}
	return failedTrials(result)
}

// declared marks what an experiment refuses as wrong usage.
func declared(err error) error {
	if err != nil && (strings.HasPrefix(err.Error(), "declare experiment: ") || strings.HasPrefix(err.Error(), "select samples: ")) {
		return usage(err)
	}
	return err
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

// experiment turns the flags into an experiment without its methods.
func (c *comparison) experiment() (runner.Setup, error) {
	var none runner.Setup
	taskOptions, err := parsePairs("-T", c.taskOptions)
	if err != nil {
		return none, usage(err)
	}
	sampling, err := c.samplingOverride()
	if err != nil {
		return none, usage(err)
	}
	if c.replay {
		c.cacheMode = string(gateway.Replay)
	}
	mode, err := gateway.ParseMode(c.cacheMode)
	if err != nil {
		return none, usage(err)
	}
	selection, err := c.selection()
	if err != nil {
		return none, usage(err)
	}
	if err := c.checkNumbers(); err != nil {
		return none, usage(err)
	}
	t, err := openTask(c.task, taskOptions)
	if err != nil {
		return none, err
	}
	p, err := openModel(c.model, mode == gateway.Replay, c.maxConnections)
	if err != nil {
		return none, err
	}
	return runner.Setup{
		Name: c.name, Question: c.question,
		Task: t, Provider: p, Select: selection, Epochs: c.epochs, Seed: c.seed, Sampling: sampling,
		Limits:    limits(c.callLimit, c.tokenLimit, c.costLimit, c.timeLimit),
		RunLimits: limits(c.runCallLimit, c.runTokenLimit, c.runCostLimit, c.runTimeLimit),
		Mode:      mode, MaxSamples: c.maxSamples, MaxConnections: c.maxConnections, TrialTimeout: c.trialTimeout,
		Retry: gateway.Retry{Attempts: c.retries + 1}, Fresh: c.fresh,
	}, nil
}

func limits(calls int, tokens int64, dollars float64, time time.Duration) record.Limits {
	return record.Limits{Calls: calls, Tokens: tokens, Cost: methods.NanoUSD(math.Round(dollars * 1e9)), Time: time}
}

// checkNumbers refuses numbers that mean nothing.
func (c *comparison) checkNumbers() error {
	for _, n := range []struct {
		flag       string
		value, min float64
	}{
		{"epochs", float64(c.epochs), 1}, {"max-samples", float64(c.maxSamples), 1}, {"max-connections", float64(c.maxConnections), 0},
		{"retries", float64(c.retries), 0}, {"call-limit", float64(c.callLimit), 0}, {"run-call-limit", float64(c.runCallLimit), 0},
		{"token-limit", float64(c.tokenLimit), 0}, {"run-token-limit", float64(c.runTokenLimit), 0},
		{"cost-limit", c.costLimit, 0}, {"run-cost-limit", c.runCostLimit, 0},
		{"time-limit", c.timeLimit.Seconds(), 0}, {"run-time-limit", c.runTimeLimit.Seconds(), 0},
		{"trial-timeout", c.trialTimeout.Seconds(), 1e-3},
	} {
		if n.value < n.min || math.IsNaN(n.value) {
			return fmt.Errorf("--%s is too small: %g, where at least %g makes sense", n.flag, n.value, n.min)
		}
	}
	return nil
}

func (c *comparison) selection() (runner.Selection, error) {
	var s runner.Selection
	if c.limit != "" {
		var err error
		if s, err = runner.ParseLimit(c.limit); err != nil {
			return s, err
		}
	}
	s.IDs = c.sampleIDs
	return s, nil
}
