package plugins

import (
	"fmt"
	"testing"
)

// BenchmarkCall is what a call through the boundary costs, the kernel's answer
// taking no time.
func BenchmarkCall(b *testing.B) {
	p := open(b, openHost(b), "echo")
	for _, callers := range []int{1, 64} {
		b.Run(fmt.Sprint(callers), func(b *testing.B) {
			cost, err := p.Bench(b.Context(), b.N, callers)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(cost.PerSecond, "calls/s")
		})
	}
}

func TestBenchCallsAsOften(t *testing.T) {
	h := openHost(t)
	p := open(t, h, "echo")
	for _, callers := range []int{1, 64} {
		cost, err := p.Bench(t.Context(), 500, callers)
		if err != nil || cost.PerCall <= 0 || cost.PerSecond <= 0 || cost.Callers != callers {
			t.Errorf("%d callers: %+v, %v", callers, cost, err)
		}
	}
	if u := h.Usage(); u.Memory < 1<<20 || u.CPUTime <= 0 || u.Processes != 1 {
		t.Errorf("usage = %+v", u)
	}
}

// BenchmarkStart is the time from a program to a plugin that has said what it is.
func BenchmarkStart(b *testing.B) {
	h, err := NewHost(HostOptions{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := h.Close(); err != nil {
			b.Error(err)
		}
	})
	src := misbehaving(b, "well")
	for b.Loop() {
		p, err := h.lease(b.Context(), src)
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		p.stop()
		b.StartTimer()
	}
}
