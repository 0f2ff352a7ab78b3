package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"noema/kernel/session/builtin"
	"noema/kernel/session/cell"
	"noema/kernel/session/repl"
)

func replCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "repl", Short: "run experiments interactively, cell by cell",
		Long: `Reads cells of Go and runs them: at a terminal with history, completion and
colour, in a pipe as they come. The workbench is the variable lab; the names of
packages fmt and noema/kernel/lab are there. In a pipe the exit code is 1 if a cell
failed.`,
		Example: `  noema repl
  noema --home experiment repl`,
	}
	memory, engine := addMemory(cmd.Flags()), addEngine(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return a.repl(cmd.Context(), *memory, *engine) }
	return cmd
}

// sessionJournal is the variable by which the process of a session at a terminal
// knows its journal, and that it is supervised.
const sessionJournal = "NOEMA_SESSION_JOURNAL"

// repl runs a session: at a terminal in a process of its own, since there is
// nobody else to start it again.
func (a *app) repl(ctx context.Context, memory byteSize, engine engineName) error {
	a.signals.leaveInterrupts() // Ctrl-C ends a cell, not the session
	terminal := term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd()))
	file := os.Getenv(sessionJournal)
	if !terminal || file != "" {
		return a.session(ctx, memory, engine, terminal, file)
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find own executable: %w", err)
	}
	name := fmt.Sprintf("terminal-%d.jsonl", os.Getpid())
	file = filepath.Join(a.journals(), name)
	exit, err := repl.Supervise(ctx, file, func() *exec.Cmd {
		cmd := exec.CommandContext(ctx, self, os.Args[1:]...)
		cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
		// The runtime's dump of all goroutines would be longer than the terminal.
		cmd.Env = append(append([]string{"GOTRACEBACK=none"}, os.Environ()...), sessionJournal+"="+file)
		return cmd
	})
	return ended(exit, err)
}

// journals is the folder of what sessions keep in case that they die.
func (a *app) journals() string { return filepath.Join(a.home, "sessions") }

// ended is what a session's exit code comes to.
func ended(exit int, err error) error {
	if err == nil && exit != 0 {
		return &codedError{code: exit}
	}
	return err
}

// session runs a session in this process, with a journal if it is supervised.
func (a *app) session(ctx context.Context, memory byteSize, engine engineName, terminal bool, journal string) error {
	tuneSession(memory)
	if journal != "" {
		debug.SetTraceback("none")                                     // no lower than what Supervise's child was given
		for _, name := range []string{sessionJournal, "GOTRACEBACK"} { // not for what cells start
			_ = os.Unsetenv(name)
		}
	}
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
		In: os.Stdin, Out: a.stdout, Err: a.stderr, History: filepath.Join(a.home, "repl-history.jsonl"), Terminal: terminal,
		Greeting: fmt.Sprintf("noema %s: cells of Go, and the workbench as lab. :help lists the commands, Ctrl-D leaves.", version()),
	}
	o.Color = terminal && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	for _, c := range [][2]string{{"methods", "lists the methods"}, {"tasks", "lists the tasks"}, {"runs", "lists the runs of the store"}} {
		o.Commands = append(o.Commands, repl.Command{Name: c[0], Help: c[1], Run: listings(lab)[c[0]]})
	}
	ctx = context.WithoutCancel(ctx)
	if journal != "" {
		if o.Journal, err = cell.OpenJournal(filepath.Split(journal)); err != nil {
			return err
		}
		var stop context.CancelFunc
		ctx, stop = repl.Supervised(ctx)
		defer stop()
	}
	exit, err := repl.Run(ctx, session, o)
	o.Journal.Clear() // for this is an end by intent
	return ended(exit, err)
}
