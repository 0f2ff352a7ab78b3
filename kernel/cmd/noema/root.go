package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"noema/cache"
)

// app is what the verbs share.
type app struct {
	stdout, stderr io.Writer
	home           string // $NOEMA_HOME
	pluginPath     string // list of folders, besides home/plugins
	debug          int
}

func newRoot(stdout, stderr io.Writer) *cobra.Command {
	a := &app{stdout: stdout, stderr: stderr}
	root := &cobra.Command{
		Use:   "noema",
		Short: "compare LLM reasoning methods side by side, and replay experiments exactly",
		Long: `noema runs reasoning methods as plugins over a task, keeps every model call in a
store, and compares the methods with intervals. A second run costs nothing and
proves with one root hash that it is the same.

Every flag can be set by an environment variable, such as NOEMA_MAX_SAMPLES for
--max-samples, or in a file noema.yaml here or in a folder above. Keys such as
OPENAI_API_KEY are read from the environment or from a file .env likewise.

Exit codes: 0 fine, 1 error, 2 wrong usage, 3 finished with failed trials,
4 replay diverged.`,
		Example: `  noema compare --task cafes --methods direct,cot,anot
  noema compare --task cafes --methods direct,anot --model openai/gpt-5-nano --limit 20
  noema replay last
  noema runs show last`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetOut(stdout)
	root.SetErr(stderr)
	flags := root.PersistentFlags()
	flags.StringVar(&a.home, "home", "", "folder of the store and of plugins (default: noema in the user's data folder)")
	flags.StringVar(&a.pluginPath, "plugins", "", "folders to search for plugins, separated as in PATH")
	flags.IntVar(&a.debug, "debug", 0, "print the methods' events: 0 none, 1 summary, 2 verbose, 3 full")
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error { return a.settle(cmd) }
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usage(fmt.Errorf("%w: see \"%s --help\"", err, cmd.CommandPath()))
	})
	root.AddCommand(
		compareCommand(a), runCommand(a), replayCommand(a), runsCommand(a), cacheCommand(a),
		taskCommand(a), pluginCommand(a), modelCommand(a), seedCommand(a), planCommand(a), doctorCommand(a),
	)
	usageArgs(root)
	return root
}

// usageArgs makes wrong arguments of c and of its verbs wrong usage.
func usageArgs(c *cobra.Command) {
	check := c.Args
	if check == nil {
		check = cobra.NoArgs
	}
	c.Args = func(cmd *cobra.Command, args []string) error {
		if cmd.HasSubCommands() && len(args) > 0 {
			return usage(fmt.Errorf("unknown command %q: see \"%s --help\"", args[0], cmd.CommandPath()))
		}
		if err := check(cmd, args); err != nil {
			return usage(fmt.Errorf("%w: see \"%s --help\"", err, cmd.CommandPath()))
		}
		return nil
	}
	for _, sub := range c.Commands() {
		usageArgs(sub)
	}
}

// settle fills flags from the environment and noema.yaml, and finds the home.
func (a *app) settle(cmd *cobra.Command) error {
	if err := loadEnvFile(); err != nil {
		return err
	}
	if err := settleFlags(cmd); err != nil {
		return usage(err)
	}
	if a.debug < 0 || a.debug > 3 {
		return usage(fmt.Errorf("--debug %d: use 0 to 3", a.debug))
	}
	if a.home == "" {
		data := os.Getenv("XDG_DATA_HOME")
		if data == "" {
			user, err := os.UserHomeDir()
			if err != nil {
				return fmt.Errorf("find the user's data folder: %w: set NOEMA_HOME", err)
			}
			data = filepath.Join(user, ".local", "share")
		}
		a.home = filepath.Join(data, "noema")
	}
	home, err := filepath.Abs(a.home)
	a.home = home
	return err
}

// openStore opens the store, creating it if needed.
func (a *app) openStore(ctx context.Context) (*cache.Store, error) {
	return cache.Open(ctx, filepath.Join(a.home, "store"), cache.Options{})
}

// pluginDirs lists where plugins are looked for, first found first.
func (a *app) pluginDirs() []string {
	return append(filepath.SplitList(a.pluginPath), filepath.Join(a.home, "plugins"))
}
