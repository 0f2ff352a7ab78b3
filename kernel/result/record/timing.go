package record

import (
	"cmp"
	"slices"
	"time"
)

// Timing says when a call was made in one execution. No hash covers it.
type Timing struct {
	Order int           `json:"order,omitempty"` // place in the sequence of the trial's calls as they began, from 1
	Start time.Duration `json:"start,omitempty"` // since the trial began
	Took  time.Duration `json:"took,omitempty"`  // until the method had the result, the wait for a free slot included
	New   bool          `json:"new,omitempty"`   // it reached the provider, and no other call or the store answered it
}

// InTime returns calls in the order in which they began, where that is known.
func InTime(calls []Call) []Call {
	return slices.SortedStableFunc(slices.Values(calls), func(a, b Call) int { return cmp.Compare(a.Order, b.Order) })
}

// Timeless returns the trial without what each execution adds of its own: dates,
// durations, and how many calls were new.
func (t *Trial) Timeless() Trial {
	bare := *t
	bare.Started, bare.Wall, bare.Provider = time.Time{}, 0, 0
	untimed := func(calls []Call) []Call {
		calls = slices.Clone(calls)
		for i := range calls {
			calls[i].Timing = Timing{}
		}
		return calls
	}
	bare.Grading = untimed(t.Grading)
	if t.Transcript != nil {
		bare.Transcript = &Transcript{Calls: untimed(t.Calls), Events: t.Events}
	}
	return bare
}
