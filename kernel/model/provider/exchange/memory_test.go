package exchange

import (
	"context"
	"errors"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"noema/kernel/model/provider"
	"noema/methods"
)

// TestMemoryIsATotal: replies that together need four times the pool all come to
// their end, and never hold more than the pool and one reply.
func TestMemoryIsATotal(t *testing.T) {
	const pool, each, replies = 8, 4, 8 // in steps
	m := newMemory(pool * stepBytes)
	var held, most atomic.Int64
	var all sync.WaitGroup
	for range replies {
		all.Go(func() {
			s := &share{of: m}
			for step := range each {
				if err := s.grow(t.Context(), (step+1)*stepBytes, func() {}); err != nil {
					t.Error(err)
				}
				now := held.Add(1)
				for was := most.Load(); now > was && !most.CompareAndSwap(was, now); was = most.Load() {
				}
				runtime.Gosched()
			}
			held.Add(-each)
			s.release()
		})
	}
	all.Wait()
	if most.Load() > pool+each {
		t.Errorf("%d steps were held, want at most %d", most.Load(), pool+each)
	}
	if !m.pool.TryAcquire(pool*stepBytes) || !m.reserve.TryAcquire(1) {
		t.Error("not everything was given back")
	}
	// Whoever waits can be cancelled.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := (&share{of: m}).grow(ctx, 1, func() {}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled wait gives %v", err)
	}
}

func TestTextIsBounded(t *testing.T) {
	ask := serve(t, Config{}, "", func(w http.ResponseWriter, _ *http.Request) {
		write(w, strings.Repeat("x", textLimit)+"[DONE]\n\n")
	})
	if _, err := ask(); err == nil || kindOf(t, err) != provider.Rejected || !strings.Contains(err.Error(), "4 MiB") {
		t.Errorf("got %v", err)
	}
}

// TestManyLargeReplies prints what 64 replies of 20 MB at once take.
func TestManyLargeReplies(t *testing.T) {
	if os.Getenv("NOEMA_BENCH") == "" {
		t.Skip("set NOEMA_BENCH=1 to measure")
	}
	part := strings.Repeat("x", 1<<20)
	ask := serve(t, Config{}, "", func(w http.ResponseWriter, _ *http.Request) {
		for range 20 {
			write(w, part)
		}
		write(w, "[DONE]\n\n")
	})
	var peak uint64
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for tick := time.NewTicker(5 * time.Millisecond); ; {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapInuse)
			select {
			case <-stop:
				return
			case <-tick.C:
			}
		}
	}()
	begin := time.Now()
	var all sync.WaitGroup
	answers := make([]methods.Completion, 64)
	for i := range answers {
		all.Go(func() { answers[i], _ = ask() })
	}
	all.Wait()
	took := time.Since(begin)
	close(stop)
	<-stopped
	t.Logf("64 replies of 20 MB: heap %d MB at most, %v", peak>>20, took.Round(time.Millisecond))
}
