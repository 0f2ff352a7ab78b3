package gateway

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"noema/cache"
	"noema/kernel/base/pause"
	"noema/kernel/model/provider"
	"noema/methods"
)

// stands is a provider that refuses what is more than it stands. It takes its
// time by the clock of a synctest bubble.
type stands struct {
	latency    func(n int64) time.Duration
	rate       float64 // tokens per second of its bucket; 0 means that it has none
	burst      float64
	status     int // of refusals
	retryAfter time.Duration

	mu       sync.Mutex
	atOnce   int // most calls at once; 0 means any number
	inFlight int
	most     int
	tokens   float64
	filled   time.Time
	answered int64
	refusals int64
	shutTo   time.Time // it refuses everything until then
	starts   []time.Time
	refused  []time.Time
}

func (s *stands) Info() provider.Info { return (&model{}).Info() }

func (s *stands) Complete(ctx context.Context, _ methods.Request) (methods.Completion, error) {
	if !s.begin() {
		// A refusal is fast, and yet has a way to go.
		if err := pause.For(ctx, time.Millisecond); err != nil {
			return methods.Completion{}, err
		}
		return methods.Completion{}, &provider.Error{Kind: provider.KindOf(s.status), Status: s.status, RetryAfter: s.retryAfter, Err: errors.New("too much")}
	}
	s.mu.Lock()
	s.answered++
	n := s.answered
	s.mu.Unlock()
	err := pause.For(ctx, s.latency(n))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inFlight--
	return numbered(n), err
}

// begin reports whether a call is stood.
func (s *stands) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.starts = append(s.starts, now)
	if s.filled.IsZero() {
		s.filled, s.tokens = now, s.burst
	}
	s.tokens = min(s.burst, s.tokens+s.rate*now.Sub(s.filled).Seconds())
	s.filled = now
	if now.Before(s.shutTo) || s.atOnce > 0 && s.inFlight >= s.atOnce || s.rate > 0 && s.tokens < 1 {
		s.refusals++
		s.refused = append(s.refused, now)
		return false
	}
	s.tokens--
	s.inFlight++
	s.most = max(s.most, s.inFlight)
	return true
}

func even(d time.Duration) func(int64) time.Duration {
	return func(int64) time.Duration { return d }
}

// uneven is between half and three times d, and d on average.
func uneven(d time.Duration) func(int64) time.Duration {
	return func(n int64) time.Duration {
		return d/2 + time.Duration(math.Exp(float64(n*7919%1000)/1000*math.Log(5))*float64(d)*0.2)
	}
}

// all makes n calls through ask, callers at once, and returns how long that
// took and how many failed for good.
func all(n, callers int, ask func(i int) error) (time.Duration, int) {
	var next, failed atomic.Int64
	start := time.Now()
	spread(callers, func() {
		for i := next.Add(1); i <= int64(n); i = next.Add(1) {
			if ask(int(i)) != nil {
				failed.Add(1)
			}
		}
	})
	return time.Since(start), int(failed.Load())
}

// fixed asks p with a number of calls at once that never changes: what there
// was before the limiter. The first wait after a failure is base.
func fixed(p provider.Provider, atOnce int, base time.Duration) func(int) error {
	retry := Retry{Attempts: 1000, Base: base}
	slots := make(chan struct{}, atOnce)
	return func(i int) error {
		key := cache.CompletionKey(methods.ModelID{}, i, ask("q", ""))
		return retry.withDefaults().run(context.Background(), key, func(ctx context.Context) (verdict, error) {
			slots <- struct{}{}
			defer func() { <-slots }()
			_, err := p.Complete(ctx, ask(fmt.Sprint(i), ""))
			return verdict{}, err
		}, func(cache.Attempt) {})
	}
}

// adaptive asks p through a gateway.
func adaptive(g *Gateway) func(int) error {
	return func(i int) error {
		_, err := g.Host(trialOf("m", fmt.Sprint(i), 0)).Complete(context.Background(), ask(fmt.Sprint(i), "p"))
		return err
	}
}

