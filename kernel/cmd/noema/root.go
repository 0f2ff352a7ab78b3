package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"noema/kernel"
	"noema/kernel/builtin"
	"noema/kernel/redact"
	"noema/kernel/report"
	"noema/methods"
)

// app is what the verbs share.
type app struct {
	stdout, stderr io.Writer
	stdin          *lineReader
	home           string // $NOEMA_HOME
	pluginPath     string // list of folders, besides home/plugins
	debug          int
	lab            *kernel.Lab       // where the verb works, once the flags are settled
	redactor       *redact.Redactor  // of the user's keys; nil without any
	source         map[string]string // of the value of each flag that was given; see settleFlags
}

// text is where a verb prints what is partly others' word: a plugin's, a model's
// or a data set's, which must not steer the terminal.
func (a *app) text() io.Writer { return report.Guarded(a.clean()) }

// clean is where a verb prints what the store may have kept before keys were
// taken out of all that is recorded.
func (a *app) clean() io.Writer { return a.redactor.Writer(a.stdout) }

// close ends what the verb opened.
func (a *app) close() {
	if a.lab == nil {
		return
	}
	if err := a.lab.Close(); err != nil {
		fmt.Fprintln(a.stderr, "noema: close:", err)
	}
}

func newRoot(a *app) *cobra.Command {
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
		Version:       versionLine(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetVersionTemplate("{{.Version}}\n")
	flags := root.PersistentFlags()
	flags.StringVar(&a.home, "home", "", "folder of the store and of plugins (default: noema in the user's data folder)")
	flags.StringVar(&a.pluginPath, "plugins", "", "folders to search for plugins, separated as in PATH")
	flags.IntVar(&a.debug, "debug", 0, "print the methods' events: 0 none, 1 summary, 2 verbose, 3 full")
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error { return a.settle(cmd) }
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usage(fmt.Errorf("%w%s: see \"%s --help\"", err, similarFlag(cmd, err), cmd.CommandPath()))
	})
	root.AddCommand(
		compareCommand(a), runCommand(a), replayCommand(a), diffCommand(a), forkCommand(a), checkCommand(a), ablateCommand(a), runsCommand(a), cacheCommand(a),
		viewCommand(a), replCommand(a), jupyterCommand(a), taskCommand(a), pluginCommand(a), modelCommand(a), seedCommand(a), planCommand(a), schemaCommand(a), doctorCommand(a), versionCommand(a),
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
			return usage(fmt.Errorf("unknown command %q%s: see \"%s --help\"", args[0], methods.DidYouMean(args[0], commandNames(cmd)), cmd.CommandPath()))
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

func commandNames(cmd *cobra.Command) (names []string) {
	for _, sub := range cmd.Commands() {
		names = append(names, sub.Name())
	}
	return names
}

// similarFlag suggests a flag in place of one that does not exist.
func similarFlag(cmd *cobra.Command, err error) string {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return ""
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	return methods.DidYouMean("--"+unknown.GetSpecifiedName(), names)
}

// settle fills flags from the environment and noema.yaml, and finds the home.
func (a *app) settle(cmd *cobra.Command) error {
	if err := builtin.LoadEnvFile(); err != nil {
		return err
	}
	var err error
	if a.source, err = settleFlags(cmd); err != nil {
		return usage(err)
	}
	if a.debug < 0 || a.debug > 3 {
		return usage(fmt.Errorf("--debug %d: use 0 to 3", a.debug))
	}
	home, err := builtin.Home(a.home)
	if err != nil {
		return err
	}
	a.home = home
	a.redactor = builtin.Redactor()
	ctx := cmd.Context()
	a.lab = kernel.Open(kernel.Options{
		Home: home, PluginDirs: builtin.PluginDirs(a.pluginPath, home), Catalog: builtin.Catalog{},
		Context: func() context.Context { return ctx }, Stderr: a.stderr, Debug: a.debug, Redactor: a.redactor,
	})
	return nil
}
