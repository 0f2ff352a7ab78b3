package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"noema/kernel/base/display"
	"noema/kernel/base/files"
	"noema/kernel/session/builtin"
	"noema/kernel/show/report"
	"noema/methods"
	"noema/methods/plans"
)

func planCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "plan", Short: "show, edit and run what methods plan or compile", RunE: helpOnly,
		Long: `A method's plan is data that can be taken out of a run, edited, checked and run again:

  aot           atoms as JSON, each one operation with its arguments and dependencies; they
                run without a model
  anot          an LWT with the strategy behind it, as JSON of the kind "lwt" or as bare
                text; its steps ask a model
  general-anot  a Formula Seed: the keywords, fields and formulas of a policy; a model
                extracts, the formulas compute

"plan export" writes the plan of a trial, or a Formula Seed of a run, to a file. In a
comparison, -M anot.lwt=@FILE and -M general-anot.seed=@FILE use one.`,
	}
	cmd.AddCommand(planShowCommand(a), planValidateCommand(a), planExportCommand(a), planRunCommand(a), planConvertCommand(a))
	return cmd
}

// readPlan reads a plan of whichever method it is. What is not one is misuse.
func readPlan(file string) (plans.File, error) {
	raw, err := files.Read(file, files.MaxConfig)
	if err != nil {
		return nil, usage(fmt.Errorf("read plan: %w", err))
	}
	var forms []string
	for _, m := range builtin.Planners() {
		p, err := m.ReadPlan(raw)
		if err != nil {
			return nil, usage(fmt.Errorf("read plan %s:%w", file, spaced(err)))
		}
		if p != nil {
			return p, nil
		}
		forms = append(forms, m.PlanForm())
	}
	if text := bytes.TrimSpace(raw); !bytes.HasPrefix(text, []byte("{")) {
		return nil, usage(fmt.Errorf("read plan %s: want a JSON object, in braces, or an LWT", file))
	}
	return nil, usage(fmt.Errorf(`read plan %s: want %s: "noema plan export" writes them`, file, strings.Join(forms, ", or ")))
}

// spaced is err behind a file's name and colon: a place follows at once, and words
// after a space.
func spaced(err error) error {
	if f, is := err.(plans.Fault); is && f.Line > 0 {
		return err
	}
	return fmt.Errorf(" %w", err)
}

func planShowCommand(a *app) *cobra.Command {
	var f sampleFlags
	var d drawFlags
	var key string
	cmd := &cobra.Command{
		Use: "show FILE|RUN", Short: "list a plan's steps and faults or what a run compiled, or draw one", Args: cobra.ExactArgs(1), ValidArgsFunction: a.completeRuns,
		Long: `Lists the plan of a file, with its faults; or the Formula Seeds of a run, with the samples
that used them. With --dot or --mermaid it draws one as a graph: that of a file, or of a
run, where --key chooses among several.`,
		Example: `  noema plan show plan.json
  noema plan show plan.json --dot
  noema plan show last`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if info, err := os.Stat(args[0]); (err != nil || info.IsDir()) && !strings.ContainsAny(args[0], "./\\") {
				return a.showCompiled(cmd.Context(), args[0], key, d)
			}
			p, err := readPlan(args[0])
			if err != nil {
				return err
			}
			if d.draw(a, p.Graph()) {
				if faults, _ := p.Check(nil); len(faults) > 0 {
					return fmt.Errorf("draw plan %s: it has %s, so that the drawing may lack parts: \"noema plan validate\" lists them", args[0], report.Plural(len(faults), "fault"))
				}
				return nil
			}
			for _, line := range p.Lines() {
				fmt.Fprintln(a.text(), report.Plain(line))
			}
			_, err = f.checked(a, "show", args[0], p, cmd.Flags().Changed("task"))
			return err
		},
	}
	f.declare(cmd)
	d.declare(cmd)
	cmd.Flags().StringVar(&key, "key", "", "the beginning of the Formula Seed's key, where the run has several")
	return cmd
}

func planValidateCommand(a *app) *cobra.Command {
	var f sampleFlags
	cmd := &cobra.Command{
		Use: "validate FILE", Short: "list everything that is wrong with a plan", Args: cobra.ExactArgs(1),
		Long: `Lists all faults of a plan, those of an LWT with line and column. A plan is checked
against the sample that it is from, or the one of --task and --sample-id. Without either
it is checked for what can be known, and what was not checked is said.`,
		Example: `  noema plan validate plan.json
  noema plan validate allergy.json --task policy --sample-id allergy-001`,
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := readPlan(args[0])
			if err == nil {
				_, err = f.checked(a, "validate", args[0], p, cmd.Flags().Changed("task"))
			}
			if err == nil {
				fmt.Fprintln(a.stdout, "valid")
			}
			return err
		},
	}
	f.declare(cmd)
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

func planConvertCommand(a *app) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use: "convert FILE", Short: "turn a Formula Seed of another form into ours", Args: cobra.ExactArgs(1),
		Long: `Reads a Formula Seed in one of the forms that the public project has written
(field_type, computations, array_assemblies, lookups; or version and sections; or
filter, extract, compute) and writes it in ours. What is read differently is listed as notes. What cannot be
converted is listed as faults; it stands in the new file as it was, to be edited.
"plan validate", "plan run" and -M general-anot.seed=@FILE read the other forms too,
if nothing in them is at fault.`,
		Example: "  noema plan convert generated_seed.json --out allergy.json",
		RunE: func(_ *cobra.Command, args []string) error {
			raw, err := files.Read(args[0], files.MaxConfig)
			if err != nil {
				return usage(fmt.Errorf("read plan: %w", err))
			}
			at := slices.IndexFunc(builtin.Planners(), func(m plans.Reader) bool { _, can := m.(plans.Converter); return can })
			if at < 0 {
				return errors.New("no method converts plans")
			}
			file, notes, faults, err := builtin.Planners()[at].(plans.Converter).ConvertPlan(raw)
			if err != nil {
				return usage(fmt.Errorf("read plan %s: %w", args[0], err))
			}
			return a.writeConversion(args[0], out, file, notes, faults)
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "file to write (default: standard output)")
	return cmd
}

func (a *app) writeConversion(from, out string, file []byte, notes, faults []string) error {
	for _, n := range notes {
		fmt.Fprintf(a.stderr, "note   %s\n", n)
	}
	for _, f := range faults {
		fmt.Fprintf(a.stderr, "fault  %s\n", f)
	}
	if err := a.write(out, file); err != nil {
		return err
	}
	if len(faults) > 0 {
		return fmt.Errorf("convert plan %s: %s: edit what is listed above in the new file", from, report.Plural(len(faults), "fault"))
	}
	return nil
}

// write writes to a file, or to standard output without one.
func (a *app) write(out string, raw []byte) error {
	if out == "" {
		_, err := a.stdout.Write(raw)
		return err
	}
	return os.WriteFile(out, raw, 0o644)
}
