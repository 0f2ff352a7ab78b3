package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"noema/cache"
	"noema/kernel/base/files"
	"noema/kernel/result/record"
	"noema/kernel/run/runner"
	"noema/kernel/show/report"
	"noema/kernel/task"
	"noema/methods"
	"noema/methods/generalanot"
)

// sampleFlags choose a sample to try something on by hand.
type sampleFlags struct {
	task, sample string
	taskOptions
}

func (f *sampleFlags) declare(cmd *cobra.Command, task string) {
	cmd.Flags().StringVar(&f.task, "task", task, "task that the sample is from")
	cmd.Flags().StringVar(&f.sample, "sample-id", "", "sample to use (default: the first)")
	bind(cmd, &f.taskOptions, []string{"what"})
}

// open returns the task and the chosen sample.
func (f *sampleFlags) open(a *app) (*task.Task, task.Sample, error) {
	t, err := a.lab.Task(f.task, f.TaskOptions)
	if err != nil {
		return nil, task.Sample{}, err
	}
	s, err := f.among(t)
	return t, s, err
}

// among is the chosen sample among those of a task.
func (f *sampleFlags) among(t *task.Task) (task.Sample, error) {
	for _, s := range t.Samples {
		if f.sample == "" || s.ID == f.sample {
			return s, nil
		}
	}
	return task.Sample{}, usage(fmt.Errorf("task %q has no sample %q", t.Name, f.sample))
}

func seedCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "seed", Short: "show, edit and run Formula Seeds", RunE: helpOnly,
		Long: `A Formula Seed is a policy that General ANoT has compiled: keywords, fields to
extract from each review, and formulas. "seed export" writes the one of a run to a
file, which can be edited, validated and run on any sample, or used in a comparison
with -M general-anot.seed=@FILE.`,
	}
	cmd.AddCommand(seedShowCommand(a), seedExportCommand(a), seedValidateCommand(a), seedRunCommand(a), seedConvertCommand(a))
	return cmd
}

