package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"noema/kernel/lab"
	"noema/kernel/result/record"
	"noema/kernel/run/gateway"
	"noema/kernel/run/runner"
	"noema/kernel/session/builtin"
	"noema/methods"
)

// comparison is what the flags of compare, or an experiment file, declare.
type comparison struct {
	lab.Experiment
	Scale       []int    `json:"scale" part:"what" doc:"run at each of these sizes n of the task, with the same requests, as in 10,20,30,40,50"`
	Temperature *float64 `json:"temperature" part:"what" hidden:"yes" min:"0" doc:"temperature of every call (default: the method's own, which is 0)"`
	Replay      bool     `json:"replay" part:"how" hidden:"yes" doc:"answer from the store alone; the same as --cache replay"`
	pairing
	DryRun bool   `json:"dry-run" part:"flow" doc:"make no call: tell what the store has, and estimate the calls and the cost of the rest"`
	Attach string `json:"attach-debugger" part:"flow" doc:"run this method one trial at a time and without limits, and say how to attach a debugger to its process"`
	Watch  bool   `json:"watch" part:"flow" doc:"compare again whenever the code of a plugin among the methods changes, until Ctrl-C"`
}

// pairing is how methods are compared, and what is printed of it.
type pairing struct {
	lab.Comparing
	HTML    string `json:"html" part:"print" doc:"write the comparison to this file, as one HTML page with plots"`
	MD      bool   `json:"md" part:"print" doc:"print Markdown"`
	Latex   bool   `json:"latex" part:"print" doc:"print LaTeX tables (booktabs)"`
	Explain bool   `json:"explain" part:"print" doc:"say below the tables what each column holds"`
	BibTeX  bool   `json:"bibtex" part:"print" doc:"print an entry to cite each run by; after the tables with --latex"`
	MIME    bool   `json:"mime" part:"print" doc:"print the table as a JSON object of its forms by MIME type, for notebooks"`
	JSON    bool   `json:"json" part:"json" doc:"print one JSON object instead of the table"`
	which
}

// which says which samples of a stored run are listed in place of the comparison.
type which struct {
	Wins    []string `json:"wins" part:"which" doc:"list the samples of a stored run on which the first of two methods is better than the second, as in cot,direct"`
	Losses  []string `json:"losses" part:"which" doc:"list the samples of a stored run on which the first of two methods is worse than the second"`
	Outcome string   `json:"outcome" part:"which" doc:"list the samples of a stored run on which a trial ended so, as in unparsed"`
}

func compareCommand(a *app) *cobra.Command {
	var c comparison
	cmd := &cobra.Command{
		Use:   "compare [RUN|FILE...]",
		Short: "compare methods side by side: run them over a task, or use stored runs",
		Long: `Runs every method over every sample of a task, with the same samples, seeds and
draws for each, and prints them side by side, with the difference of each pair and
how sure it is. All model calls go through the store: what was asked before is not
asked again. If the same comparison was interrupted, it goes on where it stopped.

With RUN, methods of stored runs are compared; nothing is run. They must be over the
same samples (--force compares the samples that they share). With FILE, results of other
harnesses are compared by their own scores: logs of Inspect, samples of lm-eval, instances
of Every Eval Ever, results of Terminal-Bench, rows of id and score, or folders of these.`,
		Example: `  noema compare --task cafes --methods direct,cot,anot
  noema compare --task cafes?n=20 --methods anot,anot?builder=compiled --limit 20
  noema compare --task questions.jsonl --methods direct,cot --model openai/gpt-5-nano --epochs 3
  noema compare --task cafes --methods anot --token-limit 4000 --run-cost-limit 2.50
  noema compare --task cafes --methods direct,anot --model openai/gpt-5-nano --dry-run
  noema compare --task cafes --task 'multihop#limit=20' --model sim --model sim?error=0.2 --methods direct,cot
  noema compare last --baseline direct --by group --html comparison.html
  noema compare 20261120-1405 20261120-1512 --budget tokens=4000
  noema compare a.eval b.eval
  noema compare last --wins cot,direct`,
		Args: cobra.ArbitraryArgs, ValidArgsFunction: a.completeRuns,
		RunE: func(cmd *cobra.Command, args []string) error {
			c.Comparing.Equivalence = c.Experiment.Equivalence
			if len(args) > 0 {
				return a.compareRuns(cmd, args, &c.pairing)
			}
			c.Experiment.Baseline = c.Comparing.Baseline
			for _, task := range append([]string{c.Experiment.Task}, c.Tasks...) {
				one := c.Experiment
				one.Task, _, _ = strings.Cut(task, "#")
				if err := a.canAnswer(one); err != nil {
					return err
				}
			}
			if c.Watch && c.DryRun {
				return usage(errors.New("--watch and --dry-run exclude each other: leave one of them out"))
			}
			if c.Watch {
				return a.watch(cmd, &c)
			}
			return a.compare(cmd, &c)
		},
	}
	bind(cmd, &c, []string{"what", "how", "flow", "pair", "design", "stored", "which", "print", "json"})
	completeCompare(a, cmd)
	group(cmd, []flagGroup{
		{"First", nil, []string{"task", "methods", "model", "limit", "epochs", "seed", "baseline", "by", "wins", "dry-run", "html"}},
		{"What is run", []string{"what"}, nil},
		{"Limits, store and machines", []string{"how", "flow"}, nil},
		{"How methods are compared", []string{"pair", "design"}, nil},
		{"Of stored runs", []string{"stored", "which"}, nil},
		{"What is printed", []string{"print", "json"}, nil},
	})
	return cmd
}

