package gateway

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"noema/cache"
	"noema/methods"
)

// waiting is how many wait for the flight of key.
func waiting[R any](f *flights[R], key cache.Key) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if fl := f.underWay[key]; fl != nil {
		return fl.waiters
	}
	return 0
}

// TestIdenticalRequestsBecomeOneCall: 100 trials ask the same at the same
// time while the provider takes its time.
func TestIdenticalRequestsBecomeOneCall(t *testing.T) {
	release := make(chan struct{})
	m := &model{answer: func(ctx context.Context, n int64, _ methods.Request) (methods.Completion, error) {
		<-release
		return numbered(n), nil
	}}
	store := openStore(t, t.TempDir())
	g := newGateway(t, Options{Store: store, Provider: m})
	check := noNewGoroutines(t)
	key := cache.CompletionKey(g.id, 0, ask("same", ""))
	var wg sync.WaitGroup
	hosts := make([]*Host, 100)
	for i := range hosts {
		hosts[i] = g.Host(trialOf("m", "s", 0))
		wg.Go(func() {
			if c, err := hosts[i].Complete(context.Background(), ask("same", "p")); err != nil || c.Text != "answer 1" {
				t.Errorf("%q, %v", c.Text, err)
			}
		})
	}
	eventually(t, "100 waiters", func() bool { return waiting(&g.flights, key) == 100 })
	close(release)
	wg.Wait()
	check()
	asked := 0
	for _, h := range hosts {
		r := h.Report()
		asked += r.Provider
		if r.Usage.Calls != 1 || r.Usage.Cost != 7 {
			t.Errorf("a trial is charged %+v", r.Usage)
		}
	}
	if s := g.Stats(); m.calls.Load() != 1 || asked != 1 || s.Provider != 1 || s.Cached != 99 {
		t.Errorf("%d calls, %d of trials, stats %+v", m.calls.Load(), asked, s)
	}
}

// TestWaiterLeaves: who no longer waits gets its own context's error, and the
// others their answer, also when it was the first who left.
func TestWaiterLeaves(t *testing.T) {
	release := make(chan struct{})
	m := &model{answer: func(ctx context.Context, n int64, _ methods.Request) (methods.Completion, error) {
		select {
		case <-release:
			return numbered(n), nil
		case <-ctx.Done():
			return methods.Completion{}, ctx.Err()
		}
	}}
	g := newGateway(t, Options{Store: openStore(t, t.TempDir()), Provider: m})
	check := noNewGoroutines(t)
	key := cache.CompletionKey(g.id, 0, ask("same", ""))
	errFed := errors.New("fed up")
	first, leave := context.WithCancelCause(context.Background())
	left := make(chan error, 1)
	leaver := g.Host(trialOf("m", "s", 0))
	go func() {
		_, err := leaver.Complete(first, ask("same", "p"))
		left <- err
	}()
	eventually(t, "the first waiter", func() bool { return waiting(&g.flights, key) == 1 })
	stayed := make(chan methods.Completion, 1)
	stayer := g.Host(trialOf("m", "t", 0))
	go func() {
		c, err := stayer.Complete(context.Background(), ask("same", "p"))
		if err != nil {
			t.Error(err)
		}
		stayed <- c
	}()
	eventually(t, "the second waiter", func() bool { return waiting(&g.flights, key) == 2 })
	leave(errFed)
	if err := <-left; !errors.Is(err, errFed) {
		t.Errorf("who left got %v", err)
	}
	close(release)
	if c := <-stayed; c.Text != "answer 1" {
		t.Errorf("who stayed got %q", c.Text)
	}
	check()
	if calls := leaver.Report().Calls; len(calls) != 0 {
		t.Errorf("a call that its caller gave up is in the transcript: %+v", calls)
	}
}

// TestAllLeave: the call ends with its last waiter, and who comes later
// starts anew.
func TestAllLeave(t *testing.T) {
	began, ended, linger := make(chan struct{}), make(chan struct{}), make(chan struct{})
	m := &model{answer: func(ctx context.Context, n int64, _ methods.Request) (methods.Completion, error) {
		if n > 1 {
			return numbered(n), nil
		}
		close(began)
		<-ctx.Done()
		close(ended)
		<-linger // slow to end: nobody may join it meanwhile
		return methods.Completion{}, ctx.Err()
	}}
	g := newGateway(t, Options{Store: openStore(t, t.TempDir()), Provider: m})
	check := noNewGoroutines(t)
	key := cache.CompletionKey(g.id, 0, ask("same", ""))
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			if _, err := g.Host(trialOf("m", "s", 0)).Complete(ctx, ask("same", "p")); !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
		})
	}
	<-began
	eventually(t, "10 waiters", func() bool { return waiting(&g.flights, key) == 10 })
	cancel()
	wg.Wait()
	<-ended
	later, stop := context.WithTimeout(context.Background(), 10*time.Second)
	defer stop()
	if c, err := g.Host(trialOf("m", "s", 0)).Complete(later, ask("same", "p")); err != nil || c.Text != "answer 2" {
		t.Errorf("later: %q", c.Text)
	}
	close(linger)
	check()
}

// TestFailureIsNotKept: all who wait share a failure, and the next who asks
// makes a new call.
func TestFailureIsNotKept(t *testing.T) {
	m := &model{answer: func(_ context.Context, n int64, _ methods.Request) (methods.Completion, error) {
		if n == 1 {
			return methods.Completion{}, errors.New("broken")
		}
		return numbered(n), nil
	}}
	g := newGateway(t, Options{Store: openStore(t, t.TempDir()), Provider: m})
	h := g.Host(trialOf("m", "s", 0))
	if _, err := h.Complete(t.Context(), ask("q", "p1")); !errors.Is(err, methods.ErrProvider) {
		t.Fatalf("error %v", err)
	}
	if c := mustComplete(t, h, ask("q", "p2")); c.Text != "answer 2" {
		t.Errorf("then %q", c.Text)
	}
}

// TestCancelledBeforeIsNotAsked: a dead context reaches no provider.
func TestCancelledBeforeIsNotAsked(t *testing.T) {
	m := &model{}
	g := newGateway(t, Options{Store: openStore(t, t.TempDir()), Provider: m})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	h := g.Host(trialOf("m", "s", 0))
	if _, err := h.Complete(ctx, ask("q", "p")); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if m.calls.Load() != 0 || len(h.Report().Calls) != 0 {
		t.Errorf("%d calls, transcript %+v", m.calls.Load(), h.Report().Calls)
	}
}

// TestPaidAnswerIsKept: an answer that comes after everybody left is not
// asked for again.
func TestPaidAnswerIsKept(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	m := &model{answer: func(flight context.Context, n int64, _ methods.Request) (methods.Completion, error) {
		if n == 1 {
			cancel()
			<-flight.Done()
		}
		return numbered(n), nil
	}}
	store := openStore(t, t.TempDir())
	g := newGateway(t, Options{Store: store, Provider: m})
	if _, err := g.Host(trialOf("m", "s", 0)).Complete(ctx, ask("q", "p")); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	g.Wait(10 * time.Second)
	again := newGateway(t, Options{Store: store, Provider: m})
	if c := mustComplete(t, again.Host(trialOf("m", "s", 0)), ask("q", "p")); c.Text != "answer 1" || m.calls.Load() != 1 {
		t.Errorf("%q after %d calls", c.Text, m.calls.Load())
	}
}
