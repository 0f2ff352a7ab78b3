package gateway

import (
	"time"

	"noema/cache"
)

// breaker is a circuit breaker: it opens after several failures in a row that
// are the provider's and not a request's. While it is open, calls wait, and one
// at a time is let through as a probe, until one is answered.
//
// A provider that has never answered in this execution may be down or may be a
// wrong address. Opening then takes unheard times as many failures: a small run
// fails in seconds with its calls' own errors, and a large one waits, as for a
// server that still loads its model.
//
// It has no clock and no lock: the gate has both.
type breaker struct {
	after    int           // failures in a row that open it
	patience time.Duration // longest pause

	heard      bool      // the provider has answered in this execution
	failures   int       // in a row, while closed
	suspect    cache.Key // the call that failed first in that row
	several    bool      // another one failed, too
	generation uint64    // changes with open; a call belongs to the generation in which it started

	open    bool
	since   time.Time     // when it opened
	next    time.Time     // no probe before
	wait    time.Duration // between the last probe and the next
	probing bool          // a probe is under way
	pauses  int
	total   time.Duration // of the pauses that are over
}

const (
	firstProbe = time.Second
	lastProbe  = time.Minute
	unheard    = 4
	// lonely is the longest pause if only one call has failed: the provider
	// may be up and that request one that crashes it, which must not delay the
	// end of a run for long.
	lonely = 2 * time.Minute
)

// failed counts a failure of a call of that generation and reports whether it opened
// the breaker. Calls of an earlier generation do not count.
func (b *breaker) failed(now time.Time, generation uint64, key cache.Key) bool {
	if b.open || generation != b.generation {
		return false
	}
	b.accuse(key)
	b.failures++
	threshold := b.after
	if !b.heard {
		threshold *= unheard
	}
	if b.failures < threshold {
		return false
	}
	b.open, b.since, b.wait, b.next = true, now, firstProbe, now.Add(firstProbe)
	b.generation++
	b.pauses++
	return true
}

// accuse records whether one call or several have failed.
func (b *breaker) accuse(key cache.Key) {
	if b.failures == 0 {
		b.suspect, b.several = key, false
	}
	b.several = b.several || key != b.suspect
}

// mayProbe reports whether a probe may start.
func (b *breaker) mayProbe(now time.Time) bool {
	return b.open && !b.probing && !now.Before(b.next)
}

// probeFailed sets the time of the next probe, or reports that the pause has
// lasted long enough.
func (b *breaker) probeFailed(now time.Time, key cache.Key) (over bool) {
	b.accuse(key)
	b.failures++
	b.probing = false
	end := b.since.Add(b.patience)
	if !b.several {
		end = b.since.Add(min(b.patience, lonely))
	}
	if !now.Before(end) {
		return true
	}
	b.wait = min(2*b.wait, lastProbe)
	b.next = now.Add(b.wait)
	if b.next.After(end) {
		b.next = end // the last one
	}
	return false
}

// close forgets the failures and returns how long the pause was; 0 if there was
// none.
func (b *breaker) close(now time.Time) time.Duration {
	b.failures, b.probing = 0, false
	if !b.open {
		return 0
	}
	paused := now.Sub(b.since)
	b.total += paused
	b.open = false
	b.generation++
	return paused
}

// paused is the length of all pauses, the present one included.
func (b *breaker) paused(now time.Time) time.Duration {
	if b.open {
		return b.total + now.Sub(b.since)
	}
	return b.total
}
