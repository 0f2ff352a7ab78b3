package gateway

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"noema/cache"
	"noema/kernel/model/provider"
	"noema/kernel/model/provider/scripted"
	"noema/methods"
)

// failing answers after the given failures.
func failing(faults ...error) *model {
	return &model{answer: func(_ context.Context, n int64, _ methods.Request) (methods.Completion, error) {
		if int(n) <= len(faults) {
			return methods.Completion{}, faults[n-1]
		}
		return numbered(n), nil
	}}
}

func fault(kind provider.Kind, after time.Duration) error {
	return &provider.Error{Kind: kind, RetryAfter: after, Err: errors.New("no")}
}

// TestRetry runs in a bubble of its own time, where waiting takes none.
func TestRetry(t *testing.T) {
	busy := fault(provider.Unavailable, 0)
	for name, c := range map[string]struct {
		faults   []error
		calls    int64
		min, max time.Duration // waited in all
		fails    bool
	}{
		"at once":            {nil, 1, 0, 0, false},
		"backoff doubles":    {[]error{busy, busy, busy}, 4, 1750 * time.Millisecond, 3500 * time.Millisecond, false},
		"backoff ends":       {[]error{busy, busy, busy, busy, busy, busy}, 6, 5 * time.Second, 15500 * time.Millisecond, true},
		"every kind":         {[]error{fault(provider.Network, 0), fault(provider.Malformed, 0), fault(provider.RateLimited, 0)}, 4, 1, time.Minute, false},
		"retry after":        {[]error{fault(provider.RateLimited, 42*time.Second)}, 2, 42 * time.Second, 42 * time.Second, false},
		"short retry after":  {[]error{fault(provider.RateLimited, time.Millisecond)}, 2, 250 * time.Millisecond, 500 * time.Millisecond, false},
		"retry after a day":  {[]error{fault(provider.RateLimited, 24*time.Hour)}, 1, 0, 0, true},
		"wrong key":          {[]error{fault(provider.Unauthorized, 0)}, 1, 0, 0, true},
		"no credit":          {[]error{fault(provider.Exhausted, 0)}, 1, 0, 0, true},
		"no such model":      {[]error{&provider.Error{Kind: provider.Rejected, Status: 404}}, 1, 0, 0, true},
		"adapted":            {slices.Repeat([]error{fault(provider.Adapted, 0)}, 8), 9, 0, 0, false},
		"adapted, then busy": {[]error{fault(provider.Adapted, 0), busy}, 3, time.Millisecond, 2 * time.Second, false},
		"adapted for ever":   {slices.Repeat([]error{fault(provider.Adapted, 0)}, 100), mostAdapted + 6, 1, time.Minute, true},
		"rejected":           {[]error{fault(provider.Rejected, 0)}, 1, 0, 0, true},
		"too long":           {[]error{fault(provider.ContextLength, 0)}, 1, 0, 0, true},
		"unknown failure":    {[]error{errors.New("odd")}, 1, 0, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := failing(c.faults...)
				g := newGateway(t, Options{Provider: m, Mode: Off})
				start := time.Now()
				_, err := g.Host(trialOf("m", "s", 0)).Complete(t.Context(), ask("q", "p"))
				waited := time.Since(start)
				if (err != nil) != c.fails || c.fails && !errors.Is(err, methods.ErrProvider) {
					t.Errorf("error %v", err)
				}
				if m.calls.Load() != c.calls || waited < c.min || waited > c.max {
					t.Errorf("%d calls in %v, want %d in %v to %v", m.calls.Load(), waited, c.calls, c.min, c.max)
				}
				if g.Fatal() != nil {
					t.Errorf("fatal: %v", g.Fatal())
				}
				if s := g.Stats(); s.Failed != int(min(c.calls, int64(len(c.faults)))) {
					t.Errorf("stats %+v", s)
				}
			})
		})
	}
}

// TestCancelEndsAWait: a trial that ends while its call waits to be repeated
// ends at once, with its own cause.
func TestCancelEndsAWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := failing(fault(provider.RateLimited, 5*time.Minute))
		g := newGateway(t, Options{Provider: m, Mode: Off})
		cause := errors.New("the trial is over")
		ctx, cancel := context.WithTimeoutCause(t.Context(), 10*time.Second, cause)
		defer cancel()
		start := time.Now()
		h := g.Host(trialOf("m", "s", 0))
		_, err := h.Complete(ctx, ask("q", "p"))
		if !errors.Is(err, cause) || errors.Is(err, methods.ErrProvider) || time.Since(start) != 10*time.Second || m.calls.Load() != 1 {
			t.Errorf("%v after %v and %d calls", err, time.Since(start), m.calls.Load())
		}
		if calls := h.Report().Calls; len(calls) != 0 {
			t.Errorf("transcript %+v", calls)
		}
	})
}

