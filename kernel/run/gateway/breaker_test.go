package gateway

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"noema/kernel/base/pause"
	"noema/kernel/model/provider"
	"noema/kernel/result/record"
	"noema/methods"
)

// outage is a provider that is down for some time after a number of answers.
// A call takes a second.
type outage struct {
	kind provider.Kind
	from int64         // answers before it
	last time.Duration // 0 means for ever

	mu       sync.Mutex
	answered int64
	began    time.Time
	tries    []time.Duration // attempts while down, since it began
	bad      func(methods.Request) bool
}

func (o *outage) Info() provider.Info { return (&model{}).Info() }

func (o *outage) Complete(ctx context.Context, r methods.Request) (methods.Completion, error) {
	if err := pause.For(ctx, time.Second); err != nil {
		return methods.Completion{}, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.answered >= o.from && o.began.IsZero() {
		o.began = time.Now()
	}
	down := o.answered >= o.from && (o.last == 0 || time.Since(o.began) < o.last)
	if down {
		o.tries = append(o.tries, time.Since(o.began))
	}
	if down || o.bad != nil && o.bad(r) {
		return methods.Completion{}, &provider.Error{Kind: o.kind, Err: errors.New("connection refused")}
	}
	o.answered++
	c := numbered(o.answered)
	c.Usage.Latency = 0
	return c, nil
}

// TestOutage: the run pauses, asks at growing intervals, one call at a time,
// and goes on when it is over. No call fails, whichever kind of failure it is
// and however few attempts a call has.
func TestOutage(t *testing.T) {
	for _, kind := range []provider.Kind{provider.Network, provider.Unavailable} {
		for _, callers := range []int{1, 5, 200} {
			t.Run(fmt.Sprint(kind, " ", callers), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					o := &outage{kind: kind, from: 100, last: 20 * time.Minute}
					if callers == 1 {
						o.last = 90 * time.Second // one call's word counts for less
					}
					var said []string
					g := newGateway(t, Options{Provider: o, Mode: Off, Warn: func(s string) { said = append(said, s) }})
					if _, failed := all(600, callers, adaptive(g)); failed > 0 || o.answered != 600 {
						t.Errorf("%d failed, %d answered", failed, o.answered)
					}
					checkProbes(t, o)
					s := g.Stats()
					if s.Pauses != 1 || s.Paused < o.last-20*time.Second || s.Paused > o.last+2*time.Minute || s.Failed != len(o.tries) {
						t.Errorf("stats %+v after %d failures", s, len(o.tries))
					}
					if len(said) != 2 || !strings.HasPrefix(said[0], "provider is down: paused, trying again for up to 30m0s (Ctrl-C ends it, and the same command goes on): provider "+string(kind)+": connection refused") ||
						!strings.HasPrefix(said[1], "provider is back after ") {
						t.Errorf("said %q", said)
					}
				})
			})
		}
	}
}

// checkProbes holds that after the last of the calls that failed together the
// attempts are 1, 2, 4 … 60 s apart, each of a second.
func checkProbes(t *testing.T, o *outage) {
	t.Helper()
	var gaps []time.Duration
	for i := len(o.tries) - 1; i > 0; i-- {
		gaps = append(gaps, o.tries[i]-o.tries[i-1]-time.Second)
	}
	slices.Reverse(gaps)
	want := []time.Duration{2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 32 * time.Second, time.Minute, time.Minute}
	at := slices.Index(gaps, want[0])
	if at < 0 {
		t.Fatalf("gaps %v", gaps)
	}
	for i, gap := range gaps[at:] {
		if gap != want[min(i, len(want)-1)] {
			t.Errorf("gaps %v", gaps[at:])
			return
		}
	}
}

// TestOutageBurnsNoRetries: one attempt is all that each call has, and it is
// enough for those that wait.
func TestOutageBurnsNoRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &outage{kind: provider.Network, from: 64, last: 10 * time.Minute}
		g := newGateway(t, Options{Provider: o, Mode: Off, Retry: Retry{Attempts: 1}})
		// Only the four that failed before the fifth cannot be helped.
		if _, failed := all(500, 64, adaptive(g)); failed != 4 || o.answered != 496 {
			t.Errorf("%d failed, %d answered", failed, o.answered)
		}
	})
}

