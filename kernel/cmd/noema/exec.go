package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"noema/kernel/base/files"
	"noema/kernel/lab"
	"noema/plugins"
)

func execCommand(a *app) *cobra.Command {
	var q question
	var promote, clock string
	cmd := &cobra.Command{
		Use:   "exec [flags] -- COMMAND...",
		Short: "run a program that calls a model, as it is: record it, and replay it exactly",
		Long: `Runs a program once, with its model behind an address of its own: clients of OpenAI and
Anthropic find it by the variables that they know, so the program stays as it is. Each
call is recorded. Run again, the program makes no call; "noema replay last" runs it from
the store, "noema view" shows its calls, and "noema fork" replaces one reply.

What comes on standard input is handed on, as the question. The program may open no other
connection and reads its own folder and the system's libraries. As a method in a
comparison it is written --methods 'exec:COMMAND'; --promote makes a folder of it, whose
plugin.yaml says more: how it gets the question and gives its answer, variables, noise, a
clock.`,
		Example: `  noema exec --model openai/gpt-5-nano -- python my_script.py
  noema exec --model ollama/llama3.2 -- node agent.mjs < question.txt
  noema exec --promote my-agent -- python my_script.py`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.exec(cmd.Context(), &q, promote, clock, args) },
	}
	bind(cmd, &q, []string{"what", "how", "ask", "json"}, "attack", "scorer", "limit", "sample-id", "question", "scale", "until", "looks", "test", "methods", "effort")
	cmd.Flags().StringVar(&promote, "promote", "", "make a plugin of this name in a folder of the same name, and run nothing")
	cmd.Flags().StringVar(&clock, "clock", "", "moment at which the clock of Python and Node begins, as in 2026-01-01T00:00:00Z")
	cmd.Flags().Lookup("task").DefValue = ""
	cmd.Flags().Lookup("task").Usage = "task whose tools the program gets, at $NOEMA_TOOLS and by MCP at $NOEMA_MCP"
	return cmd
}

// exec runs a program, or makes a plugin of it.
func (a *app) exec(ctx context.Context, q *question, promote, clock string, args []string) error {
	var quoted []string
	if clock != "" {
		quoted = append(quoted, plugins.ClockVariable+"="+files.Word(clock))
	}
	for _, word := range args {
		quoted = append(quoted, files.Word(word))
	}
	line := strings.Join(quoted, " ")
	if promote != "" {
		return a.promoteProgram(line, promote)
	}
	q.Methods = []string{plugins.ExecPrefix + line}
	exp, err := q.experiment()
	if err != nil {
		return usage(err)
	}
	text := "(no question)"
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		if text, err = a.readQuestion(ctx); err != nil {
			return err
		}
		if text == "" {
			text = "(no question)"
		}
	}
	return a.answerTo(ctx, q, lab.Asking{Experiment: exp, Query: text, About: q.About})
}

// promoteProgram copies a program's folder with its manifest.
func (a *app) promoteProgram(line, name string) error {
	if _, err := os.Stat(name); err == nil {
		return usage(fmt.Errorf("promote the program: %q is there already: choose another name", name))
	}
	if err := plugins.Promote(line, name); err != nil {
		return usage(err)
	}
	if !strings.ContainsRune(name, os.PathSeparator) {
		name = "." + string(os.PathSeparator) + name
	}
	_, err := fmt.Fprintf(a.stdout, "made %s; its %s says how it gets the question and gives its answer\ncompare it: noema compare --task arithmetic --methods direct,%s --limit 20\n",
		name, plugins.ManifestName, files.Word(name))
	return err
}
