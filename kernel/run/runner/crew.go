package runner

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"noema/kernel/result/record"
	"noema/kernel/run/gateway"
	"noema/methods"
)

// Crew is other machines that take part in runs.
type Crew interface {
	// Here is how many trials at once this machine takes part with, of those that it
	// would run without a crew.
	Here(without int) int
	// Work takes trials from deal as long as there are any, and has do carry out each at
	// the place that it chose. It returns the first error of do that is not
	// [plugins.ErrLost]; for that it gives the trial back.
	Work(ctx context.Context, methods []Method, deal *Deal, do func(context.Context, record.TrialID, Place) error) error
}

// Place is where a trial's method runs when that is not here: it solves as the method
// would, with errors as [plugins.Plugin.Solve] has them, and [plugins.ErrLost].
type Place = methods.Method

// Deal hands out the trials of a run to those who work on them, here and elsewhere. What
// was given back is handed out again first.
type Deal struct {
	next func(context.Context) (record.TrialID, bool)

	mu      sync.Mutex
	back    []record.TrialID
	out     int            // trials that were taken and not done
	over    bool           // next has no more
	asking  map[int]func() // cancels the callers of next
	asked   int            // so far
	changed chan struct{}  // closed when a waiting taker should look again
}

// NewDeal returns a deal of what next hands out until it has no more.
func NewDeal(next func(context.Context) (record.TrialID, bool)) *Deal {
	return &Deal{next: next, asking: map[int]func(){}, changed: make(chan struct{})}
}

// Take returns the next trial to work on of those that the caller can; nil is all. It
// waits while there may be one later, and returns false when all are done or ctx ends.
// Done or Back must follow.
func (d *Deal) Take(ctx context.Context, can func(record.TrialID) bool) (record.TrialID, bool) {
	for ctx.Err() == nil {
		d.mu.Lock()
		if id, ok := d.returned(can); ok {
			d.mu.Unlock()
			return id, true
		}
		if d.over && d.out == 0 && len(d.back) == 0 {
			d.mu.Unlock()
			return record.TrialID{}, false
		}
		if !d.over && len(d.back) == 0 { // else it is others' turn first
			id, ok := d.ask(ctx)
			if ok && (can == nil || can(id)) {
				return id, true
			}
			if ok {
				d.Back(id)
			}
			continue
		}
		changed := d.changed
		d.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
	return record.TrialID{}, false
}

// returned takes the first trial that was given back and that the caller can. The deal is
// locked.
func (d *Deal) returned(can func(record.TrialID) bool) (record.TrialID, bool) {
	i := slices.IndexFunc(d.back, func(id record.TrialID) bool { return can == nil || can(id) })
	if i < 0 {
		return record.TrialID{}, false
	}
	id := d.back[i]
	d.back = slices.Delete(d.back, i, i+1)
	d.out++
	if len(d.back) == 0 {
		d.wake()
	}
	return id, true
}

// ask calls next until that returns or a trial is given back. The deal is locked, and is
// not when ask returns.
func (d *Deal) ask(ctx context.Context) (record.TrialID, bool) {
	asking, cancel := context.WithCancel(ctx)
	defer cancel()
	d.asked++
	n := d.asked
	d.asking[n] = cancel
	d.mu.Unlock()
	id, ok := d.next(asking)
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.asking, n)
	switch {
	case ok:
		d.out++
	case asking.Err() == nil:
		d.over = true
		d.wake()
	}
	return id, ok
}

// wake has all waiting takers look again. The deal is locked.
func (d *Deal) wake() {
	close(d.changed)
	d.changed = make(chan struct{})
	for _, cancel := range d.asking {
		cancel()
	}
}

// Done says that a trial that was taken is finished.
func (d *Deal) Done() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.out--; d.out == 0 && d.over {
		d.wake()
	}
}

// Look has all who wait look again: the caller can work on others than before.
func (d *Deal) Look() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.wake()
}

// Back gives a trial back that was taken, to be handed out again.
func (d *Deal) Back(id record.TrialID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.out--
	d.back = append(d.back, id)
	d.wake()
}

// elsewhere is what places made of the trials of one execution.
type elsewhere struct {
	mu       sync.Mutex
	made     map[record.TrialID]string   // by the worker of that name
	attempts map[record.TrialID]*attempt // at places that were lost
}

func newElsewhere() elsewhere {
	return elsewhere{made: map[record.TrialID]string{}, attempts: map[record.TrialID]*attempt{}}
}

// add notes who made a trial.
func (e *elsewhere) add(id record.TrialID, at Place) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.made[id] = worker(at)
}

// attempt is what a trial did at places that were lost.
type attempt struct {
	paid  int             // provider calls
	asked map[string]bool // keys of the calls that were answered
}

// lost keeps what an attempt did whose place was lost.
func (e *elsewhere) lost(id record.TrialID, h *gateway.Host) {
	paid := h.Withdraw()
	calls := h.Report().Calls
	e.mu.Lock()
	defer e.mu.Unlock()
	a := e.attempts[id]
	if a == nil {
		a = &attempt{asked: map[string]bool{}}
		e.attempts[id] = a
	}
	a.paid += paid
	for _, c := range calls {
		if c.Fault == "" {
			a.asked[c.Key] = true
		}
	}
}

// found counts what lost attempts of a trial paid for as the trial's, and warns of a
// method that asked them something else.
func (e *elsewhere) found(t *record.Trial, warn func(string)) {
	e.mu.Lock()
	a := e.attempts[t.ID]
	delete(e.attempts, t.ID)
	e.mu.Unlock()
	if a == nil {
		return
	}
	t.Provider += a.paid
	for _, c := range t.Calls {
		delete(a.asked, c.Key)
	}
	if len(a.asked) > 0 && t.Failure == "" {
		warn(fmt.Sprintf("trial %s ran again after its worker was lost, and did not make %d of the calls of before: method %q is not deterministic",
			t.ID, len(a.asked), t.ID.Method))
	}
}
