package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"noema/kernel/base/display"
	"noema/kernel/show/report"
)

func replayPluginCommand(a *app) *cobra.Command {
	var c comparison
	cmd := &cobra.Command{
		Use:   "replay METHOD",
		Short: "run a method and replay it, to check that it is deterministic",
		Long: `Runs a method over a few samples, and then three times more with every answer coming
from the store: one trial at a time and many at once. A method that does not depend on
time, chance or the order of replies has the same transcript each time; otherwise the
first call that differs is named, and the exit code is 4.`,
		Example: `  noema plugin replay anot
  noema plugin replay ./my-method --task arithmetic --limit 20`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			c.Methods = args
			if c.Limit == "" && len(c.SampleIDs) == 0 {
				c.Limit = "10"
			}
			exp, err := c.experiment()
			if err != nil {
				return usage(err)
			}
			checked, err := a.lab.Check(exp)
			if err != nil {
				return err
			}
			if c.JSON {
				err = report.JSON(a.stdout, map[string]any{
					"run": checked.Run.ID(), "trials": checked.Trials, "deterministic": checked.First == nil, "first": checked.First,
				})
			} else {
				fmt.Fprintln(a.stdout, checked.Text())
			}
			if err == nil && checked.First != nil {
				err = &codedError{code: exitDiverged}
			}
			return err
		},
	}
	bind(cmd, &c, []string{"what", "how", "json"}, "methods", "scale", "replay", "fresh", "cache")
	return cmd
}

func ablateCommand(a *app) *cobra.Command {
	var c comparison
	var over []string
	cmd := &cobra.Command{
		Use:   "ablate METHOD --over OPTION,...",
		Short: "run a method with one option changed at a time, and show what each option gains",
		Long: `Compares a method with itself, one option changed at a time: a yes-or-no option takes
its opposite, a choice all its other values, a number 0, or what you name, as in
retries=5. All variants meet the same samples, seeds and draws, and share every answer
that does not depend on the option. --dry-run tells beforehand what it would cost.`,
		Example: `  noema ablate anot --over builder,shuffle,retries --task cafes --limit 20
  noema ablate anot --over builder --task cafes --dry-run`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c.Methods = args
			exp, err := c.experiment()
			if err != nil {
				return usage(err)
			}
			if c.DryRun {
				if exp, err = a.lab.AblationOf(exp, over); err != nil {
					return err
				}
				if err := a.onlyParts(cmd, "with --dry-run", "what", "how", "design", "flow", "json"); err != nil {
					return err
				}
				return a.estimate(c.JSON, exp)
			}
			if err := a.ready(&c); err != nil {
				return err
			}
			found, err := a.lab.Ablate(exp, over, c.Comparing)
			if err != nil {
				return orInterrupted(cmd.Context(), err)
			}
			if c.JSON {
				err = report.JSON(a.stdout, found.Comparison.Comparison)
			} else if c.Latex || c.BibTeX {
				sheet := found.Comparison.Sheet()
				sheet.Tables = slices.Insert(sheet.Tables, 0, report.AblationTable(found.Comparison.Comparison))
				err = a.printSheet(sheet, &c.pairing, found.Result)
			} else {
				err = a.print(display.Of(found), c.MD)
			}
			return errors.Join(err, a.writePage(found.Comparison, c.HTML, found.Result), failedTrials(found.Result.Result))
		},
	}
	cmd.Flags().StringSliceVar(&over, "over", nil, "options to change, as in builder,shuffle,retries=5")
	bind(cmd, &c, []string{"what", "how", "flow", "pair", "design", "print", "json"}, "methods", "scale", "watch", "baseline")
	return cmd
}
