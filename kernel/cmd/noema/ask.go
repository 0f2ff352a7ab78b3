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
	"noema/kernel/show/report"
)

// question is what the flags of ask declare.
type question struct {
	comparison
	lab.About
}

func askCommand(a *app) *cobra.Command {
	var q question
	cmd := &cobra.Command{
		Use:   "ask QUESTION...",
		Short: "ask methods a question without a known answer, and see their answers side by side",
		Long: `Asks one question of one or several methods and prints their answers side by side,
with what each rests on and what it took. --corpus gives methods tools that search a
folder; --task gives them the tools of a task, such as arithmetic, or of a logs.yaml.
Methods without tools answer from what the model knows. A question of - is read from
standard input.

Nothing is scored. It is a run like any other: runs show, replay, diff and view know it,
and asked again it makes no call.`,
		Example: `  noema ask --methods research-tree,direct --corpus ./notes "Who wrote the first plan?"
  noema ask --methods engine-planner --task my-logs/logs.yaml "Show me logs for MAWED07T01"
  noema ask --methods aot,direct --task arithmetic --answer number "What is 17 * 23 - 4?"
  noema ask --answer choice:yes,no --model openai/gpt-5-nano - < question.txt`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.ask(cmd.Context(), &q, args) },
	}
	bind(cmd, &q, []string{"what", "how", "ask", "json"}, "attack", "scorer", "limit", "sample-id", "question", "scale", "until", "looks", "test", "effort")
	cmd.Flags().Lookup("methods").DefValue = lab.AskMethods
	cmd.Flags().Lookup("methods").Usage = "methods to ask, as in direct,aot?retries=0"
	cmd.Flags().Lookup("task").DefValue = ""
	cmd.Flags().Lookup("task").Usage = "task whose tools methods get: arithmetic, logs, a folder with a logs.yaml"
	completeCompare(a, cmd)
	return cmd
}

// ask puts the question and prints the answers.
func (a *app) ask(ctx context.Context, q *question, args []string) error {
	exp, err := q.experiment()
	if err != nil {
		return usage(err)
	}
	text := strings.Join(args, " ")
	if text == "-" {
		if text, err = a.readQuestion(ctx); err != nil {
			return err
		}
	}
	if q.Corpus != "" && a.source["corpus"] == fromCommandLine && a.source["task"] != fromCommandLine {
		exp.Task = "" // a setting for other verbs
	}
	return a.answerTo(ctx, q, lab.Asking{Experiment: exp, Query: text, About: q.About})
}

// answerTo asks, and prints the answers.
func (a *app) answerTo(ctx context.Context, q *question, asking lab.Asking) error {
	result, err := a.lab.Ask(asking)
	if result == nil {
		return err
	}
	if len(result.Trials) > 0 {
		err = errors.Join(err, a.printAnswers(result, q.JSON))
	}
	if err != nil {
		if ctx.Err() != nil {
			err = errors.New("interrupted: ask again to go on")
		}
		return err
	}
	return failedTrials(result.Result)
}

// readQuestion reads standard input, as far as a question may go and a byte more.
func (a *app) readQuestion(ctx context.Context) (string, error) {
	type read struct {
		raw []byte
		err error
	}
	done := make(chan read, 1)
	go func() { // a read of a terminal cannot be ended
		raw, err := io.ReadAll(io.LimitReader(a.stdin.from, lab.MaxQuestion+1))
		done <- read{raw, err}
	}()
	select {
	case r := <-done:
		if r.err != nil {
			return "", fmt.Errorf("read the question: %w", r.err)
		}
		return strings.TrimRight(string(r.raw), "\r\n"), nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func (a *app) printAnswers(r *lab.Result, asJSON bool) error {
	if asJSON {
		return a.printCompared(r, &pairing{JSON: true})
	}
	summary, err := r.Summary()
	if err != nil {
		return err
	}
	return a.print(report.AskSheet(summary, screenWidth()), false)
}

// screenWidth is that of the terminal, where standard output is one.
func screenWidth() int {
	if w, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil && w >= 20 {
		return w
	}
	return report.DefaultWidth
}

// shownWidth is that of tables: the terminal's, or below 0, for any, where there is none.
func shownWidth() int {
	if !term.IsTerminal(int(os.Stdout.Fd())) {
		return -1
	}
	return screenWidth()
}