// TestThroughput: within 1.2 times of the best fixed number of calls at once in
// short runs, too, and no call fails; see TestBest.
func TestThroughput(t *testing.T) {
	const callers = 400
	for name, c := range map[string]struct {
		calls int
		serve func() *stands
		try   []int
	}{
		"503 beyond 50":   {5000, func() *stands { return &stands{atOnce: 50, status: 503, latency: uneven(time.Second)} }, []int{32, 45, 50, 55, 64}},
		"both":            {4000, func() *stands { return &stands{atOnce: 40, rate: 30, burst: 10, latency: uneven(time.Second)} }, []int{20, 25, 30, 35, 40}},
		"1 per 2 seconds": {300, func() *stands { return &stands{rate: 0.5, burst: 2, latency: even(time.Second)} }, []int{1, 2, 3}},
		"with retry after": {4000, func() *stands {
			return &stands{rate: 30, burst: 60, retryAfter: time.Second, latency: uneven(time.Second)}
		}, []int{25, 30, 35, 45}},
	} {
		t.Run(name, func(t *testing.T) {
			serve := func() *stands {
				s := c.serve()
				if s.status == 0 {
					s.status = 429
				}
				return s
			}
			best, at := time.Duration(math.MaxInt64), 0
			for _, n := range c.try {
				synctest.Test(t, func(t *testing.T) {
					if took, _ := all(c.calls, callers, fixed(serve(), n, 0)); took < best {
						best, at = took, n
					}
				})
			}
			synctest.Test(t, func(t *testing.T) {
				s := serve()
				took, failed := all(c.calls, callers, adaptive(newGateway(t, Options{Provider: s, Mode: Off, MaxConnections: 256})))
				ratio := float64(took) / float64(best)
				t.Logf("%v, %.3f of the best fixed (%v with %d at once); %d refusals for %d answers", took, ratio, best, at, s.refusals, s.answered)
				if ratio > 1.2 || failed > 0 || s.answered != int64(c.calls) {
					t.Errorf("ratio %.3f, %d failed, %d answers", ratio, failed, s.answered)
				}
			})
		})
	}
}

// TestSlowStart: from 8, twice as many in each round trip, up to the ceiling
// and never beyond; a ceiling below 8 is where it starts.
func TestSlowStart(t *testing.T) {
	for ceiling, want := range map[int][]int{3: {3, 3, 3}, 8: {8, 8}, 50: {8, 16, 32, 50, 50}} {
		synctest.Test(t, func(t *testing.T) {
			s := &stands{latency: even(time.Second)}
			g := newGateway(t, Options{Provider: s, Mode: Off, MaxConnections: ceiling})
			begin := time.Now()
			all(400, 400, adaptive(g))
			started := map[int]int{}
			for _, at := range s.starts {
				started[int(at.Sub(begin)/time.Second)]++
			}
			for second, n := range want {
				if started[second] != n {
					t.Errorf("ceiling %d: %d calls started in round %d, want %d", ceiling, started[second], second, n)
				}
			}
			if s.most > ceiling || g.Stats().Limit != ceiling {
				t.Errorf("ceiling %d: %d at once, limit %d in the end", ceiling, s.most, g.Stats().Limit)
			}
		})
	}
}

// TestUnusedLimitDoesNotGrow: one call after the other says nothing on two at
// once.
func TestUnusedLimitDoesNotGrow(t *testing.T) {
	g := newGateway(t, Options{Provider: &model{}, Mode: Off})
	all(200, 1, adaptive(g))
	if n := g.Stats().Limit; n != firstLimit {
		t.Errorf("limit %d", n)
	}
}

// TestOneDecreasePerRoundTrip: of forty calls that are refused together the
// first counts; one that starts afterwards counts again.
func TestOneDecreasePerRoundTrip(t *testing.T) {
	l := newLimiter(100, 0)
	l.limit, l.slowTo, l.noise.alone = 40, 0, 0
	for range 40 {
		l.refused(0, 40)
	}
	if l.now() != 36 || l.round != 1 {
		t.Fatalf("limit %v after round %d", l.limit, l.round)
	}
	if l.holds != 1 {
		t.Errorf("%d holds for a round that was all refused", l.holds)
	}
	for range 5 {
		l.answered(0, true, time.Second)
	}
	if l.now() != 36 {
		t.Errorf("answers to calls from before the decrease raised the limit to %v", l.limit)
	}
	l.refused(1, 36)
	if l.now() != 32 {
		t.Errorf("limit %v after a second refusal", l.limit)
	}
	l.refused(2, 32) // nothing was answered in between
	if l.now() != 16 {
		t.Errorf("limit %v after a third", l.limit)
	}
	for range 100 {
		l.refused(l.round, 1)
	}
	if l.limit != 1 || l.gap() != 0 {
		t.Errorf("limit %v after a storm", l.limit)
	}
	for range 1000 {
		l.answered(l.round, true, time.Second)
		for range 3 {
			l.refused(l.round, 1)
		}
	}
	if l.limit != lowestLimit || l.gap() != 256*time.Second || l.now() != 1 {
		t.Errorf("limit %v, gap %v, %d calls where three of four are refused", l.limit, l.gap(), l.now())
	}
}

