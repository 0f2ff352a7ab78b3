package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/spf13/cobra"

	"noema/kernel/base/display"
	"noema/kernel/lab"
	"noema/kernel/session/builtin"
	"noema/kernel/session/cell"
	"noema/kernel/session/jupyter"
)

func jupyterCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{Use: "jupyter", Short: "install or run the Jupyter kernel", RunE: helpOnly}
	var place jupyter.Place
	var user bool
	where := func(c *cobra.Command) *cobra.Command {
		c.Flags().BoolVar(&user, "user", false, "in the user's own folder (the default)")
		c.Flags().StringVar(&place.Prefix, "prefix", "", "below this folder, such as a Python environment's")
		c.MarkFlagsMutuallyExclusive("user", "prefix")
		return c
	}
	var connection string
	run := &cobra.Command{
		Use: "run -f FILE", Short: "serve a notebook; Jupyter starts this",
		Example: "  noema jupyter run -f connection.json",
	}
	memory, engine := addMemory(run.Flags()), addEngine(run.Flags())
	run.RunE = func(cmd *cobra.Command, _ []string) error {
		return a.jupyterRun(cmd.Context(), connection, *memory, *engine)
	}
	run.Flags().StringVarP(&connection, "connection-file", "f", "", "the connection file that Jupyter wrote")
	_ = run.MarkFlagRequired("connection-file") // the flag is the one above
	install := where(&cobra.Command{
		Use: "install", Short: "install the kernel into Jupyter",
		Example: "  noema jupyter install --user\n  noema jupyter install --prefix \"$VIRTUAL_ENV\" --memory 8GiB",
	})
	installed, runs := addMemory(install.Flags()), addEngine(install.Flags())
	install.RunE = func(*cobra.Command, []string) error { return a.jupyterInstall(place, *installed, *runs) }
	cmd.AddCommand(
		install,
		run,
		where(&cobra.Command{
			Use: "uninstall", Short: "remove the kernel from Jupyter",
			Example: "  noema jupyter uninstall",
			RunE: func(*cobra.Command, []string) error {
				dir, err := jupyter.Uninstall(place)
				if err != nil {
					return err
				}
				fmt.Fprintln(a.stdout, "removed", dir)
				return nil
			},
		}),
	)
	return cmd
}

// jupyterInstall installs the running binary, with the home that is in force.
func (a *app) jupyterInstall(place jupyter.Place, memory byteSize, engine engineName) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find own executable: %w", err)
	}
	args := []string{"jupyter", "run"}
	if a.home != "" {
		args = []string{"--home", a.home, "jupyter", "run"}
	}
	if memory != sessionMemory {
		args = append(args, "--memory", memory.String())
	}
	if string(engine) != cell.Engines()[0] {
		args = append(args, "--engine", string(engine))
	}
	args = append(args, "-f")
	dir, err := jupyter.Install(place, self, args...)
	if err != nil {
		return err
	}
	fmt.Fprintln(a.stdout, "installed", dir)
	return nil
}

func (a *app) jupyterRun(ctx context.Context, file string, memory byteSize, engine engineName) error {
	tuneSession(memory)
	c, err := jupyter.ReadConnection(file)
	if err != nil {
		return usage(err)
	}
	o := a.sessionOptions()
	o.Capture, o.Memory, o.Engine = true, int64(memory), string(engine)
	session, l, err := builtin.NewSession(o)
	if err != nil {
		return err
	}
	defer l.Close()
	defer session.Close()
	_, terminal := session.Terminal()
	if err := os.MkdirAll(a.home, 0o700); err != nil {
		return err
	}
	// Jupyter starts the kernel again with the connection file and key of the one
	// that died.
	name := fmt.Sprintf("notebook-%x.jsonl", sha256.Sum256([]byte(file+"\x00"+c.Key)))
	journal, err := cell.OpenJournal(a.journals(), name)
	if err != nil {
		return err
	}
	debug.SetTraceback("single") // no registers and runtime frames in the server's log
	// Ctrl-C and its signal end a cell, not the kernel, which handles both.
	a.signals.leaveInterrupts()
	err = jupyter.Run(context.WithoutCancel(ctx), c, session, jupyter.Options{
		History: filepath.Join(a.home, "notebook-history.jsonl"), Version: version(), Log: terminal,
		Commands: listings(l), Journal: journal,
	})
	journal.Clear() // for this is an end by intent
	return err
}

// listings are the commands that list what a Lab has.
func listings(l *lab.Lab) map[string]func(context.Context, string, cell.Output) error {
	listed := func(list func() (display.Displayer, error)) func(context.Context, string, cell.Output) error {
		return func(_ context.Context, _ string, out cell.Output) error {
			d, err := list()
			if err != nil {
				return err
			}
			out.Show("", d.Display())
			return nil
		}
	}
	return map[string]func(context.Context, string, cell.Output) error{
		"methods": listed(func() (display.Displayer, error) { return methodsTable(l) }),
		"tasks":   listed(func() (display.Displayer, error) { return tasksTable(), nil }),
		"runs":    listed(func() (display.Displayer, error) { return l.Runs() }),
	}
}

// version is noema's, as the build has it.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "development"
}

func methodsTable(l *lab.Lab) (display.Table, error) {
	sources, err := l.Plugins()
	var t display.Table
	t.Add("method", "code")
	for _, s := range sources {
		where := "built in"
		if !s.Builtin {
			where = s.Path
		}
		t.Row(s.Name, where)
	}
	return t, err
}

func tasksTable() display.Table {
	var t display.Table
	t.Add("task", "what it is")
	for _, e := range (builtin.Catalog{}).Tasks() {
		t.Row(e.Name, e.Summary)
	}
	return t
}
