package gateway

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"noema/kernel/base/pause"
	"noema/kernel/model/provider"
	"noema/methods"
)

// unhurried answers after the time that the prompt says.
type unhurried struct{ provider.Provider }

func (unhurried) Complete(ctx context.Context, r methods.Request) (methods.Completion, error) {
	took, err := time.ParseDuration(r.Messages[0].Content)
	if err != nil {
		return methods.Completion{}, err
	}
	return methods.Completion{Text: "yes"}, pause.For(ctx, took)
}

// TestClock: a trial's time is that in which none of its calls is under way, whether they
// are one after another or at once, wait for their turn or for a provider that is down.
func TestClock(t *testing.T) {
	cause := errors.New("too slow")
	for seed := range uint64(60) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 1))
			some := func(most int) time.Duration { return time.Duration(1+random.IntN(most)) * time.Millisecond }
			g := newGateway(t, Options{Provider: unhurried{&model{}}, Mode: Off, MaxConnections: 1 + random.IntN(3)})
			limit := some(20_000)
			var own time.Duration
			ctx, clock, cancel := WithClock(t.Context(), limit, cause)
			defer cancel()
			at := trialOf("m", "s", 0)
			at.Clock = clock
			h := g.Host(at)
			for step := 0; own < limit; step++ {
				thinks := min(some(5_000), limit-own)
				own += thinks
				err := pause.For(ctx, thinks)
				if own < limit && (err != nil || ctx.Err() != nil) {
					t.Fatalf("seed %d: ended with %v of %v left: %v", seed, limit-own, limit, context.Cause(ctx))
				}
				if own == limit {
					break
				}
				var wg sync.WaitGroup
				for n := range random.IntN(5) {
					took := some(3_600_000)
					wg.Go(func() {
						if _, err := h.Complete(ctx, ask(took.String(), fmt.Sprint(step, "/", n))); err != nil {
							t.Errorf("seed %d: %v", seed, err)
						}
					})
				}
				wg.Wait()
			}
			synctest.Wait()
			if context.Cause(ctx) != cause {
				t.Errorf("seed %d: %v after the trial's time", seed, context.Cause(ctx))
			}
		})
	}
}

// TestClockInAnOutage: a provider that is down for longer than the limit costs no trial.
func TestClockInAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGateway(t, Options{Provider: &outage{kind: provider.Network, from: 5, last: 10 * time.Minute}, Mode: Off})
		ctx, clock, cancel := WithClock(t.Context(), time.Minute, errors.New("too slow"))
		defer cancel()
		var wg sync.WaitGroup
		for n := range 2 {
			wg.Go(func() {
				at := trialOf("m", fmt.Sprint(n), 0)
				at.Clock = clock
				h := g.Host(at)
				for n := range 20 {
					if _, err := h.Complete(ctx, ask(fmt.Sprint(n), "p")); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		if paused := g.Stats().Paused; paused < 10*time.Minute {
			t.Errorf("paused for %v", paused)
		}
	})
}

// TestClockThatIsFreed ends its context without a cause of its own.
func TestClockThatIsFreed(t *testing.T) {
	ctx, _, cancel := WithClock(t.Context(), time.Hour, errors.New("too slow"))
	cancel()
	if context.Cause(ctx) != context.Canceled {
		t.Errorf("cancelled: %v", context.Cause(ctx))
	}
}
