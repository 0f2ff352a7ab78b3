package gateway

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"time"

	"noema/cache"
	"noema/kernel/base/pause"
	"noema/kernel/model/provider"
)

// Retry says how failed attempts are repeated: with exponential backoff from
// Base up to Max, with jitter, or after a server's Retry-After if that is longer.
type Retry struct {
	// Attempts is their number in all. A refusal for load counts half while
	// other calls are answered: it is not the call's fault. Default 6.
	Attempts int
	Base     time.Duration // first wait; default 500 ms
	Max      time.Duration // longest wait of our own choice; default 30 s
	// MaxAfter is the longest Retry-After to wait for; a longer one fails the
	// call. Default 10 min.
	MaxAfter time.Duration
}

func (r Retry) withDefaults() Retry {
	return Retry{
		Attempts: cmp.Or(r.Attempts, 6), Base: cmp.Or(r.Base, 500*time.Millisecond),
		Max: cmp.Or(r.Max, 30*time.Second), MaxAfter: cmp.Or(r.MaxAfter, 10*time.Minute),
	}
}

// mostAdapted bounds the attempts of a call after which the provider says that
// it has adapted: more than any protocol has parameters that a server may refuse.
const mostAdapted = 12

// run repeats attempt until it succeeds, fails for good or ctx ends, and calls
// failed for each failure. A form of the request that the provider will not send
// again costs the call no attempt, and the next one is made at once.
func (r Retry) run(ctx context.Context, key cache.Key, attempt func(context.Context) (verdict, error), failed func(cache.Attempt)) error {
	for spent, adapted, n := 0, 0, 1; ; n++ {
		v, err := attempt(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if v.final {
			return err
		}
		note := cache.Attempt{Kind: "error", Message: err.Error()}
		var pe *provider.Error
		if errors.As(err, &pe) {
			note.Kind, note.Status = string(pe.Kind), pe.Status
		}
		atOnce := pe != nil && pe.Kind == provider.Adapted && adapted < mostAdapted
		switch {
		case atOnce:
			adapted++
		case v.free:
		case v.busy:
			spent++
		default:
			spent += 2
		}
		final := spent >= 2*r.Attempts || !provider.Retryable(err) || pe.RetryAfter > r.MaxAfter
		if !final && !atOnce {
			note.Wait = r.wait(key, n-adapted, pe.RetryAfter)
		}
		failed(note)
		if final {
			return err
		}
		if err := pause.For(ctx, note.Wait); err != nil {
			return err
		}
	}
}

// hold is how long no call starts after n whole rounds in a row were refused. It
// is shorter than the backoff of any of the refused calls.
func (r Retry) hold(n int) time.Duration { return r.backoff(n) / 2 }

// backoff is the n-th wait, without jitter.
func (r Retry) backoff(n int) time.Duration {
	if n < 32 && r.Base<<(n-1) > 0 && r.Base<<(n-1) < r.Max {
		return r.Base << (n - 1)
	}
	return r.Max
}

// wait is how long to wait after the n-th failure. The jitter, between half
// and all of the wait, comes from the key: calls that fail together do not
// come back together, and nothing here is random.
func (r Retry) wait(key cache.Key, n int, after time.Duration) time.Duration {
	wait := r.backoff(n)
	bits := binary.BigEndian.Uint64(key[(n%4)*8:])
	jitter := float64(bits>>11) / (1 << 53)
	wait = wait/2 + time.Duration(jitter*float64(wait/2))
	return max(wait, after)
}
