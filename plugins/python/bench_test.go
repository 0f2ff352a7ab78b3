package python_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"noema/methods"
	"noema/plugins"
)

// BenchmarkHostCall is the cost of one model call of a method in Python, when
// the model answers at once: from one caller and from 64, on threads, on
// asyncio, and by gather.
func BenchmarkHostCall(b *testing.B) {
	h := openHost(b)
	for _, bench := range []struct {
		name, plugin string
		callers      int
	}{
		{"threads/callers=1", "bench", 1},
		{"threads/callers=64", "bench", 64},
		{"asyncio/callers=1", "bench-async", 1},
		{"asyncio/callers=64", "bench-async", 64},
		{"gather", "bench-gather", 1},
	} {
		p := open(b, h, bench.plugin)
		b.Run(bench.name, func(b *testing.B) { benchmarkCalls(b, p, bench.callers) })
	}
}

func benchmarkCalls(b *testing.B, p *plugins.Plugin, callers int) {
	k := newKernel()
	k.complete = func(context.Context, methods.Request) (methods.Completion, error) {
		return methods.Completion{Text: "y"}, nil
	}
	calls := (b.N + callers - 1) / callers * callers
	problem := methods.Problem{Query: fmt.Sprint(calls), Options: json.RawMessage(fmt.Sprintf(`{"callers":%d}`, callers))}
	b.ResetTimer()
	if _, err := p.Solve(b.Context(), problem, k); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(calls)/b.Elapsed().Seconds(), "calls/s")
}

// BenchmarkStart is the time from a folder of Python to a plugin that has said
// what it is.
func BenchmarkStart(b *testing.B) {
	src := source(b, "echo")
	for b.Loop() {
		h, err := plugins.NewHost(plugins.HostOptions{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := h.Open(b.Context(), src); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := h.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}
