package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"noema/kernel/lab"
	"noema/kernel/session/builtin"
	"noema/kernel/show/report"
	"noema/methods"
	"noema/plugins"
)

func taskCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{Use: "task", Short: "list tasks, look at their samples, and fetch public data sets", RunE: helpOnly}
	var asJSON bool
	list := &cobra.Command{
		Use: "list", Short: "list the tasks", Example: "  noema task list",
		RunE: func(*cobra.Command, []string) error { return a.listTasks(asJSON) },
	}
	addJSON(list, &asJSON)
	cmd.AddCommand(
		list,
		taskShowCommand(a),
		taskValidateCommand(a),
		pullTaskCommand(a),
	)
	return cmd
}

func (a *app) listTasks(asJSON bool) error {
	if asJSON {
		var all []entryJSON
		for _, t := range a.lab.Catalog().Tasks() {
			all = append(all, entryJSON{Name: t.Name, Summary: t.Summary, Options: optionsJSON(t.Options)})
		}
		for _, form := range builtin.FileForms() {
			all = append(all, entryJSON{Name: form[0], Summary: form[1], Form: true})
		}
		return report.JSON(a.stdout, all)
	}
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
		if strings.Contains(o.Default, "\n") { // a prompt, which its method's own page shows
			o.Default = "…"
		}
		fmt.Fprintf(w, "  %s=%s\t%s\n", o.Name, o.Default, o.Doc)
	}
}

func taskShowCommand(a *app) *cobra.Command {
	var o taskOptions
	var sample string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show TASK",
		Short: "show a task, or one of its samples with its target",
		Example: `  noema task show cafes
  noema task show cafes?n=20 --sample-id R07`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			t, err := a.lab.Task(args[0], o.TaskOptions)
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
	bind(cmd, &o, []string{"what"})
	cmd.Flags().StringVar(&sample, "sample-id", "", "show this sample")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func taskValidateCommand(a *app) *cobra.Command {
	var o taskOptions
	cmd := &cobra.Command{
		Use:   "validate TASK",
		Short: "check a task: its files, samples, targets, tools and, for logs, its workflows",
		Long: `Opens a task and checks everything that can be checked without a model: files and
configuration, with the place of each fault; that every target is one its answer kind
allows; and, where tools count records, how many lines of the log are not records.`,
		Example: `  noema task validate cafes
  noema task validate ./my-logs`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := a.lab.Task(args[0], o.TaskOptions)
			if err != nil {
				return err
			}
			return a.validateTask(cmd.Context(), t)
		},
	}
	bind(cmd, &o, []string{"what"})
	return cmd
}

func (a *app) validateTask(ctx context.Context, t *lab.Task) error {
	kinds := map[methods.AnswerKind]int{}
	for _, s := range t.Samples {
		kinds[s.Problem.Answer.Kind]++
	}
	if err := t.CheckTargets(); err != nil {
		return err
	}
	digest, err := t.Digest()
	if err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "ok      %s, digest %.16s\n", report.Plural(len(t.Samples), "sample"), digest)
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		fmt.Fprintf(a.stdout, "answers %d of kind %s\n", kinds[kind], kind)
	}
	for _, note := range t.Notes { // as a run would print them
		fmt.Fprintf(a.stdout, "note    %s\n", report.Plain(note))
	}
	if t.Environment == nil {
		return nil
	}
	for _, tool := range t.Environment.Tools() {
		fmt.Fprintf(a.text(), "tool    %s\n", tool.Name)
	}
	if !slices.ContainsFunc(t.Environment.Tools(), func(s methods.ToolSpec) bool { return s.Name == "get_log_count" }) {
		return nil
	}
	found, err := t.Environment.Call(ctx, methods.ToolCall{Name: "get_log_count", Arguments: []byte("{}")})
	if err == nil && found.IsError {
		err = errors.New(found.Content)
	}
	if err != nil {
		return fmt.Errorf("task %q: read the log: %w", t.Name, err)
	}
	fmt.Fprintf(a.stdout, "log     %s\n", report.Plain(found.Content))
	return nil
}

func (a *app) listPlugins(ctx context.Context, asJSON bool) error {
	sources, faults := a.lab.Plugins()
	host, err := plugins.NewHost(plugins.HostOptions{})
	if err != nil {
		return err
	}
	defer host.Close()
	all := []methodJSON{}
	for _, src := range sources {
		p, err := host.Open(ctx, src)
		if err != nil {
			faults = errors.Join(faults, err)
			continue
		}
		if asJSON {
			all = append(all, methodOf(src, p.Describe()))
			continue
		}
		if err := a.describePlugin(src, p.Describe()); err != nil {
			return err
		}
	}
	if asJSON {
		return errors.Join(report.JSON(a.clean(), all), faults)
	}
	return faults
}

func cacheCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{Use: "cache", Short: "inspect the store, and exchange what it holds", RunE: helpOnly}
	var asJSON bool
	stats := &cobra.Command{
		Use: "stats", Short: "count what the store holds", Example: "  noema cache stats",
		RunE: func(cmd *cobra.Command, _ []string) error { return a.cacheStats(cmd.Context(), asJSON) },
	}
	stats.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	verify := &cobra.Command{
		Use: "verify", Short: "read every record and check it", Example: "  noema cache verify",
		RunE: func(cmd *cobra.Command, _ []string) error { return a.cacheVerify(cmd.Context()) },
	}
	cmd.AddCommand(stats, verify, cacheExportCommand(a), cacheImportCommand(a), cachePruneCommand(a))
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
