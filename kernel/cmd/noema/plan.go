package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"noema/cache"
	"noema/kernel/base/display"
	"noema/kernel/result/record"
	"noema/kernel/show/report"
	"noema/methods"
	"noema/methods/aot"
)

func planCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "plan", Short: "show, edit and run the plans of AoT and ANoT", RunE: helpOnly,
		Long: `A plan of AoT is JSON: atoms, each one operation with its arguments and dependencies; it
runs without a model. A plan of ANoT is an LWT with the strategy behind it, as JSON of
the kind "lwt" or as bare text; its steps ask a model. "plan export" writes the one of a
trial to a file, which can be edited, checked, drawn and run.`,
	}
	cmd.AddCommand(planShowCommand(a), planValidateCommand(a), planExportCommand(a), planRunCommand(a))
	return cmd
}

func planShowCommand(a *app) *cobra.Command {
	var f sampleFlags
	var d drawFlags
	cmd := &cobra.Command{
		Use: "show FILE", Short: "list a plan's steps and faults, or draw it", Args: cobra.ExactArgs(1),
		Example: `  noema plan show plan.json
  noema plan show plan.json --dot`,
		RunE: func(cmd *cobra.Command, args []string) error {
			lwt, isLWT, err := readLWT(args[0])
			switch {
			case err != nil:
				return err
			case isLWT && (d.dot || d.mermaid):
				return a.drawLWT(args[0], lwt, d)
			case isLWT:
				_, sample, err := f.lwtSample(a, lwt, cmd.Flags().Changed("task"))
				if err != nil {
					return err
				}
				a.showLWT(lwt)
				return a.checkLWT(args[0], lwt, sample)
			}
			p, err := readAtoms(args[0])
			if err != nil || d.draw(a, p.plan.Graph()) {
				return err
			}
			c, err := f.chooseSample(a, p.From, cmd.Flags().Changed("task"))
			if err != nil {
				return err
			}
			return a.showPlan("show plan "+args[0], p.plan, p.check(c))
		},
	}
	f.declare(cmd, "arithmetic")
	d.declare(cmd)
	return cmd
}

func planValidateCommand(a *app) *cobra.Command {
	var f sampleFlags
	cmd := &cobra.Command{
		Use: "validate FILE", Short: "list everything that is wrong with a plan", Args: cobra.ExactArgs(1),
		Long: `Lists all faults of a plan, those of an LWT with line and column. A plan is checked
against the sample that it is from, or the one of --task and --sample-id. Without either
an LWT is checked for what can be known, and a plan of atoms for the tools of --task.`,
		Example: "  noema plan validate plan.json",
		RunE: func(cmd *cobra.Command, args []string) error {
			lwt, isLWT, err := readLWT(args[0])
			if err != nil {
				return err
			}
			if isLWT {
				_, sample, err := f.lwtSample(a, lwt, cmd.Flags().Changed("task"))
				if err == nil {
					err = a.checkLWT(args[0], lwt, sample)
				}
				if err != nil {
					return err
				}
				fmt.Fprintln(a.stdout, "valid")
				return nil
			}
			p, err := readAtoms(args[0])
			if err != nil {
				return err
			}
			c, err := f.chooseSample(a, p.From, cmd.Flags().Changed("task"))
			if err != nil {
				return err
			}
			a.noteSample(c)
			if faults := p.check(c); len(faults) > 0 {
				return a.showPlan("validate plan "+args[0], p.plan, faults)
			}
			fmt.Fprintln(a.stdout, "valid")
			return nil
		},
	}
	f.declare(cmd, "arithmetic")
	return cmd
}

// drawFlags ask for a drawing in place of a list.
type drawFlags struct{ dot, mermaid bool }

func (d *drawFlags) declare(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&d.dot, "dot", false, "draw it for Graphviz")
	cmd.Flags().BoolVar(&d.mermaid, "mermaid", false, "draw it as a Mermaid flowchart")
	cmd.MarkFlagsMutuallyExclusive("dot", "mermaid")
}