// completeCompare offers values to the shell.
func completeCompare(a *app, cmd *cobra.Command) {
	offer := func(flag string, more cobra.ShellCompDirective, values func() []string) {
		offered := func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) { return values(), more }
		if err := cmd.RegisterFlagCompletionFunc(flag, offered); err != nil {
			panic(err) // the flag is declared above
		}
	}
	offer("methods", cobra.ShellCompDirectiveNoFileComp, func() []string {
		if a.settle(cmd) != nil {
			return nil
		}
		return a.methodNames()
	})
	offer("task", cobra.ShellCompDirectiveDefault, func() (names []string) { // which may also be a file
		for _, t := range (builtin.Catalog{}).Tasks() {
			names = append(names, t.Name)
		}
		return names
	})
	offer("model", cobra.ShellCompDirectiveNoFileComp, func() (names []string) {
		for _, form := range (builtin.Catalog{}).Models() {
			name, _, named := strings.Cut(form, "/")
			if named {
				name += "/"
			}
			names = append(names, name)
		}
		return names
	})
}

// methodNames lists the methods, built in and found.
func (a *app) methodNames() (names []string) {
	all, _ := a.lab.Plugins()
	for _, src := range all {
		names = append(names, src.Name)
	}
	return names
}

// compare carries a comparison out and prints its result.
func (a *app) compare(cmd *cobra.Command, c *comparison) error {
	exp, err := c.experiment()
	if err != nil {
		return usage(err)
	}
	if exp.Several() {
		return a.compareStudy(cmd, c, exp)
	}
	if c.DryRun {
		if err := a.onlyParts(cmd, "with --dry-run", "what", "how", "design", "flow", "json"); err != nil {
			return err
		}
		if clean := exp; exp.Attack != "" {
			clean.Attack = ""
			return a.estimate(c.JSON, clean, exp)
		}
		return a.estimate(c.JSON, exp)
	}
	if err := a.onlyParts(cmd, "unless stored runs are named", "what", "how", "flow", "pair", "design", "print", "json"); err != nil {
		return err
	}
	if c.Attach != "" {
		if exp, err = a.attachDebugger(cmd.Context(), c.Attach, exp); err != nil {
			return err
		}
	}
	if err := a.ready(c); err != nil {
		return err
	}
	if len(c.Scale) > 0 {
		return a.compareScaled(cmd.Context(), c, exp)
	}
	if exp.Attack != "" {
		return a.compareAttacked(cmd.Context(), c, exp)
	}
	_, err = a.compareOnce(cmd.Context(), c, exp)
	return err
}

// canAnswer refuses questions of the user's own for the model that answers where none is
// named: it is a program that reads generated tasks alone.
func (a *app) canAnswer(exp lab.Experiment) error {
	_, named := a.source["model"]
	spec, err := lab.ParseSpec(exp.Task)
	if named || err != nil || slices.ContainsFunc(builtin.Catalog{}.Tasks(), func(t lab.TaskEntry) bool { return t.Name == spec.Name }) {
		return nil
	}
	t, err := a.lab.Task(exp.Task, exp.TaskOptions)
	if err != nil || t.Environment != nil || slices.ContainsFunc(builtin.Catalog{}.Tasks(), func(known lab.TaskEntry) bool { return t.Name == known.Name }) {
		return nil // what is wrong with it is told where it is opened for the run
	}
	return usage(fmt.Errorf("the simulated model, which answers unless another is named, cannot answer the questions of %s: it reads generated tasks alone: "+
		"add --model, as in --model ollama/llama3.2 or --model openai/gpt-5-nano (noema model list shows all forms), or --model sim to try the commands", exp.Task))
}

