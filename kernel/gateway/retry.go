package gateway

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"time"

	"noema/cache"
	"noema/kernel/provider"
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

// run repeats attempt until it succeeds, fails for good or ctx ends, and calls
// failed for each failure.
func (r Retry) run(ctx context.Context, key cache.Key, attempt func(context.Context) (verdict, error), failed func(cache.Attempt)) error {
	for spent, n := 0, 1; ; n++ {
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
		switch {
		case v.free:
		case v.busy:
			spent++
		default:
			spent += 2
		}
		note := cache.Attempt{Kind: "error", Message: err.Error()}
		var pe *provider.Error
		if errors.As(err, &pe) {
			note.Kind, note.Status = string(pe.Kind), pe.Status
		}
		final := spent >= 2*r.Attempts || !provider.Retryable(err) || pe.RetryAfter > r.MaxAfter
		if !final {
			note.Wait = r.wait(key, n, pe.RetryAfter)
		}
		failed(note)
		if final {
			return err
		}
		if err := pause(ctx, note.Wait); err != nil {
			return err
		}
	}
}

// pause waits for d or until ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
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