// TestPatienceEnds: the run stops with the provider's own words, all who wait
// fail together, and nobody asks any more.
func TestPatienceEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &outage{kind: provider.Network, from: 10}
		g := newGateway(t, Options{Provider: o, Mode: Off, Patience: 5 * time.Minute})
		took, failed := all(100, 20, adaptive(g))
		if failed != 90 || took < 5*time.Minute || took > 5*time.Minute+20*time.Second {
			t.Errorf("%d failed in %v", failed, took)
		}
		err := g.Fatal()
		if !errors.Is(err, methods.ErrProvider) || !strings.Contains(err.Error(), "provider is down: no answer for 5m1s: provider network: connection refused") || !strings.Contains(err.Error(), "run the same command to go on") {
			t.Errorf("fatal: %v", err)
		}
		tries := len(o.tries)
		if err := adaptive(g)(7); err == nil || len(o.tries) != tries {
			t.Errorf("a call afterwards: %v, %d attempts", err, len(o.tries)-tries)
		}
		if s := g.Stats(); s.Failed != tries {
			t.Errorf("stats %+v, %d failures", s, tries)
		}
	})
}

// TestNeverHeard: a provider that has not answered yet takes 20 failures to be
// down: a lone call with a wrong address fails as if there were no breaker,
// and a run waits for a server that starts late.
func TestNeverHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &outage{kind: provider.Network}
		g := newGateway(t, Options{Provider: o, Mode: Off})
		if _, failed := all(3, 3, adaptive(g)); failed != 3 || len(o.tries) != 18 || g.Stats().Pauses != 0 || g.Fatal() != nil {
			t.Errorf("%d failed, %d attempts, fatal %v", failed, len(o.tries), g.Fatal())
		}
	})
	synctest.Test(t, func(t *testing.T) {
		o := &outage{kind: provider.Network, last: 10 * time.Minute}
		g := newGateway(t, Options{Provider: o, Mode: Off})
		if _, failed := all(100, 16, adaptive(g)); failed != 0 || g.Stats().Pauses != 1 {
			t.Errorf("%d failed, stats %+v", failed, g.Stats())
		}
	})
}

// TestPoison: a request that the provider cannot stand is not taken for an
// outage while others are answered, and at the end of a run, alone, holds it
// up for two minutes and not for Patience. Only its own call fails.
func TestPoison(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &outage{kind: provider.Unavailable, from: 1 << 40, bad: func(r methods.Request) bool { return r.Messages[0].Content == "1" }}
		g := newGateway(t, Options{Provider: o, Mode: Off, Retry: Retry{Attempts: 9}})
		took, failed := all(40, 8, adaptive(g))
		if failed != 1 || g.Stats().Pauses != 1 || o.answered != 39 || g.Fatal() != nil || took > 3*time.Minute {
			t.Errorf("%d failed in %v, %d answered, fatal %v", failed, took, o.answered, g.Fatal())
		}
		if err := adaptive(g)(2); err != nil {
			t.Errorf("afterwards: %v", err)
		}
	})
}

// TestLeavingWhilePaused: a wait ends with its context, with its cause, also
// that of the call that probes; the next one probes in its place.
func TestLeavingWhilePaused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &outage{kind: provider.Network, from: 1, last: 3 * time.Minute}
		g := newGateway(t, Options{Provider: o, Mode: Off})
		cause := errors.New("the trial is over")
		var wg sync.WaitGroup
		for i := range 30 {
			wg.Go(func() {
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				if i < 25 {
					time.AfterFunc(time.Minute+time.Duration(i)*time.Second, func() { cancel(cause) })
				}
				h := g.Host(trialOf("m", fmt.Sprint(i), 0))
				var err error
				for n := 0; err == nil && n < 2; n++ {
					_, err = h.Complete(ctx, ask(fmt.Sprint(i), fmt.Sprint(n)))
				}
				if errors.Is(err, cause) != (i < 25) || i >= 25 && err != nil {
					t.Errorf("call %d: %v", i, err)
				}
			})
		}
		wg.Wait()
		if g.gate.inFlight != 0 || g.gate.queue.Len() != 0 || g.gate.timer != nil || g.gate.breaker.open || g.gate.breaker.probing {
			t.Errorf("left: %+v", &g.gate.breaker)
		}
	})
}

