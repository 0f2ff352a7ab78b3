package lab

import (
	"errors"
	"fmt"

	"noema/kernel/run/gateway"
	"noema/kernel/run/runner"
	"noema/kernel/show/report"
)

// Checked is what a determinism check of a method found.
type Checked struct {
	Run    *Result // the trials that were repeated
	Trials int
	// First is the first place where a repetition went another way; nil if
	// there is none.
	First *Deviation
}

// Deviation is where a repetition of a trial departed from it.
type Deviation struct {
	Repeat int    `json:"repeat"`  // which repetition, from 1
	AtOnce int    `json:"at_once"` // how many trials ran at once in it
	Trial  string `json:"trial"`
	Path   string `json:"path,omitempty"`
	What   string `json:"what"`
}

// Check runs the methods of e once, and then again and again with every answer
// coming from the store: one trial at a time, and many at once. A method is
// deterministic, as far as these trials tell, if every repetition has the same
// transcripts.
func (l *Lab) Check(e Experiment) (*Checked, error) {
	if e.Cache != "" && e.Cache != string(gateway.Auto) {
		return nil, Misused(fmt.Errorf("replay a method: it needs every answer in the store, which --cache %s prevents: leave it out", e.Cache))
	}
	e.Fresh = true
	r, err := l.Run(e)
	if err != nil {
		return nil, err
	}
	ctx := l.o.Context()
	store, err := l.Store()
	if err != nil {
		return nil, err
	}
	methods, err := l.RecordedMethods(ctx, r.Run)
	if err != nil {
		return nil, err
	}
	checked := &Checked{Run: r, Trials: len(r.Trials)}
	for i, atOnce := range []int{1, 32, 4} {
		replay := runner.Replay{Run: r.Run, Methods: methods, Provider: recordedModel(r.Run), MaxSamples: atOnce, Redactor: l.o.Redactor}
		again, err := replay.Do(ctx, store, runner.Quiet{})
		if err != nil {
			return nil, err
		}
		if again.Skipped == len(r.Trials) {
			return nil, errors.New("replay a method: every trial failed (plugin, provider or time-out), so there is nothing to repeat")
		}
		if !again.Same() && again.First != nil {
			checked.First = &Deviation{
				Repeat: i + 1, AtOnce: atOnce, Trial: again.First.Trial.String(), Path: again.First.Path, What: again.First.What,
			}
			return checked, nil
		}
	}
	return checked, nil
}

// Text says what was found.
func (c *Checked) Text() string {
	if c.First == nil {
		return fmt.Sprintf("deterministic: %s, repeated three times from the store, one to 32 at once, had the same transcripts", report.Plural(c.Trials, "trial"))
	}
	where := ""
	if c.First.Path != "" {
		where = " at " + c.First.Path
	}
	return fmt.Sprintf("NOT deterministic: repetition %d (%d trials at once) of trial %s first differs%s: %s",
		c.First.Repeat, c.First.AtOnce, c.First.Trial, where, c.First.What)
}
