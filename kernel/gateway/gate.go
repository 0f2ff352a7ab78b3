package gateway

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"noema/cache"
	"noema/kernel/provider"
)

// gate is where every call to the model starts and ends, whichever method
// asks: what one call learns of the provider, all others heed. Those that
// cannot start yet wait in the order in which they came.
//
// What it decides is when a call is made, never whether, with what or for how
// much: nothing of it enters keys, records or transcripts. Time spent waiting
// here is no call's latency.
type gate struct {
	retry Retry
	warn  func(string)

	mu       sync.Mutex
	limit    limiter
	breaker  breaker
	held     time.Time // no call starts before
	silence  silence
	inFlight int
	queue    list.List   // of *ticket
	timer    *time.Timer // wakes the queue, where only time keeps it waiting
	shut     error       // why no call starts any more
}

// pass is the right to make one attempt.
type pass struct {
	round, era uint64
	probe      bool
	start      time.Time
}

// ticket is a place in the queue.
type ticket struct {
	ready chan struct{} // closed when pass or err is set
	pass  pass
	err   error
}

// enter waits until a call may start. Each pass must be given back by leave.
func (g *gate) enter(ctx context.Context) (pass, error) {
	g.mu.Lock()
	if g.shut != nil {
		defer g.mu.Unlock()
		return pass{}, g.shut
	}
	now := time.Now()
	if g.queue.Len() == 0 {
		if p, ok := g.admit(now); ok {
			g.mu.Unlock()
			return p, nil
		}
	}
	t := &ticket{ready: make(chan struct{})}
	place := g.queue.PushBack(t)
	g.dispatch(now) // the timer may be late
	g.mu.Unlock()

	select {
	case <-t.ready:
		return t.pass, t.err
	case <-ctx.Done():
		g.abandon(place, t)
		return pass{}, context.Cause(ctx)
	}
}

// abandon takes a ticket back, or the pass that it has become meanwhile.
func (g *gate) abandon(place *list.Element, t *ticket) {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-t.ready:
		if t.err == nil {
			g.inFlight--
			g.breaker.probing = g.breaker.probing && !t.pass.probe
		}
	default:
		g.queue.Remove(place)
	}
	g.dispatch(time.Now())
}

// admit gives a pass if a call may start now; g.mu is held.
func (g *gate) admit(now time.Time) (pass, bool) {
	p := pass{round: g.limit.round, era: g.breaker.era, probe: g.breaker.open, start: now}
	switch {
	case now.Before(g.held):
		return pass{}, false
	case p.probe && (!g.breaker.mayProbe(now) || g.inFlight >= int(g.limit.ceiling)):
		return pass{}, false
	case !p.probe && g.inFlight >= g.limit.now():
		return pass{}, false
	}
	g.breaker.probing = p.probe
	g.inFlight++
	if gap := g.limit.gap(); gap > 0 {
		g.held = now.Add(gap)
	}
	return p, true
}

// dispatch lets in all who may start, and sets the timer for the others; g.mu is
// held.
func (g *gate) dispatch(now time.Time) {
	for g.queue.Len() > 0 {
		p, ok := g.admit(now)
		if !ok {
			break
		}
		t := g.queue.Remove(g.queue.Front()).(*ticket)
		t.pass = p
		close(t.ready)
	}
	g.arm(now)
}

// arm sets the timer for those whom only time keeps waiting. It takes the place
// of one that may be due and not yet run, so that only dispatch calls it; g.mu
// is held.
func (g *gate) arm(now time.Time) {
	at := g.held
	if g.breaker.open && !g.breaker.probing && g.breaker.next.After(at) {
		at = g.breaker.next
	}
	if g.timer != nil {
		g.timer.Stop()
		g.timer = nil
	}
	if g.queue.Len() > 0 && at.After(now) {
		g.timer = time.AfterFunc(at.Sub(now), func() {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.dispatch(time.Now())
		})
	}
}

// verdict is what follows from a failed attempt besides its error.
type verdict struct {
	again bool  // it was a probe: it counts for nothing, and the call waits again
	free  bool  // the outage is to blame: the attempt does not count as one of the call's
	busy  bool  // the load is to blame: it counts as half of one
	final bool  // no further attempt
	err   error // in place of the attempt's own
}