func seedShowCommand(a *app) *cobra.Command {
	var d drawFlags
	var key string
	cmd := &cobra.Command{
		Use: "show RUN|FILE", Short: "list the Formula Seeds that a run used or a file holds, or draw one", Args: cobra.ExactArgs(1), ValidArgsFunction: a.completeRuns,
		Long: `Lists the Formula Seeds of a run with the samples that used them, or the one of a file.
With --dot or --mermaid it draws one as a graph: what is
extracted, the steps that use it, and the outputs. The seed is that of a file, or of a
run, where --key chooses among several.`,
		Example: `  noema seed show last
  noema seed show allergy.json --mermaid`,
		RunE: func(cmd *cobra.Command, args []string) error {
			drawn := d.dot || d.mermaid
			if info, err := os.Stat(args[0]); err == nil && !info.IsDir() {
				s, err := loadSeed(args[0])
				if err == nil && !d.draw(a, s.Graph()) {
					fmt.Fprintln(a.text(), seedLine(s))
				}
				return err
			}
			store, run, err := a.findRun(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if !drawn {
				return a.showSeeds(cmd.Context(), store, run)
			}
			s, err := oneSeed(cmd.Context(), store, run, key)
			if err != nil {
				return fmt.Errorf("show seed: %w", err)
			}
			d.draw(a, s.Graph())
			return nil
		},
	}
	d.declare(cmd)
	cmd.Flags().StringVar(&key, "key", "", "the beginning of the seed's key, where the run has several")
	return cmd
}

func (a *app) showSeeds(ctx context.Context, store *cache.Store, run *record.Run) error {
	if len(run.Seeds) == 0 {
		fmt.Fprintf(a.stdout, "run %s used no method seeds\n", run.ID)
	}
	users, err := seedUsers(ctx, store, run)
	if err != nil {
		return err
	}
	for _, s := range run.Seeds {
		fmt.Fprintf(a.text(), "%.12s  %s of %s%s, calls to build: %d\n", s.Key, s.Kind, s.Method, usedBy(users[s.Key]), s.Usage.Calls)
		compiled, err := readSeed(ctx, store, s)
		switch {
		case err != nil:
			fmt.Fprintf(a.text(), "  %v\n", err)
		case compiled.Seed == nil:
			fmt.Fprintf(a.text(), "  refused: %s\n", compiled.Refused)
		default:
			fmt.Fprintf(a.text(), "  %s\n", seedLine(compiled.Seed))
		}
	}
	return nil
}

// seedLine says what a Formula Seed has.
func seedLine(s *generalanot.FormulaSeed) string {
	return fmt.Sprintf("%s: %s, %s, %s, output %s", s.TaskName, report.Plural(len(s.FilterKeywords), "keyword"),
		report.Plural(len(s.ExtractionFields), "field"), report.Plural(len(s.ComputeDAG), "formula"), strings.Join(s.OutputFields, " "))
}

// seedUsers lists the samples whose trials used a seed, by its key.
func seedUsers(ctx context.Context, store *cache.Store, run *record.Run) (map[string][]string, error) {
	if len(run.Seeds) == 0 {
		return nil, nil
	}
	r, err := runner.LoadResult(ctx, store, run, false)
	if err != nil {
		return nil, err
	}
	users := map[string][]string{}
	for _, t := range r.Trials {
		for _, c := range t.Calls {
			if c.Kind == record.SeedCall && !slices.Contains(users[c.Key], t.ID.Sample) {
				users[c.Key] = append(users[c.Key], t.ID.Sample)
			}
		}
	}
	return users, nil
}

// usedBy names the first samples of a list.
func usedBy(samples []string) string {
	const shown = 3
	switch n := len(samples); {
	case n == 0:
		return ""
	case n > shown:
		return fmt.Sprintf(" for %s and %d more", strings.Join(samples[:shown], ", "), n-shown)
	}
	return " for " + strings.Join(samples, ", ")
}

func readSeed(ctx context.Context, store *cache.Store, s record.Seed) (*generalanot.Compiled, error) {
	if s.Kind != generalanot.SeedKind {
		return nil, fmt.Errorf("a seed of kind %q is not a Formula Seed", s.Kind)
	}
	key, err := cache.ParseKey(s.Key)
	if err != nil {
		return nil, err
	}
	rec, err := store.Seed(ctx, key)
	if err != nil {
		return nil, err
	}
	return generalanot.ParseCompiled(rec.Data)
}

func seedExportCommand(a *app) *cobra.Command {
	var key, out string
	cmd := &cobra.Command{
		Use: "export RUN", Short: "write a run's Formula Seed as JSON, for editing", Args: cobra.ExactArgs(1), ValidArgsFunction: a.completeRuns,
		Example: "  noema seed export last --key 3f2a --out allergy.json",
		RunE: func(cmd *cobra.Command, args []string) error {
			store, run, err := a.findRun(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.exportSeed(cmd.Context(), store, run, key, out)
		},
	}
	cmd.Flags().StringVar(&key, "key", "", "the beginning of the seed's key, where the run has several")
	cmd.Flags().StringVar(&out, "out", "", "file to write (default: standard output)")
	return cmd
}

// oneSeed is the Formula Seed of a run whose key begins with key.
func oneSeed(ctx context.Context, store *cache.Store, run *record.Run, key string) (*generalanot.FormulaSeed, error) {
	var found []record.Seed
	for _, s := range run.Seeds {
		if s.Kind == generalanot.SeedKind && strings.HasPrefix(s.Key, key) {
			found = append(found, s)
		}
	}
	switch lists := fmt.Sprintf("\"noema seed show %s\" lists them", run.ID); {
	case len(found) > 1:
		return nil, usage(fmt.Errorf("run %s has %d Formula Seeds to choose from: name one with --key, %s", run.ID, len(found), lists))
	case len(found) == 0 && key != "":
		return nil, usage(fmt.Errorf("run %s has no Formula Seed whose key begins with %q: %s", run.ID, key, lists))
	case len(found) == 0:
		return nil, fmt.Errorf("run %s used no Formula Seed", run.ID)
	}
	compiled, err := readSeed(ctx, store, found[0])
	if err != nil {
		return nil, err
	}
	if compiled.Seed == nil {
		return nil, fmt.Errorf("the policy did not compile: %s", compiled.Refused)
	}
	return compiled.Seed, nil
}

func (a *app) exportSeed(ctx context.Context, store *cache.Store, run *record.Run, key, out string) error {
	s, err := oneSeed(ctx, store, run, key)
	if err != nil {
		return fmt.Errorf("export seed: %w", err)
	}
	raw, err := generalanot.Marshal(s)
	if err != nil {
		return err
	}
	return a.write(out, raw)
}

// write writes to a file, or to standard output without one.
func (a *app) write(out string, raw []byte) error {
	if out == "" {
		_, err := a.stdout.Write(raw)
		return err
	}
	return os.WriteFile(out, raw, 0o644)
}

func loadSeed(file string) (*generalanot.FormulaSeed, error) {
	raw, err := files.Read(file, files.MaxConfig)
	if err != nil {
		return nil, usage(fmt.Errorf("read Formula Seed: %w", err))
	}
	if err := isObject(file, raw); err != nil {
		return nil, usage(fmt.Errorf("read Formula Seed: %w", err))
	}
	s, err := generalanot.Read(raw)
	if err != nil {
		return nil, fmt.Errorf("read Formula Seed %s: %w", file, err)
	}
	return s, nil
}

func seedValidateCommand(a *app) *cobra.Command {
	var f sampleFlags
	cmd := &cobra.Command{
		Use: "validate FILE", Short: "list everything that is wrong with a Formula Seed", Args: cobra.ExactArgs(1),
		Long: `Lists all faults of a Formula Seed. Without --task it checks what can be known without a
sample, and says what it could not check.`,
		Example: "  noema seed validate allergy.json --task policy --sample-id allergy-001",
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := loadSeed(args[0])
			if err != nil {
				return err
			}
			var spec methods.AnswerSpec
			var absent []generalanot.Fault
			if cmd.Flags().Changed("task") {
				_, sample, err := f.open(a)
				if err != nil {
					return err
				}
				if absent, err = generalanot.Absent(s, sample.Problem); err != nil {
					return fmt.Errorf("validate Formula Seed %s on sample %q: %w", args[0], sample.ID, err)
				}
				spec = sample.Problem.Answer
			} else {
				a.unchecked(s)
			}
			faults := append(generalanot.Validate(s, spec), absent...)
			for _, fault := range faults {
				fmt.Fprintln(a.text(), fault)
			}
			if len(faults) > 0 {
				return fmt.Errorf("validate Formula Seed %s: %s", args[0], report.Plural(len(faults), "fault"))
			}
			fmt.Fprintln(a.stdout, "valid")
			return nil
		},
	}
	f.declare(cmd, "policy")
	return cmd
}

// unchecked says what of a seed cannot be checked without a sample.
func (a *app) unchecked(s *generalanot.FormulaSeed) {
	fmt.Fprintln(a.text(), "note: not checked without --task: whether output_fields has all that a task asks for")
	for _, l := range s.Lookups {
		fmt.Fprintf(a.text(), "note: not checked without --task: whether samples have the field %q of lookup %s\n", l.Field, l.Name)
	}
}

func seedRunCommand(a *app) *cobra.Command {
	var f sampleFlags
	var model string
	cmd := &cobra.Command{
		Use: "run FILE", Short: "run a Formula Seed on a sample", Args: cobra.ExactArgs(1),
		Long:    `Executes a Formula Seed on one sample: the model extracts, the formulas compute.`,
		Example: "  noema seed run allergy.json --task policy --sample-id allergy-001 --model sim",
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := loadSeed(args[0])
			if err != nil {
				return err
			}
			t, sample, err := f.open(a)
			if err != nil {
				return err
			}
			by := byHand{task: t, sample: sample, model: model, name: "seed"}
			return a.runByHand(cmd.Context(), by, func(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
				return generalanot.Execute(ctx, s, p, h)
			})
		},
	}
	f.declare(cmd, "policy")
	cmd.Flags().StringVar(&model, "model", "sim", "model that extracts")
	return cmd
}
