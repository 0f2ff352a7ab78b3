package runner

import (
	"noema/kernel/result/record"
)

// origin is how a run comes about. What it is not said here to change is the same for
// all runs.
type origin interface {
	// begin notes in a new run's record what it comes from.
	begin(run *record.Run)
	// same reports whether a recorded run has this origin, so that it can be gone on with.
	same(run *record.Run) bool
	// asItIs is the run whose trials show what methods do without interventions.
	asItIs(run *record.Run) *record.Run
	// repeats reports whether some trials are repeated in fresh processes.
	repeats() bool
}

// declared is the origin of a run that its configuration alone describes.
type declared struct{}

func (declared) begin(*record.Run)                  {}
func (declared) same(run *record.Run) bool          { return run.Parent == "" && run.Study == "" }
func (declared) asItIs(run *record.Run) *record.Run { return run }
func (declared) repeats() bool                      { return true }

// derived is the origin of a fork and of a run under interventions: another run, over
// whose task and with whose code they are.
type derived struct {
	from     *record.Run
	replaced []record.Replacement
}

func (d derived) begin(run *record.Run) {
	run.Parent, run.Replaced, run.Blob = d.from.ID, d.replaced, d.from.Blob
	if run.Digest == d.from.Digest { // a fork has the trials of its parent
		run.Asked = d.from.Asked
	}
}

// same is false for a fork, which is never unfinished.
func (d derived) same(run *record.Run) bool      { return run.Parent == d.from.ID && run.Config.Varied() }
func (d derived) asItIs(*record.Run) *record.Run { return d.from }
func (derived) repeats() bool                    { return false }

// imported is the origin of a run whose answers another program gave.
type imported struct {
	declared
	from record.Imported
}

func (i imported) begin(run *record.Run) { run.Imported = &i.from }
func (imported) repeats() bool           { return false }

// cellOf is the origin of a run that is a cell of a study.
type cellOf struct {
	declared
	study string
}

func (c cellOf) begin(run *record.Run)     { run.Study = c.study }
func (c cellOf) same(run *record.Run) bool { return run.Study == c.study }