// leave ends an attempt of the call under key.
func (g *gate) leave(p pass, key cache.Key, o outcome) verdict {
	g.mu.Lock()
	now := time.Now()
	full := g.inFlight >= g.limit.now()
	g.inFlight--
	notice := g.hold(now, p, o)
	if o.answered && !p.probe {
		g.limit.answered(p.round, full, now.Sub(p.start))
	}
	if o.answered {
		g.silence.ends(now)
	} else {
		g.silence.last = o.err
	}
	v, news := g.judge(now, p, key, o)
	v.busy = o.loaded && g.working(now)
	g.dispatch(now)
	g.mu.Unlock()
	for _, s := range []string{notice, news} {
		if s != "" {
			g.warn(s)
		}
	}
	return v
}

// noteworthy is how long a server must ask to wait for the user to be told.
const noteworthy = 10 * time.Second

// hold keeps all calls back where the server asked for it or refuses
// everything; g.mu is held.
func (g *gate) hold(now time.Time, p pass, o outcome) (notice string) {
	until := now
	if o.loaded && g.limit.refused(p.round, g.inFlight+1) {
		until = now.Add(g.retry.hold(g.limit.holds))
	}
	if o.after > 0 && o.after <= g.retry.MaxAfter && now.Add(o.after).After(until) {
		until = now.Add(o.after)
		if o.after >= noteworthy && !g.held.After(now) {
			notice = fmt.Sprintf("the provider asks to wait: no call for %v", o.after)
		}
	}
	if until.After(g.held) {
		g.held = until
	}
	return notice
}

// working reports whether the provider seems to answer calls, so that one that
// it has too much to do for tells of its load and of nothing else: the last
// answer is not long ago, or none has come yet and others are waited for; g.mu
// is held.
func (g *gate) working(now time.Time) bool {
	if g.limit.trip == 0 {
		return g.inFlight > 0
	}
	return now.Sub(g.silence.since) < 2*g.limit.trip
}

// judge tells the breaker what an attempt says of the provider; g.mu is held.
func (g *gate) judge(now time.Time, p pass, key cache.Key, o outcome) (v verdict, notice string) {
	b := &g.breaker
	switch {
	case o.alive && (p.probe || !b.open):
		b.heard = true
		if paused := b.close(now); paused > 0 {
			g.limit.restart()
			notice = fmt.Sprintf("provider is back after %v: going on", paused.Round(time.Second))
		}
	case o.down && p.probe && b.probeFailed(now, key):
		v = verdict{final: true, err: g.giveUp(now, o.err)}
	case o.down && p.probe:
		v.again = true
	case o.down && o.loaded && !b.open && g.working(now): // it is full
	case o.down:
		if b.failed(now, p.era, key) {
			notice = fmt.Sprintf("provider is down: paused; asking again for up to %v: %v", b.patience, o.err)
		}
		v.free = b.open || p.era != b.era
	case p.probe:
		b.probing = false // nothing was learned: the next in the queue probes
	}
	return v, notice
}

// errDown says that the provider was down for longer than Options.Patience.
var errDown = errors.New("provider is down")

// giveUp ends a pause without an answer. Where several calls have failed there
// is nothing left to hope for, and all who wait fail with this one; g.mu is
// held.
func (g *gate) giveUp(now time.Time, last error) error {
	several := g.breaker.several
	err := fmt.Errorf("no answer for %v: %w", g.breaker.close(now).Round(time.Second), last)
	if !several {
		return err
	}
	g.shut = fmt.Errorf("%w: %w", errDown, err)
	for g.queue.Len() > 0 {
		t := g.queue.Remove(g.queue.Front()).(*ticket)
		t.err = g.shut
		close(t.ready)
	}
	return g.shut
}

// outcome is what an attempt says of the provider.
type outcome struct {
	answered bool          // it gave a completion
	alive    bool          // it gave a reply, if only a refusal
	loaded   bool          // it has too much to do
	down     bool          // it cannot be reached or cannot work
	after    time.Duration // it asks to wait so long
	err      error
}

// outcomeOf classifies an attempt. What ended with ctx or in an unknown way
// says nothing.
func outcomeOf(ctx context.Context, err error) outcome {
	if err == nil {
		return outcome{answered: true, alive: true}
	}
	var pe *provider.Error
	if ctx.Err() != nil || !errors.As(err, &pe) {
		return outcome{}
	}
	o := outcome{after: pe.RetryAfter, err: err}
	switch pe.Kind {
	case provider.Network:
		o.down = true
	case provider.Unavailable:
		o.down = true
		o.loaded = pe.Status == http.StatusServiceUnavailable || pe.Status == statusOverloaded
	case provider.RateLimited:
		o.alive, o.loaded = true, true
	default:
		o.alive = true
	}
	return o
}

// statusOverloaded is what Anthropic's servers answer when they have too much
// to do.
const statusOverloaded = 529
