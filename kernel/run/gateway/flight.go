package gateway

import (
	"context"
	"fmt"
	"sync"

	"noema/cache"
)

// flights does identical work that is asked for at the same time once. Unlike in
// x/sync/singleflight, a caller's cancellation does not end the work that others
// wait for: it is cancelled when the last waiter has left, and a later caller
// starts anew.
type flights[R any] struct {
	running   *sync.WaitGroup
	abandoned func(R) // called with a result that nobody waited for; may be nil

	mu       sync.Mutex
	underWay map[cache.Key]*flight[R]
}

type flight[R any] struct {
	cancel  context.CancelFunc
	waiters int
	ended   bool
	done    chan struct{} // closed when result and err are set
	result  R
	err     error
}

// do returns what work returns, with at most one work per key under way. work
// runs in a goroutine of its own, with a context that outlives ctx as long as
// anyone waits.
func (f *flights[R]) do(ctx context.Context, key cache.Key, work func(context.Context) (R, error)) (R, error) {
	f.mu.Lock()
	fl := f.underWay[key]
	if fl == nil {
		fl = f.start(ctx, key, work)
	}
	fl.waiters++
	f.mu.Unlock()

	select {
	case <-fl.done:
		return fl.result, fl.err
	case <-ctx.Done():
		f.mu.Lock()
		defer f.mu.Unlock()
		if fl.ended { // at the same moment: somebody must take the result
			return fl.result, fl.err
		}
		if fl.waiters--; fl.waiters == 0 {
			fl.cancel()
			f.forget(key, fl)
		}
		var none R
		return none, context.Cause(ctx)
	}
}

// start begins a flight; f.mu is held.
func (f *flights[R]) start(ctx context.Context, key cache.Key, work func(context.Context) (R, error)) *flight[R] {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	fl := &flight[R]{cancel: cancel, done: make(chan struct{})}
	if f.underWay == nil {
		f.underWay = map[cache.Key]*flight[R]{}
	}
	f.underWay[key] = fl
	f.running.Go(func() {
		defer cancel()
		fl.result, fl.err = guarded(ctx, work)
		f.mu.Lock()
		f.forget(key, fl)
		fl.ended = true
		alone := fl.waiters == 0
		f.mu.Unlock()
		close(fl.done)
		if alone && fl.err == nil && f.abandoned != nil {
			f.abandoned(fl.result)
		}
	})
	return fl
}

// guarded turns a panic of a provider or a tool into an error: it must fail the
// calls that wait for it, not the whole process.
func guarded[R any](ctx context.Context, work func(context.Context) (R, error)) (result R, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panicked: %v", r)
		}
	}()
	return work(ctx)
}

// forget removes fl unless another flight has taken its place; f.mu is held.
func (f *flights[R]) forget(key cache.Key, fl *flight[R]) {
	if f.underWay[key] == fl {
		delete(f.underWay, key)
	}
}
