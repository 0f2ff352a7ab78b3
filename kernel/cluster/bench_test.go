package cluster_test

import (
	"context"
	"os"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"noema/kernel/cluster"
	"noema/kernel/record"
	"noema/kernel/runner"
	"noema/methods"
)

// handed is a run of trials that do next to nothing, to measure what handing them out costs.
func handed(t testing.TB, c *cluster.Coordinator, n int, solve func(context.Context, record.TrialID, runner.Place) error) time.Duration {
	t.Helper()
	var given atomic.Int64
	deal := runner.NewDeal(func(context.Context) (record.TrialID, bool) {
		i := given.Add(1)
		return record.TrialID{Method: "direct", Sample: strconv.FormatInt(i, 10)}, int(i) <= n
	})
	all := []runner.Method{{Label: "direct", Plugin: record.Plugin{Method: "direct", Builtin: true, Digest: "built in"}}}
	began := time.Now()
	if err := c.Work(t.Context(), all, deal, solve); err != nil {
		t.Fatal(err)
	}
	return time.Since(began)
}

// asks is a method that makes so many calls, and waits before.
type asks struct {
	calls int
	wait  time.Duration
}

func (a asks) Solve(ctx context.Context, _ methods.Problem, h methods.Host) (methods.Answer, error) {
	if a.wait > 0 {
		select {
		case <-time.After(a.wait):
		case <-ctx.Done():
		}
	}
	for range a.calls {
		if _, err := h.Complete(ctx, methods.Request{}); err != nil {
			return methods.Answer{}, err
		}
	}
	return methods.TextAnswer("done"), nil
}

// answers is a host that knows.
type answers struct{ methods.Host }

func (answers) Complete(context.Context, methods.Request) (methods.Completion, error) {
	return methods.Completion{Text: "an answer of a few words, as models give them"}, nil
}

func (answers) Emit(methods.Event) {}

// TestHandingOut prints what handing out trials costs, with workers in this process: trials
// per second and CPU time of the process (coordinator and workers) per trial, and trials
// that wait 100 ms, 2,000 at once.
func TestHandingOut(t *testing.T) {
	if os.Getenv("NOEMA_BENCH") == "" {
		t.Skip("NOEMA_BENCH is not set")
	}
	measure := func(workers, slots, n int, a asks) (time.Duration, time.Duration) {
		c := start(t, lab(t), cluster.Options{})
		for range workers {
			joinWith(t, c.Address(), slots, func(context.Context, cluster.Code, func(string) error) (methods.Method, error) { return a, nil })
		}
		for c.State().Workers == nil || len(c.State().Workers) < workers {
			time.Sleep(10 * time.Millisecond)
		}
		before := cpu(t)
		took := handed(t, c, n, func(ctx context.Context, id record.TrialID, at runner.Place) error {
			_, err := at.Solve(ctx, methods.Problem{ID: id.Sample}, answers{})
			return err
		})
		return took, cpu(t) - before
	}
	for _, workers := range []int{1, 2, 4, 8} {
		const n = 100_000
		took, used := measure(workers, 64, n, asks{})
		t.Logf("%d workers: %d trivial trials in %v: %.0f/s, %v CPU each", workers, n, took.Round(time.Millisecond), n/took.Seconds(), used/n)
	}
	const n = 20_000
	took, _ := measure(8, 250, n, asks{wait: 100 * time.Millisecond})
	t.Logf("8 workers: %d trials that wait 100 ms, 2,000 at once, in %v: %.2fx ideal", n, took.Round(time.Millisecond), took.Seconds()/(n/2000*0.1))
	took, _ = measure(8, 16, 1000, asks{calls: 100})
	t.Logf("8 workers: 100,000 calls in %v: %.0f/s", took.Round(time.Millisecond), 100_000/took.Seconds())
}

// cpu is the CPU time of this process.
func cpu(t testing.TB) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
