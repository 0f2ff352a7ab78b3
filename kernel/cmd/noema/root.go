package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"noema/kernel/base/redact"
	"noema/kernel/lab"
	"noema/kernel/run/cluster"
	"noema/kernel/session/builtin"
	"noema/kernel/show/report"
	"noema/methods"
)

// app is what the verbs share.
type app struct {
	stdout, stderr io.Writer
	printed        func() bool // whether anything was printed on stdout
	stdin          *lineReader
	signals        *signals
	queue          cluster.StartServer // nil where there is none
	home           string              // $NOEMA_HOME
	pluginPath     string              // list of folders, besides home/plugins
	pluginMemory   byteSize
	debug          int
	progress       string
	findings       []findingJSON     // of doctor with --json; else nil
	lab            *lab.Lab          // where the verb works, once the flags are settled
	redactor       *redact.Redactor  // of the user's keys; nil without any
	source         map[string]string // of the value of each flag that was given; see settleFlags
}

// The variables by which a program that starts the command, such as a notebook, stays with it.
const (
	parentVariable    = "NOEMA_PARENT"    // its process id: the command ends when it is gone
	functionsVariable = "NOEMA_FUNCTIONS" // the Unix socket at which it offers functions as methods
)

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
--max-samples, or in a file noema.yaml of yours here or in a folder above, up to
the repository's or your home. Keys such as OPENAI_API_KEY and addresses such as
OPENAI_BASE_URL are read from the environment, or from a file .env likewise.

