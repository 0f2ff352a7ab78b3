package view

import (
	"fmt"
	"math"
	"sync"
	"time"

	"noema/kernel/base/display"
	"noema/kernel/base/score"
	"noema/kernel/lab"
	"noema/kernel/result/compare"
	"noema/kernel/result/record"
	"noema/kernel/run/runner"
	"noema/kernel/show/report"
	"noema/methods"
)

// figures are the numbers of a run in the list. They need all its trials, so they are
// computed one run after the other while the list is looked at.
type figures struct {
	Verdict string // empty while nothing is compared
	Proven  bool
	Metric  string
	Bars    []report.Bar
	Chance  float64 // not a number where it is undefined
	Best    float64
	Done    int // trials
	Samples int
	Usage   methods.Usage
	Pace    pace
	at      time.Time
	took    time.Duration
	status  record.Status
}

// maxVerdict is how many trials a run may have for the list to say who won: of a larger one
// its page does.
const maxVerdict = 5000

// figuring keeps figures, and computes those that are asked for.
type figuring struct {
	mu      sync.Mutex
	known   map[string]*figures
	wanted  []*record.Run // in the order in which they are computed
	busy    bool
	changes int // counts what became known
	news    *sync.Cond
}

func newFiguring() *figuring {
	f := &figuring{known: map[string]*figures{}}
	f.news = sync.NewCond(&f.mu)
	return f
}

// patience is how long a list waits for figures before it is shown without.
const patience = 150 * time.Millisecond

// figures are those of runs as far as they are known; the others come later.
func (p *Page) figures(runs []*record.Run) map[string]*figures {
	f := p.figured
	f.mu.Lock()
	defer f.mu.Unlock()
	f.wanted = nil
	missing := false // what is known already is shown at once, and renewed meanwhile
	for _, r := range runs {
		known := f.known[r.ID]
		missing = missing || known == nil
		fresh := known != nil && known.status == r.Status && (r.Status == record.Finished || time.Since(known.at) < max(stale, 20*known.took))
		if !fresh {
			f.wanted = append(f.wanted, r)
		}
	}
	if len(f.wanted) > 0 && !f.busy {
		f.busy = true
		go p.compute()
	}
	late := false
	defer time.AfterFunc(patience, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		late = p.leaving == nil // a bundle has nothing that comes later
		f.news.Broadcast()
	}).Stop()
	for missing && f.busy && !late {
		f.news.Wait()
	}
	out := map[string]*figures{}
	for _, r := range runs {
		out[r.ID] = f.known[r.ID]
	}
	return out
}

// compute computes what is wanted, a run at a time, so that memory holds one.
func (p *Page) compute() {
	f := p.figured
	for {
		f.mu.Lock()
		if len(f.wanted) == 0 {
			f.busy = false
			f.news.Broadcast()
			f.mu.Unlock()
			return
		}
		run := f.wanted[0]
		f.wanted = f.wanted[1:]
		f.mu.Unlock()
		begun := time.Now()
		found, err := p.figuresOf(run)
		if err != nil {
			found = &figures{Verdict: err.Error()}
		}
		found.at, found.took, found.status = time.Now(), time.Since(begun), run.Status
		f.mu.Lock()
		f.known[run.ID] = found
		f.changes++
		f.mu.Unlock()
	}
}

func (p *Page) figuresOf(run *record.Run) (*figures, error) {
	if run.Config.Study != nil {
		return p.figuresOfStudy(run)
	}
	read := func() (*lab.Result, error) { return p.lab.LoadLight(run.ID) }
	large := run.Size() > keptTrials
	if p.leaving != nil || run.Status != record.Finished || large { // which its page reads, too
		l, err := p.cache.get(run.ID)
		if err != nil {
			return nil, err
		}
		if read = l.full; large && run.Status == record.Finished {
			defer l.release()
		}
	}
	r, err := read()
	if err != nil {
		return nil, err
	}
	s, err := r.Summary()
	if err != nil {
		return nil, err
	}
	out := &figures{Done: len(r.Result.Trials), Samples: s.Samples, Usage: r.Charged(), Pace: paceOf(r.Result.Trials, time.Now())}
	c := s.Comparison
	if run.Status == record.Finished && len(run.Config.Methods) > 1 && len(r.Result.Trials) <= maxVerdict && len(c.Metrics) > 0 && !run.Config.Varied() {
		if compared, err := r.Compare(lab.Comparing{}); err == nil {
			c = compared.Comparison
		}
	}
	out.fill(c)
	return out, nil
}

