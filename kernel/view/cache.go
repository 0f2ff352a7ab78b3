package view

import (
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"noema/kernel/lab"
	"noema/kernel/lab/pack"
	"noema/kernel/result/record"
	"noema/kernel/run/runner"
	"noema/kernel/task"
)

// cache keeps runs as they were loaded: a finished run does not change, and an
// unfinished one is read again after a while.
type cache struct {
	lab     *lab.Lab
	leaving *leaving

	mu   sync.Mutex
	runs map[string]*loaded
	used []string // least recently used first
}

// kept is how many runs are held in memory.
const kept = 8

// keptTrials is up to how many trials of a run stay in memory once its tables are made.
// More are read again if somebody compares it with others.
const keptTrials = 20_000

// stale is how old the image of an unfinished run may be.
const stale = time.Second

// recent keeps the list of runs for a moment, in which pages that follow it ask again.
type recent struct {
	mu       sync.Mutex
	at, made time.Time
	runs     lab.RunList
}

func (r *recent) get(read func() (lab.RunList, error)) (lab.RunList, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.at.IsZero() && time.Since(r.made) < 10*r.made.Sub(r.at) {
		return r.runs, nil
	}
	r.at = time.Now()
	runs, err := read()
	r.runs, r.made = runs, time.Now()
	return runs, err
}

// loaded is a run in memory: its record and its task at once, the rest when it is first
// asked for.
type loaded struct {
	*lab.Result // without trials
	at          time.Time
	took        atomic.Int64                                // nanoseconds, for its trials and numbers: what takes long is kept longer while a run goes on
	clean       func(string) string                         // makes a text of the run such as may be shown
	whole       func(record.TrialID) (*record.Trial, error) // one trial, with its transcript
	samples     func() []task.Sample
	full        func() (*lab.Result, error)     // with light trials
	seen        atomic.Pointer[[]*record.Trial] // of a run that goes on: those that full has read
	release     func()                          // lets the trials go, unless somebody makes the run's page of them
	cells       func() (*cells, error)
	numbers     func() (*numbers, error)
	credit      func() *lab.Credit // of its interventions; nil without any, or without a score
	calculated  <-chan struct{}    // closed once the numbers are there
	names       sync.Map           // of the items of a ranking, by sample
}

// numbers are what a run came to.
type numbers struct {
	summary    *runner.Summary
	comparison *lab.Comparison // nil where nothing can be compared
}

func newCache(l *lab.Lab, out *leaving) *cache {
	return &cache{lab: l, leaving: out, runs: map[string]*loaded{}}
}

// get returns a run by its id. It reads no trial.
func (c *cache) get(id string) (*loaded, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l, ok := c.runs[id]; ok && (l.Run.Status == record.Finished || time.Since(l.at) < max(stale, 10*time.Duration(l.took.Load()))) {
		c.touch(id)
		return l, nil
	}
	stored, err := c.lab.LoadHead(id)
	if err != nil {
		return nil, err
	}
	result, clean, err := c.leaving.result(stored)
	if err != nil {
		return nil, err
	}
	l := &loaded{Result: result, at: time.Now(), clean: clean, whole: c.reader(stored, clean), samples: sync.OnceValue(result.Samples)}
	if old := c.runs[id]; old != nil && stored.Run.Status != record.Finished {
		l.seen.Store(old.seen.Load())
	}
	c.later(l, stored)
	c.runs[result.Run.ID] = l
	c.touch(result.Run.ID)
	return l, nil
}

// reader reads single trials of a run. It keeps the last one, since the pages of a trial's
// calls are asked for together.
func (c *cache) reader(stored *lab.Result, clean func(string) string) func(record.TrialID) (*record.Trial, error) {
	var reading sync.Mutex
	var held *record.Trial
	names := sync.OnceValue(func() map[record.TrialID]record.TrialID {
		known := map[record.TrialID]record.TrialID{}
		for _, id := range stored.Run.Trials() {
			known[record.TrialID{Method: clean(id.Method), Sample: clean(id.Sample), Epoch: id.Epoch}] = id
		}
		return known
	})
	return func(id record.TrialID) (*record.Trial, error) {
		reading.Lock()
		defer reading.Unlock()
		if held != nil && held.ID == id {
			return held, nil
		}
		kept := id
		if c.leaving != nil { // names are cleaned, too
			kept = names()[id]
		}
		t, err := stored.Whole(&record.Trial{ID: kept})
		if err == nil {
			t, err = c.leaving.trial(t, clean)
		}
		if err == nil {
			held = t
		}
		return t, err
	}
}

