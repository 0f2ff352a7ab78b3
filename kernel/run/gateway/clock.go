package gateway

import (
	"context"
	"sync"
	"time"
)

// Clock bounds the time of a trial, so that a method that hangs does not hang the run.
// It stands while a call to a model is under way: how long that takes, with its turn,
// its repetitions and an outage, is the provider's doing, and has limits of its own.
// nil bounds nothing.
type Clock struct {
	mu    sync.Mutex
	timer *time.Timer
	left  time.Duration // when it was started last
	since time.Time     // when that was
	calls int           // under way
}

// WithClock is context.WithTimeoutCause with a clock that a [Trial] takes to stop it.
// The context has no deadline. The returned function frees the timer.
func WithClock(ctx context.Context, limit time.Duration, cause error) (context.Context, *Clock, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	c := &Clock{left: limit, since: time.Now(), timer: time.AfterFunc(limit, func() { cancel(cause) })}
	return ctx, c, func() {
		c.timer.Stop()
		cancel(context.Canceled)
	}
}

// stand stops the clock until the returned function is called.
func (c *Clock) stand() (goOn func()) {
	if c == nil {
		return func() {}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls++; c.calls == 1 && c.timer.Stop() {
		c.left -= time.Since(c.since)
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.calls--; c.calls == 0 {
			c.since = time.Now()
			c.timer.Reset(max(c.left, 0))
		}
	}
}
