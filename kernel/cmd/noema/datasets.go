package main

import (
	"cmp"
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"noema/kernel/base/files"
	"noema/kernel/session/builtin"
	"noema/kernel/show/report"
	"noema/kernel/task/dataset"
)

func pullTaskCommand(a *app) *cobra.Command {
	long := `Fetches the rows of a data set from the Hugging Face hub into the cache that its Python tools
share, for --task hf/ORG/NAME. A revision may follow behind @, and ?config= and ?split= choose
a part. These need no more than their name, which means the commit beside it:

`
	for _, m := range dataset.Mappings() {
		long += fmt.Sprintf("  hf/%-24s %.8s  %s: config %s, split %s\n", m.Repo, m.Commit, m.Name, m.Config, m.Split)
	}
	return &cobra.Command{
		Use: "pull hf/ORG/NAME", Short: "fetch a data set from the Hugging Face hub", Args: cobra.ExactArgs(1),
		Long: long + `
A run makes no request to the hub. HF_TOKEN is the token for gated and private data sets,
HF_HOME the folder of the cache, HF_ENDPOINT another hub.`,
		Example: "  noema task pull hf/openai/gsm8k\n  noema task pull 'hf/openai/gsm8k@main?config=socratic&split=train'",
		RunE:    func(cmd *cobra.Command, args []string) error { return a.pullTask(cmd.Context(), args[0]) },
	}
}

func (a *app) pullTask(ctx context.Context, name string) error {
	library, err := builtin.Datasets()
	if err != nil {
		return err
	}
	progress := newFetching(a.stderr)
	library.Hub.Progress = progress.show
	w := tabwriter.NewWriter(a.text(), 0, 0, 2, ' ', 0)
	_, err = builtin.Pull(ctx, library, name, func(d dataset.Dataset) {
		size := int64(0)
		for _, f := range d.Files {
			size += f.Size
		}
		license := cmp.Or(d.License, "not declared: see "+library.Hub.Endpoint+"/datasets/"+d.Repo)
		fmt.Fprintf(w, "data set\t%s\ncommit\t%s\nlicence\t%s\nconfig\t%s\nsplit\t%s\nfiles\t%d, %s\n", d.Repo, d.Commit, license, d.Config, d.Split, len(d.Files), report.Size(size))
		_ = w.Flush() // an output that is lost is an error of the command
	})
	progress.end()
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "use\t--task %s\n", files.Word(name))
	return w.Flush()
}