func (p *Page) figuresOfStudy(run *record.Run) (*figures, error) {
	s, err := p.lab.LoadStudy(run.ID)
	if err != nil {
		return nil, err
	}
	out := &figures{Chance: math.NaN()}
	var trials []*record.Trial
	for _, r := range s.Results() {
		out.Samples += len(r.Run.Config.Task.Samples)
		out.Usage = out.Usage.Plus(r.Charged())
		trials = append(trials, r.Result.Trials...)
	}
	out.Done, out.Pace = len(trials), paceOf(trials, time.Now())
	if n, err := s.Numbers(lab.Comparing{}); err == nil {
		out.fill(n.Whole)
		out.Verdict = n.Verdict
	}
	return out, nil
}

// fill takes the scores of a comparison, and its verdict if it has one.
func (f *figures) fill(c *compare.Comparison) {
	f.Chance, f.Metric = math.NaN(), c.Metric
	if chance, ok := c.Chance[c.Metric]; ok {
		f.Chance = chance
	}
	winners := map[string]bool{}
	for _, p := range c.Pairs {
		winners[p.Metrics[c.Metric].Winner] = true
	}
	delete(winners, "")
	if len(c.Pairs) > 0 {
		f.Verdict, f.Proven = c.Verdict, len(winners) > 0
	}
	for _, m := range c.Methods {
		var v score.Metric
		if merit, ok := m.Metrics[c.Metric]; ok {
			v = merit.Value
		}
		if v.Defined {
			f.Best = max(f.Best, v.Value)
		}
		f.Bars = append(f.Bars, report.Bar{Method: m.Method, Metric: v, Proven: winners[m.Method]})
	}
}

// Plot is the scores as bars.
func (f *figures) Plot() display.Bundle { return report.Bars(f.Metric, f.Bars, f.Chance) }

// Cost is what the run was charged.
func (f *figures) Cost() string { return report.Cost(f.Usage) }

// pace is how fast trials end.
type pace struct {
	PerMinute float64
	Last      time.Time // when the last of them ended; zero without any
}

// paceOf counts the trials that ended in the minute before now.
func paceOf(trials []*record.Trial, now time.Time) (p pace) {
	first, n := now, 0
	for _, t := range trials {
		ended := t.Started.Add(t.Wall)
		if ended.After(p.Last) {
			p.Last = ended
		}
		if now.Sub(ended) <= time.Minute {
			n++
			if t.Started.Before(first) {
				first = t.Started
			}
		}
	}
	if span := min(now.Sub(first), time.Minute); n > 0 {
		p.PerMinute = float64(n) / max(span, time.Second).Minutes()
	}
	return p
}

// Left is how long so many trials take at this pace; empty if nothing goes on.
func (p pace) Left(trials int) string {
	if p.PerMinute == 0 || trials <= 0 {
		return ""
	}
	return span(time.Duration(float64(trials)/p.PerMinute*float64(time.Minute))) + " left"
}

// span is a time as people say it.
func span(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}

// underWay reports whether a process works on a run, and what that is doing.
func (p *Page) underWay(run *record.Run) ([]runner.Doing, bool) {
	if run.Status == record.Finished || p.leaving != nil {
		return nil, false
	}
	store, err := p.lab.Store()
	if err != nil {
		return nil, false
	}
	return runner.UnderWay(store.Dir(), run.ID)
}
