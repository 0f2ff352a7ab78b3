package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"noema/cache"
	"noema/kernel/base/display"
	"noema/kernel/base/redact"
	"noema/kernel/model/provider"
	"noema/kernel/result/record"
	"noema/kernel/run/cluster"
	"noema/kernel/run/runner"
	"noema/kernel/show/report"
	"noema/plugins"
)

// Lab is a place to work in. Its methods may be called from several goroutines.
type Lab struct {
	o Options

	mu        sync.Mutex
	store     *cache.Store
	host      *plugins.Host
	tasks     map[string]*Task
	functions map[string]function
	crew      *cluster.Coordinator // nil until an experiment wants one
	shown     int                  // progress displays so far, for their ids

	pinning sync.Mutex // held while the code of a plugin is pinned
}

// Options says where a Lab works and what it has.
type Options struct {
	Home       string   // folder of the store and of plugins
	PluginDirs []string // where plugins are looked for, first found first
	Catalog    Catalog
	Redactor   *redact.Redactor // takes the user's keys out of what is recorded; may be nil
	// PluginMemory is the most bytes of memory of all plugin processes together; see
	// plugins.HostOptions.
	PluginMemory int64
	// Attach is called with the id of each process of a plugin before it serves, so
	// that a debugger can be attached. With it, the processes have no limits, and
	// each serves one trial at a time. Nil attaches no debugger.
	Attach func(plugin plugins.Source, pid int)

	// Queue starts the server that hands out trials to workers; nil where the program has
	// none, as Listen of an experiment then says.
	Queue cluster.StartServer

	// Rebuilt are digests of plugins whose code was compiled again from the same source:
	// in a replay, what is at the path of such a plugin stands for it.
	Rebuilt map[string]bool

	// Context is asked for at every operation, so that an interactive session
	// can interrupt what runs at the moment. Default: the background.
	Context func() context.Context
	// Screen is where Show and progress go. Default: Show prints text on
	// standard output, and progress goes to Stderr.
	Screen display.Screen
	Stdout io.Writer // where Show prints without a Screen; default os.Stdout
	Stderr io.Writer // default os.Stderr
	Debug  int       // prints the methods' events: 0 none, 1 summary, 2 verbose, 3 full
	// ProgressLines has progress go to Stderr as JSON, a line each; see report.ProgressLine.
	ProgressLines bool
}

// Open returns a Lab. Its store is opened when it is first needed.
func Open(o Options) *Lab {
	if o.Context == nil {
		o.Context = context.Background
	}
	if o.Stdout == nil {
		o.Stdout = os.Stdout
	}
	if o.Stderr == nil {
		o.Stderr = os.Stderr
	}
	return &Lab{o: o, tasks: map[string]*Task{}, functions: map[string]function{}}
}

// Close ends the plugins and closes the store.
func (l *Lab) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var err error
	if l.crew != nil {
		err = l.crew.Close()
		l.crew = nil
	}
	if l.host != nil {
		l.host.Close()
		l.host = nil
	}
	if l.store != nil {
		err = errors.Join(err, l.store.Close())
		l.store = nil
	}
	return err
}

// Store returns the store, opened.
func (l *Lab) Store() (*cache.Store, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.store != nil {
		return l.store, nil
	}
	store, err := cache.Open(l.o.Context(), filepath.Join(l.o.Home, "store"), cache.Options{})
	if err != nil {
		return nil, err
	}
	l.store = store
	return store, nil
}

// idlePlugins is how many plugin processes are kept ready between trials, over
// all methods.
const idlePlugins = 16

func (l *Lab) pluginHost() (*plugins.Host, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.host != nil {
		return l.host, nil
	}
	o := plugins.HostOptions{MaxIdle: idlePlugins, Memory: l.o.PluginMemory}
	if l.o.Attach != nil {
		o.Limits = plugins.Limits{Memory: -1, CPUTime: -1, Processes: -1, Files: -1, Output: -1}
		o.Memory, o.MaxProcesses, o.Started = -1, 1, l.o.Attach
	}
	host, err := plugins.NewHost(o)
	if err != nil {
		return nil, err
	}
	l.host = host
	return host, nil
}

// AttachDebugger sets Options.Attach, before a method is opened.
func (l *Lab) AttachDebugger(attach func(plugin plugins.Source, pid int)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.o.Attach, l.o.Debug = attach, max(1, l.o.Debug) // breakpoints are told by what is printed
}

// Task opens the task of a text such as "cafes?n=20", with more options beside.
// Any task takes the options embeddings, which names an embedding model such as
// "local/models/all-MiniLM-L6-v2", and search, "meaning" or "hybrid"; see
// task.WithEmbedder.
func (l *Lab) Task(text string, more map[string]string) (*Task, error) {
	s, err := ParseSpec(text)
	if err != nil {
		return nil, Misused(err)
	}
	l.mu.Lock()
	added, ok := l.tasks[s.Name]
	l.mu.Unlock()
	for name, value := range more {
		if was, twice := s.Options[name]; twice && was != value {
			return nil, Misused(fmt.Errorf("task %q: option %q is given twice, as %q and %q: leave one of them out", text, name, was, value))
		}
		s.Options[name] = value
	}
	return l.withExtras(s.Options, func() (*Task, error) {
		if !ok {
			return l.o.Catalog.Task(l.o.Context(), s)
		}
		if len(s.Options) > 0 {
			return nil, Misused(fmt.Errorf("task %q takes only the options embeddings, search and python", s.Name))
		}
		return added, nil
	})
}

