package gateway

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"noema/kernel/internal/test/providertest"
	"noema/kernel/model/provider"
	"noema/kernel/model/provider/exchange"
	"noema/kernel/model/provider/openai"
	"noema/methods"
)

// prompts are n requests of about 2 KB.
func prompts(n int) []methods.Request {
	filler := strings.Repeat("a cafe with a terrace and good coffee; ", 50)
	rs := make([]methods.Request, n)
	for i := range rs {
		rs[i] = ask(fmt.Sprintf("request %d: %s", i, filler), fmt.Sprintf("P3/c%d", i))
	}
	return rs
}

// BenchmarkCachedCompletion is a call that the store answers, with its key,
// its record, its charge and its place in the transcript.
func BenchmarkCachedCompletion(b *testing.B) {
	store := openStore(b, b.TempDir())
	g := newGateway(b, Options{Store: store, Provider: &model{}})
	rs := prompts(1000)
	h := g.Host(trialOf("m", "s", 0))
	for _, r := range rs {
		mustComplete(b, h, r)
	}
	for _, callers := range []int{1, 64} {
		b.Run(fmt.Sprint("callers=", callers), func(b *testing.B) {
			b.ReportAllocs()
			var next atomic.Int64
			b.ResetTimer()
			start := time.Now()
			spread(callers, func() {
				h := g.Host(trialOf("m", "s", 0))
				for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
					if i%100 == 0 { // trials are not endless
						h = g.Host(trialOf("m", "s", 0))
					}
					mustComplete(b, h, rs[i%int64(len(rs))])
				}
			})
			b.ReportMetric(float64(b.N)/time.Since(start).Seconds(), "calls/s")
		})
	}
}

// spread runs work n times at once.
func spread(n int, work func()) {
	var wg sync.WaitGroup
	for range n {
		wg.Go(work)
	}
	wg.Wait()
}

const (
	connections = 1000
	calls       = 10_000
	latency     = 100 * time.Millisecond
)