// TestProberLeaves: the call that probes is given up while it does; the next
// one probes at once.
func TestProberLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &outage{kind: provider.Network, from: 1, last: time.Minute}
		g := newGateway(t, Options{Provider: o, Mode: Off})
		h := g.Host(trialOf("m", "s", 0))
		mustComplete(t, h, ask("q", "p"))
		ctx, cancel := context.WithCancelCause(t.Context())
		left := make(chan error)
		go func() {
			_, err := h.Complete(ctx, ask("first", "p"))
			left <- err
		}()
		probing := func() bool {
			g.gate.mu.Lock()
			defer g.gate.mu.Unlock()
			return g.gate.breaker.probing
		}
		for !probing() { // time passes only when all wait
			if err := pause.For(t.Context(), 100*time.Millisecond); err != nil {
				t.Fatal(err)
			}
		}
		cause := errors.New("enough")
		cancel(cause)
		if err := <-left; !errors.Is(err, cause) {
			t.Errorf("%v", err)
		}
		tries, start := len(o.tries), time.Now()
		mustComplete(t, h, ask("second", "p"))
		if len(o.tries) > tries && o.began.Add(o.tries[tries]).Sub(start) != time.Second {
			t.Errorf("the next probe began %v later", o.began.Add(o.tries[tries]).Sub(start)-time.Second)
		}
	})
}

// TestPassOfOneWhoLeft: a pass that comes as its caller leaves goes to the next
// in the queue, a probe's, too.
func TestPassOfOneWhoLeft(t *testing.T) {
	g := &newGateway(t, Options{Provider: &model{}, Mode: Off}).gate
	for name, open := range map[string]bool{"call": false, "probe": true} {
		g.breaker.open = open
		p, ok := g.admit(time.Now())
		if !ok || p.probe != open {
			t.Fatalf("%s: %+v, %t", name, p, ok)
		}
		left := &ticket{ready: make(chan struct{}), permit: p}
		close(left.ready)
		g.abandon(nil, left)
		if g.inFlight != 0 || g.breaker.probing {
			t.Errorf("%s: %d in flight, probing %t", name, g.inFlight, g.breaker.probing)
		}
	}
}

// TestStaleFailures: what fails of the calls from before a pause, after it, is
// no sign of another outage.
func TestStaleFailures(t *testing.T) {
	b := breaker{after: 5, patience: time.Hour, heard: true}
	now := time.Now()
	for i := range 4 {
		if b.failed(now, 0, [32]byte{byte(i)}) {
			t.Fatalf("open after %d", i+1)
		}
	}
	if !b.failed(now, 0, [32]byte{}) || b.close(now.Add(time.Minute)) != time.Minute {
		t.Fatal("not opened")
	}
	for range 100 {
		if b.failed(now, 0, [32]byte{}) {
			t.Fatal("opened by calls from before")
		}
	}
	for i := range 5 {
		if b.failed(now, b.generation, [32]byte{}) != (i == 4) {
			t.Errorf("failure %d", i+1)
		}
	}
}

// TestColdStart: after an outage, which may be the provider's start, calls
// come by and by, and up to what it stood before.
func TestColdStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &outage{kind: provider.Network, from: 500, last: time.Minute}
		g := newGateway(t, Options{Provider: o, Mode: Off})
		all(500, 64, adaptive(g))
		before := g.Stats().Limit
		all(5, 5, adaptive(g)) // opens the breaker, and waits until it is over
		if after := g.Stats().Limit; before != 64 || after != firstLimit {
			t.Errorf("limit %d, then %d", before, after)
		}
		all(500, 64, adaptive(g))
		if n := g.Stats().Limit; n < 57 {
			t.Errorf("limit %d in the end", n)
		}
	})
}

// TestOutageLeavesNoTrace: a trial that met an outage has the latency, the
// usage and, but for the attempts, the transcript of one that did not, and
// meets its limits at the same call.
func TestOutageLeavesNoTrace(t *testing.T) {
	run := func(t *testing.T, o *outage) (tr *record.Trial) {
		synctest.Test(t, func(t *testing.T) {
			trial := trialOf("m", "s", 0)
			trial.Limits = record.Limits{Time: 21500 * time.Millisecond}
			h := newGateway(t, Options{Provider: o, Mode: Off}).Host(trial)
			for n := range 24 {
				_, err := h.Complete(t.Context(), ask(fmt.Sprint(n), fmt.Sprint("P/", n)))
				if errors.Is(err, methods.ErrBudget) != (n >= 22) {
					t.Errorf("call %d: %v", n, err)
				}
			}
			tr = sealed(t, h)
		})
		return tr
	}
	calm := run(t, &outage{from: 1 << 40})
	held := run(t, &outage{kind: provider.Network, from: 10, last: time.Minute})
	if calm.Usage != held.Usage || held.Usage.Latency != 22*time.Second || held.Calls[10].Attempts == 0 {
		t.Errorf("usage %+v, without the outage %+v", held.Usage, calm.Usage)
	}
	for i := range held.Calls {
		held.Calls[i].Attempts = 0
	}
	if d := record.FirstDivergence(calm, held); d != nil {
		t.Error(d)
	}
}
