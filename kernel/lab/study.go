package lab

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"noema/cache"
	"noema/kernel/model/provider"
	"noema/kernel/run/runner"
	"noema/kernel/task"
	"noema/methods"
	"noema/plugins"
)

// Study is an experiment over several tasks or models, with one verdict: shown, it is the
// table of its methods by task and model.
type Study struct {
	*runner.StudyResult
	lab     *Lab
	failure error // what ended it early
}

// cell is one experiment of a study, as it is declared.
type cell struct {
	Experiment
	weight float64
}

// Settle returns an experiment over one task and one model with the settings behind the # of
// its task in their place. Those of a study are settled cell by cell.
func Settle(e Experiment) (Experiment, error) {
	if e.Several() || !strings.Contains(e.Task, "#") {
		return e, nil
	}
	c, err := settled(e, e.Task)
	return c.Experiment, err
}

// settled is the experiment over one task of it. Settings behind a # are of this task alone:
// its weight, an option of a method such as anot.builder=compiled, or any key of an
// experiment that says what is run.
func settled(e Experiment, text string) (cell, error) {
	c := cell{Experiment: e, weight: 1}
	c.Tasks, c.Models = nil, nil
	at := strings.LastIndex(text, "#")
	if c.Task = text; at < 0 || !strings.Contains(text[at:], "=") {
		return c, nil
	}
	c.Task = text[:at]
	wrong := func(err error) error { return Misused(fmt.Errorf("declare experiment: task %q: %w", text, err)) }
	for pair := range strings.SplitSeq(text[at+1:], "&") {
		name, value, _ := strings.Cut(pair, "=")
		if err := c.set(name, value); err != nil {
			return c, wrong(fmt.Errorf("%s: %w", name, err))
		}
	}
	return c, nil
}

// ofStudy are the keys of an experiment that all its cells share.
var ofStudy = []string{"name", "question", "task", "model", "effort", "methods", "seed", "until", "looks", "test"}

// set gives the cell one setting of its own.
func (c *cell) set(name, value string) (err error) {
	if name == "weight" {
		if c.weight, err = strconv.ParseFloat(value, 64); err != nil || !(c.weight > 0) || c.weight > 1e6 {
			return fmt.Errorf("%q is not a weight: use a number above 0", value)
		}
		return nil
	}
	if strings.Contains(name, ".") {
		c.MethodOptions = maps.Clone(c.MethodOptions)
		if c.MethodOptions == nil {
			c.MethodOptions = map[string]string{}
		}
		c.MethodOptions[name] = value
		return nil
	}
	known := []string{"weight"}
	for _, f := range methods.FieldsOf(&c.Experiment) {
		if f.Tag.Get("part") != "what" || slices.Contains(ofStudy, f.Name) || f.Type == methods.MapOption {
			continue
		}
		if known = append(known, f.Name); f.Name == name {
			f.Clear()
			return f.Set(value)
		}
	}
	return fmt.Errorf("not a setting of one task%s: use %s, or an option of a method such as anot.builder",
		methods.DidYouMean(name, known), strings.Join(known, ", "))
}

// cells are the experiments of e, each with one task and one model, task by task.
func (l *Lab) cells(e Experiment) ([]cell, error) {
	e, err := e.Complete()
	if err != nil {
		return nil, err
	}
	var all []cell
	for _, task := range append([]string{e.Task}, e.Tasks...) {
		for _, model := range append([]string{e.Model}, e.Models...) {
			c, err := settled(e, task)
			if err != nil {
				return nil, err
			}
			c.Model = model
			if c.Experiment, err = c.Complete(); err != nil {
				return nil, err
			}
			all = append(all, c)
		}
	}
	return all, nil
}

// study opens all that the cells of e name; each task, model and method once.
func (l *Lab) study(ctx context.Context, e Experiment) (runner.Study, error) {
	s := runner.Study{Name: e.Name, Question: e.Question, Fresh: e.Fresh, Command: slices.Clone(os.Args)}
	cells, err := l.cells(e)
	if err != nil {
		return s, err
	}
	if e.Attack != "" {
		return s, Misused(errors.New("declare study: an attack compares each method with itself on one task: give one task and one model"))
	}
	if e.Test != "" {
		return s, Misused(fmt.Errorf("declare study: test %s is for one task with one model: several are judged by one rule, whatever their measures: leave it out", e.Test))
	}
	opened := opening{lab: l, ctx: ctx, tasks: map[string]func() (*Task, error){}, names: map[string]string{}, models: map[string]provider.Provider{}, methods: map[string][]runner.Method{}}
	defer opened.begin(cells)()
	var faults []error
	told := map[string]bool{} // what several cells have is told once
	for _, c := range cells {
		one, err := opened.cell(c)
		if err != nil && !told[err.Error()] {
			told[err.Error()] = true
			faults = append(faults, fmt.Errorf("%s · %s: %w", c.Task, c.Model, err))
		}
		s.Cells = append(s.Cells, one)
	}
	if err := errors.Join(faults...); err != nil {
		return s, Misused(err)
	}
	nameTasks(s.Cells)
	return s, nil
}

// opening is what cells have in common, once it is open.
type opening struct {
	lab     *Lab
	ctx     context.Context
	tasks   map[string]func() (*Task, error)
	names   map[string]string // of tasks as they are written
	models  map[string]provider.Provider
	methods map[string][]runner.Method
}