// draw prints the drawing of g, if one is asked for.
func (d *drawFlags) draw(a *app, g methods.Graph) bool {
	switch {
	case d.dot:
		fmt.Fprint(a.stdout, display.Draw(g).DOT())
	case d.mermaid:
		fmt.Fprint(a.stdout, display.Draw(g).Mermaid())
	}
	return d.dot || d.mermaid
}

// showPlan lists the atoms of a plan and its faults, which fail the operation doing.
func (a *app) showPlan(doing string, plan aot.Plan, faults []aot.Fault) error {
	for _, atom := range plan.Atoms {
		input, err := plainJSON(atom.Input, "")
		if err != nil {
			return err
		}
		fmt.Fprintf(a.text(), "%d  %s %s %s", atom.ID, atom.Kind, atom.Name, bytes.TrimSpace(input))
		if len(atom.DependsOn) > 0 {
			fmt.Fprintf(a.text(), "  after %v", atom.DependsOn)
		}
		fmt.Fprintln(a.text())
	}
	for _, fault := range faults {
		fmt.Fprintln(a.text(), "fault:", fault)
	}
	if len(faults) > 0 {
		return fmt.Errorf("%s: the plan has %s", doing, report.Plural(len(faults), "fault"))
	}
	return nil
}

// plainJSON writes JSON for people: references such as <result_of_1> stay as
// they are.
func plainJSON(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	err := e.Encode(v)
	return b.Bytes(), err
}

func planExportCommand(a *app) *cobra.Command {
	var trial, out string
	cmd := &cobra.Command{
		Use: "export RUN --trial METHOD/SAMPLE", Short: "write the plan that a trial ran", Args: cobra.ExactArgs(1), ValidArgsFunction: a.completeRuns,
		Example: "  noema plan export last --trial aot/L3-05 --out plan.json",
		RunE: func(cmd *cobra.Command, args []string) error {
			if trial == "" {
				return usage(errors.New("plan export needs --trial METHOD/SAMPLE"))
			}
			store, run, err := a.findRun(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			raw, err := trialPlan(cmd.Context(), store, run, trial)
			if err != nil {
				return err
			}
			return a.write(out, raw)
		},
	}
	cmd.Flags().StringVar(&trial, "trial", "", "METHOD/SAMPLE or METHOD/SAMPLE/EPOCH")
	cmd.Flags().StringVar(&out, "out", "", "file to write (default: standard output)")
	return cmd
}

// trialPlan finds the plan in a trial's events: the last, if it was made anew.
func trialPlan(ctx context.Context, store *cache.Store, run *record.Run, name string) ([]byte, error) {
	id, err := run.FindTrial(name)
	if err != nil {
		return nil, usage(err)
	}
	raw, err := store.Trial(ctx, run.ID, id.String())
	if err != nil {
		return nil, fmt.Errorf("read trial %s: %w", id, err)
	}
	t, err := record.UnmarshalTrial(raw)
	if err != nil {
		return nil, err
	}
	for _, e := range slices.Backward(t.Events) {
		var data struct {
			Atoms, LWT, Strategy json.RawMessage
		}
		if e.Kind != methods.Plan || json.Unmarshal(e.Data, &data) != nil {
			continue
		}
		switch {
		case data.Atoms != nil:
			plan, faults := aot.ParsePlan(e.Data)
			if len(faults) > 0 {
				return nil, fmt.Errorf("export plan of %s: the trial has no valid plan of atoms: %s", id, faults[0])
			}
			from, err := originOf(run, t)
			if err != nil {
				return nil, err
			}
			return plainJSON(atomsFile{From: from, Plan: plan}, "  ")
		case data.LWT != nil || data.Strategy != nil:
			raw, err := exportLWT(ctx, store, run, t)
			if err != nil {
				return nil, fmt.Errorf("export plan of %s: %w", id, err)
			}
			return raw, nil
		}
	}
	return nil, fmt.Errorf("export plan of %s: the trial made no plan: aot makes plans of atoms and anot LWTs; for the Formula Seeds of general-anot see \"noema seed export\"", id)
}