// AddTask makes t a task of this Lab under its name, to be named in
// experiments. NewTask makes one.
func (l *Lab) AddTask(t *Task) error {
	if t == nil || t.Name == "" || strings.ContainsAny(t.Name, "?&=/") {
		return Misused(errors.New("add task: the name is missing or holds one of ?&=/"))
	}
	for _, entry := range l.o.Catalog.Tasks() {
		if entry.Name == t.Name {
			return Misused(fmt.Errorf("add task %q: a built-in task has this name", t.Name))
		}
	}
	if len(t.Samples) == 0 {
		return Misused(fmt.Errorf("add task %q: it has no samples", t.Name))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tasks[t.Name] = t
	return nil
}

// Model returns the provider of a model; see [Catalog].
func (l *Lab) Model(text string, recorded bool, maxConnections int) (provider.Provider, error) {
	s, err := ParseSpec(text)
	if err != nil {
		return nil, Misused(err)
	}
	return l.o.Catalog.Model(s, recorded, maxConnections)
}

// Catalog returns the catalog that the Lab was opened with.
func (l *Lab) Catalog() Catalog { return l.o.Catalog }

// Home is the folder of the store and of plugins.
func (l *Lab) Home() string { return l.o.Home }

// Show shows a value: a result, a trial, a table, a plot, or anything else.
// In a notebook it appears in the cell, elsewhere as text.
func (l *Lab) Show(v any) { l.Update("", v) }

// Update shows a value in the place of what was shown before with the same id,
// where the screen can do that.
func (l *Lab) Update(id string, v any) {
	b := display.Of(v)
	if l.o.Screen != nil {
		l.o.Screen.Show(id, b)
		return
	}
	fmt.Fprintln(l.o.Stdout, strings.TrimRight(string(b[display.PlainText]), "\n"))
}

// Clear removes what the present cell has shown, where the screen can do that;
// with wait, only when the next thing is shown.
func (l *Lab) Clear(wait bool) {
	if l.o.Screen != nil {
		l.o.Screen.Clear(wait)
	}
}

// Progress tells how a run gets on, on the screen or on Stderr.
func (l *Lab) Progress() *report.Progress {
	if l.o.Screen == nil {
		p := report.NewProgress(l.o.Stderr, l.o.Debug)
		if l.o.ProgressLines {
			p.Lines()
		}
		return p
	}
	l.mu.Lock()
	l.shown++
	id := fmt.Sprintf("progress-%d", l.shown)
	l.mu.Unlock()
	return report.NewLiveProgress(l.o.Stderr, l.o.Debug, func(b display.Bundle) {
		l.o.Screen.Show(id, b)
	})
}

// watched does what the store and a model answer, and shows its progress.
func watched[T any](l *Lab, do func(context.Context, *cache.Store, runner.Observer) (T, error)) (T, error) {
	store, err := l.Store()
	if err != nil {
		return *new(T), err
	}
	progress := l.Progress()
	defer progress.Stop()
	return do(l.o.Context(), store, progress)
}

// Runs lists the runs of the store, newest first.
func (l *Lab) Runs() (RunList, error) { return l.list(runner.Runs) }

// Declared lists the runs and the studies of the store, newest first, without the cells of
// studies.
func (l *Lab) Declared() (RunList, error) { return l.list(runner.Declared) }

func (l *Lab) list(from func(context.Context, *cache.Store) ([]*record.Run, error)) (RunList, error) {
	store, err := l.Store()
	if err != nil {
		return nil, err
	}
	return from(l.o.Context(), store)
}

// Load returns a stored run: its id, the beginning of one, or "last".
func (l *Lab) Load(name string) (*Result, error) {
	return l.load(name, func(ctx context.Context, store *cache.Store, run *record.Run) (*runner.Result, error) {
		return runner.LoadResult(ctx, store, run, false)
	})
}

// LoadLight returns a stored run for its tables, in a tenth of the memory: what its
// trials did stays in the store, from which Whole reads it. Known are trials of the run that
// were read before and need not be again.
func (l *Lab) LoadLight(name string, known ...*record.Trial) (*Result, error) {
	return l.load(name, func(ctx context.Context, store *cache.Store, run *record.Run) (*runner.Result, error) {
		return runner.LoadResult(ctx, store, run, true, known...)
	})
}

// LoadHead returns a stored run without its trials, which Whole reads one at a time from
// the store.
func (l *Lab) LoadHead(name string) (*Result, error) { return l.load(name, runner.LoadHead) }

type loading = func(context.Context, *cache.Store, *record.Run) (*runner.Result, error)

func (l *Lab) load(name string, as loading) (*Result, error) {
	found, err := l.loaded(name, as)
	return l.newResult(found, err), err
}

func (l *Lab) loaded(name string, as loading) (*runner.Result, error) {
	store, err := l.Store()
	if err != nil {
		return nil, err
	}
	ctx := l.o.Context()
	run, err := runner.FindRun(ctx, store, name)
	if err != nil {
		return nil, err
	}
	return as(ctx, store, run)
}