// later has l make what takes time when it is first asked for, once.
func (c *cache) later(l *loaded, stored *lab.Result) {
	read := func() (*lab.Result, error) {
		var known []*record.Trial
		if seen := l.seen.Load(); seen != nil {
			known = *seen
		}
		all, err := c.lab.LoadLight(stored.Run.ID, known...)
		if err == nil && stored.Run.Config.Varied() {
			all, err = c.lab.Load(stored.Run.ID) // what interventions changed is in the transcripts
		}
		if err == nil {
			all, _, err = c.leaving.result(all)
		}
		return all, err
	}
	var mu sync.Mutex
	var held *lab.Result
	l.full = func() (*lab.Result, error) {
		mu.Lock()
		defer mu.Unlock()
		if held != nil {
			return held, nil
		}
		begun := time.Now()
		all, err := read()
		if l.took.Store(int64(time.Since(begun))); err == nil {
			held = all
			if l.Run.Status != record.Finished {
				l.seen.Store(&all.Result.Trials)
			}
		}
		return all, err
	}
	var wanted atomic.Bool
	l.release = func() {
		mu.Lock()
		defer mu.Unlock()
		if !wanted.Load() {
			held = nil
		}
	}
	l.cells = sync.OnceValues(func() (*cells, error) {
		wanted.Store(true)
		all, err := l.full()
		if err != nil {
			return nil, err
		}
		return cellsOf(l, all)
	})
	done := make(chan struct{})
	l.calculated = done
	l.numbers = sync.OnceValues(func() (*numbers, error) {
		defer close(done)
		if _, err := l.cells(); err != nil {
			return nil, err
		}
		all, err := l.full()
		if err != nil {
			return nil, err
		}
		begun := time.Now()
		n, err := numbersOf(all)
		l.took.Add(int64(time.Since(begun)))
		if err == nil && len(all.Result.Trials) > keptTrials {
			if n.comparison != nil {
				n.comparison = n.comparison.Light()
			}
			mu.Lock()
			all, held = nil, nil
			mu.Unlock()
			debug.FreeOSMemory()
		}
		return n, err
	})
	l.credit = sync.OnceValue(func() *lab.Credit {
		if !l.Run.Config.Varied() { // and nothing is read for it again
			return nil
		}
		all, err := l.full()
		if err != nil {
			return nil
		}
		found, _ := all.Effects(lab.Crediting{}) // what has no score is shown without
		return found
	})
}

// numbersOf compares the methods of a run, or describes them where they cannot be compared.
func numbersOf(all *lab.Result) (*numbers, error) {
	c, err := all.Compare(lab.Comparing{By: "group"})
	if err != nil {
		s, err := all.Summary()
		return &numbers{summary: s}, err
	}
	return &numbers{runner.SummaryOf(all.Result, c.Comparison), c}, nil
}

// Samples are those of the run, in its order.
func (l *loaded) Samples() []task.Sample { return l.samples() }

// treeOf is the hash of the tree over a finished run's trials, as in a pack.
func treeOf(r *lab.Result) (string, error) {
	if r.Run.Status != record.Finished {
		return "", nil
	}
	tree := &pack.Tree{}
	for _, t := range r.Result.Trials {
		if err := tree.Add(t.ID, t.Hash); err != nil {
			return "", err
		}
	}
	return tree.Root()
}

// touch notes that a run was used, and drops the least recently used one if there
// are too many.
func (c *cache) touch(id string) {
	for i, have := range c.used {
		if have == id {
			c.used = append(c.used[:i], c.used[i+1:]...)
			break
		}
	}
	c.used = append(c.used, id)
	if len(c.used) > kept {
		delete(c.runs, c.used[0])
		c.used = c.used[1:]
	}
}
