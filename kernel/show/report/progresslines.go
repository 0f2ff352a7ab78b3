package report

import (
	"time"
)

// ProgressLine is how a run goes on, for programs: one JSON object a line. Fields may be added.
type ProgressLine struct {
	Event    string             `json:"event"`                  // start, trial, note or warning
	Run      string             `json:"run,omitempty"`          // its id
	Study    bool               `json:"study,omitempty"`        // the run is a study, of which trials are of all its cells
	Done     int                `json:"done"`                   // trials
	Total    int                `json:"total"`                  // trials; at most, of a run that may end early
	Scores   map[string]float64 `json:"scores,omitempty"`       // mean of the headline measure so far, by method
	Calls    int                `json:"calls,omitempty"`        // model and tool calls so far
	New      int                `json:"new_calls,omitempty"`    // of these: answered by a provider, not by the store
	Cost     *float64           `json:"cost_usd,omitempty"`     // nil where a price is not known
	Left     float64            `json:"seconds_left,omitempty"` // an estimate
	Text     string             `json:"text,omitempty"`         // of a note or a warning; else the line for people
	Sample   string             `json:"sample,omitempty"`       // of a note
	Elapsed  float64            `json:"seconds"`                // since the start
	Schema   int                `json:"schema"`                 // the version of this form: 1
	Resuming bool               `json:"resuming,omitempty"`     // of a start: trials were finished before
}

// Lines has the progress written as a [ProgressLine] a line in place of text.
func (p *Progress) Lines() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lines, p.terminal = true, false
}

// write writes what is new with how far the run is.
func (p *Progress) write(l ProgressLine) {
	l.Done, l.Total, l.Schema, l.Elapsed = p.done, p.total, 1, time.Since(p.started).Seconds()
	if p.run != nil {
		l.Run, l.Study = p.run.ID, p.run.Config.Study != nil
	} else {
		l.Elapsed = 0
	}
	_ = JSON(p.w, l) // who reads it may be gone: the run goes on
}

// writeTrial writes how far the run is after a trial.
func (p *Progress) writeTrial(now time.Time) {
	l := ProgressLine{Event: "trial", Scores: map[string]float64{}, Calls: p.usage.Calls + p.usage.ToolCalls, New: p.provider, Text: p.line(now)}
	for name, h := range p.headlines {
		if mean, n := h.Mean(); n > 0 {
			l.Scores[name] = mean
		}
	}
	if p.usage.Unpriced == 0 {
		cost := p.usage.Cost.USD()
		l.Cost = &cost
	}
	if made := p.done - p.earlier; made > 0 {
		l.Left = now.Sub(p.started).Seconds() / float64(made) * float64(p.total-p.done)
	}
	p.write(l)
}