// ready finds what can only fail at the end, before a call is paid for.
func (a *app) ready(c *comparison) error {
	exp, err := c.experiment()
	if err != nil {
		return usage(err)
	}
	if err := checkFolder(c.HTML); err != nil {
		return err
	}
	if exp.Several() {
		return a.lab.Ready(exp, c.Comparing) // opening its cells tells what else is wrong
	}
	if exp, err = exp.Complete(); err != nil {
		return err
	}
	if exp.Attack != "" && (exp.Until != "" || exp.Looks > 0) {
		return usage(errors.New("--until and --looks follow the methods of one run, and --attack compares each with itself in another: leave one of them out"))
	}
	if spec, err := lab.ParseSpec(exp.Task); len(c.Scale) > 0 && err == nil {
		for _, options := range []map[string]string{spec.Options, exp.TaskOptions} {
			if n, twice := options["n"]; twice {
				return usage(fmt.Errorf("--scale sets n, which is given as %s, too: leave one of them out", n))
			}
		}
	}
	for i, n := range c.Scale {
		if slices.Contains(c.Scale[:i], n) {
			return usage(fmt.Errorf("--scale: size %d is given twice", n))
		}
		if _, err := a.lab.Task(exp.Task, sized(exp, n).TaskOptions); err != nil {
			return usage(fmt.Errorf("--scale %d: %w", n, err))
		}
	}
	if warning := fewFiles(exp.MaxConnections); warning != "" {
		fmt.Fprintln(a.stderr, "noema:", warning)
	}
	return a.lab.Ready(exp, c.Comparing)
}

// checkFolder refuses a file that cannot be written because its folder is missing.
func checkFolder(file string) error {
	if file == "" {
		return nil
	}
	if info, err := os.Stat(filepath.Dir(file)); err != nil || !info.IsDir() {
		return usage(fmt.Errorf("--html %s: there is no folder %s: make it first", file, filepath.Dir(file)))
	}
	return nil
}

// compareOnce runs one experiment and prints its result.
func (a *app) compareOnce(ctx context.Context, c *comparison, exp lab.Experiment) (*lab.Result, error) {
	result, err := a.lab.RunLight(exp)
	if err == nil || len(result.Trials) > 0 {
		if printErr := a.printCompared(result, &c.pairing); printErr != nil {
			return result, errors.Join(err, printErr)
		}
	}
	if err != nil {
		return result, orInterrupted(ctx, err)
	}
	return result, failedTrials(result.Result)
}

// orInterrupted is err, or what to do next where the user has ended the command.
func orInterrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return errors.New("interrupted: run the same command to go on")
	}
	return err
}

// failedTrials gives a finished run with failed trials its exit code.
func failedTrials(r *runner.Result) error {
	failed := 0
	var first *record.Trial
	for _, t := range r.Trials {
		if t.Failure != "" && t.Answer.Outcome == methods.Failed {
			first = cmp.Or(first, t)
			failed++
		}
	}
	if failed == 0 {
		return nil
	}
	return &codedError{code: exitFailed, err: fmt.Errorf("%d of %d trials failed; the first, %s: %s",
		failed, len(r.Trials), first.ID, first.Failure)}
}

// experiment is what is declared, with the flags that stand for others in their
// place.
func (c *comparison) experiment() (lab.Experiment, error) {
	e := c.Experiment
	if c.Temperature != nil {
		if _, twice := e.Sampling["temperature"]; twice {
			return e, errors.New("temperature is given by --temperature and by -S: leave one of them out")
		}
		e.Sampling = maps.Clone(e.Sampling)
		if e.Sampling == nil {
			e.Sampling = map[string]string{}
		}
		e.Sampling["temperature"] = strconv.FormatFloat(*c.Temperature, 'g', -1, 64)
	}
	if replay := string(gateway.Replay); c.Replay {
		if e.Cache != "" && e.Cache != replay {
			return e, fmt.Errorf("replay and cache %s exclude each other: leave one of them out", e.Cache)
		}
		e.Cache = replay
	}
	if err := c.oneForm(); err != nil {
		return e, err
	}
	return lab.Settle(e)
}

// oneForm refuses two forms of output at once. Citations may follow LaTeX tables.
func (p *pairing) oneForm() error {
	asked := ""
	for _, f := range []struct {
		name string
		set  bool
	}{{"--md", p.MD}, {"--json", p.JSON}, {"--mime", p.MIME}, {"--latex", p.Latex}, {"--bibtex", p.BibTeX && !p.Latex}} {
		if f.set && asked != "" {
			return fmt.Errorf("%s and %s exclude each other: leave one of them out", asked, f.name)
		}
		if f.set {
			asked = f.name
		}
	}
	return nil
}
