package runner

import (
	"context"
	"fmt"
	"slices"

	"noema/kernel/result/record"
	"noema/kernel/run/gateway"
)

// waiting is a trial with a call that its provider denied, as with a wrong key. It
// becomes durable when the provider answers another request, or when the run ends
// well: until then the trial may say nothing but that the key is wrong, and a run that
// stops for that carries it out again.
type waiting struct {
	now, before *record.Trial // before is without preferences; nil if the trial is new
}

// take takes in a finished trial, and with it those that have waited long enough.
func (x *execution) take(ctx context.Context, t *record.Trial) error {
	x.mu.Lock()
	ready := []waiting{{t, x.trials[t.ID]}}
	switch denied, _ := x.denied(); {
	case denied == nil:
		ready, x.waiting = append(x.waiting, ready...), nil
	case providerFailed(t.Calls) || providerFailed(t.Grading):
		x.waiting, ready = append(x.waiting, ready...), nil
		x.trials[t.ID] = t
	}
	x.mu.Unlock()
	return x.keepAll(ctx, ready)
}

// keepAll makes trials durable before they count.
func (x *execution) keepAll(ctx context.Context, ready []waiting) error {
	for _, w := range ready {
		// It is finished: keep it, though the run may be ending.
		held, err := x.keep(context.WithoutCancel(ctx), w.now)
		if err != nil {
			return err
		}
		x.mu.Lock()
		x.trials[w.now.ID] = held
		x.mu.Unlock()
		if w.before == nil {
			x.observe.Trial(w.now, false)
		}
	}
	return nil
}

// denied is the last denial of a provider that has not answered since. All reports that
// it has not answered before, either.
func (x *execution) denied() (last error, all bool) {
	for _, g := range append([]*gateway.Gateway{x.gateway}, x.graders...) {
		if err, none := g.Denied(); err != nil {
			last, all = err, all || none
		}
	}
	return last, all
}

// settle ends the wait of trials when all are made, or err has stopped the run. Those
// whose provider has denied every request do not count.
func (x *execution) settle(ctx context.Context, err error) error {
	if denied, all := x.denied(); err == nil && all {
		err = fmt.Errorf("no request was answered: %w", denied)
	}
	if err == nil {
		return x.keepAll(ctx, x.waiting)
	}
	for _, w := range slices.Backward(x.waiting) { // a trial may be there again, with preferences
		delete(x.trials, w.now.ID)
		if w.before != nil {
			x.trials[w.now.ID] = w.before
		}
		x.order = &inTurn{} // what a sequence has decided rests on them
	}
	return err
}
