package gateway

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"noema/kernel/base/pause"
	"noema/kernel/model/provider"
	"noema/methods"
)

// chances lets n calls be refused with probability p, one after the other, and
// returns how often that was held for too many calls.
func chances(n *noise, r *rand.Rand, p float64, calls int) (alarms int) {
	for range calls {
		if r.Float64() < p {
			n.refused(true)
			if n.tooMany(false) {
				alarms++
				n.excess = 0
			}
			continue
		}
		n.answered(true, false)
	}
	return alarms
}

// TestNoiseIsLearned: how frequent refusals are that come whatever the limit,
// also where they were never met, and again when they have ended.
func TestNoiseIsLearned(t *testing.T) {
	for _, p := range []float64{0.02, 0.05, 0.1, 0.2, 0.3} {
		n, r := newNoise(), rand.New(rand.NewPCG(1, uint64(p*1000)))
		n.alone = 0
		learning := chances(&n, r, p, 1000)
		sum := 0.0
		alarms := 0
		for range 100 {
			alarms += chances(&n, r, p, 100)
			sum += n.odds()
		}
		t.Logf("p = %v: %d alarms in 1000 calls of learning, %d in 10,000; odds %.3f", p, learning, alarms, sum/100)
		if odds := sum / 100; math.Abs(odds-p) > 0.02+p/5 {
			t.Errorf("odds %.3f, are %v", odds, p)
		}
		if learning > 25 || alarms > 50 {
			t.Errorf("p = %v: %d alarms in 1000 calls of learning, %d in 10,000", p, learning, alarms)
		}
		chances(&n, r, 0, 2000)
		n.refused(true)
		if !n.tooMany(false) {
			t.Errorf("p = %v: a refusal after 2000 answers is still held for chance: odds %.5f", p, n.odds())
		}
	}
}

// TestRunsAreNoNoise: refusals of a bucket that is empty come in runs: they are
// not learned, and what was known is forgotten.
func TestRunsAreNoNoise(t *testing.T) {
	for _, alone := range []float64{0, 0.16} {
		n := newNoise()
		n.alone = alone
		alarms := 0
		for range 100 {
			for range 10 {
				n.refused(true)
				if n.tooMany(false) {
					alarms++
					n.excess = 0
				}
			}
			for range 5 {
				n.answered(true, false)
			}
		}
		if n.odds() > 0.001 || alarms < 300 {
			t.Errorf("odds %.4f, %d alarms", n.odds(), alarms)
		}
	}
}

// TestRefusalsAboveTheLimitAreNoNoise: what is refused near the limit that was
// too much teaches nothing.
func TestRefusalsAboveTheLimitAreNoNoise(t *testing.T) {
	n := newNoise()
	n.alone = 0
	for range 1000 {
		n.refused(false)
		n.answered(false, false)
	}
	if n.odds() != 0 {
		t.Errorf("odds %v", n.odds())
	}
}

// TestFullIsNotDown: a server that refuses with 503 what is too much for it,
// many times in a row, is not held for down; one that does so and answers
// nobody is.
func TestFullIsNotDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stands{atOnce: 3, status: 503, latency: even(10 * time.Second)}
		g := newGateway(t, Options{Provider: s, Mode: Off})
		if _, failed := all(300, 100, adaptive(g)); failed > 0 || g.Stats().Pauses > 0 || s.refusals < 10 {
			t.Errorf("%d failed, %d refusals, %+v", failed, s.refusals, g.Stats())
		}
		s.mu.Lock()
		s.shutTo = time.Now().Add(10 * time.Minute)
		s.mu.Unlock()
		if _, failed := all(100, 100, adaptive(g)); failed > 0 || g.Stats().Pauses != 1 {
			t.Errorf("%d failed, %+v", failed, g.Stats())
		}
	})
}

// TestRefusalsCountHalf: a call that is refused for load has twice the attempts
// of one that fails, if others are answered meanwhile.
func TestRefusalsCountHalf(t *testing.T) {
	for name, c := range map[string]struct {
		err         provider.Error
		lone, among int64 // attempts
	}{
		"too many requests": {provider.Error{Kind: provider.RateLimited, Status: 429}, 6, 12},
		"overloaded":        {provider.Error{Kind: provider.Unavailable, Status: 503}, 6, 12},
		"failed":            {provider.Error{Kind: provider.Unavailable, Status: 500}, 6, 6},
	} {
		for others, want := range map[int]int64{0: c.lone, 4: c.among} {
			synctest.Test(t, func(t *testing.T) {
				c.err.Err = errors.New("no")
				var attempts atomic.Int64
				poison := fmt.Sprint(1 + 100*others)
				m := &model{answer: func(ctx context.Context, n int64, r methods.Request) (methods.Completion, error) {
					if r.Messages[0].Content == poison {
						attempts.Add(1)
						return methods.Completion{}, &c.err
					}
					return numbered(n), pause.For(ctx, time.Second)
				}}
				g := newGateway(t, Options{Provider: m, Mode: Off})
				_, failed := all(1+1000*others, 1+others, adaptive(g))
				if failed != 1 || attempts.Load() != want {
					t.Errorf("%s among %d: %d attempts, want %d", name, others, attempts.Load(), want)
				}
			})
		}
	}
}
