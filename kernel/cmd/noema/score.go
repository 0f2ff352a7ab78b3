package main

import (
	"errors"

	"github.com/spf13/cobra"

	"noema/kernel/lab"
)

func scoreCommand(a *app) *cobra.Command {
	var o struct {
		lab.Import
		pairing
	}
	cmd := &cobra.Command{
		Use:   "score PREDICTIONS",
		Short: "score what another harness predicted, and keep it as a run to compare with",
		Long: `Reads predictions, scores them by the task's own targets, and records a run that compare
takes like any other. PREDICTIONS is a file of rows with an id and an answer (JSON
Lines, CSV, Parquet), a sample log of lm-eval (samples_*.jsonl), a log of Inspect
(.json, .eval), an output of promptfoo (.json, .jsonl), HELM's scenario_state.json, or a
folder of results of the original ANoT. Scores in the file are not read. Samples are
paired by id, or by their question where the ids are others; predictions without a
partner are left out and counted. No call of such a run is recorded: it has no root
hash, cannot be replayed, and what its calls took is unknown unless the file says so.`,
		Example: `  noema score predictions.jsonl --task questions.csv --method ours
  noema score samples_gsm8k_2026-11-22T18-15-42.jsonl --task gsm8k.jsonl --filter strict-match
  noema score logs/2026-11-22T18-16-07_sums.eval --task sums.jsonl
  noema score results/benchmarks/cot_philly_cafes/clean --task data/philly_cafes -T items=frequent
  noema compare last 20261120-1405 --baseline cot`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if o.Task == "" {
				return usage(errors.New("name the task that was answered, as in --task questions.csv"))
			}
			if err := o.oneForm(); err != nil {
				return usage(err)
			}
			result, err := a.lab.Import(args[0], o.Import)
			if err != nil {
				return err
			}
			return a.printCompared(result, &o.pairing)
		},
	}
	bind(cmd, &o, []string{"what", "print", "json"})
	return cmd
}
