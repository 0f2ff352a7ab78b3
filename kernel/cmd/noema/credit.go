package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"noema/kernel/base/display"
	"noema/kernel/lab"
	"noema/kernel/run/gateway"
	"noema/kernel/run/runner"
	"noema/kernel/show/report"
)

// crediting is what the flags of credit declare. Of the experiment, it has how the
// calls are made.
type crediting struct {
	comparison
	lab.Crediting
}

func creditCommand(a *app) *cobra.Command {
	var c crediting
	var run string
	cmd := &cobra.Command{
		Use:   "credit METHOD --run RUN",
		Short: "show what each phase of a method earns: answer its recorded calls in other ways",
		Long: `Takes the trials of a method in a finished run, and answers the model calls of one phase
in another way, one phase and one way at a time: drop gives an empty reply, swap the reply
that the next sample got at the same call path, resample another draw of the same request,
truth the right reply, where a generated task knows it. All else is as it was: the same
samples, seeds and draws, with the store answering every call that does not depend on the
changed reply. Only those that do are asked anew; what they will cost is printed first,
and --dry-run prints it alone.

Shown is how the score changes, with intervals that hold for all interventions together,
and per 1,000 tokens that the phase takes. With drop and swap a phase that earns something
makes the score worse; truth is what its mistakes cost; resample tells how much is luck.
The trials are a run of their own, in which each intervention is a method: it is resumed,
replayed and viewed like any other, and a repeat costs nothing.`,
		Example: `  noema credit anot --run last
  noema credit anot --run last --with drop,truth --dry-run
  noema credit anot --run last --by path --at P3/c1,P3/final --html credit.html`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if run == "" {
				return usage(errors.New("credit needs --run RUN: an id, the beginning of one, or last"))
			}
			if err := errors.Join(c.oneForm(), checkFolder(c.HTML)); err != nil {
				return usage(err)
			}
			return a.credit(cmd, args[0], run, &c)
		},
	}
	cmd.Flags().StringVar(&run, "run", "", "the run whose calls are changed: an id, the beginning of one, or last")
	if err := cmd.RegisterFlagCompletionFunc("run", a.completeRuns); err != nil {
		panic(err) // the flag is declared above
	}
	bind(cmd, &c.Crediting, []string{"credit"})
	bind(cmd, &c.comparison, []string{"how", "flow", "print", "json"}, "cache", "fresh", "watch")
	return cmd
}

// credit tells what the interventions will cost, makes them and prints their effects.
func (a *app) credit(cmd *cobra.Command, method, run string, c *crediting) error {
	of, err := a.lab.Load(run)
	if err != nil {
		return err
	}
	how := c.Experiment
	if c.Replay {
		how.Cache = string(gateway.Replay)
	} else {
		cost, notes, err := of.CreditEstimate(method, c.Crediting, how)
		if err != nil {
			return err
		}
		if c.DryRun {
			return a.printCost(cost, notes, c.JSON)
		}
		fmt.Fprintln(report.Guarded(a.redactor.Writer(a.stderr)), report.EstimateTable(cost).Text()+report.EstimateTotal(cost))
	}
	found, err := of.Credit(method, c.Crediting, how)
	if err != nil {
		return orInterrupted(cmd.Context(), err)
	}
	if c.JSON {
		err = report.JSON(a.stdout, found)
	} else {
		err = a.print(display.Of(found), c.MD)
	}
	return errors.Join(err, writeHTML(c.HTML, "credit", "noema: credit of "+found.Method, found, found.Graph()))
}

// printCost prints what interventions would ask for.
func (a *app) printCost(e *runner.Estimate, notes []string, asJSON bool) error {
	if asJSON {
		return report.JSON(a.stdout, struct {
			*runner.Estimate
			Notes []string `json:"notes,omitempty"`
		}{e, notes})
	}
	fmt.Fprintln(a.text(), report.EstimateTable(e).Text()+report.EstimateTotal(e))
	for _, n := range notes {
		fmt.Fprintln(a.text(), "note:", n)
	}
	return nil
}