// TestRetryAfterHoldsTheModel: no call of any trial starts before it, and one
// that is longer than the gateway obeys holds nobody.
func TestRetryAfterHoldsTheModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const after = 42 * time.Second
		s := &stands{rate: 1, burst: 20, status: 429, retryAfter: after, latency: even(time.Second)}
		var mu sync.Mutex
		var said []string
		g := newGateway(t, Options{Provider: s, Mode: Off, Warn: func(m string) {
			mu.Lock()
			defer mu.Unlock()
			said = append(said, m)
		}})
		if _, failed := all(100, 100, adaptive(g)); failed > 0 {
			t.Errorf("%d failed", failed)
		}
		for _, refused := range s.refused {
			for _, start := range s.starts {
				if d := start.Sub(refused); d > time.Millisecond && d < after {
					t.Fatalf("a call started %v after a refusal", d)
				}
			}
		}
		mu.Lock()
		defer mu.Unlock()
		if len(s.refused) == 0 || !slices.Contains(said, "the provider asks to wait: no calls for 42s") {
			t.Errorf("%d refusals, said %q", len(s.refused), said)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		m := failing(fault(provider.RateLimited, 24*time.Hour))
		g := newGateway(t, Options{Provider: m, Mode: Off})
		start := time.Now()
		if _, failed := all(3, 1, adaptive(g)); failed != 1 || time.Since(start) != 0 {
			t.Errorf("%d failed in %v", failed, time.Since(start))
		}
	})
}

// TestStorm: a provider that refuses everything for a while, or stands less
// for a while, costs no call, few requests, and little time afterwards.
func TestStorm(t *testing.T) {
	for name, weather := range map[string]func(s *stands){
		"refuses all for 2 minutes": func(s *stands) { s.shutTo = time.Now().Add(2 * time.Minute) },
		"stands 3 for 2 minutes": func(s *stands) {
			s.atOnce = 3
			time.AfterFunc(2*time.Minute, func() {
				s.mu.Lock()
				defer s.mu.Unlock()
				s.atOnce = 64
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &stands{atOnce: 64, status: 429, latency: uneven(time.Second)}
				g := newGateway(t, Options{Provider: s, Mode: Off})
				time.AfterFunc(20*time.Second, func() {
					s.mu.Lock()
					defer s.mu.Unlock()
					weather(s)
				})
				took, failed := all(10_000, 64, adaptive(g))
				t.Logf("%v, %d refusals", took, s.refusals)
				if calm := 10_000 / 64 * time.Second; failed > 0 || s.answered != 10_000 || took > 2*time.Minute+calm*13/10 || s.refusals > 400 {
					t.Errorf("%d failed, %d answered, %v, %d refusals", failed, s.answered, took, s.refusals)
				}
			})
		})
	}
}

// TestOrder: who comes first starts first, and who leaves the queue is not
// waited for.
func TestOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var order []string
		m := &model{answer: func(ctx context.Context, n int64, r methods.Request) (methods.Completion, error) {
			order = append(order, r.Path)
			return numbered(n), pause.For(ctx, time.Second)
		}}
		g := newGateway(t, Options{Provider: m, Mode: Off, MaxConnections: 1})
		cause := errors.New("enough")
		var wg sync.WaitGroup
		for i := range 5 {
			wg.Go(func() {
				ctx, cancel := context.WithCancelCause(t.Context())
				if i == 2 {
					time.AfterFunc(time.Second/2, func() { cancel(cause) })
				}
				start := time.Now()
				_, err := g.Host(trialOf("m", "s", 0)).Complete(ctx, ask("q", fmt.Sprint(i)))
				if (i == 2) != errors.Is(err, cause) || i == 2 && time.Since(start) != time.Second/2 {
					t.Errorf("call %d: %v after %v", i, err, time.Since(start))
				}
				cancel(nil)
			})
			synctest.Wait()
		}
		wg.Wait()
		if got := fmt.Sprint(order); got != "[0 1 3 4]" {
			t.Errorf("order %s", got)
		}
		if g.gate.inFlight != 0 || g.gate.queue.Len() != 0 || g.gate.timer != nil {
			t.Errorf("left: %d in flight, %d in the queue, timer %v", g.gate.inFlight, g.gate.queue.Len(), g.gate.timer)
		}
	})
}

// TestLateTimer: a call that comes when the hold is over, and the timer has not
// run yet, leaves nobody in the queue.
func TestLateTimer(t *testing.T) {
	g := newGateway(t, Options{Provider: &model{}, Mode: Off})
	gate := &g.gate
	gate.mu.Lock()
	gate.held = time.Now().Add(time.Hour)
	gate.mu.Unlock()
	var wg sync.WaitGroup
	wg.Go(func() { mustComplete(t, g.Host(trialOf("m", "s", 0)), ask("first", "p")) })
	eventually(t, "the first in the queue", func() bool {
		gate.mu.Lock()
		defer gate.mu.Unlock()
		return gate.queue.Len() == 1 && gate.timer != nil
	})
	gate.mu.Lock()
	gate.held = time.Now() // an hour later, were it not for the timer
	gate.mu.Unlock()
	mustComplete(t, g.Host(trialOf("m", "s", 0)), ask("second", "p"))
	wg.Wait()
}