// TestWaitingHoldsNoSlot: while one call waits to be repeated, another goes.
func TestWaitingHoldsNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := failing(fault(provider.Malformed, 0))
		g := newGateway(t, Options{Provider: m, Mode: Off, MaxConnections: 1, Retry: Retry{Base: time.Minute}})
		start := time.Now()
		var wg sync.WaitGroup
		wg.Go(func() { mustComplete(t, g.Host(trialOf("m", "s", 0)), ask("waits", "p")) })
		synctest.Wait()
		mustComplete(t, g.Host(trialOf("m", "t", 0)), ask("goes", "p"))
		if d := time.Since(start); d != 0 {
			t.Errorf("the second call took %v", d)
		}
		wg.Wait()
	})
}

// TestJitterSpreads: calls that fail together do not come back together, and
// the same call always waits the same.
func TestJitterSpreads(t *testing.T) {
	r := Retry{}.withDefaults()
	waits := map[time.Duration]bool{}
	for i := range 100 {
		key := cache.CompletionKey(methods.ModelID{}, i, ask("q", ""))
		for n := 1; n < 40; n++ {
			w := r.wait(key, n, 0)
			if w < r.Base/2 || w > r.Max || w != r.wait(key, n, 0) {
				t.Fatalf("wait %d of key %d: %v", n, i, w)
			}
		}
		waits[r.wait(key, 1, 0)] = true
	}
	if len(waits) < 95 {
		t.Errorf("100 calls wait %d different times", len(waits))
	}
}

// TestAttemptsAreRecorded: the store keeps what failed before the answer, and
// a hit shows it again.
func TestAttemptsAreRecorded(t *testing.T) {
	script, err := scripted.Parse([]byte(`
rules:
  - match: flaky
    reply: at last
    fail_times: 2
    error: {status: 429, retry_after: 1ms, message: slow down}
`))
	if err != nil {
		t.Fatal(err)
	}
	p, err := scripted.New(script)
	if err != nil {
		t.Fatal(err)
	}
	store := openStore(t, t.TempDir())
	for _, when := range []string{"cold", "warm"} {
		g := newGateway(t, Options{Store: store, Provider: p, Retry: Retry{Base: time.Microsecond}})
		h := g.Host(trialOf("m", "s", 0))
		mustComplete(t, h, ask("flaky", "p"))
		if c := h.Report().Calls[0]; c.Attempts != 2 || c.Fault != "" {
			t.Errorf("%s: %+v", when, c)
		}
	}
	rec, err := store.Completion(t.Context(), cache.CompletionKey(p.Info().ID, 0, ask("flaky", "p")))
	if err != nil || len(rec.Attempts) != 2 {
		t.Fatalf("%+v, %v", rec, err)
	}
	for _, a := range rec.Attempts {
		if a.Kind != "rate_limited" || a.Status != 429 || a.Wait != time.Millisecond || !strings.Contains(a.Message, "slow down") {
			t.Errorf("attempt %+v", a)
		}
	}
}

// TestConnectionLimit: the limit is reached and never passed.
func TestConnectionLimit(t *testing.T) {
	const limit = 3
	var inFlight, most atomic.Int64
	release := make(chan struct{})
	m := &model{answer: func(_ context.Context, n int64, _ methods.Request) (methods.Completion, error) {
		now := inFlight.Add(1)
		defer inFlight.Add(-1)
		for {
			old := most.Load()
			if now <= old || most.CompareAndSwap(old, now) {
				break
			}
		}
		<-release
		return numbered(n), nil
	}}
	g := newGateway(t, Options{Store: openStore(t, t.TempDir()), Provider: m, MaxConnections: limit})
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() { mustComplete(t, g.Host(trialOf("m", "s", 0)), ask(fmt.Sprint(i), "p")) })
	}
	eventually(t, "calls up to the limit", func() bool { return inFlight.Load() == limit })
	close(release)
	wg.Wait()
	if most.Load() != limit || m.calls.Load() != 40 {
		t.Errorf("%d calls, %d at once", m.calls.Load(), most.Load())
	}
}
