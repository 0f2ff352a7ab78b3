package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"noema/kernel/base/files"
	"noema/kernel/show/report"
)

func diffCommand(a *app) *cobra.Command {
	var only string
	var limit int
	var force, asJSON bool
	cmd := &cobra.Command{
		Use:   "diff A B",
		Short: "show where two runs differ: the first differing call of each trial",
		Long: `Pairs the trials of two runs by sample, epoch and method, and shows for each pair
that differs the first call that does, word by word, and how the score changed. Runs
of one method each are paired whatever the methods are called. RUN/METHOD is one method
of a run: two of them may be of the same.`,
		Example: `  noema diff 20261120-1405 last
  noema diff last/direct last/cot
  noema diff 20261120-1405 last --only flipped`,
		Args: cobra.ExactArgs(2), ValidArgsFunction: a.completeRuns,
		RunE: func(_ *cobra.Command, args []string) error {
			if only != "" && only != "flipped" {
				return usage(fmt.Errorf("--only %q: use flipped", only))
			}
			if limit < 0 {
				return usage(fmt.Errorf("--limit %d: use 0 or more", limit))
			}
			nameA, methodA, _ := strings.Cut(args[0], "/")
			nameB, methodB, _ := strings.Cut(args[1], "/")
			first, err := a.lab.LoadLight(nameA)
			if err != nil {
				return err
			}
			second, err := a.lab.LoadLight(nameB)
			if err != nil {
				return err
			}
			d, err := first.DiffMethods(methodA, second, methodB, force)
			if err != nil {
				return err
			}
			if asJSON {
				return report.JSON(a.stdout, d.Diff)
			}
			view := d.View()
			view.Flipped, view.Limit, view.Colour = only == "flipped", limit, colours(a.stdout)
			report.Diff(a.stdout, d.Diff, view)
			return nil
		},
	}
	cmd.Flags().StringVar(&only, "only", "", "flipped: only trials that scored differently")
	cmd.Flags().IntVar(&limit, "limit", 20, "trials to show; 0 shows all")
	cmd.Flags().BoolVar(&force, "force", false, "compare the samples that runs over different data share")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// colours reports whether w is a terminal whose user wants colours.
func colours(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && os.Getenv("NO_COLOR") == ""
}

func forkCommand(a *app) *cobra.Command {
	var at, file string
	var edit, asJSON bool
	cmd := &cobra.Command{
		Use:   "fork RUN",
		Short: "replace one recorded reply and run again only what depends on it",
		Long: `Replaces one reply of a model in a finished run and runs the rest of that trial again;
all other trials stay. The result is a run of
its own that names its parent. Calls before the replaced one come from the store; what
the method asks after it may be new. --at names the call as METHOD/SAMPLE/PATH; "noema
runs show RUN --trial METHOD/SAMPLE" lists the paths.`,
		Example: `  noema fork last --at anot/R07/P3/c2 --reply reply.txt
  noema fork last --at anot/R07/P3/c2 --edit`,
		Args: cobra.ExactArgs(1), ValidArgsFunction: a.completeRuns,
		RunE: func(_ *cobra.Command, args []string) error {
			if at == "" || edit == (file != "") {
				return usage(errors.New("fork needs --at METHOD/SAMPLE/PATH, and one of --reply FILE and --edit"))
			}
			run, err := a.lab.Load(args[0])
			if err != nil {
				return err
			}
			recorded, err := run.Recorded(at)
			if err != nil {
				return err
			}
			reply, err := a.otherReply(file, recorded)
			if err != nil {
				return err
			}
			forked, err := run.Fork(at, trimmed(reply, recorded))
			if err != nil {
				return err
			}
			if asJSON {
				return report.JSON(a.stdout, map[string]any{
					"run": forked.ID(), "parent": run.ID(), "at": forked.At, "root_hash": forked.Root(),
					"before": forked.Before.Trial, "after": forked.After.Trial,
				})
			}
			fmt.Fprint(a.stdout, string(forked.Display()["text/plain"]))
			return nil
		},
	}
	cmd.Flags().StringVar(&at, "at", "", "the call: METHOD/SAMPLE/PATH")
	cmd.Flags().StringVar(&file, "reply", "", "file with the new reply; - reads standard input")
	cmd.Flags().BoolVar(&edit, "edit", false, "edit the recorded reply in $EDITOR")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// otherReply reads the reply from a file, or has the recorded one edited.
func (a *app) otherReply(file, recorded string) (string, error) {
	if file == "-" {
		raw, err := files.ReadAll(os.Stdin, "standard input", files.MaxText)
		return string(raw), err
	}
	if file != "" {
		raw, err := files.Read(file, files.MaxText)
		if err != nil {
			return "", usage(fmt.Errorf("read the reply: %w", err))
		}
		return string(raw), nil
	}
	return a.edit(recorded)
}

// trimmed is a text without the line end that editors and echo put behind the
// last line, if the recorded reply has none.
func trimmed(text, recorded string) string {
	if strings.HasSuffix(recorded, "\n") {
		return text
	}
	return strings.TrimSuffix(text, "\n")
}

// edit has a text edited by a person.
func (a *app) edit(text string) (string, error) {
	editor := strings.Fields(os.Getenv("EDITOR"))
	if len(editor) == 0 {
		editor = []string{"vi"}
	}
	f, err := os.CreateTemp("", "noema-reply-*.txt")
	if err != nil {
		return "", err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	cmd := exec.Command(editor[0], append(editor[1:], f.Name())...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("edit the reply with %s: %w: set EDITOR", editor[0], err)
	}
	raw, err := files.Read(f.Name(), files.MaxText)
	return string(raw), err
}
