package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"

	"noema/kernel/base/display"
	"noema/kernel/lab"
	"noema/kernel/result/compare"
	"noema/kernel/show/report"
)

// compareAttacked runs an experiment without its attack and with it, and prints
// what each method loses.
func (a *app) compareAttacked(ctx context.Context, c *comparison, exp lab.Experiment) error {
	clean := exp
	clean.Attack = ""
	var results []*lab.Result
	var failed error
	for _, e := range []lab.Experiment{clean, exp} {
		result, err := a.lab.RunLight(e)
		if err != nil {
			return orInterrupted(ctx, err)
		}
		results = append(results, result)
		failed = cmp.Or(failed, failedTrials(result.Result))
	}
	return errors.Join(a.printRuns(&c.pairing, results), failed)
}

// compareScaled runs an experiment at several sizes of its task, with the same
// requests at each, and prints how the methods change with size.
func (a *app) compareScaled(ctx context.Context, c *comparison, exp lab.Experiment) error {
	if c.HTML != "" {
		return usage(errors.New("--html has no effect with --scale: run one size, or compare the stored runs"))
	}
	var sizes []*compare.Comparison
	for _, n := range c.Scale {
		result, err := a.compareOnce(ctx, c, sized(exp, n))
		if err != nil {
			return err
		}
		summary, err := result.Summary()
		if err != nil {
			return err
		}
		sizes = append(sizes, summary.Comparison)
		if !c.JSON {
			fmt.Fprintln(a.stdout)
		}
	}
	if c.JSON {
		return nil
	}
	return a.printSheet(report.Sheet{Tables: []display.Table{report.ScaleTable(c.Scale, sizes)}}, &c.pairing)
}

// sized is an experiment at a size of its task.
func sized(exp lab.Experiment, n int) lab.Experiment {
	exp.TaskOptions = maps.Clone(exp.TaskOptions)
	if exp.TaskOptions == nil {
		exp.TaskOptions = map[string]string{}
	}
	exp.TaskOptions["n"] = strconv.Itoa(n)
	return exp
}
