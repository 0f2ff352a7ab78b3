package view

import (
	"fmt"
	"hash/fnv"
	"net/http"
	"time"

	"noema/kernel/result/compare"
	"noema/kernel/result/record"
	"noema/kernel/run/cluster"
	"noema/kernel/run/runner"
	"noema/kernel/show/report"
)

// live is how a run gets on that is not finished.
type live struct {
	Running     bool
	Done, Total int
	Pace        pace
	Left        string
	Calls       int    // that finished trials made
	New         int    // of these, answered by a provider
	Cost        string // of the finished trials
	Last        string // how long ago the last trial ended
	Faults      []fault
	Doing       []doing
	More        int // trials at work that Doing leaves out
	Crew        *cluster.State
	Stopped     string // the limit that ended it
	Again       string // the command that goes on with it
}

// fault is a reason why trials of a method came to no answer.
type fault struct {
	Method string
	compare.Cause
}

// doing is a trial at work.
type doing struct {
	runner.Doing
	For string // how long
}

// shownDoing is how many trials at work are listed.
const shownDoing = 12

// live is how a run gets on; nil for a finished one.
func (p *Page) live(l *loaded) (*live, error) {
	if l.Run.Status == record.Finished || p.leaving != nil {
		return nil, nil
	}
	all, err := l.full()
	if err != nil {
		return nil, err
	}
	now, trials := time.Now(), all.Result.Trials
	working, on := p.underWay(l.Run)
	v := &live{Running: on, Done: len(trials), Total: l.Run.Size(), Pace: paceOf(trials, now), Cost: report.Cost(all.Charged()), Stopped: l.Run.Stopped}
	v.Left = v.Pace.Left(v.Total - v.Done)
	if !v.Pace.Last.IsZero() {
		v.Last = span(now.Sub(v.Pace.Last))
	}
	for _, t := range trials {
		v.Calls, v.New = v.Calls+t.Usage.Calls+t.Usage.ToolCalls, v.New+t.Provider
	}
	m, err := compare.FromRuns([]*compare.Recorded{&all.Result.Recorded}, false)
	if err != nil {
		return nil, err
	}
	for i, method := range runner.Labels(l.Run) {
		for _, c := range m.Data.Causes(i) {
			v.Faults = append(v.Faults, fault{method, c})
		}
	}
	for _, d := range working[:min(len(working), shownDoing)] {
		v.Doing = append(v.Doing, doing{d, span(now.Sub(d.Since))})
	}
	v.More = len(working) - len(v.Doing)
	if v.Again = words(l.Run.Command); on {
		v.Crew, v.Again = p.crew(), ""
	}
	return v, nil
}

// state is the progress of an unfinished run in short, which the page polls.
func (p *Page) state(w http.ResponseWriter, r *http.Request) {
	l, err := p.cache.get(r.PathValue("run"))
	if err != nil {
		http.Error(w, "no such run", http.StatusNotFound)
		return
	}
	all, err := l.full()
	if err != nil {
		http.Error(w, "no such run", http.StatusNotFound)
		return
	}
	working, on := p.underWay(l.Run)
	sum := fnv.New64a()
	for _, d := range working {
		fmt.Fprintln(sum, d.Trial, d.Calls, int(time.Since(d.Since).Seconds())/5)
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	fmt.Fprintf(w, "%s %v %d of %d %x", l.Run.Status, on, len(all.Result.Trials), l.Run.Size(), sum.Sum64())
	if s := p.crew(); s != nil {
		fmt.Fprintf(w, ", %d workers, %d lost, %d in the queue", len(s.Workers), s.Lost, s.Queued)
	}
}
