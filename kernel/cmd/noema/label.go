package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"noema/kernel/lab"
	"noema/kernel/result/record"
	"noema/kernel/view"
)

func labelCommand(a *app) *cobra.Command {
	var seed uint64
	var limit, port int
	var terminal bool
	var from string
	cmd := &cobra.Command{
		Use:   "label RUN",
		Short: "judge answers of a graded run yourself, to calibrate the models that graded it",
		Long: `Serves a page, as "noema view" does, with one question, its reference, the rubric and one
answer at a time, without the method and without the verdict of the graders, sample by
sample in a random order. Keys: y for right, n for wrong, s to skip, b to go back. Where
the input is not a terminal, or is one of another machine (SSH), or with --terminal, the
same is asked on the terminal; q quits. What is judged is kept at once; the same command
goes on where you stopped. Then "noema compare RUN" corrects the graders by your labels.
The labels are a file of JSON Lines, whose path is printed; "noema runs rm" keeps it.`,
		Example: `  noema label last
  noema label last --terminal
  noema label last --answers 30
  noema label last --import labels.jsonl`,
		Args: cobra.ExactArgs(1), ValidArgsFunction: a.completeRuns,
		RunE: func(cmd *cobra.Command, args []string) error {
			if limit < 0 {
				return usage(fmt.Errorf("--answers %d: use 1 or more", limit))
			}
			if err := checkPort(port); err != nil {
				return err
			}
			r, err := a.lab.Load(args[0])
			if err != nil {
				return err
			}
			l, err := r.Labelling(seed)
			if err != nil {
				return err
			}
			if from != "" {
				return a.importLabels(l, from)
			}
			if terminal || !cmd.Flags().Changed("port") && !besideABrowser() {
				return a.label(cmd.Context(), l, limit)
			}
			return a.labelPage(cmd.Context(), l, limit, port)
		},
	}
	cmd.Flags().Uint64Var(&seed, "seed", 0, "random seed of the order; keep it for a run")
	cmd.Flags().IntVar(&limit, "answers", 0, "stop after so many answers (default: ask for all)")
	cmd.Flags().BoolVar(&terminal, "terminal", false, "ask on the terminal, not on a page")
	cmd.Flags().IntVar(&port, "port", 0, "ask on a page, on this port (default: a free one)")
	cmd.MarkFlagsMutuallyExclusive("terminal", "port")
	cmd.Flags().StringVar(&from, "import", "", "take the labels of this file of JSON Lines: {\"sample\": ID, \"answer\": VALUE, \"label\": \"right\"}")
	return cmd
}

// besideABrowser reports whether who typed the command can open a page of this machine.
func besideABrowser() bool {
	return term.IsTerminal(int(os.Stdin.Fd())) && os.Getenv("SSH_CONNECTION") == ""
}

func (a *app) labelPage(ctx context.Context, l *lab.Labelling, limit, port int) error {
	page, err := view.Labels(l, limit)
	if err != nil {
		return err
	}
	if err := a.serve(ctx, page, port); err != nil {
		return err
	}
	a.sayLabels(l)
	return nil
}

// sayLabels says how far the labels are.
func (a *app) sayLabels(l *lab.Labelling) {
	fmt.Fprintf(a.stdout, "%d answers are labelled or skipped, %d are left: %s\n", l.Done, len(l.Items), l.File)
}

func (a *app) importLabels(l *lab.Labelling, file string) error {
	f, err := os.Open(file)
	if err != nil {
		return usage(err)
	}
	defer f.Close()
	all, known, err := l.Import(f)
	if err != nil {
		return err
	}
	if known == 0 {
		return fmt.Errorf("import labels: none of %d labels is about an answer of this run: sample and answer must be as in \"noema runs export\"", all)
	}
	fmt.Fprintf(a.stdout, "%d of %d labels are about answers of this run, and are now in %s\n", known, all, l.File)
	return nil
}

// label asks for verdicts until there is none left to ask for, or the user quits.
func (a *app) label(ctx context.Context, l *lab.Labelling, limit int) error {
	asked := 0
	for len(l.Items) > 0 && (limit == 0 || asked < limit) {
		a.showItem(l)
		verdict, err := a.verdict(ctx)
		if errors.Is(err, io.EOF) {
			fmt.Fprintln(a.stdout)
			break
		}
		if err != nil {
			return err
		}
		if verdict == "" {
			break
		}
		if verdict == back {
			if l.Back() {
				asked--
			}
			continue
		}
		if err := l.Judge(verdict); err != nil {
			return err
		}
		asked++
	}
	a.sayLabels(l)
	return nil
}

// back asks for the last answer again.
const back record.Judgement = "back"

// verdict reads a key; empty is quit.
func (a *app) verdict(ctx context.Context) (record.Judgement, error) {
	for {
		fmt.Fprint(a.stdout, "right? [y]es [n]o [s]kip [b]ack [q]uit: ")
		line, err := a.stdin.line(ctx)
		if err != nil {
			return "", err
		}
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "y", "yes":
			return record.JudgedRight, nil
		case "n", "no":
			return record.JudgedWrong, nil
		case "s", "skip":
			return record.Skipped, nil
		case "b", "back":
			return back, nil
		case "q", "quit":
			return "", nil
		}
	}
}

func (a *app) showItem(l *lab.Labelling) {
	item, w := l.Items[0], a.text()
	fmt.Fprintf(w, "\n%d of %d\n", l.Done+1, l.Done+len(l.Items))
	for _, part := range []struct{ name, text string }{
		{"question", item.Question}, {"context", item.Context}, {"reference", item.Reference}, {"rubric", item.Rubric}, {"answer", item.Given},
	} {
		if part.text != "" {
			fmt.Fprintf(w, "%-10s %s\n", part.name, strings.ReplaceAll(part.text, "\n", "\n"+strings.Repeat(" ", 11)))
		}
	}
}
