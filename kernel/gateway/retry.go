package gateway

import (
	"context"
	"encoding/binary"
	"errors"
	"time"

	"noema/cache"
	"noema/kernel/provider"
)

// Retry says how failed attempts are repeated. The wait doubles from Base up
// to Max, with jitter; a server's Retry-After takes its place when longer.
type Retry struct {
	// Attempts are how many there are in all. A refusal for load counts as half
	// of one while other calls are answered: it says nothing of the call.
	// Default 6.
	Attempts int
	Base     time.Duration // first wait; default 500 ms
	Max      time.Duration // longest wait of our own choice; default 30 s
	// MaxAfter is the longest Retry-After that is obeyed; a server that asks
	// for more fails the call. Default 10 min.
	MaxAfter time.Duration
}

func (r Retry) withDefaults() Retry {
	if r.Attempts <= 0 {
		r.Attempts = 6
	}
	if r.Base <= 0 {
		r.Base = 500 * time.Millisecond
	}
	if r.Max <= 0 {
		r.Max = 30 * time.Second
	}
	if r.MaxAfter <= 0 {
		r.MaxAfter = 10 * time.Minute
	}
	return r
}

// run repeats attempt until it succeeds, fails for good or ctx ends, and
// tells failed of each failure. Attempts that are free, or made again by
// attempt itself, are not counted.
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

// hold is how long no call starts after whole rounds were refused, n in a row.
// It is shorter than what any of the refused calls waits by itself.
func (r Retry) hold(n int) time.Duration { return r.backoff(n) / 2 }

// backoff is what doubles from Base up to Max.
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
