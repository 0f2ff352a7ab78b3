package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"noema/cache"
	"noema/kernel/result/record"
	"noema/kernel/run/runner"
	"noema/kernel/show/report"
)

func runsCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{Use: "runs", Short: "list, show and remove recorded runs", RunE: helpOnly}
	cmd.AddCommand(runsListCommand(a), runsShowCommand(a), runsTrialsCommand(a), runsExportCommand(a), runsTagCommand(a), runsRemoveCommand(a))
	return cmd
}

// helpOnly is what a verb does that only holds others.
func helpOnly(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// findRun opens the store and finds a run in it.
func (a *app) findRun(ctx context.Context, name string) (*cache.Store, *record.Run, error) {
	store, err := a.lab.Store()
	if err != nil {
		return nil, nil, err
	}
	run, err := runner.FindRun(ctx, store, name)
	return store, run, err
}

// runsNamed finds runs in the store.
func (a *app) runsNamed(ctx context.Context, names []string) (runs []*record.Run, err error) {
	for _, name := range names {
		_, run, err := a.findRun(ctx, name)
		if err != nil {
			return nil, err
		}
		runs = append(runs, run)
	}
	return runs, nil
}

func runsListCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "list the runs and studies of the store, newest first", Example: "  noema runs list",
		RunE: func(cmd *cobra.Command, _ []string) error {
			store, err := a.lab.Store()
			if err != nil {
				return err
			}
			runs, err := runner.Declared(cmd.Context(), store)
			if err != nil {
				return err
			}
			if asJSON {
				if runs == nil {
					runs = []*record.Run{}
				}
				return report.JSON(a.clean(), runs)
			}
			report.Runs(a.stdout, runs)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the runs as JSON")
	return cmd
}

func runsShowCommand(a *app) *cobra.Command {
	var asJSON bool
	var trial string
	cmd := &cobra.Command{
		Use:   "show RUN",
		Short: "show a run's table and configuration, or one trial's transcript",
		Example: `  noema runs show last
  noema runs show last --trial anot/R07
  noema runs show last --trial anot/R07/2 --json`,
		Args: cobra.ExactArgs(1), ValidArgsFunction: a.completeRuns,
		RunE: func(cmd *cobra.Command, args []string) error {
			store, run, err := a.findRun(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if run.Config.Study != nil && trial == "" {
				return a.showStudy(run, asJSON)
			}
			if trial != "" {
				return a.showTrial(cmd.Context(), store, run, trial, asJSON)
			}
			return a.showRun(cmd.Context(), store, run, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&trial, "trial", "", "METHOD/SAMPLE or METHOD/SAMPLE/EPOCH: show this trial's transcript")
	return cmd
}

func (a *app) showRun(ctx context.Context, store *cache.Store, run *record.Run, asJSON bool) error {
	result, err := runner.LoadResult(ctx, store, run, true)
	if err != nil {
		return err
	}
	summary, err := runner.Summarize(result)
	if err != nil {
		return err
	}
	if asJSON {
		return report.JSON(a.clean(), summary)
	}
	if err := a.print(report.RunSheet(summary, ""), false); err != nil {
		return err
	}
	report.Details(a.clean(), run, result.Trials)
	return nil
}

// oneTrial reads the trial of a run that a name stands for.
func oneTrial(ctx context.Context, store *cache.Store, run *record.Run, name string) (*record.Trial, error) {
	id, err := run.FindTrial(name)
	if err != nil {
		return nil, usage(err)
	}
	raw, err := store.Trial(ctx, run.ID, id.String())
	if err != nil {
		return nil, fmt.Errorf("read trial %s: %w", id, err)
	}
	return record.UnmarshalTrial(raw)
}

func (a *app) showTrial(ctx context.Context, store *cache.Store, run *record.Run, name string, asJSON bool) error {
	t, err := oneTrial(ctx, store, run, name)
	if err != nil {
		return err
	}
	if asJSON {
		return report.JSON(a.clean(), struct {
			*record.Trial
			Simulated bool `json:"simulated"`
		}{t, run.Config.Model.Simulated})
	}
	report.Transcript(a.clean(), run, t, func(c record.Call) (runner.Exchange, error) {
		return runner.ReadExchange(ctx, store, run, t.ID, c)
	})
	return nil
}

func runsTagCommand(a *app) *cobra.Command {
	var note string
	var remove bool
	cmd := &cobra.Command{
		Use:   "tag RUN [TAG...]",
		Short: "say something of a run: tags and a note, which the page shows and finds",
		Long: `Adds tags to a run or a study, and prints all that it has. They are words beside the run:
no hash changes, and they may be given at any time, also while it is under way.`,
		Example: `  noema runs tag last baseline
  noema runs tag last --note "before the prompts were changed"
  noema runs tag last baseline --remove`,
		Args: cobra.MinimumNArgs(1), ValidArgsFunction: a.completeRuns,
		RunE: func(cmd *cobra.Command, args []string) error {
			store, run, err := a.findRun(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			t, err := runner.ReadTags(store, run.ID)
			if err != nil {
				return err
			}
			if t.Tags = append(t.Tags, args[1:]...); remove {
				t.Tags = slices.DeleteFunc(t.Tags, func(tag string) bool { return slices.Contains(args[1:], tag) })
			}
			if cmd.Flags().Changed("note") {
				t.Note = note
			}
			if err := runner.WriteTags(store, run.ID, t); err != nil {
				return err
			}
			if t, err = runner.ReadTags(store, run.ID); err != nil {
				return err
			}
			fmt.Fprintf(a.text(), "%s: %s\n", run.ID, report.Plain(strings.TrimRight(strings.Join(t.Tags, ", ")+"; "+t.Note, "; ")))
			return nil
		},
	}
	cmd.Flags().StringVar(&note, "note", "", "a note in place of the one that it has; \"\" removes it")
	cmd.Flags().BoolVar(&remove, "remove", false, "remove the tags in place of adding them")
	return cmd
}

func runsRemoveCommand(a *app) *cobra.Command {
	var labels bool
	cmd := &cobra.Command{
		Use:   "rm RUN...",
		Short: "remove runs and their transcripts; the answers they used stay in the store",
		Long: `Removes runs and their transcripts. The answers they used stay in the store. So do the
labels of people, which no machine can make again: the path of their file is printed;
--labels removes it, too.`,
		Args: cobra.MinimumNArgs(1), ValidArgsFunction: a.completeRuns,
		Example: "  noema runs rm 20261120-140501-9f3c",
		RunE: func(cmd *cobra.Command, args []string) error {
			store, err := a.lab.Store()
			if err != nil {
				return err
			}
			found, err := a.runsNamed(cmd.Context(), args) // all are found before the first is removed
			if err == nil {
				found, err = a.withCells(cmd.Context(), found)
			}
			if err != nil {
				return err
			}
			for _, run := range found {
				if err := runner.Remove(cmd.Context(), store, run.ID); err != nil {
					return err
				}
				fmt.Fprintln(a.stdout, "removed", run.ID)
				if err := a.removeLabels(runner.LabelFile(store, run.ID), labels); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&labels, "labels", false, "remove people's labels of these runs, too")
	return cmd
}

// removeLabels removes a file of labels, or says that it is kept.
func (a *app) removeLabels(file string, remove bool) error {
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if !remove {
		fmt.Fprintf(a.stdout, "kept its labels, which people made: %s\n", file)
		return nil
	}
	if err := os.Remove(file); err != nil {
		return fmt.Errorf("remove labels: %w", err)
	}
	fmt.Fprintln(a.stdout, "removed its labels", file)
	return nil
}

// printDrifts lists the recorded answers that the model no longer gives.
func (a *app) printDrifts(r *runner.Result) {
	for _, d := range r.Drifts {
		fmt.Fprintf(a.text(), "drift at call %s: recorded %.60q, now %.60q\n", d.Path, d.Recorded, d.Now)
	}
}
