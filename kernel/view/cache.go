package view

import (
	"sync"
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

// stale is how old the image of an unfinished run may be. One that takes long to make may
// be ten times as old as that.
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

// loaded is a run in memory.
type loaded struct {
	*lab.Result
	at     time.Time
	took   time.Duration          // to load
	places map[record.TrialID]int // of trials, in the result's list of light ones
	whole  func(place int) (*record.Trial, error)
	tree   string              // the hash of the tree over its trials; empty while it is unfinished
	clean  func(string) string // makes a text of the run such as may be shown

	// Computed when first asked for.
	samples  func() []task.Sample
	summary  func() (*runner.Summary, error)
	compared func() (*lab.Comparison, error) // of the run's methods, as first looked at
	credit   func() *lab.Credit              // of its interventions; nil without any, or without a score
}

func newCache(l *lab.Lab, out *leaving) *cache {
	return &cache{lab: l, leaving: out, runs: map[string]*loaded{}}
}

// get returns a run by its id.
func (c *cache) get(id string) (*loaded, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l, ok := c.runs[id]; ok && (l.Run.Status == record.Finished || time.Since(l.at) < max(stale, 10*l.took)) {
		c.touch(id)
		return l, nil
	}
	begun := time.Now()
	stored, err := c.lab.LoadLight(id)
	if err == nil && stored.Run.Config.Varied() {
		stored, err = c.lab.Load(id) // what interventions changed is in the transcripts
	}
	if err != nil {
		return nil, err
	}
	tree, err := treeOf(stored)
	if err != nil {
		return nil, err
	}
	result, clean, err := c.leaving.result(stored)
	if err != nil {
		return nil, err
	}
	l := &loaded{Result: result, at: time.Now(), took: time.Since(begun), places: map[record.TrialID]int{}, tree: tree, clean: clean}
	var reading sync.Mutex
	last, held := -1, (*record.Trial)(nil) // the pages of a trial's calls are asked for together
	l.whole = func(place int) (*record.Trial, error) {
		reading.Lock()
		defer reading.Unlock()
		if place == last {
			return held, nil
		}
		t, err := stored.Whole(stored.Result.Trials[place])
		if err == nil {
			t, err = c.leaving.trial(t, clean)
		}
		if err == nil {
			last, held = place, t
		}
		return t, err
	}
	l.samples = sync.OnceValue(result.Samples)
	l.summary = sync.OnceValues(result.Summary)
	l.compared = sync.OnceValues(func() (*lab.Comparison, error) { return result.Compare(lab.Comparing{By: "group"}) })
	l.credit = sync.OnceValue(func() *lab.Credit {
		if !result.Run.Config.Varied() {
			return nil
		}
		c, _ := result.Effects(lab.Crediting{}) // what has no score is shown without
		return c
	})
	for i, t := range result.Result.Trials {
		l.places[t.ID] = i
	}
	c.runs[result.Run.ID] = l
	c.touch(result.Run.ID)
	return l, nil
}

// trial is a light trial of the run; nil if it has none of the id.
func (l *loaded) trial(id record.TrialID) *record.Trial {
	if place, ok := l.places[id]; ok {
		return l.Result.Result.Trials[place]
	}
	return nil
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
