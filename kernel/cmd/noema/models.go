package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"noema/kernel/base/files"
	"noema/kernel/base/hub"
	"noema/kernel/model/library"
	"noema/kernel/session/builtin"
	"noema/kernel/show/report"
)

func modelCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{Use: "model", Short: "list, fetch, import or test models", RunE: helpOnly}
	var asJSON bool
	list := &cobra.Command{
		Use: "list", Short: "list the models that --model takes, and those on this machine", Example: "  noema model list",
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return a.listModelsJSON()
			}
			return a.listModels()
		},
	}
	addJSON(list, &asJSON)
	cmd.AddCommand(
		list, pullModelCommand(a), importModelCommand(a), testModelCommand(a),
	)
	return cmd
}

func (a *app) listModels() error {
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	for _, p := range builtin.Providers() {
		fmt.Fprintf(w, "%s\t%s\n", p.Form, p.Summary)
		optionLines(w, p.Options)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	lib, err := builtin.Library(a.home)
	if err != nil {
		return err
	}
	found, err := lib.List()
	if err != nil || len(found) == 0 {
		return err
	}
	w = tabwriter.NewWriter(a.text(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\non this machine\tformat\tsize\tversion\tpath")
	for _, m := range found {
		fmt.Fprintf(w, "local/%s\t%s\t%s\t%.19s\t%s\n", m.Name, m.Format, report.Size(m.Size), m.Version, m.Path)
	}
	return w.Flush()
}

func (a *app) listModelsJSON() error {
	lib, err := builtin.Library(a.home)
	if err != nil {
		return err
	}
	found, err := lib.List()
	if err != nil {
		return err
	}
	all := modelsJSON{Local: []localModelJSON{}}
	for _, p := range builtin.Providers() {
		all.Forms = append(all.Forms, entryJSON{Name: p.Form, Summary: p.Summary, Form: strings.Contains(p.Form, "/"), Options: optionsJSON(p.Options)})
	}
	for _, m := range found {
		all.Local = append(all.Local, localModelJSON{Name: "local/" + m.Name, Format: string(m.Format), Bytes: m.Size, Version: m.Version, Path: m.Path})
	}
	return report.JSON(a.clean(), all)
}

func pullModelCommand(a *app) *cobra.Command {
	long := `Fetches a model from the Hugging Face hub into the cache that its Python tools share, for
--model local/NAME. NAME is hf/ORG/REPO, with @REVISION for a branch, tag or commit, and
:FILE for one GGUF file; or a short name:

`
	for _, s := range library.Shorts() {
		long += fmt.Sprintf("  %-15s %s\n", s.Name, s.Repo)
	}
	return &cobra.Command{
		Use: "pull NAME", Short: "fetch a model from the Hugging Face hub", Args: cobra.ExactArgs(1),
		Long: long + `
Only the files that a model in this process needs are fetched, and their digests are
checked. A fetch that was interrupted goes on when the command is run again. HF_TOKEN is the
token for gated and private models, HF_HOME the folder of the cache, HF_ENDPOINT another hub.`,
		Example: "  noema model pull smollm2-135m\n  noema model pull hf/Qwen/Qwen3-0.6B@main\n  noema model pull hf/bartowski/SmolLM2-135M-Instruct-GGUF:SmolLM2-135M-Instruct-Q8_0.gguf",
		RunE:    func(cmd *cobra.Command, args []string) error { return a.pullModel(cmd.Context(), args[0]) },
	}
}

func (a *app) pullModel(ctx context.Context, name string) error {
	lib, err := builtin.Library(a.home)
	if err != nil {
		return err
	}
	progress := newFetching(a.stderr)
	lib.Hub.Progress = progress.show
	w := tabwriter.NewWriter(a.text(), 0, 0, 2, ' ', 0)
	p, err := lib.Pull(ctx, name, func(p library.Pulled) {
		license := p.License
		if license == "" {
			license = "not declared: see " + lib.Hub.Endpoint + "/" + p.Repo
		}
		fmt.Fprintf(w, "model\t%s\ncommit\t%s\nlicence\t%s\nfiles\t%d, %s\n", p.Repo, p.Commit, license, p.Files, report.Size(p.Size))
		_ = w.Flush() // an output that is lost is an error of the command
	})
	progress.end()
	if err != nil {
		return asUsage(err)
	}
	fmt.Fprintf(w, "path\t%s\nuse\t--model %s\n", p.Path, files.Word("local/"+p.Name))
	return w.Flush()
}

// asUsage makes a wrong name, or a repository that is not there, wrong usage.
func asUsage(err error) error {
	var name *library.NameError
	if errors.As(err, &name) || errors.Is(err, hub.ErrNotFound) {
		return usage(err)
	}
	return err
}

func importModelCommand(a *app) *cobra.Command {
	name := ""
	cmd := &cobra.Command{
		Use: "import FILE.gguf|FOLDER", Short: "keep a model that you have under a name", Args: cobra.ExactArgs(1),
		Long: `Puts a GGUF file, or a folder as Hugging Face lays it out, into models/NAME of noema's home,
for --model local/NAME. Where the disk allows it, a clone or a hard link is made, which
takes no space; elsewhere a copy. To forget a model, remove that folder.`,
		Example: "  noema model import downloads/qwen3-0.6b-q8_0.gguf --name my-qwen",
		RunE:    func(cmd *cobra.Command, args []string) error { return a.importModel(cmd.Context(), args[0], name) },
	}
	cmd.Flags().StringVar(&name, "name", "", "name of the model after local/")
	_ = cmd.MarkFlagRequired("name") // it fails for unknown flags only
	return cmd
}

func (a *app) importModel(ctx context.Context, source, name string) error {
	lib, err := builtin.Library(a.home)
	if err != nil {
		return err
	}
	m, err := lib.Import(ctx, source, name)
	if err != nil {
		return asUsage(err)
	}
	w := tabwriter.NewWriter(a.text(), 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "model\t%s, %s\ndigest\t%s\npath\t%s\nuse\t--model %s\n", m.Format, report.Size(m.Size), m.Version, m.Path, files.Word("local/"+m.Name))
	return w.Flush()
}