Exit codes: 0 fine, 1 error, 2 wrong usage, 3 finished with failed trials,
4 replay diverged. Output that could not be written is an error too. A crash, as
when memory is out, ends by a signal, which shells show as 134.`,
		Example: `  noema compare --task cafes --methods direct,cot,anot
  noema compare --task cafes --methods direct,anot --model openai/gpt-5-nano --limit 20
  noema replay last
  noema runs show last`,
		Version:       versionLine(),
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetVersionTemplate("{{.Version}}\n")
	flags := root.PersistentFlags()
	flags.StringVar(&a.home, "home", "", "folder of the store and of plugins (default: noema in the user's data folder)")
	flags.StringVar(&a.pluginPath, "plugins", "", "folders to search for plugins, separated as in PATH")
	flags.Var(&a.pluginMemory, "plugin-memory", "memory of all plugin processes together, as in 4GiB; 0 means no limit (default: half of the machine's)")
	flags.IntVar(&a.debug, "debug", 0, "print the methods' events: 0 none, 1 summary, 2 verbose, 3 full")
	flags.StringVar(&a.progress, "progress", "text", "how a run tells on standard error how it gets on: text, or json for a JSON object a line")
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error { return a.settle(cmd) }
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usage(fmt.Errorf("%w%s: see \"%s --help\"", err, similarFlag(cmd, err), cmd.CommandPath()))
	})
	for _, g := range []struct {
		title string
		verbs []*cobra.Command
	}{
		{"Compare", []*cobra.Command{compareCommand(a), askCommand(a), execCommand(a), runCommand(a), replayCommand(a), ablateCommand(a), creditCommand(a), forkCommand(a), scoreCommand(a)}},
		{"Look", []*cobra.Command{runsCommand(a), diffCommand(a), viewCommand(a), labelCommand(a)}},
		{"Share", []*cobra.Command{packCommand(a), citeCommand(a)}},
		{"Write", []*cobra.Command{pluginCommand(a), taskCommand(a), modelCommand(a), planCommand(a), replCommand(a), jupyterCommand(a)}},
		{"Maintain", []*cobra.Command{cacheCommand(a), doctorCommand(a), workerCommand(a), buildCommand(a), schemaCommand(a), versionCommand(a)}},
	} {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title + ":"})
		for _, verb := range g.verbs {
			verb.GroupID = g.title
			root.AddCommand(verb)
		}
	}
	root.AddCommand(readCommand(a))
	root.SetHelpCommandGroupID("Maintain")
	root.SetCompletionCommandGroupID("Maintain")
	usageArgs(root)
	knownTopics(root)
	return root
}

// usageArgs makes wrong arguments of c and of its verbs wrong usage.
func usageArgs(c *cobra.Command) {
	check := c.Args
	onlyVerbs := check == nil && c.HasSubCommands()
	if check == nil {
		check = cobra.NoArgs
	}
	c.Args = func(cmd *cobra.Command, args []string) error {
		if onlyVerbs && len(args) > 0 {
			return usage(fmt.Errorf("unknown command %q%s: see \"%s --help\"", args[0], meant(cmd, args[0]), cmd.CommandPath()))
		}
		if err := check(cmd, args); err != nil {
			return usage(fmt.Errorf("%s: see \"%s --help\"", wrongArgs(cmd, args), cmd.CommandPath()))
		}
		return nil
	}
	for _, sub := range c.Commands() {
		usageArgs(sub)
	}
}

// wrongArgs says which argument is missing or too many, from the verb's usage.
func wrongArgs(cmd *cobra.Command, args []string) string {
	verb := strings.TrimPrefix(cmd.CommandPath(), "noema ")
	words, _, _ := strings.Cut(strings.TrimPrefix(cmd.Use, cmd.Name()), " --")
	var names []string
	for _, name := range strings.Fields(words) {
		if strings.HasPrefix(name, "-") || name == "|" {
			break // flags, and a second form
		}
		if !strings.HasPrefix(name, "[") {
			names = append(names, strings.TrimSuffix(name, "..."))
		}
	}
	if len(args) < len(names) {
		missing := names[len(args):]
		return fmt.Sprintf("%s needs %s%s", verb, strings.Join(missing, " and "), meaning(missing[0]))
	}
	return fmt.Sprintf("%s takes %s: leave out %q", verb, cmp.Or(strings.Join(names, " and "), "no argument"), args[len(names)])
}

// meaning explains the name of an argument.
func meaning(name string) string {
	switch name {
	case "RUN", "A", "B":
		return ": an id, the beginning of one, or last"
	case "METHOD":
		return ": noema plugin list shows all"
	case "TASK":
		return ": noema task list shows all"
	}
	return ""
}

// knownTopics makes "help" of an unknown verb wrong usage.
func knownTopics(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	help, _, err := root.Find([]string{"help"})
	if err != nil {
		return
	}
	help.Example = "  noema help compare"
	help.Args = func(_ *cobra.Command, args []string) error {
		if found, rest, err := root.Find(args); err != nil || found.HasSubCommands() && len(rest) > 0 {
			return usage(fmt.Errorf("unknown command %q%s: see \"noema --help\"", strings.Join(args, " "), meant(root, args[0])))
		}
		return nil
	}
}

// verbs are those that other tools have for what is another verb here.
var verbs = map[string]string{
	"list": "runs list", "ls": "runs list", "history": "runs list", "show": "runs show", "result": "runs show", "results": "runs show",
	"eval": "compare", "evaluate": "compare", "bench": "compare", "benchmark": "compare", "trials": "runs trials", "export": "runs export",
	"pull": "model pull", "models": "model list", "tasks": "task list", "methods": "plugin list", "plugins": "plugin list", "test": "plugin check",
	"check": "plugin replay", "prove": "pack prove", "verify": "pack verify", "seed": "plan",
	"install": "plugin build", "new": "plugin new", "serve": "view", "ui": "view", "notebook": "jupyter",
}

// moved is a command line with the new name of a verb that begins it with the name that it
// had, which is told.
func (a *app) moved(args []string) []string {
	if len(args) == 0 || !slices.Contains([]string{"check", "prove", "verify", "seed"}, args[0]) {
		return args
	}
	now := verbs[args[0]]
	fmt.Fprintf(a.stderr, "noema: \"noema %s\" is now \"noema %s\"\n", args[0], now)
	return append(strings.Fields(now), args[1:]...)
}

// meant suggests a verb in place of one that does not exist.
func meant(cmd *cobra.Command, word string) string {
	if verb, known := verbs[word]; known && !cmd.HasParent() {
		return fmt.Sprintf(": did you mean %q?", verb)
	}
	return methods.DidYouMean(word, commandNames(cmd))
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
	told, err := builtin.LoadEnvFile()
	if err != nil {
		return err
	}
	tell := func(line string) { fmt.Fprintln(a.stderr, "noema:", report.Plain(line)) }
	for _, line := range told {
		tell(line)
	}
	if a.source, err = settleFlags(cmd, tell); err != nil {
		return usage(err)
	}
	if err := errors.Join(cmd.ValidateRequiredFlags(), cmd.ValidateFlagGroups()); err != nil {
		return usage(fmt.Errorf("%w: see \"%s --help\"", err, cmd.CommandPath()))
	}
	if a.debug < 0 || a.debug > 3 {
		return usage(fmt.Errorf("--debug %d: use 0 to 3", a.debug))
	}
	if a.progress != "text" && a.progress != "json" {
		return usage(fmt.Errorf("--progress %q: use text or json", a.progress))
	}
	missing := func(dir string) bool { _, err := os.Stat(dir); return err != nil }
	if a.source["plugins"] == fromCommandLine && !slices.ContainsFunc(filepath.SplitList(a.pluginPath), func(dir string) bool { return !missing(dir) }) {
		return usage(fmt.Errorf("--plugins: there is no folder %s", a.pluginPath))
	}
	home, err := builtin.Home(a.home)
	if err != nil {
		return err
	}
	a.home = home
	a.redactor = builtin.Redactor()
	memory := int64(a.pluginMemory)
	if _, given := a.source["plugin-memory"]; given && memory == 0 {
		memory = -1
	}
	ctx := cmd.Context()
	a.lab = lab.Open(lab.Options{
		Home: home, PluginDirs: builtin.PluginDirs(a.pluginPath, home), Catalog: builtin.Catalog{Home: home},
		Context: func() context.Context { return ctx }, Stderr: a.stderr, Debug: a.debug, Redactor: a.redactor,
		Queue: a.queue, PluginMemory: memory, ProgressLines: a.progress == "json",
	})
	if address := os.Getenv(functionsVariable); address != "" {
		return a.lab.AddFunctions(address)
	}
	return nil
}
