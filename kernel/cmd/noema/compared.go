package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"noema/kernel"
	"noema/kernel/compare"
	"noema/kernel/display"
	"noema/kernel/report"
	"noema/kernel/runner"
)

// compareRuns compares the methods of stored runs.
func (a *app) compareRuns(cmd *cobra.Command, names []string, p *pairing) error {
	if err := onlyPaired(cmd); err != nil {
		return usage(err)
	}
	options, err := p.options()
	if err != nil {
		return usage(err)
	}
	var results []*kernel.Result
	for _, name := range names {
		r, err := a.lab.Load(name)
		if err != nil {
			for _, t := range a.lab.Catalog().Tasks() {
				if t.Name == name {
					err = usage(fmt.Errorf("%q is a task and no run: write --task %s; see \"noema compare --help\"", name, name))
				}
			}
			return err
		}
		results = append(results, r)
	}
	c, err := kernel.Compare(options, results...)
	if err != nil {
		return err
	}
	if p.json {
		err = report.JSON(a.stdout, comparedJSON{c.Comparison, c.Runs, c.Simulated})
	} else {
		err = a.print(c.Display(), p.md)
	}
	return errors.Join(err, a.writePage(c, p.html, nil))
}

// onlyPaired refuses flags that say what to run, where stored runs are named.
func onlyPaired(cmd *cobra.Command) error {
	for _, flag := range []string{"task", "methods", "model", "method-option", "task-option", "sampling", "limit", "sample-id", "epochs", "seed", "temperature", "dry-run"} {
		if f := cmd.Flags().Lookup(flag); f != nil && f.Changed && slices.Contains(os.Args, "--"+flag) {
			return fmt.Errorf("--%s says what to run, but stored runs were named: leave one of them out", flag)
		}
	}
	return nil
}

// comparedJSON is a comparison for scripts.
type comparedJSON struct {
	*compare.Comparison
	Runs      []string `json:"runs"`
	Simulated bool     `json:"simulated"`
}

// summaryJSON is a run with its comparison for scripts. Its fields are stable,
// new ones may be added.
type summaryJSON struct {
	*runner.Summary
	Comparison *compare.Comparison `json:"comparison"`
}

// printCompared prints a run and, if it has several methods, how they compare.
func (a *app) printCompared(r *kernel.Result, o kernel.Comparing, p *pairing) error {
	summary, err := r.Summary()
	if err != nil {
		return err
	}
	c, err := r.Compare(o)
	if err != nil {
		return err
	}
	if p.json {
		return errors.Join(report.JSON(a.stdout, summaryJSON{summary, c.Comparison}), a.writePage(c, p.html, r))
	}
	shown := report.RunBundle(summary, c.Comparison, report.ComparisonView{Groups: o.ByGroup})
	if err := a.print(shown, p.md); err != nil {
		return err
	}
	a.printDrifts(r.Result)
	return a.writePage(c, p.html, r)
}

// print writes the text or the Markdown of a bundle.
func (a *app) print(b display.Bundle, markdown bool) error {
	form := display.PlainText
	if markdown {
		form = display.Markdown
	}
	_, err := fmt.Fprintln(a.stdout, strings.TrimRight(string(b[form]), "\n"))
	return err
}

// writePage writes the comparison as one HTML page, if a file is named. A run is
// shown above it, if there is one.
func (a *app) writePage(c *kernel.Comparison, file string, r *kernel.Result) error {
	if file == "" {
		return nil
	}
	var parts []display.Displayer
	if r != nil {
		parts = append(parts, r)
	}
	parts = append(parts, c, c.Plot())
	if len(c.Groups) > 1 {
		parts = append(parts, c.GroupPlot())
	}
	if err := os.WriteFile(file, report.Page("noema: "+c.Metric, parts...), 0o644); err != nil {
		return fmt.Errorf("write the comparison: %w", err)
	}
	return nil
}

// estimate prints what an experiment would ask for.
func (a *app) estimate(e kernel.Experiment, asJSON bool) error {
	found, err := a.lab.Estimate(e)
	if err != nil {
		return err
	}
	if asJSON {
		return report.JSON(a.stdout, found)
	}
	fmt.Fprint(a.stdout, report.EstimateTable(found).Text())
	return nil
}
