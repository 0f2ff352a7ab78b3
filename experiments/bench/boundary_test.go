package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"noema/cache"
	"noema/kernel/model/provider/scripted"
	"noema/kernel/run/gateway"
	"noema/methods"
	"noema/plugins"
)

// TestMain lets the test binary be the plugin that it measures, and the bare client
// beside which it measures.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "serve" {
		plugins.Serve(caller{})
		return
	}
	if len(os.Args) == 4 && os.Args[1] == "pong" {
		if err := pong(os.Args[2], os.Args[3]); err != nil {
			log.Fatal(err)
		}
		return
	}
	if len(os.Args) == 4 && os.Args[1] == "call" {
		if err := callBare(os.Args[2], os.Args[3]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// caller is a method that does nothing but call: Work.Calls calls, Work.AtOnce
// at a time, over a fixed set of prompts of 2 KB.
type caller struct{}

// Work is what a problem tells a caller to do.
type Work struct{ Calls, AtOnce int }

const prompts = 256

func prompt(i int) string { return fmt.Sprintf("%03d ", i%prompts) + strings.Repeat("word ", 400) }

func (caller) Solve(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
	var w Work
	if err := json.Unmarshal(p.Context, &w); err != nil {
		return methods.Answer{}, err
	}
	var next atomic.Int64
	var failed atomic.Pointer[error]
	var group sync.WaitGroup
	for range w.AtOnce {
		group.Go(func() {
			for i := int(next.Add(1)); i <= w.Calls; i = int(next.Add(1)) {
				if _, err := h.Complete(ctx, methods.Request{Messages: methods.Ask(prompt(i)), Path: "c"}); err != nil {
					failed.Store(&err)
					return
				}
			}
		})
	}
	group.Wait()
	if err := failed.Load(); err != nil {
		return methods.Answer{}, *err
	}
	return methods.NumberAnswer(float64(w.Calls)), nil
}

// BenchmarkCachedCall is one call that the store answers, from a method in
// the process and from one behind the plugin boundary. "x-direct" is the
// boundary's time over that of the same calls in the process, and "x-stream" that
// over a bare turn of a gRPC stream: no call is quicker than the two together.
func BenchmarkCachedCall(b *testing.B) {
	g := warmGateway(b)
	host, err := plugins.NewHost(plugins.HostOptions{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { host.Close() })
	remote, err := host.Open(b.Context(), plugins.Source{Name: "caller", Command: []string{os.Args[0], "serve"}, Path: os.Args[0]})
	if err != nil {
		b.Fatal(err)
	}
	stream := floors(b)
	for _, atOnce := range []int{1, 64} {
		var direct float64
		b.Run(fmt.Sprintf("in-process/%d", atOnce), func(b *testing.B) { direct = perCall(b, g, caller{}, atOnce) })
		b.Run(fmt.Sprintf("plugin/%d", atOnce), func(b *testing.B) {
			through := perCall(b, g, remote, atOnce)
			if direct > 0 {
				b.ReportMetric(through/direct, "x-direct")
			}
			if stream > 0 && atOnce == 1 {
				b.ReportMetric(through/stream, "x-stream")
			}
		})
	}
}

// trialCalls is how many calls a trial makes. The gateway lets none make more
// than 100,000.
const trialCalls = 10_000

// perCall lets m make b.N calls and returns the mean time of one, in seconds.
func perCall(b *testing.B, g *gateway.Gateway, m methods.Method, atOnce int) float64 {
	b.ResetTimer()
	start := time.Now()
	for left := b.N; left > 0; left -= trialCalls {
		work, err := json.Marshal(Work{Calls: min(left, trialCalls), AtOnce: atOnce})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := m.Solve(b.Context(), methods.Problem{Context: work}, g.Host(gateway.Trial{})); err != nil {
			b.Fatal(err)
		}
	}
	took := time.Since(start).Seconds()
	b.ReportMetric(float64(b.N)/took, "calls/s")
	return took / float64(b.N)
}

// warmGateway is a gateway that replays: every prompt has an answer of 2 KB
// in a store on disk.
func warmGateway(b *testing.B) *gateway.Gateway {
	b.Helper()
	store, err := cache.Open(b.Context(), b.TempDir(), cache.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { store.Close() })
	model, err := scripted.New(scripted.Script{Default: &scripted.Rule{Reply: strings.Repeat("text ", 400)}})
	if err != nil {
		b.Fatal(err)
	}
	for _, mode := range []gateway.Mode{gateway.Auto, gateway.Replay} {
		g, err := gateway.New(gateway.Options{Store: store, Provider: model, Mode: mode})
		if err != nil {
			b.Fatal(err)
		}
		if mode == gateway.Replay {
			return g
		}
		h := g.Host(gateway.Trial{})
		for i := range prompts {
			if _, err := h.Complete(b.Context(), methods.Request{Messages: methods.Ask(prompt(i)), Path: "c"}); err != nil {
				b.Fatal(err)
			}
		}
	}
	return nil
}
