package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"noema/kernel/result/record"
	"noema/kernel/run/runner"
	"noema/kernel/show/report"
)

func replayCommand(a *app) *cobra.Command {
	var asJSON bool
	var maxSamples int
	cmd := &cobra.Command{
		Use:   "replay RUN",
		Short: "compute a run again from the store and prove that it is the same",
		Long: `Runs every trial of a finished run again. All answers come from the store; no
provider is called and no socket is opened. Prints the same root hash, or names
the first call that differs and exits with 4. RUN is an id, the beginning of
one, or "last".`,
		Example: `  noema replay last
  noema replay 20261120-1405 --max-samples 64 --json`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeRuns,
		RunE: func(cmd *cobra.Command, args []string) error {
			if maxSamples < 1 {
				return usage(fmt.Errorf("--max-samples %d: use 1 or more", maxSamples))
			}
			return a.replay(cmd.Context(), args[0], maxSamples, asJSON)
		},
	}
	cmd.Flags().IntVar(&maxSamples, "max-samples", 16, "trials at once")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object instead of the table")
	return cmd
}

// completeRuns offers run ids to the shell.
func (a *app) completeRuns(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	ids := []string{"last"}
	if a.settle(cmd) == nil {
		if store, err := a.lab.Store(); err == nil {
			runs, _ := runner.Declared(cmd.Context(), store)
			for _, r := range runs {
				ids = append(ids, r.ID)
			}
		}
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}

func (a *app) replay(ctx context.Context, name string, maxSamples int, asJSON bool) error {
	_, run, err := a.findRun(ctx, name)
	if err != nil {
		return err
	}
	if run.Config.Study != nil {
		return a.replayStudy(run, asJSON)
	}
	replayed, err := a.lab.ReplayAs(runner.Replay{Run: run, MaxSamples: maxSamples})
	if err != nil {
		return err
	}
	return a.printReplay(replayed.ReplayResult, asJSON)
}

// replaySummary is the summary of a replay; root_hash is the replay's.
type replaySummary struct {
	*runner.Summary
	Recorded string             `json:"recorded_root_hash"`
	Same     bool               `json:"same"`
	Skipped  int                `json:"skipped_trials"` // failed by the infrastructure, so not repeatable
	Changed  []string           `json:"changed,omitempty"`
	First    *record.Divergence `json:"first_divergence,omitempty"`
}

func (a *app) printReplay(r *runner.ReplayResult, asJSON bool) error {
	summary, err := runner.Summarize(&r.Result)
	if err != nil {
		return err
	}
	summary.RootHash = r.Now
	if asJSON {
		out := replaySummary{summary, r.Recorded, r.Same(), r.Skipped, r.Changed, r.First}
		if err := report.JSON(a.stdout, out); err != nil {
			return err
		}
	} else {
		if err := a.print(report.RunSheet(summary, ""), false); err != nil {
			return err
		}
		fmt.Fprintln(a.stdout)
		report.Verdict(a.stdout, r)
	}
	if r.Same() {
		return nil
	}
	if r.First != nil {
		return &codedError{code: exitDiverged, err: fmt.Errorf("replay diverged from run %s: %s", r.Run.ID, r.First)}
	}
	return &codedError{code: exitDiverged, err: fmt.Errorf("replay diverged from run %s: all trials are equal, but %s", r.Run.ID, r.Changed)}
}
