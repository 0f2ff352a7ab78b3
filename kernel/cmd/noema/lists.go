package main

import (
	"context"
	"errors"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"noema/kernel"
	"noema/kernel/builtin"
	"noema/kernel/provider/sim"
	"noema/kernel/report"
	"noema/methods"
	"noema/plugins"
)

func taskCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{Use: "task", Short: "list tasks and look at their samples", RunE: helpOnly}
	cmd.AddCommand(
		&cobra.Command{
			Use: "list", Short: "list the tasks", Example: "  noema task list",
			RunE: func(*cobra.Command, []string) error { return a.listTasks() },
		},
		taskShowCommand(a),
	)
	return cmd
}

func (a *app) listTasks() error {
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	for _, t := range a.lab.Catalog().Tasks() {
		fmt.Fprintf(w, "%s\t%s\n", t.Name, t.Summary)
		optionLines(w, t.Options)
	}
	for _, form := range builtin.FileForms() {
		fmt.Fprintf(w, "%s\t%s\n", form[0], form[1])
	}
	return w.Flush()
}

func optionLines(w *tabwriter.Writer, options []methods.Option) {
	for _, o := range options {
		fmt.Fprintf(w, "  %s=%s\t%s\n", o.Name, o.Default, o.Doc)
	}
}

func taskShowCommand(a *app) *cobra.Command {
	var options []string
	var sample string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show TASK",
		Short: "show a task, or one of its samples with its target",
		Example: `  noema task show cafes
  noema task show cafes?n=20 --sample-id R07`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			pairs, err := kernel.ParsePairs("-T", options)
			if err != nil {
				return usage(err)
			}
			t, err := a.lab.Task(args[0], pairs)
			if err != nil {
				return err
			}
			if sample == "" {
				return report.Task(a.stdout, t, asJSON)
			}
			for _, s := range t.Samples {
				if s.ID == sample {
					return report.Sample(a.stdout, s, asJSON)
				}
			}
			return usage(fmt.Errorf("task %q has no sample %q", t.Name, sample))
		},
	}
	cmd.Flags().StringArrayVarP(&options, "task-option", "T", nil, "option of the task, as in -T n=20")
	cmd.Flags().StringVar(&sample, "sample-id", "", "show this sample")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func pluginCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{Use: "plugin", Short: "list the methods", RunE: helpOnly}
	cmd.AddCommand(&cobra.Command{
		Use: "list", Short: "list the methods, built in and found, with their options", Example: "  noema plugin list",
		RunE: func(cmd *cobra.Command, _ []string) error { return a.listPlugins(cmd.Context()) },
	})
	return cmd
}

func (a *app) listPlugins(ctx context.Context) error {
	sources, faults := a.lab.Plugins()
	host, err := plugins.NewHost(plugins.HostOptions{})
	if err != nil {
		return err
	}
	defer host.Close()
	for _, src := range sources {
		p, err := host.Open(ctx, src)
		if err != nil {
			faults = errors.Join(faults, err)
			continue
		}
		if err := a.describePlugin(src, p.Describe()); err != nil {
			return err
		}
	}
	return faults
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
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%s, %s\n", src.Name, where)
	optionLines(w, d.Options)
	return w.Flush()
}

func modelCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{Use: "model", Short: "list the models", RunE: helpOnly}
	cmd.AddCommand(&cobra.Command{
		Use: "list", Short: "list what --model takes", Example: "  noema model list",
		RunE: func(*cobra.Command, []string) error { return a.listModels() },
	})
	return cmd
}

func (a *app) listModels() error {
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "sim\ta simulated model that reads only the prompt; for developing and testing, no evidence about language models")
	optionLines(w, sim.OptionsDoc())
	fmt.Fprintln(w, "openai/NAME\tchat completions of OpenAI, or of the compatible server at OPENAI_BASE_URL; key in OPENAI_API_KEY")
	optionLines(w, []methods.Option{
		{Name: "price_input", Doc: "dollars per million input tokens, where the built-in table does not know"},
		{Name: "price_output", Doc: "dollars per million output tokens"},
	})
	fmt.Fprintln(w, "scripted/FILE\treplies from a JSON or YAML file, for tests")
	return w.Flush()
}

func cacheCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{Use: "cache", Short: "look into the store", RunE: helpOnly}
	var asJSON bool
	stats := &cobra.Command{
		Use: "stats", Short: "count what the store holds", Example: "  noema cache stats",
		RunE: func(cmd *cobra.Command, _ []string) error { return a.cacheStats(cmd.Context(), asJSON) },
	}
	stats.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	verify := &cobra.Command{
		Use: "verify", Short: "read everything and check it", Example: "  noema cache verify",
		RunE: func(cmd *cobra.Command, _ []string) error { return a.cacheVerify(cmd.Context()) },
	}
	cmd.AddCommand(stats, verify)
	return cmd
}

func (a *app) cacheStats(ctx context.Context, asJSON bool) error {
	store, err := a.lab.Store()
	if err != nil {
		return err
	}
	s, err := store.Stats(ctx)
	if err != nil {
		return err
	}
	if asJSON {
		return report.JSON(a.stdout, s)
	}
	report.Stats(a.stdout, store.Dir(), s)
	return nil
}

func (a *app) cacheVerify(ctx context.Context) error {
	store, err := a.lab.Store()
	if err != nil {
		return err
	}
	r, err := store.Verify(ctx)
	if err != nil {
		return err
	}
	report.Report(a.stdout, r)
	if !r.OK() {
		return fmt.Errorf("verify store: %d records are damaged: calls that need them will be made again", len(r.Corrupt))
	}
	return nil
}