// begin opens the tasks of all cells, each once and beside each other: they take time to
// generate, or to read. What it returns waits until none is being opened.
func (o opening) begin(cells []cell) (wait func()) {
	next := make(chan func() (*Task, error), len(cells))
	for _, c := range cells {
		if open := o.add(c); open != nil {
			next <- open
		}
	}
	close(next)
	var opening sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		opening.Go(func() {
			for open := range next {
				_, _ = open() // whoever needs the task is told
			}
		})
	}
	return opening.Wait
}

// add notes the task of a cell, and returns what opens it if it is a new one.
func (o opening) add(c cell) (open func() (*Task, error)) {
	name := taskName(c.Experiment)
	if o.tasks[name] != nil {
		return nil
	}
	o.names[name] = c.Task
	o.tasks[name] = sync.OnceValues(func() (*Task, error) { return o.lab.taskOf(c.Experiment) })
	return o.tasks[name]
}

// withheld is the data of all tasks, since a method that answers one is opened once for all.
func (o opening) withheld() *plugins.Withheld {
	var names []string
	var tasks []*Task
	for _, name := range sortedKeys(o.tasks) {
		if t, err := o.tasks[name](); err == nil {
			names, tasks = append(names, o.names[name]), append(tasks, t)
		}
	}
	return o.lab.withheld(names, tasks)
}

// taskName is the same for experiments over the same task.
func taskName(e Experiment) string { return fmt.Sprint(e.Task, e.TaskOptions, e.Scorers) }

// cell opens what one cell names.
func (o opening) cell(c cell) (out runner.Cell, err error) {
	e := c.Experiment
	e.Name, e.Question = "", "" // which are the study's
	out = runner.Cell{Setup: runner.Setup{Experiment: e, Command: slices.Clone(os.Args), Redactor: o.lab.o.Redactor}, Model: e.Model, Weight: c.weight}
	if out.Setup.Task, err = o.tasks[taskName(e)](); err != nil {
		return out, err
	}
	if out.Provider, err = once(o.models, e.Model, func() (provider.Provider, error) { return o.lab.modelOf(e, e.Model) }); err != nil {
		return out, err
	}
	if out.Graders, err = o.lab.graders(out.Setup.Task, e); err != nil {
		return out, err
	}
	if t := out.Setup.Task; len(out.Graders) == 0 && t.Scorer.IsZero() && !slices.ContainsFunc(t.Samples, task.Sample.Scored) {
		return out, errors.New("no sample has a target, and a study is decided by measures: name its column, as in ?target=COLUMN")
	}
	out.Methods, err = once(o.methods, fmt.Sprint(e.MethodOptions), func() ([]runner.Method, error) {
		return o.lab.openMethods(o.ctx, e.Methods, e.MethodOptions, o.withheld)
	})
	return out, err
}

// once is what is known under a name, or what make makes of it.
func once[V any](known map[string]V, name string, make func() (V, error)) (V, error) {
	if v, has := known[name]; has {
		return v, nil
	}
	v, err := make()
	if err == nil {
		known[name] = v
	}
	return v, err
}

// nameTasks calls each task by its name, or by its name with options where two have one.
func nameTasks(cells []runner.Cell) {
	names := map[string]map[*Task]bool{}
	for _, c := range cells {
		if names[c.Setup.Task.Name] == nil {
			names[c.Setup.Task.Name] = map[*Task]bool{}
		}
		names[c.Setup.Task.Name][c.Setup.Task] = true
	}
	for i, c := range cells {
		if cells[i].Task = c.Setup.Task.Name; len(names[c.Setup.Task.Name]) > 1 {
			cells[i].Task = c.Experiment.Task
		}
	}
}

// Study carries out an experiment over several tasks or models, or goes on with it where it
// was interrupted, and shows its progress. Of an experiment over one task and one model it is
// the study of that one run.
func (l *Lab) Study(e Experiment) (*Study, error) {
	s, err := l.study(l.o.Context(), e)
	if err != nil {
		return nil, err
	}
	crew, err := l.crewOf(s.Cells[0].Experiment)
	if err != nil {
		return nil, err
	}
	for i := range s.Cells {
		if err := onlyHere(&s.Cells[i].Setup, crew); err != nil {
			return nil, err
		}
	}
	found, err := watched(l, func(ctx context.Context, store *cache.Store, observe runner.Observer) (*runner.StudyResult, error) {
		countWorkers(observe, crew)
		return s.Run(ctx, store, observe)
	})
	if err != nil && l.o.Context().Err() != nil {
		err = context.Canceled
	}
	if found == nil {
		return nil, err
	}
	return &Study{found, l, err}, err
}

// LoadStudy returns a stored study: its id, the beginning of one, or "last".
func (l *Lab) LoadStudy(name string) (*Study, error) {
	store, err := l.Store()
	if err != nil {
		return nil, err
	}
	run, err := runner.FindRun(l.o.Context(), store, name)
	if err != nil {
		return nil, err
	}
	if run.Config.Study == nil {
		return nil, Misused(fmt.Errorf("load study %q: it is a run of one task and one model", name))
	}
	found, err := runner.LoadStudy(l.o.Context(), store, run)
	if err != nil {
		return nil, err
	}
	return &Study{StudyResult: found, lab: l}, nil
}

// Results are the runs of the cells that have begun.
func (s *Study) Results() []*Result {
	var all []*Result
	for _, c := range s.Cells {
		if c != nil {
			all = append(all, s.lab.newResult(c, nil))
		}
	}
	return all
}
