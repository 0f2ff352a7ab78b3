package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"noema/kernel/lab"
	"noema/kernel/lab/plugindev"
	"noema/kernel/run/runner"
	"noema/kernel/show/report"
	"noema/methods"
	"noema/methods/methodtest"
	"noema/plugins"
)

// promptOption is the option of the methods whose prompt can be given.
const promptOption = "prompt"

func showPluginCommand(a *app) *cobra.Command {
	var prompts, asJSON bool
	var on string
	cmd := &cobra.Command{
		Use: "show METHOD", Short: "show a method: what it is, its options, and the prompts that it sends", Args: cobra.ExactArgs(1),
		Long: `Shows a method and its options. --prompts shows all that it asks the model on one
sample of a generated task, with replies of the simulated model; nothing is recorded.

direct, cot, self-consistency and plan-and-solve take a prompt of your own in place
of theirs, in which {question} and {form} stand for the question with its data and for
the form of the answer.`,
		Example: `  noema plugin show cot
  noema plugin show anot --prompts
  noema compare --task arithmetic --methods 'cot,cot?prompt=@short.txt,cot?prompt=@long.txt' --limit 20`,
		RunE: func(cmd *cobra.Command, args []string) error {
			m, err := a.lab.OpenMethods(cmd.Context(), args, nil)
			if err != nil {
				return err
			}
			if asJSON {
				return report.JSON(a.clean(), methodOf(sourceOf(m[0]), m[0].Description))
			}
			if err := a.showPlugin(m[0]); err != nil || !prompts {
				return err
			}
			return a.showPrompts(cmd.Context(), m[0], on)
		},
	}
	addJSON(cmd, &asJSON)
	cmd.Flags().BoolVar(&prompts, "prompts", false, "show what it asks the model")
	cmd.Flags().StringVar(&on, "task", "", "the task whose first sample it is asked (default: the first that it can answer)")
	return cmd
}

// sourceOf is where a method that is open is.
func sourceOf(m runner.Method) plugins.Source {
	return plugins.Source{Name: m.Plugin.Method, Builtin: m.Plugin.Builtin, Path: m.Plugin.Path}
}

// showPlugin prints what a method is, and its own prompt.
func (a *app) showPlugin(m runner.Method) error {
	if err := a.describePlugin(sourceOf(m), m.Description); err != nil {
		return err
	}
	if m.Plugin.Copied > 0 {
		fmt.Fprintf(a.text(), "\ncode: %s of its folder\n", report.Plural(m.Plugin.Copied, "file"))
	}
	for _, l := range m.Plugin.Left {
		fmt.Fprintf(a.text(), "not copied: %s: %s\n", l.Name, l.Why)
	}
	for _, o := range m.Description.Options {
		if o.Name == promptOption && o.Default != "" {
			fmt.Fprintf(a.text(), "\nprompt:\n%s", indented(o.Default))
		}
	}
	return nil
}

// describePlugin prints what a method is, where its code is, and its options.
func (a *app) describePlugin(src plugins.Source, d methods.Description) error {
	where := "built in"
	if !src.Builtin {
		where = src.Path
	}
	if d.Version != "" {
		where = "version " + d.Version + ", " + where
	}
	if d.Summary != "" {
		where += ": " + d.Summary
	}
	w := tabwriter.NewWriter(a.text(), 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%s, %s\n", src.Name, where)
	optionLines(w, d.Options)
	return w.Flush()
}

// showPrompts prints what a method asks the model on a task's first sample.
func (a *app) showPrompts(ctx context.Context, m runner.Method, on string) error {
	t, err := a.promptTask(m.Description, on)
	if err != nil {
		return err
	}
	model, err := a.lab.Model("sim?error=0", false, 0)
	if err != nil {
		return err
	}
	calls, err := plugindev.Prompts(ctx, m.Solver, m.Description, t, model)
	if err != nil {
		return err
	}
	out := a.text()
	fmt.Fprintf(out, "\nasked on sample %s of %s, with replies of the simulated model:\n", t.Samples[0].ID, t.Name)
	for _, c := range calls {
		printPrompt(out, c)
	}
	return nil
}

// promptTask is the task that is named, or of the generated ones that the method can
// answer that with the shortest first sample.
func (a *app) promptTask(d methods.Description, on string) (shortest *lab.Task, err error) {
	names := []string{on}
	if on == "" {
		names = nil
		for _, t := range a.lab.Catalog().Tasks() {
			names = append(names, t.Name)
		}
	}
	var faults []error
	for _, name := range names {
		t, err := a.lab.Task(name, nil)
		if err == nil {
			err = runner.Able(d.Name, d, t, t.Samples[:1])
		}
		if err != nil {
			faults = append(faults, err)
		} else if shortest == nil || length(t.Samples[0].Problem) < length(shortest.Samples[0].Problem) {
			shortest = t
		}
	}
	if shortest == nil {
		return nil, usage(errors.Join(faults...))
	}
	return shortest, nil
}

func length(p methods.Problem) int { return len(p.Query) + len(p.Context) }

func printPrompt(w io.Writer, c methodtest.Call) {
	fmt.Fprintf(w, "\n%s", c.Request.Path)
	if c.Building != "" {
		fmt.Fprintf(w, " of its seed")
	}
	if c.Request.Draw > 0 {
		fmt.Fprintf(w, ", draw %d", c.Request.Draw)
	}
	fmt.Fprintln(w)
	for _, m := range c.Request.Messages {
		fmt.Fprintf(w, "  %s:\n%s", m.Role, indented(m.Content))
	}
	if c.Request.Schema != nil {
		fmt.Fprintf(w, "  reply under the schema:\n%s", indented(string(c.Request.Schema.JSON)))
	}
}

// indented is a text with each of its lines moved to the right.
func indented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString("    " + strings.TrimRight(line, "\r\n") + "\n")
	}
	return b.String()
}
