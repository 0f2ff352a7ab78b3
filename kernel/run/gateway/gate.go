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
	"noema/kernel/model/provider"
)

// gate is where every call to the model starts and ends, whichever method makes
// it: what one call learns about the provider holds for all. Calls that cannot
// start yet wait in the order of their arrival.
//
// The gate decides when a call is made, and nothing else: it leaves no trace in
// keys, records or transcripts, and waiting at it is not part of a call's
// latency.
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

// permit is the right to make one attempt.
type permit struct {
	round, generation uint64
	probe             bool
	start             time.Time
}

// ticket is a place in the queue.
type ticket struct {
	ready  chan struct{} // closed when permit or err is set
	permit permit
	err    error
}

// enter waits until a call may start. The caller gives each permit back with leave.
func (g *gate) enter(ctx context.Context) (permit, error) {
	g.mu.Lock()
	if g.shut != nil {
		defer g.mu.Unlock()
		return permit{}, g.shut
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
		return t.permit, t.err
	case <-ctx.Done():
		g.abandon(place, t)
		return permit{}, context.Cause(ctx)
	}
}

// abandon gives up a place in the queue, or the permit if it was just granted.
func (g *gate) abandon(place *list.Element, t *ticket) {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-t.ready:
		if t.err == nil {
			g.inFlight--
			g.breaker.probing = g.breaker.probing && !t.permit.probe
		}
	default:
		g.queue.Remove(place)
	}
	g.dispatch(time.Now())
}

// admit returns a permit if a call may start now; g.mu is held.
func (g *gate) admit(now time.Time) (permit, bool) {
	p := permit{round: g.limit.round, generation: g.breaker.generation, probe: g.breaker.open, start: now}
	switch {
	case now.Before(g.held):
		return permit{}, false
	case p.probe && (!g.breaker.mayProbe(now) || g.inFlight >= int(g.limit.ceiling)):
		return permit{}, false
	case !p.probe && g.inFlight >= g.limit.now():
		return permit{}, false
	}
	g.breaker.probing = p.probe
	g.inFlight++
	if gap := g.limit.gap(); gap > 0 {
		g.held = now.Add(gap)
	}
	return p, true
}

// dispatch starts all calls that may start, and schedules the others; g.mu is held.
func (g *gate) dispatch(now time.Time) {
	for g.queue.Len() > 0 {
		p, ok := g.admit(now)
		if !ok {
			break
		}
		t := g.queue.Remove(g.queue.Front()).(*ticket)
		t.permit = p
		close(t.ready)
	}
	g.schedule(now)
}

// schedule wakes the queue when the next call may start, where only time keeps
// it waiting. It replaces a timer that may be due already, so only dispatch
// calls it; g.mu is held.
func (g *gate) schedule(now time.Time) {
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

// verdict says what follows from a failed attempt besides its error.
type verdict struct {
	again bool  // it was a probe: it does not count, and the call waits again
	free  bool  // the provider is down: the attempt does not count
	busy  bool  // the provider is overloaded: the attempt counts half
	final bool  // no further attempt
	err   error // replaces the attempt's own
}

// leave ends an attempt of the call under key.
func (g *gate) leave(p permit, key cache.Key, o outcome) verdict {
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
func (g *gate) hold(now time.Time, p permit, o outcome) (notice string) {
	until := now
	if o.loaded && g.limit.refused(p.round, g.inFlight+1) {
		until = now.Add(g.retry.hold(g.limit.holds))
	}
	if o.after > 0 && o.after <= g.retry.MaxAfter && now.Add(o.after).After(until) {
		until = now.Add(o.after)
		if o.after >= noteworthy && !g.held.After(now) {
			notice = fmt.Sprintf("the provider asks to wait: no calls for %v", o.after)
		}
	}
	if until.After(g.held) {
		g.held = until
	}
	return notice
}

// working reports whether the provider seems to be up, so that a refusal is a
// sign of load and not of an outage: the last answer is recent, or no answer has
// come yet and other calls are in flight; g.mu is held.
func (g *gate) working(now time.Time) bool {
	if g.limit.trip == 0 {
		return g.inFlight > 0
	}
	return now.Sub(g.silence.since) < 2*g.limit.trip
}

// judge updates the breaker with the outcome of an attempt; g.mu is held.
func (g *gate) judge(now time.Time, p permit, key cache.Key, o outcome) (v verdict, notice string) {
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
		if b.failed(now, p.generation, key) {
			notice = fmt.Sprintf("provider is down: paused, trying again for up to %v (Ctrl-C ends it, and the same command goes on): %v", b.patience, o.err)
		}
		v.free = b.open || p.generation != b.generation
	case p.probe:
		b.probing = false // nothing was learned: the next in the queue probes
	}
	return v, notice
}

// errDown says that the provider was down for longer than Options.Patience.
var errDown = errors.New("provider is down")

// giveUp ends a pause without an answer. If several calls have failed, those
// that wait fail with this one; g.mu is held.
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

// outcome is what an attempt says about the provider.
type outcome struct {
	answered bool          // it gave a completion
	alive    bool          // it gave a reply, if only a refusal
	loaded   bool          // it is overloaded, or a rate limit is reached
	down     bool          // it cannot be reached or cannot work
	after    time.Duration // its Retry-After
	err      error
}

// outcomeOf classifies an attempt. One that ended with ctx or in an unknown way
// says nothing about the provider.
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

// statusOverloaded is how Anthropic's servers say that they are overloaded.
const statusOverloaded = 529
