package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"noema/kernel/builtin"
	"noema/kernel/repl"
)

func replCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "repl", Short: "run experiments interactively, cell by cell",
		Long: `Reads cells of Go and runs them: at a terminal with history, completion and
colour, in a pipe as they come. The workbench is the variable lab; the names of
packages fmt and noema/kernel are there. In a pipe the exit code is 1 if a cell
failed.`,
		Example: `  noema repl
  noema --home experiment repl`,
	}
	memory, engine := addMemory(cmd.Flags()), addEngine(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return a.repl(cmd.Context(), *memory, *engine) }
	return cmd
}

func (a *app) repl(ctx context.Context, memory byteSize, engine engineName) error {
	tuneSession(memory)
	so := a.sessionOptions()
	so.Memory, so.Engine = int64(memory), string(engine)
	session, lab, err := builtin.NewSession(so)
	if err != nil {
		return err
	}
	defer session.Close()
	defer lab.Close()
	if err := os.MkdirAll(a.home, 0o700); err != nil {
		return err
	}
	o := repl.Options{
		In: os.Stdin, Out: a.stdout, Err: a.stderr, History: filepath.Join(a.home, "repl-history.jsonl"),
		Terminal: term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd())),
		Greeting: fmt.Sprintf("noema %s: cells of Go, and the workbench as lab. :help lists the commands, Ctrl-D leaves.", version()),
	}
	o.Color = o.Terminal && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	for _, c := range [][2]string{{"methods", "lists the methods"}, {"tasks", "lists the tasks"}, {"runs", "lists the runs of the store"}} {
		o.Commands = append(o.Commands, repl.Command{Name: c[0], Help: c[1], Run: listings(lab)[c[0]]})
	}
	// Ctrl-C ends a cell, not the session.
	a.signals.leaveInterrupts()
	exit, err := repl.Run(context.WithoutCancel(ctx), session, o)
	if err == nil && exit != 0 {
		return &codedError{code: exit}
	}
	return err
}