// BenchmarkInFlight makes 10,000 calls, 1,000 at once, each answered after
// 100 ms. x-ideal is the wall time as a multiple of what waiting alone takes;
// B/call is how much the heap has grown for each call when all is over.
//
//	timer          the gateway and its store, with a model that only waits
//	provider       a real HTTP server on loopback and the provider, no gateway
//	off, auto      the same server through the gateway, without and with store
//
// The server runs in the same process, so that what it takes of the machine is
// in the figures: "provider" is the floor of the two below it.
func BenchmarkInFlight(b *testing.B) {
	server := providertest.New(providertest.Config{Latency: latency})
	defer server.Close()
	p, err := openai.New(exchange.Config{Model: "m", BaseURL: server.URL(), APIKey: "k", MaxConnections: connections}, openai.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer p.CloseIdleConnections()
	waits := &model{answer: func(_ context.Context, n int64, _ methods.Request) (methods.Completion, error) {
		time.Sleep(latency) // this is the latency that is measured against
		return numbered(n), nil
	}}
	through := func(p provider.Provider, mode Mode) func(b *testing.B) complete {
		return func(b *testing.B) complete {
			g := newGateway(b, Options{Store: openStore(b, b.TempDir()), Provider: p, Mode: mode, MaxConnections: connections})
			return func(ctx context.Context, epoch int, r methods.Request) error {
				_, err := g.Host(trialOf("m", "s", epoch)).Complete(ctx, r)
				return err
			}
		}
	}
	b.Run("timer", func(b *testing.B) { inFlight(b, through(waits, Auto)) })
	b.Run("provider", func(b *testing.B) {
		inFlight(b, func(*testing.B) complete {
			return func(ctx context.Context, _ int, r methods.Request) error {
				_, err := p.Complete(ctx, r)
				return err
			}
		})
	})
	b.Run("off", func(b *testing.B) { inFlight(b, through(p, Off)) })
	b.Run("auto", func(b *testing.B) { inFlight(b, through(p, Auto)) })
	if most := server.MostInFlight(); most < connections*9/10 {
		b.Errorf("only %d calls were in flight", most)
	}
}

// complete makes one call; another epoch is another call.
type complete func(ctx context.Context, epoch int, r methods.Request) error

func inFlight(b *testing.B, open func(*testing.B) complete) {
	rs := prompts(calls)
	for b.Loop() {
		ask := open(b)
		askAll(b, ask, 0, rs[:connections]) // open the connections
		before := heap()
		start := time.Now()
		askAll(b, ask, 1, rs)
		b.ReportMetric(float64(time.Since(start))/float64(latency*calls/connections), "x-ideal")
		b.ReportMetric(float64(heap()-before)/calls, "B/call")
	}
	runtime.KeepAlive(rs)
}

// askAll asks everything, a thousand at once.
func askAll(b *testing.B, ask complete, epoch int, rs []methods.Request) {
	b.Helper()
	var next atomic.Int64
	spread(connections, func() {
		for i := next.Add(1); i <= int64(len(rs)); i = next.Add(1) {
			if err := ask(context.Background(), epoch, rs[i-1]); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

// BenchmarkBestFixed says how long calls take over real HTTP with adaptive
// concurrency as a multiple of the best fixed number of calls at once, found by
// search before (x-best), and how many refusals came for each answer. Calls are
// 20 times as short as those of a model, and so is the wait after a failure.
// Once is enough: NOEMA_BENCH=1 and -benchtime 1x. TestBest holds the same in bubbles.
func BenchmarkBestFixed(b *testing.B) {
	if os.Getenv("NOEMA_BENCH") == "" {
		b.Skip("makes 270,000 calls in some minutes: set NOEMA_BENCH=1")
	}
	const (
		n, callers = 10_000, 256
		latency    = 50 * time.Millisecond
		base       = 25 * time.Millisecond
	)
	for _, c := range []struct {
		name   string
		atOnce int
		rate   float64
		odds   float64
		try    []int
	}{
		{"32 at once", 32, 0, 0, []int{24, 28, 32, 36, 40, 48}},
		{"32 at once, 10 % refused", 32, 0, 0.1, []int{24, 28, 32, 36, 40, 48}},
		{"500 per second", 0, 500, 0, []int{20, 24, 28, 32, 40, 64}},
		{"100 at once, 5 % refused", 100, 0, 0.05, []int{80, 90, 100, 112, 128}},
	} {
		b.Run(c.name, func(b *testing.B) {
			measure := func(ask func(p provider.Provider) func(int) error) (time.Duration, *faultServer) {
				server := newFaultServer(&stands{atOnce: c.atOnce, rate: c.rate, burst: 100, latency: uneven(latency)}, func(i int) int {
					if (dice{prompt: fmt.Sprint(i)}).roll("refusal") < c.odds {
						return http.StatusTooManyRequests
					}
					return 0
				})
				defer server.Close()
				took, failed := all(n, callers, ask(newNetModel(b, server.URL)))
				if failed > 0 || len(server.paid) != n {
					b.Fatalf("%d failed, %d answers", failed, len(server.paid))
				}
				return took, server
			}
			best, at := time.Hour, 0
			for _, atOnce := range c.try {
				if took, _ := measure(func(p provider.Provider) func(int) error { return fixed(p, atOnce, base) }); took < best {
					best, at = took, atOnce
				}
			}
			for b.Loop() {
				took, server := measure(func(p provider.Provider) func(int) error {
					return adaptive(newGateway(b, Options{Provider: p, Mode: Off, MaxConnections: 256, Retry: Retry{Base: base}}))
				})
				b.ReportMetric(float64(took)/float64(best), "x-best")
				b.ReportMetric(float64(server.requests-n)/n, "refusals/answer")
			}
			b.ReportMetric(float64(at), "best-fixed")
		})
	}
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
