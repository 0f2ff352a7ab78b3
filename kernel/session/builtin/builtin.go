// Package builtin is what noema comes with: the methods, tasks and providers
// that every main offers, be it the command or a script. It is the one package
// below the mains that names concrete ones.
package builtin

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strconv"
	"syscall"

	"noema/kernel/lab"
	"noema/methods"
	"noema/methods/anot"
	"noema/methods/aot"
	"noema/methods/baseline"
	"noema/methods/deliberate"
	"noema/methods/engineplanner"
	"noema/methods/generalanot"
	"noema/methods/plans"
	"noema/methods/researchtree"
	"noema/plugins"
	"noema/plugins/program"
)

// ServeVerb is the first argument with which a program that offers the built-in
// methods starts itself as the plugin of one; the second is the method's name.
const ServeVerb = "serve-method"

// Methods returns the built-in methods by name.
func Methods() map[string]methods.Method {
	all := baseline.All()
	maps.Copy(all, deliberate.All())
	all["anot"] = anot.New()
	all["aot"] = aot.New()
	all["engine-planner"] = engineplanner.New()
	all["general-anot"] = generalanot.New()
	all["research-tree"] = researchtree.New()
	return all
}

// Planners returns the built-in methods whose plans people can read and edit, by name.
func Planners() (all []plans.Reader) {
	built := Methods()
	for _, name := range slices.Sorted(maps.Keys(built)) {
		if m, ok := built[name].(plans.Reader); ok {
			all = append(all, m)
		}
	}
	return all
}

// Serve serves a method until its host ends it, if the program's arguments ask
// for that, and reports whether they did. A main calls it first.
func Serve(args []string) bool {
	if len(args) == 2 && args[0] == plugins.FileVerb {
		os.Exit(serveFile(args[1]))
	}
	if len(args) == 1 && args[0] == plugins.ProgramVerb {
		if err := program.Serve(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(args) != 2 || args[0] != ServeVerb {
		return false
	}
	m, ok := Methods()[args[1]]
	if ok {
		TuneMemory()
		plugins.Serve(m)
	}
	return ok
}

// TuneMemory trades memory for time, unless the user has said otherwise: what a run, or a
// method, keeps alive is small beside what passes through, and collecting less often takes
// a quarter off a warm run. The limit keeps large runs in bounds.
func TuneMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(2 << 30)
	}
}

// Catalog is the built-in tasks, models and methods.
type Catalog struct {
	Home string // folder of prices and imported models; empty means that of [Home]
}

var _ lab.Catalog = Catalog{}

// Methods implements [lab.Catalog].
func (Catalog) Methods() []string { return slices.Sorted(maps.Keys(Methods())) }

// ServeArgs implements [lab.Catalog].
func (Catalog) ServeArgs() []string { return []string{ServeVerb} }

// Open returns the Lab of a script: with all that is built in, the store and
// plugins of $NOEMA_HOME, and $NOEMA_PLUGINS; keys and servers are read from the
// environment and from .env, as the command does. Ctrl-C ends what runs. It
// must be the first call of main, because a script, too, starts itself to
// serve the built-in methods as plugins: there, Open serves and does not
// return. A home that cannot be found ends the program with a message.
func Open() *lab.Lab {
	if Serve(os.Args[1:]) {
		os.Exit(0)
	}
	l, err := open()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return l
}

func open() (*lab.Lab, error) {
	told, err := LoadEnvFile()
	if err != nil {
		return nil, err
	}
	for _, line := range told {
		fmt.Fprintln(os.Stderr, "noema:", line)
	}
	home, err := Home(os.Getenv("NOEMA_HOME"))
	if err != nil {
		return nil, err
	}
	debug := 0
	if text := os.Getenv("NOEMA_DEBUG"); text != "" {
		if debug, err = strconv.Atoi(text); err != nil || debug < 0 || debug > 3 {
			return nil, fmt.Errorf("NOEMA_DEBUG=%s: use 0 to 3", text)
		}
	}
	ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM) // ends with the program
	return lab.Open(lab.Options{
		Home: home, PluginDirs: PluginDirs(os.Getenv("NOEMA_PLUGINS"), home), Catalog: Catalog{}, Debug: debug, Redactor: Redactor(),
		Context: func() context.Context { return ctx },
	}), nil
}
