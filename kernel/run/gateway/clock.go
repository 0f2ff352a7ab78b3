package gateway

import (
	"context"
	"time"
)

// WithTimeout is context.WithTimeoutCause with a clock that stops while the
// provider is down, so that a trial does not time out because of an outage. The
// context has no deadline, and ends up to a second late if its time is up during
// a pause. It holds no goroutine; the returned function frees its timer.
func (g *Gateway) WithTimeout(ctx context.Context, d time.Duration, cause error) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	start := time.Now()
	_, before := g.gate.pausing(start)
	var timer *time.Timer
	ready := make(chan struct{}) // closed when timer is set
	timer = time.AfterFunc(d, func() {
		<-ready
		now := time.Now()
		open, paused := g.gate.pausing(now)
		left := d - (now.Sub(start) - (paused - before))
		switch {
		case ctx.Err() != nil:
		case open:
			timer.Reset(max(left, time.Second))
		case left > 0:
			timer.Reset(left)
		default:
			cancel(cause)
		}
	})
	close(ready)
	return ctx, func() {
		timer.Stop()
		cancel(context.Canceled)
	}
}

// pausing reports whether the provider is down, and how long it was in all.
func (g *gate) pausing(now time.Time) (bool, time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.breaker.open, g.breaker.paused(now)
}
