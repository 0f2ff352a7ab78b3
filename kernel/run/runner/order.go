package runner

import (
	"context"
	"sync/atomic"

	"noema/kernel/result/record"
)

// order is in which order the trials of a run begin, and when enough are made.
type order interface {
	// next waits for a trial that may begin; there is none when all are begun or ctx ends.
	next(ctx context.Context) (record.TrialID, bool)
	// ended is called when a trial is durable, and once before the first. It is
	// errDecided when no further trial is needed.
	ended() error
	// conclude notes in the finished run which trials are part of it.
	conclude()
}

// inTurn begins trials one after the other.
type inTurn struct {
	ids   []record.TrialID
	given atomic.Int64
}

// next gives out whatever it counts: who asks may be told to look again at any moment, and
// what was counted and not given out would be lost.
func (o *inTurn) next(ctx context.Context) (record.TrialID, bool) {
	if ctx.Err() != nil {
		return record.TrialID{}, false
	}
	if i := int(o.given.Add(1)) - 1; i < len(o.ids) {
		return o.ids[i], true
	}
	return record.TrialID{}, false
}

func (*inTurn) ended() error { return nil }
func (*inTurn) conclude()    {}
